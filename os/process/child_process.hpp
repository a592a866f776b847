// Child processes: other programs, and copies of this process that do a piece of its work. The one place that makes
// any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace heddle::os {

// A process that could not be started. what(): "cannot start clang++: No such file or directory".
class StartError : public InternalError {
 public:
  StartError(const std::string& program, std::string reason);
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }  // "No such file or directory"

 private:
  std::string reason_;
};

// How a process ended, and what it took.
struct ProcessEnd {
  int exit_code = 0;  // of one that no signal ended
  int signal = 0;     // that ended it; 0: none did
  double cpu_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;  // largest resident set

  [[nodiscard]] bool good() const { return signal == 0 && exit_code == 0; }
  // As a shell says it in one number: 128 + n for signal n.
  [[nodiscard]] int shell_code() const { return signal == 0 ? exit_code : 128 + signal; }
  [[nodiscard]] std::string text() const;  // "exit code 3", "signal 9 (Killed)"
};

// Where a standard stream of the child leads.
struct Redirection {
  enum class Kind { inherited, nothing, file, descriptor, output };
  Kind kind = Kind::inherited;
  std::string path;
  int number = -1;

  // As this process's; nothing comes in and nothing is kept (/dev/null); a file, which is emptied or made first.
  [[nodiscard]] static Redirection inherited() { return {}; }
  [[nodiscard]] static Redirection nothing() { return {Kind::nothing, {}, -1}; }
  [[nodiscard]] static Redirection file(std::string path) { return {Kind::file, std::move(path), -1}; }
  // An open descriptor of this process, which keeps it.
  [[nodiscard]] static Redirection descriptor(int number) { return {Kind::descriptor, {}, number}; }
  // Of the errors: into what the output leads to.
  [[nodiscard]] static Redirection output() { return {Kind::output, {}, -1}; }
};

// What the kernel ends a process for, also when the process that started it is gone. 0: no limit of ours; a limit that
// is tighter already stays.
struct ProcessLimits {
  std::uint64_t memory_bytes = 0;  // of address space
  double cpu_seconds = 0;          // rounded up: SIGXCPU, and SIGKILL five seconds later
  double wall_seconds = 0;         // SIGALRM
  bool core_dumps = true;
};

struct ProcessSetup {
  std::string folder = {};                    // working directory; empty: this process's
  std::vector<std::string> environment = {};  // "NAME=value", in addition to this process's or instead
  Redirection in = Redirection::nothing();
  Redirection out = Redirection::inherited();
  Redirection err = Redirection::inherited();
  ProcessLimits limits = {};
  bool own_group = false;         // the terminal's signals do not reach it; send() reaches all that it has started
  bool dies_with_parent = false;  // SIGKILL when this process ends, however it does
};

// A process that runs, or has ended and not been waited for. Destroyed in between, it is killed.
//
// A signal that arrives while the child is made reaches it with its usual action, or ignored where this process ignores
// it, never through a handler of this process.
class ChildProcess {
 public:
  // Starts a program: words[0], found on the PATH (the child's) when it has no slash. Throws StartError, also for a
  // folder or a file that cannot be opened.
  [[nodiscard]] static ChildProcess start(const std::vector<std::string>& words, const ProcessSetup& setup = {});
  // Starts a copy of this very process, which does `work` and ends with the exit code that it returns; an exception is
  // exit code 4. No destructor of this process's objects runs there and none of its buffers is written. Call while this
  // process has one thread only and no elaborated SystemC design. Throws StartError.
  [[nodiscard]] static ChildProcess copy(const std::function<int()>& work, const ProcessSetup& setup = {});

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  [[nodiscard]] pid_t id() const { return id_; }
  // Until it has ended. Once only.
  ProcessEnd wait();
  // Nothing while it runs.
  [[nodiscard]] std::optional<ProcessEnd> poll();
  // Sends a signal to it, or to its group.
  void send(int signal) const;

 private:
  ChildProcess(pid_t id, bool group) : id_(id), group_(group) {}
  [[nodiscard]] std::optional<ProcessEnd> take(int options);
  pid_t id_ = -1;  // -1: waited for
  bool group_ = false;
};

// A program that has run to its end, and what it printed.
struct Finished {
  ProcessEnd end;
  std::string out;
  std::string err;
};
// `setup` says where the streams lead only for the input: the others are caught. Throws StartError.
[[nodiscard]] Finished run_program(const std::vector<std::string>& words, ProcessSetup setup = {});

// As run_program(), and the end alone, for programs that take their time: a signal that ends this process in an orderly
// way (stopping.hpp) ends the program and all that it has started. Throws Stopped then; `during` is what was done
// meanwhile: "while k.cu was compiled".
[[nodiscard]] Finished run_program_or_stop(const std::vector<std::string>& words, ProcessSetup setup,
                                           const std::string& during);
[[nodiscard]] ProcessEnd wait_or_stop(const std::vector<std::string>& words, ProcessSetup setup,
                                      const std::string& during);

// The full name of a program on the PATH; empty when there is none.
[[nodiscard]] std::string find_program(const std::string& name);

// The path of this very program. Throws InternalError.
[[nodiscard]] std::string own_program();

}  // namespace heddle::os
