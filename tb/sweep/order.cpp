#include "tb/sweep/order.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <systemc>
#include <utility>

#include "base/error.hpp"
#include "tb/measure/run.hpp"

namespace heddle::tb::sweep {
namespace {

namespace json = boost::json;

constexpr int kNoMemory = 99;  // exit code of a run's process that got no more memory
constexpr std::size_t kLongestMessage = 2000;

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      ::_exit(static_cast<int>(ExitCode::internal_error));
    }
  }
}

std::string read_all(int file) {
  std::string out;
  std::array<char, 16384> buffer{};
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(file, buffer.data(), buffer.size(), at);
    if (got > 0) {
      out.append(buffer.data(), static_cast<std::size_t>(got));
      at += got;
    } else if (got == 0 || errno != EINTR) {
      return out;
    }
  }
}

void set_limit(__rlimit_resource kind, rlim_t soft, rlim_t hard) {
  rlimit now{};
  ::getrlimit(kind, &now);  // a limit that the user's shell set may be tighter
  const rlimit limit{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  ::setrlimit(kind, &limit);
}

// The kernel ends a process that takes too much, also when the sweep's own process is gone.
void apply(const RunLimits& limits) {
  set_limit(RLIMIT_CORE, 0, RLIM_INFINITY);
  if (limits.memory_mib != 0) {
    const auto bytes = static_cast<rlim_t>(limits.memory_mib) << 20U;
    set_limit(RLIMIT_AS, bytes, bytes);
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

RunReport do_run(const RunOrder& order) {
  RunRequest request;
  request.machine = order.machine;
  request.subject = order.workload;
  request.scale = order.scale;
  request.seed = order.seed;
  request.address_bits = order.address_bits;
  request.device.max_cycles = order.max_cycles;
  request.keep_texts = true;
  RunReport report;
  try {
    RunOutcome outcome = tb::run(request);
    report.message = outcome.record.stop_reason;
    switch (outcome.ending) {
      case RunOutcome::Ending::stopped:
        report.status = status::kStopped;
        break;
      case RunOutcome::Ending::faulted:
        report.status = status::kFault;
        break;
      case RunOutcome::Ending::finished: {
        const auto& verdict = outcome.record.verdict;
        const bool wrong = verdict && !verdict->correct;
        report.status = wrong ? status::kWrong : status::kDone;
        report.message = wrong ? verdict->detail : "";
        break;
      }
    }
    report.stats = std::move(outcome.stats_text);
    report.cost = outcome.cost;
  } catch (const InputError& error) {
    report.status = status::kRefused;
    report.message = error.what();
  } catch (const SimulatedFault& fault) {
    report.status = status::kFault;
    report.message = fault.what();
  } catch (const sc_core::sc_report& error) {
    report.status = status::kCrashed;
    report.message = fmt::format("internal error, reported by the SystemC kernel: {}", error.what());
  } catch (const std::exception& error) {
    report.status = status::kCrashed;
    report.message = fmt::format("internal error: {}", error.what());
  }
  return report;
}

[[noreturn]] void child(const RunOrder& order, const RunLimits& limits, const RunOutput& output) {
  ::dup2(output.log, STDOUT_FILENO);
  ::dup2(output.log, STDERR_FILENO);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGXCPU, SIGPIPE}) {
    ::signal(signal, SIG_DFL);
  }
  std::set_new_handler([] { ::_exit(kNoMemory); });
  apply(limits);
  write_all(output.report, report_text(do_run(order)));
  ::_exit(0);  // no destructor of the parent's objects, no second flush of its buffers
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  text.remove_prefix(text.rfind('\n') + 1);  // npos + 1 is 0
  return std::string(text.substr(0, kLongestMessage));
}

std::string seconds_text(double seconds) {
  return fmt::format("{:g} s", seconds);
}

}  // namespace

bool may_retry(std::string_view status) {
  return status == status::kTimeout || status == status::kMemory || status == status::kCrashed;
}

RunOutput::RunOutput()
    : report(::memfd_create("heddle-report", MFD_CLOEXEC)), log(::memfd_create("heddle-log", MFD_CLOEXEC)) {
  if (report < 0 || log < 0) {
    const int error = errno;
    ::close(report);
    throw InternalError(fmt::format("cannot make a file in memory: {}", std::strerror(error)));
  }
}

RunOutput::~RunOutput() {
  if (report >= 0) {
    ::close(report);
    ::close(log);
  }
}

RunOutput::RunOutput(RunOutput&& other) noexcept
    : report(std::exchange(other.report, -1)), log(std::exchange(other.log, -1)) {}

pid_t start_run(const RunOrder& order, const RunLimits& limits, const RunOutput& output) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) {
    throw InternalError(fmt::format("cannot make a process: {}", std::strerror(errno)));
  }
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
      ::_exit(static_cast<int>(ExitCode::internal_error));  // it died before it could take us with it
    }
    child(order, limits, output);
  }
  return process;
}

RunReport read_report(int wait_status, const RunLimits& limits, const RunOutput& output) {
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
    try {
      return parse_report(read_all(output.report), "the run's report");
    } catch (const InputError& error) {
      return {std::string(status::kCrashed), error.what(), {}, {}, {}, false};
    }
  }
  RunReport report;
  const std::string said = last_line(read_all(output.log));
  const int signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kNoMemory) {
    report.status = status::kMemory;
    report.message = limits.memory_mib == 0
                         ? "the host has no memory left"
                         : fmt::format("took more memory than the {} MiB of the limits", limits.memory_mib);
  } else if (signal == SIGALRM && limits.wall_seconds > 0) {
    report.status = status::kTimeout;
    report.message = fmt::format("took longer than the {} of the limits", seconds_text(limits.wall_seconds));
  } else if (signal == SIGXCPU && limits.cpu_seconds > 0) {
    report.status = status::kTimeout;
    report.message =
        fmt::format("took more CPU time than the {} of the limits", seconds_text(std::ceil(limits.cpu_seconds)));
  } else if (signal != 0) {
    report.status = status::kCrashed;
    report.message = fmt::format("ended by signal {} ({})", signal, ::strsignal(signal));
    report.interrupted = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  } else {
    report.status = status::kCrashed;
    report.message = fmt::format("ended with exit code {}", WEXITSTATUS(wait_status));
  }
  if (report.status == status::kCrashed && !said.empty()) {
    report.message += ": " + said;
  }
  return report;
}

std::string report_text(const RunReport& report) {
  json::object head{{"status", report.status}, {"message", report.message}, {"host", report.host}};
  put_cost(head, report.cost);
  head["statistics_bytes"] = report.stats.size();
  return json::serialize(head) + "\n" + report.stats;
}

RunReport parse_report(std::string_view text, const std::string& place) {
  try {
    const std::size_t end = text.find('\n');
    const json::value whole = json::parse(json::string_view(text.data(), std::min(end, text.size())));
    const json::object& head = whole.as_object();
    RunReport report;
    report.status = head.at("status").as_string().c_str();
    report.message = head.at("message").as_string().c_str();
    report.host = head.at("host").as_string().c_str();
    report.cost = cost_of(RecordedValue(whole, place));
    report.stats = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (report.stats.size() != head.at("statistics_bytes").to_number<std::uint64_t>()) {
      throw InputError({place}, "its end is missing");
    }
    return report;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError({place}, fmt::format("does not hold a run: {}", error.what()));
  }
}

}  // namespace heddle::tb::sweep
