#include "tb/measure/host_cost.hpp"

#include <sys/resource.h>

#include <ctime>
#include <utility>

namespace heddle::tb {
namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Clocks before_this_process;  // what to add to its own

}  // namespace

double wall_clock() {
  return before_this_process.wall + seconds_of(CLOCK_MONOTONIC);
}
double cpu_clock() {
  return before_this_process.cpu + seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
Clocks clocks() {
  return {wall_clock(), cpu_clock()};
}
void continue_clocks(const Clocks& then) {
  const Clocks now = clocks();
  before_this_process.wall += then.wall - now.wall;
  before_this_process.cpu += then.cpu - now.cpu;
}
double children_cpu_clock() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::uint64_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

void TimedExecutor::launch(const isa::LaunchRequest& request) {
  // Adds up on every way out, a fault included.
  struct Stopwatch {
    TimedExecutor& owner;
    double wall = wall_clock();
    double cpu = cpu_clock();
    ~Stopwatch() {
      owner.wall_seconds_ += wall_clock() - wall;
      owner.cpu_seconds_ += cpu_clock() - cpu;
    }
  } stopwatch{*this};
  executor_.launch(request);
}

}  // namespace heddle::tb
