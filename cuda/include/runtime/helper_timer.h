/* Of NVIDIA's code samples, from release 5 on: timers of the host's clock, in milliseconds. They have the time that the
   simulation takes; cudaEventElapsedTime has the kernels' own (docs/cuda.md). C++ alone. */
#ifndef COMMON_HELPER_TIMER_H_
#define COMMON_HELPER_TIMER_H_

#include <chrono>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

class StopWatchInterface {
 public:
  StopWatchInterface() {}
  virtual ~StopWatchInterface() {}

  virtual void start() = 0;
  virtual void stop() = 0;
  virtual void reset() = 0;
  virtual float getTime() = 0;
  virtual float getAverageTime() = 0;
};

class StopWatchLinux : public StopWatchInterface {
 public:
  void start() override {
    began_ = Clock::now();
    runs_ = true;
  }
  void stop() override {
    total_ += since();
    ++ended_;
    runs_ = false;
  }
  void reset() override {
    total_ = 0;
    ended_ = 0;
    if (runs_) began_ = Clock::now();
  }
  // With what a timer that runs has counted so far.
  float getTime() override { return static_cast<float>(total_ + since()); }
  // For each time that the timer was started and stopped.
  float getAverageTime() override { return ended_ == 0 ? 0.0f : static_cast<float>(total_ / ended_); }

 private:
  typedef std::chrono::steady_clock Clock;
  double since() const {
    return runs_ ? std::chrono::duration<double, std::milli>(Clock::now() - began_).count() : 0.0;
  }

  Clock::time_point began_;
  double total_ = 0;
  int ended_ = 0;
  bool runs_ = false;
};

/* False where there is no timer. */
inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchLinux;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  const bool there = *timer != nullptr;
  delete *timer;
  *timer = nullptr;
  return there;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
  if (*timer != nullptr) (*timer)->start();
  return *timer != nullptr;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
  if (*timer != nullptr) (*timer)->stop();
  return *timer != nullptr;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
  if (*timer != nullptr) (*timer)->reset();
  return *timer != nullptr;
}
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
  return *timer != nullptr ? (*timer)->getAverageTime() : 0.0f;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) {
  return *timer != nullptr ? (*timer)->getTime() : 0.0f;
}

#endif
