#include "tb/program/stopping.hpp"

#include <csignal>

namespace heddle::program {
namespace {

std::atomic<int> signal_number{0};
static_assert(std::atomic<int>::is_always_lock_free, "set by a signal handler");

void on_signal(int signal) {
  signal_number = signal;
  for (const int ending : {SIGINT, SIGTERM}) {
    ::signal(ending, SIG_DFL);  // a second one ends the program at once
  }
}

}  // namespace

void catch_stopping_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  for (const int ending : {SIGINT, SIGTERM}) {
    ::sigaction(ending, &action, nullptr);  // without SA_RESTART: waiting for a child ends
  }
}

const std::atomic<int>& stopped_by() {
  return signal_number;
}

}  // namespace heddle::program
