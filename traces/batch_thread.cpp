#include "traces/batch_thread.hpp"

#include <algorithm>
#include <csignal>
#include <system_error>

namespace heddle::traces {

namespace {

// In the order of their begin.
std::vector<PausingThread*>& living() {
  static std::vector<PausingThread*> all;
  return all;
}

}  // namespace

PausingThread::PausingThread() {
  living().push_back(this);
}

PausingThread::~PausingThread() {
  std::erase(living(), this);
}

void PausingThread::pause_all() {
  const std::vector<PausingThread*>& all = living();
  std::for_each(all.rbegin(), all.rend(), [](PausingThread* one) { one->pause(); });
}

std::thread PausingThread::start(const std::function<void()>& run) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(run);
  } catch (const std::system_error&) {
    // Whoever asks for it does the work.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace heddle::traces
