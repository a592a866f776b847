#include "tb/program/stopping.hpp"

#include <csignal>

namespace heddle::program {
namespace {

constexpr int kStoppingSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> signal_number{0};
std::atomic<bool> signal_came{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "set by a signal handler");

void on_signal(int signal) {
  signal_number = signal;
  signal_came = true;
  for (const int stopping : kStoppingSignals) {
    ::signal(stopping, SIG_DFL);  // a second one ends the program at once
  }
}

}  // namespace

void catch_stopping_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  for (const int stopping : kStoppingSignals) {
    ::sigaddset(&action.sa_mask, stopping);  // none comes in between
  }
  for (const int stopping : kStoppingSignals) {
    struct sigaction before {};
    if (stopping == SIGHUP && ::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) {
      continue;
    }
    ::sigaction(stopping, &action, nullptr);  // without SA_RESTART: waiting for a child ends
  }
}

const std::atomic<int>& stopped_by() {
  return signal_number;
}

const std::atomic<bool>& stopped() {
  return signal_came;
}

}  // namespace heddle::program
