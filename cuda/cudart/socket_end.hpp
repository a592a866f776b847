// One end of the socket between a CUDA program and the simulator (cuda/cudart/protocol.hpp): pieces that belong
// together go out in one call and come in by one, and who waits looks again and again for a short while before it
// sleeps, since putting a process to sleep and waking it costs more than most calls take.
#pragma once

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>

namespace heddle::cudart {

class SocketEnd {
 public:
  // Takes the descriptor over; -1: none yet.
  explicit SocketEnd(int socket = -1) : socket_(socket) {}
  ~SocketEnd() { close(); }
  SocketEnd(const SocketEnd&) = delete;
  SocketEnd& operator=(const SocketEnd&) = delete;

  void take(int socket) {
    close();
    socket_ = socket;
    struct stat facts {};
    if (::fstat(socket, &facts) == 0) node_ = facts.st_ino;
  }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    forget();
  }
  // Without closing it: its number may be something else's.
  void forget() {
    socket_ = -1;
    begin_ = end_ = 0;
  }
  [[nodiscard]] int number() const { return socket_; }
  // Whether the number still means the socket that was taken: a program may close what it has not opened, and open
  // something else by the same number.
  [[nodiscard]] bool still_open() const {
    struct stat facts {};
    return socket_ >= 0 && ::fstat(socket_, &facts) == 0 && S_ISSOCK(facts.st_mode) && facts.st_ino == node_;
  }

  struct Piece {
    const void* data = nullptr;
    std::size_t size = 0;
  };
  // All pieces, one behind the other. False: the other end listens no more, or error() says what else.
  [[nodiscard]] bool send(std::array<Piece, 4> pieces) {
    std::array<iovec, 4> parts{};
    error_ = 0;
    in_part_ = false;
    std::size_t left = 0;
    for (std::size_t i = 0; i != pieces.size(); ++i) {
      parts[i] = {const_cast<void*>(pieces[i].data), pieces[i].size};  // sendmsg does not change them
      left += pieces[i].size;
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    while (left != 0) {
      ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) {
        error_ = errno;
        return false;
      }
      in_part_ = true;
      left -= static_cast<std::size_t>(sent);
      for (iovec& part : parts) {
        const std::size_t gone = std::min(part.iov_len, static_cast<std::size_t>(sent));
        part.iov_base = static_cast<char*>(part.iov_base) + gone;
        part.iov_len -= gone;
        sent -= static_cast<ssize_t>(gone);
      }
    }
    return true;
  }

  // Of a send that has failed: the system's error, and whether a part had gone out by then.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] bool in_part() const { return in_part_; }

  // One byte, and with it a descriptor of this process's; -1: the byte alone. False: the other end listens no more.
  [[nodiscard]] bool send_descriptor(int descriptor) const {
    char byte = 0;
    iovec part{&byte, 1};
    Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
      message.msg_control = control.bytes.data();
      message.msg_controllen = control.bytes.size();
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof descriptor);
      std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    for (;;) {
      const ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
      if (sent == 1 || errno != EINTR) return sent == 1;
    }
  }
  // What send_descriptor() has sent, as a descriptor of this process's; -1: none came with it. All that was sent before
  // has been received. False: the other end sends no more.
  [[nodiscard]] bool receive_descriptor(int& descriptor) const {
    char byte = 0;
    iovec part{&byte, 1};
    Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    ssize_t got = 0;
    do {
      got = ::recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    descriptor = -1;
    const cmsghdr* const header = got == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof descriptor)) {
      std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    }
    return got == 1;
  }

  // A descriptor that ends a wait too, so that `look` below is called; -1: none.
  void heed(int other) { other_ = other; }
  [[nodiscard]] bool other_came() const { return other_came_; }

  // Between messages: what is received next begins one.
  void expect_message() {
    sleeps_ = false;
    begins_ = true;
  }
  // Whether nothing of that message has been received, and this end sleeps until something comes: who leaves receive()
  // now, by a signal handler that does not return, has lost nothing.
  [[nodiscard]] bool has_lost_nothing() const { return begins_ && sleeps_; }

  // So many bytes. False: the other end sends no more. `look` is called before each wait, and may throw.
  template <class Look>
  [[nodiscard]] bool receive(void* data, std::size_t size, Look look) {
    char* at = static_cast<char*>(data);
    while (size != 0) {
      if (begin_ == end_ && size >= kept_.size()) {
        const ssize_t got = some(at, size, look);
        if (got <= 0) return false;
        at += got;
        size -= static_cast<std::size_t>(got);
        continue;
      }
      if (begin_ == end_) {
        const ssize_t got = some(kept_.data(), kept_.size(), look);
        if (got <= 0) return false;
        begin_ = 0;
        end_ = static_cast<std::size_t>(got);
      }
      const std::size_t here = std::min(size, end_ - begin_);
      std::memcpy(at, kept_.data() + begin_, here);
      begin_ += here;
      at += here;
      size -= here;
    }
    return true;
  }

 private:
  struct Control {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
  };
  // How long to look before sleeping: what most calls take, and nothing where the other process has no processor beside
  // this process.
  static std::chrono::microseconds patience() {
    cpu_set_t processors;
    const bool known = ::sched_getaffinity(0, sizeof processors, &processors) == 0;
    return std::chrono::microseconds(known && CPU_COUNT(&processors) > 1 ? 50 : 0);
  }
  // Looking in vain costs as much as sleeping does, or more, where both processes have other work beside them. So who
  // has looked in vain does not look the next time, twice as many times after the second, and so on.
  template <class Look>
  ssize_t some(void* into, std::size_t most, Look& look) {
    const bool looks = to_skip_ == 0;
    to_skip_ -= looks ? 0 : 1;
    const auto until = std::chrono::steady_clock::now() + (looks ? patience_ : std::chrono::microseconds(0));
    for (;;) {
      const bool sleeps = std::chrono::steady_clock::now() >= until;
      if (sleeps) {
        look();
        std::array<pollfd, 2> come{{{socket_, POLLIN, 0}, {other_, POLLIN, 0}}};  // none for a negative number
        sleeps_ = true;
        ::poll(come.data(), come.size(), -1);
        sleeps_ = false;
        other_came_ = come[1].revents != 0;
      }
      const ssize_t got = ::recv(socket_, into, most, MSG_DONTWAIT);
      if (got > 0) begins_ = false;
      if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
        if (looks) {
          in_vain_ = sleeps ? std::min(in_vain_ + 1, kMostInVain) : 0;
          to_skip_ = (1U << in_vain_) - 1;
        }
        return got;
      }
    }
  }

  static constexpr unsigned kMostInVain = 6;
  int socket_;
  int other_ = -1;
  bool other_came_ = false;
  ino_t node_ = 0;  // of the socket
  int error_ = 0;
  bool in_part_ = false;
  volatile bool begins_ = false;  // these two: read where a signal handler has left receive()
  volatile bool sleeps_ = false;
  std::chrono::microseconds patience_ = patience();
  unsigned in_vain_ = 0;           // times on end, up to kMostInVain
  unsigned to_skip_ = 0;           // times not to look
  std::array<char, 4096> kept_{};  // come, not asked for yet: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace heddle::cudart
