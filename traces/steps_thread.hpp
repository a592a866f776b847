// A thread of its own for what is told of waves, while the simulation goes on: batches, in the order of their coming.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "tlm/wave_steps.hpp"

namespace heddle::traces {

class StepsThread final {
 public:
  static constexpr std::size_t kBatch = std::size_t{1} << 15U;  // ops of a batch, about
  // `work` is called by the thread, or where there is none by who hands over.
  using Work = std::function<void(std::span<const link::WaveOp>)>;
  explicit StepsThread(Work work);
  ~StepsThread();
  StepsThread(const StepsThread&) = delete;
  StepsThread& operator=(const StepsThread&) = delete;

  // Takes the vector, whose first `count` are a batch, and leaves another one. What the work throws, in whichever
  // thread, is thrown by one of these calls or by finish(); nothing is worked on after that.
  void hand_over(std::vector<link::WaveOp>& ops, std::size_t count);
  // All that has been handed over is done, and there is no thread until more is.
  void finish();

  // No thread works until more is handed over: before this process is copied, which copies no threads.
  static void pause_all();

 private:
  static constexpr std::size_t kAhead = 4;  // batches that wait
  struct Batch {
    std::vector<link::WaveOp> ops;
    std::size_t count;
  };

  void work_on_batches();
  void start();

  const Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;                     // the first one is being worked on
  std::vector<std::vector<link::WaveOp>> empty_;  // to be filled anew
  std::exception_ptr error_;
  bool failed_ = false;  // and has said so
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace heddle::traces
