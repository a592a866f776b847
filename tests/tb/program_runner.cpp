#include "program_runner.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace heddle::tb::test {
namespace {

namespace fs = std::filesystem;

std::string drain(int file) {
  std::string out;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got > 0) {
      out.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {  // a terminal without writers reads as an error
      break;
    }
  }
  ::close(file);
  return out;
}

struct Channel {
  int ours = -1;
  int theirs = -1;
};

Channel pipe_channel() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  return {ends[0], ends[1]};
}

Channel terminal_channel() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) {
    throw std::runtime_error("no terminal");
  }
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  winsize size{};
  size.ws_col = 120;
  size.ws_row = 40;
  ::ioctl(slave, TIOCSWINSZ, &size);
  return {master, slave};
}

}  // namespace

Ran spawn(const std::vector<std::string>& words, const RunSetup& setup) {
  const Channel out = pipe_channel();
  const Channel err = setup.terminal ? terminal_channel() : pipe_channel();
  const pid_t child = ::fork();
  if (child < 0) {
    throw std::runtime_error("no process");
  }
  if (child == 0) {
    ::dup2(out.theirs, STDOUT_FILENO);
    ::dup2(err.theirs, STDERR_FILENO);
    for (const std::string& setting : setup.environment) {
      ::putenv(const_cast<char*>(setting.c_str()));
    }
    if (!setup.folder.empty() && ::chdir(setup.folder.c_str()) != 0) {
      ::_exit(126);
    }
    std::vector<char*> pointers;
    for (const std::string& word : words) {
      pointers.push_back(const_cast<char*>(word.c_str()));
    }
    pointers.push_back(nullptr);
    ::execvp(pointers.front(), pointers.data());
    ::_exit(127);
  }
  ::close(out.theirs);
  ::close(err.theirs);
  Ran ran;
  std::thread reader([&] { ran.err = drain(err.ours); });
  std::thread actor([&] {
    if (setup.while_running) {
      setup.while_running(child);
    }
  });
  ran.out = drain(out.ours);
  actor.join();
  reader.join();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

Ran heddle(const std::vector<std::string>& words, const RunSetup& setup) {
  std::vector<std::string> all = {HEDDLE_PROGRAM};
  all.insert(all.end(), words.begin(), words.end());
  return spawn(all, setup);
}

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "heddle-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  folder_ = pattern;
}

Scratch::~Scratch() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return path(name);
}

std::string Scratch::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) {
    ++found;
  }
  return found;
}

}  // namespace heddle::tb::test
