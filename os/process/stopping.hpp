// Commands end in an orderly way at the first SIGINT, SIGTERM or SIGHUP, and at once at the second.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <stdexcept>
#include <string>

namespace heddle::os {

// A hang-up that is ignored (nohup) stays so.
void catch_stopping_signals();

// The signal's number, 0 before it came.
[[nodiscard]] const std::atomic<int>& stopped_by();
// It came. Set after the number.
[[nodiscard]] const std::atomic<bool>& stopped();

// The signals are caught while it lives; then each has the action again that it had before, unless one has come.
class StopsOrderly {
 public:
  StopsOrderly();
  ~StopsOrderly();
  StopsOrderly(const StopsOrderly&) = delete;
  StopsOrderly& operator=(const StopsOrderly&) = delete;

 private:
  std::array<struct sigaction, 3> before_{};
};

// While it lives, such a signal ends the process there and then, with the exit code that shells have for it, and its
// temporary files and locks go: for work that takes its time and does not look for signals. Throws Stopped when one has
// come already. Signals that are not caught end the process by themselves.
class StopsAtOnce {
 public:
  explicit StopsAtOnce(const std::string& during);
  ~StopsAtOnce();
  StopsAtOnce(const StopsAtOnce&) = delete;
  StopsAtOnce& operator=(const StopsAtOnce&) = delete;
};

// A command has been ended by such a signal before it came to a result. what(): "ended by signal 15 (Terminated) while
// k.cu was compiled".
class Stopped : public std::runtime_error {
 public:
  Stopped(int signal, const std::string& during);
  [[nodiscard]] int signal() const noexcept { return signal_; }

 private:
  int signal_;
};

}  // namespace heddle::os
