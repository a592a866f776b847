#include "tb/bench/forked.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

#include "base/error.hpp"

namespace heddle::tb {
namespace {

void write_all(int file, const void* data, std::size_t size) {
  const auto* next = static_cast<const char*>(data);
  while (size != 0) {
    const ssize_t written = ::write(file, next, size);
    if (written <= 0 && errno != EINTR) {
      ::_exit(static_cast<int>(ExitCode::internal_error));
    }
    if (written > 0) {
      next += written;
      size -= static_cast<std::size_t>(written);
    }
  }
}

std::string read_all(int file) {
  std::string out;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got > 0) {
      out.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return out;
    }
  }
}

// The child's side: a byte that says whether it went well, then the sample or the message.
[[noreturn]] void child(int pipe, const std::function<Sample()>& measure) {
  char good = 1;
  try {
    const Sample sample = measure();
    write_all(pipe, &good, 1);
    write_all(pipe, &sample, sizeof sample);
  } catch (const std::exception& error) {
    good = 0;
    write_all(pipe, &good, 1);
    write_all(pipe, error.what(), std::strlen(error.what()));
  }
  ::_exit(0);  // no destructor of the parent's objects, no second flush of its buffers
}

}  // namespace

Sample in_child(const std::function<Sample()>& measure) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw InternalError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw InternalError(fmt::format("cannot fork: {}", std::strerror(error)));
  }
  if (process == 0) {
    ::close(ends[0]);
    child(ends[1], measure);
  }
  ::close(ends[1]);
  const std::string answer = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  Sample sample;
  if (answer.size() == 1 + sizeof sample && answer.front() == 1) {
    std::memcpy(&sample, answer.data() + 1, sizeof sample);
    return sample;
  }
  throw InternalError(answer.empty() ? "the measuring process died" : answer.substr(1));
}

}  // namespace heddle::tb
