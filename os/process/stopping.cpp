#include "os/process/stopping.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

#include "os/files/noted_files.hpp"

namespace heddle::os {
namespace {

constexpr std::array kStoppingSignals = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> signal_number{0};
std::atomic<bool> signal_came{false};
std::atomic<bool> at_once{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "set by a signal handler");

// Written by hand: nothing else may be called in a handler.
void say(int signal) {
  char text[] = "heddle: ended by signal   \n";
  char* const digits = text + sizeof text - 4;
  digits[0] = static_cast<char>('0' + signal / 10);
  digits[1] = static_cast<char>('0' + signal % 10);
  static_cast<void>(!::write(STDERR_FILENO, text, sizeof text - 1));
}

void on_signal(int signal) {
  if (at_once) {
    remove_noted_files();
    say(signal);
    ::_exit(128 + signal);
  }
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

StopsAtOnce::StopsAtOnce(const std::string& during) {
  at_once = true;
  if (const int signal = signal_number; signal != 0) {
    at_once = false;
    throw Stopped(signal, during);
  }
}

StopsAtOnce::~StopsAtOnce() {
  at_once = false;
}

StopsOrderly::StopsOrderly() {
  for (std::size_t i = 0; i != kStoppingSignals.size(); ++i) {
    ::sigaction(kStoppingSignals[i], nullptr, &before_[i]);
  }
  if (signal_number == 0) {
    catch_stopping_signals();
  }
}

StopsOrderly::~StopsOrderly() {
  for (std::size_t i = 0; i != kStoppingSignals.size() && signal_number == 0; ++i) {
    ::sigaction(kStoppingSignals[i], &before_[i], nullptr);
  }
}

Stopped::Stopped(int signal, const std::string& during)
    : std::runtime_error(fmt::format("ended by signal {} ({}) {}", signal, ::strsignal(signal), during)),
      signal_(signal) {}

const std::atomic<int>& stopped_by() {
  return signal_number;
}

const std::atomic<bool>& stopped() {
  return signal_came;
}

}  // namespace heddle::os
