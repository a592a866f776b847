#include "traces/steps_thread.hpp"

#include <csignal>
#include <set>
#include <system_error>
#include <utility>

namespace heddle::traces {

namespace {

// Those that live; of the main thread alone.
std::set<StepsThread*>& living_threads() {
  static std::set<StepsThread*> all;
  return all;
}

}  // namespace

StepsThread::StepsThread(Work work) : work_(std::move(work)) {
  living_threads().insert(this);
}

StepsThread::~StepsThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  living_threads().erase(this);
}

void StepsThread::pause_all() {
  for (StepsThread* const one : living_threads()) {
    one->finish();
  }
}

void StepsThread::work_on_batches() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !batches_.empty(); });
    if (batches_.empty()) {
      return;
    }
    Batch& batch = batches_.front();  // stays where it is while others come
    lock.unlock();
    std::exception_ptr error;
    try {
      work_({batch.ops.data(), batch.count});
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) {
      error_ = error;
      batches_.clear();
    } else {
      empty_.push_back(std::move(batch.ops));
      batches_.pop_front();
    }
    changed_.notify_all();
    if (error) {
      return;
    }
  }
}

void StepsThread::hand_over(std::vector<link::WaveOp>& ops, std::size_t count) {
  if (failed_) {
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return error_ || batches_.size() < kAhead; });
  if (error_) {
    lock.unlock();
    finish();
    return;
  }
  batches_.push_back({std::move(ops), count});
  ops = {};
  if (!empty_.empty()) {
    ops = std::move(empty_.back());
    empty_.pop_back();
  }
  lock.unlock();
  changed_.notify_all();
  if (!thread_.joinable()) {
    start();
  }
}

// Signals are the main thread's.
void StepsThread::start() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { work_on_batches(); });
  } catch (const std::system_error&) {
    // The host lets this process have no more threads; the calling one works.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread_.joinable()) {
    finish();
  }
}

void StepsThread::finish() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
    ending_ = false;
  }
  if (error_) {
    failed_ = true;
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  for (const Batch& batch : std::exchange(batches_, {})) {  // where there was no thread
    failed_ = true;
    work_({batch.ops.data(), batch.count});
    failed_ = false;
  }
}

}  // namespace heddle::traces
