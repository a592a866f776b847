#include "hw/state/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/set_bits.hpp"

namespace heddle::hw {

namespace {

template <class Visit>
void each_thread(const link::SubWarp& sub_warp, Visit visit) {
  for (const unsigned lane : set_bits(sub_warp.lanes)) {
    visit(sub_warp.row_of(lane), sub_warp.home_of(lane));
  }
}

}  // namespace

void Invariants::reset() {
  std::fill(in_flight_.begin(), in_flight_.end(), 0);
  std::fill(last_read_.begin(), last_read_.end(), link::kNever);
}

void Invariants::formed(const link::SubWarp& sub_warp) {
  each_thread(sub_warp, [&](unsigned row, unsigned home) {
    const LaneMask bit = LaneMask{1} << home;
    if ((in_flight_[row] & bit) != 0) {
      throw InternalError(fmt::format("PC {}: the thread of register row {}, lane {} is in two sub-warps in flight",
                                      sub_warp.pc, row, home));
    }
    in_flight_[row] |= bit;
  });
}

void Invariants::all_formed(const Group& group, std::span<const LaneMask> active, std::span<const LaneMask> formed,
                            std::span<const LaneMask> left_out) {
  for (std::size_t row = 0; row < active.size(); ++row) {
    if ((formed[row] & left_out[row]) != 0 || (formed[row] | left_out[row]) != active[row]) {
      throw InternalError(
          fmt::format("group {}, PC {}, row {}: active threads {:08x}, in sub-warps {:08x}, left out "
                      "{:08x}",
                      group.id, group.pc, row, active[row], formed[row], left_out[row]));
    }
  }
}

void Invariants::read(const link::SubWarp& sub_warp, link::Cycle now) {
  if (sub_warp.displaced) {
    return;
  }
  each_thread(sub_warp, [&](unsigned, unsigned home) {
    if (last_read_[home] == now) {
      throw InternalError(fmt::format("PC {}: register bank {} is read twice in cycle {}", sub_warp.pc, home, now));
    }
    last_read_[home] = now;
  });
}

void Invariants::retired(const link::SubWarp& sub_warp) {
  each_thread(sub_warp, [&](unsigned row, unsigned home) { in_flight_[row] &= ~(LaneMask{1} << home); });
}

}  // namespace heddle::hw
