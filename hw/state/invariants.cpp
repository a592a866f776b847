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

void Invariants::begin(std::uint32_t pc, unsigned row, unsigned lane) {
  const LaneMask bit = LaneMask{1} << lane;
  if ((in_flight_[row] & bit) != 0) {
    throw InternalError(
        fmt::format("PC {}: the thread of register row {}, lane {} is in two sub-warps in flight", pc, row, lane));
  }
  in_flight_[row] |= bit;
}

void Invariants::read(std::uint32_t pc, unsigned bank, link::Cycle now) {
  if (last_read_[bank] == now) {
    throw InternalError(fmt::format("PC {}: register bank {} is read twice in cycle {}", pc, bank, now));
  }
  last_read_[bank] = now;
}

void Invariants::formed(const link::SubWarp& sub_warp) {
  each_thread(sub_warp, [&](unsigned row, unsigned home) { begin(sub_warp.pc, row, home); });
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
  if (!sub_warp.displaced) {
    each_thread(sub_warp, [&](unsigned, unsigned home) { read(sub_warp.pc, home, now); });
  }
}

void Invariants::retired(const link::SubWarp& sub_warp) {
  each_thread(sub_warp, [&](unsigned row, unsigned home) { in_flight_[row] &= ~(LaneMask{1} << home); });
}

void Invariants::passed(std::uint32_t pc, unsigned row, LaneMask lanes, link::Cycle read_at, bool was_formed) {
  for (const unsigned lane : set_bits(lanes)) {
    if (!was_formed) {
      begin(pc, row, lane);
    }
    read(pc, lane, read_at);
  }
  in_flight_[row] &= ~lanes;
}

}  // namespace heddle::hw
