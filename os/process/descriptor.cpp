#include "os/process/descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace heddle::os {
namespace {

constexpr std::size_t kPiece = 1U << 14U;

}  // namespace

void no_descriptor(const char* what) {
  const int error = errno;
  const std::string message = fmt::format("cannot make {}: {}", what, std::strerror(error));
  if (error == EMFILE || error == ENFILE) {
    throw InputError({}, message, "raise the limit on open files: ulimit -n 1024");
  }
  throw InternalError(message);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) {
    ::close(std::exchange(number_, -1));
  }
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    no_descriptor("a pipe");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor memory_file(const char* name) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  if (!file.open()) {
    no_descriptor("a file in memory");
  }
  return file;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::string read_all(int descriptor) {
  std::string out;
  std::array<char, kPiece> piece{};
  for (;;) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got > 0) {
      out.append(piece.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {  // a terminal without writers reads as an error
      return out;
    }
  }
}

std::string file_text(int descriptor) {
  std::string out;
  std::array<char, kPiece> piece{};
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(descriptor, piece.data(), piece.size(), at);
    if (got > 0) {
      out.append(piece.data(), static_cast<std::size_t>(got));
      at += got;
    } else if (got == 0 || errno != EINTR) {
      return out;
    }
  }
}

}  // namespace heddle::os
