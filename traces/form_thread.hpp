// Another form, written by a thread of its own while the simulation goes on: the same calls in the same order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "traces/wave_form.hpp"

namespace heddle::traces {

class FormThread final : public WaveForm {
 public:
  explicit FormThread(std::unique_ptr<WaveForm> form);
  ~FormThread() override;

  void begin(const Head& head) override { form_->begin(head); }
  void time(std::uint64_t time) override;
  void first_values(bool begin) override;
  void changes(std::span<const link::WaveLog::Change> changes) override;
  void unknown(std::uint32_t wave) override;
  void text(std::size_t variable, const std::string& value) override;
  // What the form throws, in whichever thread, is thrown by one of these calls, this one at the latest.
  void end() override;

  // No thread writes until more is told: before this process is copied, which copies no threads.
  static void pause_all();

 private:
  static constexpr std::size_t kChanges = std::size_t{1} << 15U;  // of a batch
  static constexpr std::size_t kAhead = 4;                        // batches that wait
  struct Step {
    std::uint64_t time;
    std::size_t end;  // of its changes
  };
  struct Batch {
    std::vector<Step> steps;
    std::vector<link::WaveLog::Change> changes;
  };

  void hand_over();
  // All that has been told is written, and there is no thread.
  void finish();
  void write_batches();
  void write(const Batch& batch);

  const std::unique_ptr<WaveForm> form_;
  Batch present_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;   // the first one is being written
  std::vector<Batch> written_;  // to be filled anew
  std::exception_ptr error_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace heddle::traces
