#include "tb/sweep/ask.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace heddle::tb::sweep {
namespace {

class MemoryFile {
 public:
  MemoryFile() : file_(::memfd_create("heddle-answer", MFD_CLOEXEC)) {
    if (file_ < 0) {
      throw InternalError(fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
    }
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] std::string text() const {
    std::string out;
    std::array<char, 4096> buffer{};
    for (off_t at = 0;;) {
      const ssize_t got = ::pread(file_, buffer.data(), buffer.size(), at);
      if (got > 0) {
        out.append(buffer.data(), static_cast<std::size_t>(got));
        at += got;
      } else if (got == 0 || errno != EINTR) {
        return out;
      }
    }
  }

 private:
  int file_;
};

}  // namespace

Answer ask(const std::vector<std::string>& words, const std::string& hint) {
  const MemoryFile out;
  const MemoryFile err;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.file(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.file(), STDERR_FILENO);
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (std::string& word : copies) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw InputError({words.front()}, fmt::format("cannot be started: {}", std::strerror(error)), hint);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.text(), err.text()};
}

std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out + "'";
}

}  // namespace heddle::tb::sweep
