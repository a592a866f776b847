#include "tb/host/program/connection.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include "base/error.hpp"
#include "tb/host/device.hpp"

namespace heddle::tb::program {

namespace {
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40U;  // of one question
}

Connection::Connection(int socket, const std::atomic<bool>* interrupted) : socket_(socket), interrupted_(interrupted) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) process_ = peer.pid;
}

bool Connection::receive(void* data, std::size_t size) {
  return socket_.receive(data, size, [this] {
    if (interrupted_ != nullptr && interrupted_->load()) throw RunStopped("interrupted");
  });
}

bool Connection::fetch(std::uint64_t address, std::span<std::byte> into) const {
  const iovec here{into.data(), into.size()};
  const iovec there{reinterpret_cast<void*>(address), into.size()};
  return process_ > 0 && ::process_vm_readv(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(into.size());
}

bool Connection::put(std::uint64_t address, std::span<std::byte> from) const {
  const iovec here{from.data(), from.size()};
  const iovec there{reinterpret_cast<void*>(address), from.size()};
  return process_ > 0 && ::process_vm_writev(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(from.size());
}

bool Connection::next(Question& question, std::vector<std::byte>& bytes) {
  if (!receive(&question, sizeof question)) return false;
  if (question.bytes > kMostBytes) throw InternalError("the program's library speaks another language than Heddle");
  bytes.resize(question.bytes);
  return receive(bytes.data(), bytes.size());
}

void Connection::answer(Answer answer, std::span<const std::byte> bytes, std::string_view text,
                        std::string_view printed) {
  answer.text = static_cast<std::uint32_t>(text.size());
  answer.printed = printed.size();
  answer.bytes = bytes.size();
  static_cast<void>(socket_.send({{{&answer, sizeof answer},
                                   {text.data(), text.size()},
                                   {printed.data(), printed.size()},
                                   {bytes.data(), bytes.size()}}}));
}

}  // namespace heddle::tb::program
