#include "os/process/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "os/process/descriptor.hpp"
#include "os/process/stopping.hpp"

namespace heddle::os {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = static_cast<int>(ExitCode::internal_error);
constexpr int kFirstFree = 3;  // above the standard streams, which redirections replace
constexpr const char* kNowhere = "/dev/null";

// Signals that something outside sends. Signals of the process's own faults keep what handles them (a sanitizer).
constexpr std::array kFromOutside = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,   SIGALRM, SIGTERM, SIGUSR1,
                                     SIGUSR2, SIGCHLD, SIGXCPU, SIGVTALRM, SIGPROF, SIGWINCH};

std::string found_on(const std::string& name, std::string rest) {
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    std::error_code ignored;
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, ignored)) {
      return candidate.string();
    }
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

// "NAME=value" of this process with the setup's in their place; the order of the rest stays.
std::vector<std::string> merged_environment(const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  for (const std::string& setting : more) {
    const std::string name = setting.substr(0, setting.find('=') + 1);
    std::erase_if(all, [&](const std::string& entry) { return entry.starts_with(name); });
    all.push_back(setting);
  }
  return all;
}

std::string path_in(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& entry : environment) {
    if (entry.starts_with(kName)) {
      return entry.substr(kName.size());
    }
  }
  return "/bin:/usr/bin";  // as execvp() has it
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) {
    out.push_back(word.data());
  }
  out.push_back(nullptr);
  return out;
}

// A descriptor above the standard streams' for what a stream shall lead to; none: it stays as it is.
Descriptor opened(const Redirection& to, bool reads, const std::string& program) {
  int number = -1;
  switch (to.kind) {
    case Redirection::Kind::inherited:
    case Redirection::Kind::output:
      return Descriptor();
    case Redirection::Kind::descriptor:
      number = ::fcntl(to.number, F_DUPFD_CLOEXEC, kFirstFree);
      if (number < 0) {
        throw StartError(program, fmt::format("descriptor {}: {}", to.number, std::strerror(errno)));
      }
      return Descriptor(number);
    case Redirection::Kind::nothing:
    case Redirection::Kind::file:
      break;
  }
  const char* const path = to.kind == Redirection::Kind::nothing ? kNowhere : to.path.c_str();
  number = ::open(path, (reads ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC) | O_CLOEXEC, 0666);
  if (number < 0) {
    throw StartError(program, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  const Descriptor low(number);
  return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, kFirstFree));
}

struct Streams {
  Streams(const ProcessSetup& setup, const std::string& program)
      : in(opened(setup.in, true, program)),
        out(opened(setup.out, false, program)),
        err(opened(setup.err, false, program)),
        joined(setup.err.kind == Redirection::Kind::output) {}
  Descriptor in, out, err;
  bool joined;
};

void set_limit(__rlimit_resource kind, rlim_t soft, rlim_t hard) {
  rlimit now{};
  ::getrlimit(kind, &now);  // a limit that the user's shell set may be tighter
  const rlimit limit{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  ::setrlimit(kind, &limit);
}

void apply(const ProcessLimits& limits) {
  if (!limits.core_dumps) {
    set_limit(RLIMIT_CORE, 0, RLIM_INFINITY);
  }
  if (limits.memory_bytes != 0) {
    set_limit(RLIMIT_AS, limits.memory_bytes, limits.memory_bytes);
  }
  if (limits.cpu_seconds > 0) {  // counted in whole seconds; SIGKILL a little later, should SIGXCPU not suffice
    const auto seconds = static_cast<rlim_t>(std::ceil(limits.cpu_seconds));
    set_limit(RLIMIT_CPU, seconds, seconds + 5);
  }
  if (limits.wall_seconds > 0) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(limits.wall_seconds);
    timer.it_value.tv_usec = static_cast<suseconds_t>(std::fmod(limits.wall_seconds, 1.0) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) {
      timer.it_value.tv_usec = 1;
    }
    ::setitimer(ITIMER_REAL, &timer, nullptr);  // SIGALRM's usual action ends the process
  }
}

// What went wrong in the child before it was what it should be; goes through a pipe.
struct Failure {
  enum class Step { none, folder, program } step = Step::none;
  int error = 0;
};

// The child's side, between fork and its work: calls only what is safe there.
Failure settle(const ProcessSetup& setup, const Streams& streams, pid_t parent) {
  if (setup.own_group) {
    ::setpgid(0, 0);
  }
  if (setup.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
      ::_exit(kFailed);  // the parent died before it could take this process with it
    }
  }
  if (streams.in.open()) {
    ::dup2(streams.in.number(), STDIN_FILENO);
  }
  if (streams.out.open()) {
    ::dup2(streams.out.number(), STDOUT_FILENO);
  }
  if (streams.joined || streams.err.open()) {
    ::dup2(streams.joined ? STDOUT_FILENO : streams.err.number(), STDERR_FILENO);
  }
  if (!setup.folder.empty() && ::chdir(setup.folder.c_str()) != 0) {
    return {Failure::Step::folder, errno};
  }
  apply(setup.limits);
  for (const int signal : kFromOutside) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      ::signal(signal, SIG_DFL);
    }
  }
  return {};
}

// Forks while no signal can come in; the child's mask is this process's again when `become` is called.
template <class Become>
pid_t forked(const ProcessSetup& setup, const std::string& program, const Become& become) {
  const Streams streams(setup, program);
  const pid_t parent = ::getpid();
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  const int error = errno;
  if (child == 0) {
    const Failure failure = settle(setup, streams, parent);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    become(failure);
    ::_exit(kFailed);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) {
    throw StartError(program, fmt::format("there can be no further process: {}", std::strerror(error)));
  }
  if (setup.own_group) {
    ::setpgid(child, child);  // whichever comes first
  }
  return child;
}

}  // namespace

