#include "hw/state/thread_home.hpp"

namespace heddle::hw {

void RowThreads::look_at_each_lane() {
  if (!lanes_) {
    lanes_ = std::make_unique<std::array<HomeThread, isa::kLanes>>();
  }
  if (whole_ != nullptr) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      (*lanes_)[lane] = at(lane);
    }
    whole_ = nullptr;
  }
}

void RowThreads::take(unsigned lane) {
  look_at_each_lane();
  present_ &= ~(LaneMask{1} << lane);
}

void RowThreads::put(unsigned lane, const HomeThread& thread) {
  look_at_each_lane();
  (*lanes_)[lane] = thread;
  present_ |= LaneMask{1} << lane;
  if (present_ != lanes_of(*thread.home)) {
    return;
  }
  for (unsigned other = 0; other < thread.home->threads; ++other) {
    if ((*lanes_)[other] != HomeThread{thread.home, static_cast<std::uint8_t>(other)}) {
      return;
    }
  }
  whole_ = thread.home;
}

}  // namespace heddle::hw
