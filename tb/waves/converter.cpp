#include "tb/waves/converter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/error.hpp"
#include "tb/measure/atomic_file.hpp"
#include "tb/waves/fst_check.hpp"

extern char** environ;

namespace heddle::tb {

namespace fs = std::filesystem;

namespace {

// An empty file that is nobody else's, below the system's folder for such.
std::string empty_file_elsewhere(const OutputTarget& target) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "heddle-XXXXXX").string();
  const int file = error ? -1 : ::mkstemp(name.data());
  if (file < 0) {
    target.refuse(error ? error.value() : errno);
  }
  ::close(file);
  return name;
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) {
      return candidate.string();
    }
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

const ConverterProgram& fst_converter() {
  static const ConverterProgram program{
      "vcd2fst",
      {"-v", "-", "-f"},
      "a .fst file is made by GTKWave's vcd2fst, which is not installed",
      "install GTKWave (Debian package gtkwave), or write a .vcd.gz file, which it opens too",
      fst_damage};
  return program;
}

const ConverterProgram& svg_converter() {
  static const ConverterProgram program{"dot",
                                        {"-Tsvg", "-o"},
                                        "an SVG picture is made by Graphviz' dot, which is not installed",
                                        "install Graphviz (Debian package graphviz), or write its input with --dot"};
  return program;
}

ConverterProgram png_converter(unsigned width) {
  return {"rsvg-convert",
          {"--width", fmt::format("{}", width), "--keep-aspect-ratio", "--output"},
          "a PNG picture is made by rsvg-convert, which is not installed",
          "install Debian's package librsvg2-bin, or write an SVG picture with --svg"};
}

Converter::Converter(const std::string& path, const ConverterProgram& called)
    : name_(called.name), damage_(called.damage), target_(path) {
  const std::string program = find_program(called.name);
  if (program.empty()) {
    throw InputError({path}, called.missing, called.hint);
  }
  // The file is there before the program starts: what that would only say at its end is told now.
  if (target_.straight()) {
    target_.check();
    temporary_ = empty_file_elsewhere(target_);
  } else {
    lock_ = target_.open();
    temporary_ = target_.temporary();
  }
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw InternalError("no pipe to " + name_);
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  // In a process group of its own: an interrupt from the terminal ends the simulation in an orderly way, and the
  // converter still gets the rest.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : called.arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(temporary_.data());
  words.push_back(nullptr);
  const int error = ::posix_spawn(&child_, program.c_str(), &actions, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  pipe_ = ends[1];
  if (error != 0) {
    ::close(pipe_);
    pipe_ = -1;
    child_ = -1;
    ::unlink(temporary_.c_str());
    throw InputError({path}, fmt::format("'{}' cannot be run: {}", program, std::strerror(error)));
  }
  ::signal(SIGPIPE, SIG_IGN);  // a converter that has ended is an error of write(), not of this process
}

Converter::~Converter() {
  for (const int file : {pipe_, lock_}) {
    if (file >= 0) {
      ::close(file);
    }
  }
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    (void)wait();
    ::unlink(temporary_.c_str());
  }
}

bool Converter::wait() {
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void Converter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(pipe_, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      throw InputError({target_.name()}, name_ + " has ended before it had everything", "is the disk full?");
    }
  }
}

void Converter::commit() {
  ::close(pipe_);
  pipe_ = -1;
  if (!wait()) {
    ::unlink(temporary_.c_str());
    throw InputError({target_.name()}, name_ + " could not write it", "is the disk full?");
  }
  if (const std::string damage = damage_ == nullptr ? "" : damage_(temporary_); !damage.empty()) {
    ::unlink(temporary_.c_str());
    throw InputError({target_.name()}, fmt::format("{} could not write all of it: {}", name_, damage),
                     "is the disk full?");
  }
  if (!target_.straight()) {
    target_.replace();
    return;
  }
  std::ostringstream made;
  made << std::ifstream(temporary_, std::ios::binary).rdbuf();
  ::unlink(temporary_.c_str());
  write_file(target_.name(), made.str());
}

}  // namespace heddle::tb
