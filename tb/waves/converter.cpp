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

#include "base/error.hpp"
#include "tb/measure/output_file.hpp"

extern char** environ;

namespace heddle::tb {

namespace fs = std::filesystem;

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
      "install GTKWave (Debian package gtkwave), or write a .vcd.gz file, which it opens too"};
  return program;
}

const ConverterProgram& svg_converter() {
  static const ConverterProgram program{"dot",
                                        {"-Tsvg", "-o"},
                                        "an SVG picture is made by Graphviz' dot, which is not installed",
                                        "install Graphviz (Debian package graphviz), or write its input with --dot"};
  return program;
}

Converter::Converter(const std::string& path, const ConverterProgram& called)
    : name_(called.name), path_(path), temporary_(temporary_name(path)) {
  const std::string program = find_program(called.name);
  if (program.empty()) {
    throw InputError({path}, called.missing, called.hint);
  }
  // What the converter would only say at its end.
  const int probe = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (probe < 0 || fs::is_directory(path)) {
    throw InputError({path}, fmt::format("cannot be written: {}", std::strerror(probe < 0 ? errno : EISDIR)));
  }
  ::close(probe);
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
  if (pipe_ >= 0) {
    ::close(pipe_);
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
      throw InputError({path_}, name_ + " has ended before it had everything", "is the disk full?");
    }
  }
}

void Converter::commit() {
  ::close(pipe_);
  pipe_ = -1;
  if (!wait() || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    ::unlink(temporary_.c_str());
    throw InputError({path_}, name_ + " could not write it", "is the disk full?");
  }
}

}  // namespace heddle::tb
