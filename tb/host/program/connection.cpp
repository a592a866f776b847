#include "tb/host/program/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "tb/host/device.hpp"

namespace heddle::tb::program {

namespace {
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40U;  // of one question
}

Connection::~Connection() {
  close();
}

void Connection::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

bool Connection::receive(void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size != 0) {
    if (interrupted_ != nullptr && interrupted_->load()) throw RunStopped("interrupted");
    const ssize_t got = ::recv(socket_, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool Connection::send(const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size != 0) {
    const ssize_t sent = ::send(socket_, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool Connection::next(Question& question, std::vector<std::byte>& bytes) {
  if (!receive(&question, sizeof question)) return false;
  if (question.bytes > kMostBytes) throw InternalError("the program's library speaks another language than Heddle");
  bytes.resize(question.bytes);
  return receive(bytes.data(), bytes.size());
}

void Connection::answer(Answer answer, std::span<const std::byte> bytes, std::string_view text) {
  answer.text = static_cast<std::uint32_t>(text.size());
  answer.bytes = bytes.size();
  static_cast<void>(send(&answer, sizeof answer) && send(text.data(), text.size()) && send(bytes.data(), bytes.size()));
}

}  // namespace heddle::tb::program
