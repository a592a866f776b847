// How many host threads to have, found by trial: whether several are faster than one depends on the host, on who else
// uses it, and on what the machine does just now. No SystemC, and no clock of its own: who asks gives the time.
//
//   ThreadTrial(most)     from one thread to so many
//   threads()             to have now
//   resumes, pauses       work begins and ends: what the host does in between does not count
//   look(turns, now)      between two cycles; so many turns have been had since the last look. Whether threads() is
//                         another number now
//
// Time is cut into windows of kWindow nanoseconds of work. One thread and `most` of them take windows in turns. The
// number that is tried must have its turns faster, by kLeastGain, than the one thread in the window right before, in
// most of kPairs such pairs. If it does not, half of it is tried, and so on down to one. What is found holds for kHold
// windows, then for twice as many each time, and is looked for anew: a program may change what it does.
#pragma once

#include <array>
#include <cstdint>

namespace heddle::link {

class ThreadTrial {
 public:
  static constexpr std::uint64_t kWindow = 5'000'000;
  static constexpr unsigned kPairs = 3;
  static constexpr double kLeastGain = 1.05;
  static constexpr std::uint64_t kHold = 128;

  explicit ThreadTrial(unsigned most) : most_(most), tried_(most) {}

  [[nodiscard]] unsigned most() const { return most_; }
  [[nodiscard]] unsigned threads() const { return threads_; }
  // The number that is compared with one thread, or was found.
  [[nodiscard]] unsigned tried() const { return tried_; }
  [[nodiscard]] bool found() const { return hold_left_ != 0; }

  void resumes(std::uint64_t now) { since_ = now; }
  void pauses(std::uint64_t now) { taken_ += now - since_; }
  [[nodiscard]] bool look(std::uint64_t turns, std::uint64_t now);
  // The host does not let the process have more than one.
  void give_up() {
    most_ = tried_ = threads_ = 1;
    hold_left_ = 1;
  }

 private:
  void end_of_window(double per_turn);
  void find(unsigned threads);

  unsigned most_;
  unsigned tried_;
  unsigned threads_ = 1;
  // The present window.
  std::uint64_t since_ = 0;  // not in taken_ yet
  std::uint64_t taken_ = 0;  // nanoseconds
  std::uint64_t turns_ = 0;
  // The present trial.
  double alone_ = 0;                    // nanoseconds per turn of one thread, in the window before
  std::array<double, kPairs> gains_{};  // times as fast
  unsigned pairs_ = 0;
  std::uint64_t hold_ = kHold;
  std::uint64_t hold_left_ = 0;  // windows for which what was found holds; 0: it is being looked for
};

}  // namespace heddle::link
