#include "tlm/calendar/thread_trial.hpp"

#include <algorithm>

namespace heddle::link {

bool ThreadTrial::look(std::uint64_t turns, std::uint64_t now) {
  turns_ += turns;
  taken_ += now - since_;
  since_ = now;
  if (most_ == 1 || taken_ < kWindow || turns_ == 0) {
    return false;
  }
  const unsigned before = threads_;
  end_of_window(static_cast<double>(taken_) / static_cast<double>(turns_));
  taken_ = 0;
  turns_ = 0;
  return threads_ != before;
}

void ThreadTrial::end_of_window(double per_turn) {
  if (hold_left_ != 0) {
    if (--hold_left_ == 0) {
      tried_ = most_;
      threads_ = 1;
    }
    return;
  }
  if (threads_ == 1) {
    alone_ = per_turn;
    threads_ = tried_;
    return;
  }
  gains_[pairs_++] = alone_ / per_turn;
  threads_ = 1;
  if (pairs_ != kPairs) {
    return;
  }
  pairs_ = 0;
  std::sort(gains_.begin(), gains_.end());
  if (gains_[kPairs / 2] >= kLeastGain) {
    find(tried_);
  } else if (tried_ > 2) {
    tried_ = std::max(tried_ / 2, 2U);
  } else {
    find(1);
  }
}

void ThreadTrial::find(unsigned threads) {
  tried_ = threads_ = threads;
  hold_left_ = hold_;
  hold_ *= 2;
}

}  // namespace heddle::link