StartError::StartError(const std::string& program, std::string reason)
    : InternalError(fmt::format("cannot start {}: {}", program, reason)), reason_(std::move(reason)) {}

std::string ProcessEnd::text() const {
  return signal == 0 ? fmt::format("exit code {}", exit_code)
                     : fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

ChildProcess ChildProcess::start(const std::vector<std::string>& words, const ProcessSetup& setup) {
  std::vector<std::string> copies = words;
  std::vector<std::string> environment = merged_environment(setup.environment);
  const std::string& name = words.front();
  const std::string program = name.find('/') != std::string::npos ? name : found_on(name, path_in(environment));
  if (program.empty()) {
    throw StartError(name, std::strerror(ENOENT));
  }
  const std::vector<char*> arguments = pointers_to(copies);
  const std::vector<char*> settings = pointers_to(environment);
  Pipe failures = make_pipe();
  Descriptor high(::fcntl(failures.writes.number(), F_DUPFD_CLOEXEC, kFirstFree));
  if (!high.open()) {
    no_descriptor("a pipe");
  }
  failures.writes.close();
  const pid_t child = forked(setup, name, [&](Failure failure) {
    if (failure.step == Failure::Step::none) {
      ::execve(program.c_str(), arguments.data(), settings.data());
      failure = {Failure::Step::program, errno};
    }
    static_cast<void>(write_all(high.number(), {reinterpret_cast<const char*>(&failure), sizeof failure}));
  });
  high.close();
  const std::string said = read_all(failures.reads.number());
  ChildProcess out(child, setup.own_group);
  if (said.size() == sizeof(Failure)) {
    Failure failure;
    std::memcpy(&failure, said.data(), sizeof failure);
    out.wait();
    const std::string reason = std::strerror(failure.error);
    throw StartError(name, failure.step == Failure::Step::folder ? setup.folder + ": " + reason : reason);
  }
  return out;
}

ChildProcess ChildProcess::copy(const std::function<int()>& work, const ProcessSetup& setup) {
  std::fflush(nullptr);  // or both processes write what is in the buffers
  const pid_t child = forked(setup, "a copy of this process", [&](const Failure& failure) {
    int code = kFailed;
    try {
      code = failure.step == Failure::Step::none ? work() : kFailed;
    } catch (...) {  // the caller's work says what went wrong where that matters
      code = kFailed;
    }
    ::_exit(code);
  });
  return {child, setup.own_group};
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : id_(std::exchange(other.id_, -1)), group_(other.group_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(group_, other.group_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (id_ > 0) {
    send(SIGKILL);
    static_cast<void>(take(0));
  }
}

std::optional<ProcessEnd> ChildProcess::take(int options) {
  if (id_ <= 0) {
    throw InternalError("a process is waited for once more");
  }
  int status = 0;
  rusage used{};
  pid_t got = 0;
  do {
    got = ::wait4(id_, &status, options, &used);
  } while (got < 0 && errno == EINTR);
  if (got == 0) {
    return std::nullopt;
  }
  id_ = -1;
  ProcessEnd end;
  if (got < 0) {  // another part of the process has waited for it
    end.exit_code = kFailed;
    return end;
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  end.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  end.peak_memory_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  return end;
}

ProcessEnd ChildProcess::wait() {
  return *take(0);
}

std::optional<ProcessEnd> ChildProcess::poll() {
  return take(WNOHANG);
}

void ChildProcess::send(int signal) const {
  if (id_ > 0) {
    ::kill(group_ ? -id_ : id_, signal);
  }
}

namespace {

// What the program that `end_of` starts and waits for prints.
template <class EndOf>
Finished finished(ProcessSetup& setup, const EndOf& end_of) {
  const Descriptor out = memory_file("heddle-output");
  const Descriptor err = memory_file("heddle-errors");
  setup.out = Redirection::descriptor(out.number());
  if (setup.err.kind != Redirection::Kind::output) {
    setup.err = Redirection::descriptor(err.number());
  }
  const ProcessEnd end = end_of();
  return {end, file_text(out.number()), file_text(err.number())};
}

// Signals the whole group, and kills it where that does not end the process within two seconds.
void end_group(ChildProcess& child, int signal, useconds_t interval) {
  constexpr useconds_t kPatience = 2'000'000;
  child.send(signal);
  for (useconds_t waited = 0; waited < kPatience; waited += interval) {
    if (child.poll()) {
      return;
    }
    ::usleep(interval);
  }
}

}  // namespace

Finished run_program(const std::vector<std::string>& words, ProcessSetup setup) {
  return finished(setup, [&] { return ChildProcess::start(words, setup).wait(); });
}

Finished run_program_or_stop(const std::vector<std::string>& words, ProcessSetup setup, const std::string& during) {
  return finished(setup, [&] { return wait_or_stop(words, setup, during); });
}

ProcessEnd wait_or_stop(const std::vector<std::string>& words, ProcessSetup setup, const std::string& during) {
  constexpr useconds_t kInterval = 2000;  // microseconds between two looks
  setup.own_group = true;                 // the terminal's signals come by way of this process
  setup.dies_with_parent = true;
  const StopsOrderly caught;
  ChildProcess child = ChildProcess::start(words, setup);
  for (;;) {
    if (const int signal = stopped_by(); signal != 0) {
      end_group(child, signal, kInterval);
      throw Stopped(signal, during);  // what has not ended is killed
    }
    if (const std::optional<ProcessEnd> end = child.poll()) {
      return *end;
    }
    ::usleep(kInterval);
  }
}

std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  return found_on(name, path == nullptr ? "" : path);
}

std::string own_program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    throw InternalError("the program cannot find its own file");
  }
  return path.string();
}

}  // namespace heddle::os
