// A thread of its own for work on batches, in the order of their coming, while whoever hands them over goes on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::traces {

// What such threads are to who knows nothing of their batches.
class PausingThread {
 public:
  PausingThread(const PausingThread&) = delete;
  PausingThread& operator=(const PausingThread&) = delete;

  // No thread works until more is handed over: before this process is copied, which copies no threads. The latest ones
  // first, as they may hand over to those that were there before. For the main thread, which makes and ends them, too.
  static void pause_all();

 protected:
  PausingThread();
  ~PausingThread();
  // All that has been handed over is done, and there is no thread until more is.
  virtual void pause() = 0;
  // Signals are the main thread's. None: the host lets this process have no more threads.
  [[nodiscard]] static std::thread start(const std::function<void()>& run);
};

template <class Batch>
class BatchThread final : PausingThread {
 public:
  // `work` is called by the thread, or where there is none by who hands over. `ahead`: batches that may be handed over
  // and not done, the one that is being worked on among them.
  using Work = std::function<void(Batch&)>;
  explicit BatchThread(Work work, std::size_t ahead = 16) : work_(std::move(work)), ahead_(ahead) {}
  ~BatchThread() { join(); }

  // Takes the batch and leaves one that has been worked on, as the work left it, or an empty one. What the work throws,
  // in whichever thread, is thrown by one of these calls or by finish(); nothing is worked on after that.
  void hand_over(Batch& batch) {
    if (failed_) {
      return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return error_ || batches_.size() < ahead_; });
    if (error_) {
      lock.unlock();
      finish();
      return;
    }
    batches_.push_back(std::exchange(batch, {}));
    if (!empty_.empty()) {
      batch = std::move(empty_.back());
      empty_.pop_back();
    }
    lock.unlock();
    changed_.notify_all();
    if (!thread_.joinable()) {
      thread_ = start([this] { work_on_batches(); });
      if (!thread_.joinable()) {
        finish();
      }
    }
  }

  // All that has been handed over is done, and there is no thread until more is.
  void finish() {
    join();
    if (error_) {
      failed_ = true;
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
    for (Batch& batch : std::exchange(batches_, {})) {  // where there was no thread
      failed_ = true;
      work_(batch);
      failed_ = false;
    }
  }

 private:
  void pause() override {
    finish();
    empty_.clear();  // a copy of the process need not have it
  }

  void join() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        ending_ = true;
      }
      changed_.notify_all();
      thread_.join();
      ending_ = false;
    }
  }

  void work_on_batches() {
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
        work_(batch);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error) {
        error_ = error;
        batches_.clear();
      } else {
        empty_.push_back(std::move(batch));
        batches_.pop_front();
      }
      changed_.notify_all();
      if (error) {
        return;
      }
    }
  }

  const Work work_;
  const std::size_t ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;  // the first one is being worked on
  std::vector<Batch> empty_;   // to be filled anew
  std::exception_ptr error_;
  bool failed_ = false;  // and has said so
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace heddle::traces
