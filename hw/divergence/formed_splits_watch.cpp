// What is shown of warp-splits that join across warps, and whether what is held of them fits together.
#include <fmt/format.h>

#include "base/set_bits.hpp"
#include "hw/divergence/formed_splits.hpp"

namespace heddle::hw {

// Of each warp that has threads in the group: its running threads are each in one group or have arrived, and a waiting
// entry of its stack holds none of them, or, of a join, all.
std::string FormedSplits::inconsistency(const Group& group) const {
  std::string wrong = places_.inconsistency();
  each_warp(group, group.active[0], [&](std::uint16_t row, LaneMask) {
    const Warp& warp = warps_[row];
    LaneMask held = warp.arrived;
    for (const Group& other : groups_.all()) {
      if (other.state == GroupState::free) {
        continue;
      }
      for (const unsigned lane : set_bits(other.active[0])) {
        if (other.lane_row[lane] != row) {
          continue;
        }
        const LaneMask bit = LaneMask{1} << other.lane_home[lane];
        if ((held & bit) != 0) {
          wrong = fmt::format("register row {}: thread {} is in two groups, or waits and runs", row, lane);
        }
        held |= bit;
      }
    }
    if (held != warp.running) {
      wrong =
          fmt::format("register row {}: the groups hold {:08x} of the running threads {:08x}", row, held, warp.running);
    }
    if (const auto torn = warp.stack.tears(held)) {
      wrong = fmt::format("register row {}: the entry for PC {} holds some of the running threads", row, *torn);
    }
  });
  return wrong;
}

std::string FormedSplits::describe(const Group& group) const {
  std::string text = fmt::format("{} threads{}", group.active_threads(), text_of(state_[group.id].waits));
  each_warp(group, group.active[0], [&](std::uint16_t row, LaneMask lanes) {
    const Warp& warp = warps_[row];
    text += fmt::format("; lanes {:08x} of register row {}: {:08x} run, {:08x} have arrived, {} stack entries", lanes,
                        row, warp.running, warp.arrived, warp.stack.size());
  });
  return text;
}

}  // namespace heddle::hw
