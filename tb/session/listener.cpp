#include "tb/session/listener.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::tb::session {

Listener::Listener(const char* path) {
  cudart::DeviceAddress address;
  address.address.sun_family = AF_UNIX;
  std::strncpy(address.address.sun_path, path, sizeof address.address.sun_path - 1);
  address.size = sizeof address.address;
  listen(address);
}

Listener::Listener(cudart::Coming coming) {
  listen(cudart::device_address(::getpid(), coming));
}

Listener::~Listener() {
  if (number_ >= 0) ::close(number_);
}

Listener::Listener(Listener&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Listener& Listener::operator=(Listener&& other) noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = std::exchange(other.number_, -1);
  return *this;
}

void Listener::listen(const cudart::DeviceAddress& address) {
  constexpr int kMostWaiting = 8;
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket >= 0 && ::bind(socket, address.get(), address.size) == 0 && ::listen(socket, kMostWaiting) == 0) {
    number_ = socket;
  } else if (socket >= 0) {
    const int error = errno;
    ::close(socket);
    errno = error;
  }
}

int Listener::next() const {
  return number_ < 0 ? -1 : ::accept4(number_, nullptr, nullptr, SOCK_CLOEXEC);
}

}  // namespace heddle::tb::session
