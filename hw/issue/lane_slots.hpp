// When the narrow lanes of a sub-core take another operation, as its scheduler knows it: lanes of a kind that are fewer
// than a warp's threads (core.integer_interval and its like) are taken for several cycles, in which the scheduler
// issues operations of other kinds (MICRO 2025, section 5.1: a warp issues whose unit's latch is free). Issue and lanes
// are a constant time apart. Plain C++.
#pragma once

#include <algorithm>
#include <array>

#include "hw/parameters/machine.hpp"
#include "isa/instruction.hpp"
#include "tlm/cycle.hpp"

namespace heddle::hw {

class LaneSlots {
 public:
  explicit LaneSlots(const CoreParameters& core)
      : intervals_{core.integer_interval, core.float_interval, core.double_interval},
        narrow_(*std::max_element(intervals_.begin(), intervals_.end()) > 1) {}

  // The cycle from which on an operation of the kind can issue, `now` at the earliest.
  [[nodiscard]] link::Cycle free_at(isa::LaneKind kind, link::Cycle now) const {
    return narrow_ && kind != isa::LaneKind::other ? std::max(free_at_[static_cast<std::size_t>(kind)], now) : now;
  }
  // An operation of the kind issues.
  void take(isa::LaneKind kind, link::Cycle now) {
    if (narrow_ && kind != isa::LaneKind::other) {
      free_at_[static_cast<std::size_t>(kind)] = now + intervals_[static_cast<std::size_t>(kind)];
    }
  }

 private:
  std::array<link::Cycle, isa::kLaneKinds> intervals_;  // by LaneKind
  bool narrow_;                                         // some of them are above 1
  std::array<link::Cycle, isa::kLaneKinds> free_at_{};
};

}  // namespace heddle::hw
