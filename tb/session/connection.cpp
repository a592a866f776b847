#include "tb/session/connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>

#include "base/error.hpp"
#include "tb/device/device.hpp"

namespace heddle::tb::session {

Connection::Connection(int socket, const std::atomic<bool>* interrupted)
    : socket_(socket), process_(cudart::peer_of(socket)), interrupted_(interrupted) {}

void Connection::expect_again() {
  again_ = Listener(cudart::Coming::again);
  socket_.heed(again_.number());
}

void Connection::look() {
  if (interrupted_ != nullptr && interrupted_->load()) throw RunStopped("interrupted");
  if (!socket_.other_came()) return;
  if (const int newer = again(); newer >= 0) throw Newer{newer};
}

int Connection::again() const {
  return again_.accept([this](pid_t process) { return process == process_; });
}

bool Connection::receive(void* data, std::size_t size) {
  return socket_.receive(data, size, [this] { look(); });
}

// A process that has closed its connection may come again as long as it lives.
int Connection::wait_for_newer() {
  if (again_.number() < 0 || process_ <= 0) return -1;
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
  if (process < 0) return -1;
  constexpr int kLookMilliseconds = 200;
  int newer = -1;
  for (bool lives = true; lives && newer < 0;) {
    std::array<pollfd, 2> come{{{again_.number(), POLLIN, 0}, {process, POLLIN, 0}}};
    ::poll(come.data(), come.size(), kLookMilliseconds);
    lives = come[1].revents == 0;
    newer = again();
    if (interrupted_ != nullptr && interrupted_->load()) break;
  }
  ::close(process);
  if (newer < 0) look();  // interrupted
  return newer;
}

void Connection::go_on_with(int socket) {
  socket_.take(socket);
  cudart::Question question;
  if (!receive(&question, sizeof question) || question.call != cudart::Call::resume ||
      question.mark != cudart::mark_of(0)) {
    socket_.close();  // another program in the program's process
    return;
  }
  if (question.words[0] != received_ || question.words[1] != 0) {
    throw InputError(
        {}, "the program has broken its connection to the simulator in the middle of a call",
        "it must not close or write to descriptors that it has not opened, nor leave CUDA calls by longjmp");
  }
  cudart::Answer resumed;
  resumed.mark = question.mark;
  answer(resumed);
}

bool Connection::next(cudart::Question& question, std::vector<std::byte>& bytes) {
  for (;;) {
    int newer = -1;
    try {
      if (receive_question(question, bytes)) return question.call != cudart::Call::end;
      newer = wait_for_newer();
    } catch (const Newer& one) {
      newer = one.socket;
    }
    if (newer < 0) return false;
    try {
      go_on_with(newer);
    } catch (const Newer& one) {  // the newer connection is dead, too
      ::close(one.socket);
    }
  }
}

bool Connection::receive_question(cudart::Question& question, std::vector<std::byte>& bytes) {
  if (!receive(&question, sizeof question)) return false;
  if (question.mark != cudart::mark_of(received_ + 1) || question.bytes > cudart::kMostBytes) {
    throw InputError({}, "the program's connection to the simulator has brought what its library has not sent",
                     "it must not write to descriptors that it has not opened");
  }
  // In pieces, so that memory is taken for what comes.
  constexpr std::size_t kPiece = 1U << 24U;
  bytes.clear();
  while (bytes.size() < question.bytes) {
    const std::size_t done = bytes.size();
    bytes.resize(done + std::min<std::size_t>(kPiece, question.bytes - done));
    if (!receive(bytes.data() + done, bytes.size() - done)) return false;
  }
  ++received_;
  return true;
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

void Connection::answer(cudart::Answer answer, std::span<const std::byte> bytes, std::string_view text,
                        std::string_view printed) {
  answer.text = static_cast<std::uint32_t>(text.size());
  answer.printed = printed.size();
  answer.bytes = bytes.size();
  if (answer.mark == 0) answer.mark = cudart::mark_of(received_);
  static_cast<void>(socket_.send({{{&answer, sizeof answer},
                                   {text.data(), text.size()},
                                   {printed.data(), printed.size()},
                                   {bytes.data(), bytes.size()}}}));
}

}  // namespace heddle::tb::session
