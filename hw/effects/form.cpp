#include "hw/effects/form.hpp"

#include <bit>

#include "base/set_bits.hpp"
#include "hw/effects/each_row.hpp"
#include "hw/issue/discipline.hpp"
#include "isa/lane_vectors.hpp"

namespace heddle::hw {

Formation::Formation(CoreState& state, RegisterArray& registers)
    : state_(state), registers_(registers), overlaps_(about<IssueDiscipline>(state.core.issue).traits.overlaps) {}

void Formation::fresh(link::SubWarp& sub_warp) {
  sub_warp.uniform = true;
  sub_warp.displaced = false;
  sub_warp.row_count = 0;
  sub_warp.whole = false;
  sub_warp.scalar = false;
  sub_warp.forwarded = false;
  sub_warp.resolved = false;
}

void Formation::whole_row(link::SubWarp& sub_warp, Group& group) {
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  const LaneMask active = group.active[0];
  fresh(sub_warp);
  sub_warp.last = true;
  sub_warp.whole = decoded.forms_one;
  sub_warp.lanes = decoded.by_guard ? true_guards(decoded.instruction.guard, group, 0, active) : active;
  sub_warp.first_row = group.first_row;
  if (group.dynamic) {
    of_dynamic(sub_warp, group);
  }
  if (overlaps_) {
    group.busy[0] |= sub_warp.lanes;
  }
  if (sub_warp.lanes != active) {
    leave_out(group, 0, active & ~sub_warp.lanes);
  }
}

void Formation::shaped(link::SubWarp& sub_warp, const SubWarpShape& shape, Group& group, bool scalar) {
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  fresh(sub_warp);
  sub_warp.whole = decoded.forms_one || scalar;
  sub_warp.scalar = scalar;
  sub_warp.warp = decoded.exchanges ? lanes_of_warp(group) : 0;
  sub_warp.lanes = shape.lanes;
  sub_warp.uniform = shape.uniform;
  sub_warp.displaced = shape.displaced;
  sub_warp.first_row = static_cast<std::uint16_t>(group.first_row + shape.first_row);
  if (group.dynamic) {
    of_dynamic(sub_warp, group);
  } else if (!shape.uniform) {
    sub_warp.row_count = shape.row_count;
    for (unsigned index = 0; index != shape.row_count; ++index) {
      sub_warp.rows[index] = {static_cast<std::uint16_t>(group.first_row + shape.rows[index].row),
                              shape.rows[index].lanes};
    }
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      sub_warp.row[lane] = static_cast<std::uint16_t>(group.first_row + shape.row[lane]);
    }
    sub_warp.home = shape.home;
  }
  if (overlaps_) {
    each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) { group.busy[row] |= lanes; });
  }
}

void Formation::by_lane(link::SubWarp& sub_warp, const Group& group) {
  fresh(sub_warp);
  if (group.displaced) {
    sub_warp.uniform = false;
    sub_warp.displaced = true;
    sub_warp.row = group.lane_row;
    sub_warp.home = group.lane_home;
  }
}

void Formation::leave_out(const Group& group, unsigned row, LaneMask lanes) {
  if (state_.replay != nullptr) {
    for (const unsigned lane : set_bits(lanes)) {
      state_.replay->take_bit(group.row_of(row, lane), group.home_of(lane));
    }
  }
}

// Each lane has a place of its own.
void Formation::of_dynamic(link::SubWarp& sub_warp, const Group& group) {
  sub_warp.uniform = sub_warp.uniform && group.aligned;
  sub_warp.displaced = group.displaced;
  sub_warp.row = group.lane_row;
  sub_warp.home = group.lane_home;
  if (!sub_warp.uniform && !sub_warp.displaced) {
    find_rows(sub_warp, group);
  }
}

void Formation::find_rows(link::SubWarp& sub_warp, const Group& group) {
  if (group.id >= known_rows_.size()) {
    known_rows_.resize(state_.groups.size());
  }
  KnownRows& known = known_rows_[group.id];
  if ((sub_warp.lanes & ~known.lanes) != 0 || known.lane_row != group.lane_row) {
    known.lane_row = group.lane_row;
    known.lanes = group.active[0];
    known.count = 0;
    for (LaneMask left = known.lanes; left != 0; left &= ~known.rows[known.count++].lanes) {
      if (known.count == known.rows.size()) {
        known.count = 0;  // too many
        break;
      }
      const std::uint16_t row = group.lane_row[static_cast<unsigned>(std::countr_zero(left))];
      known.rows[known.count] = {row, isa::vectors::equal(group.lane_row.data(), row) & left};
    }
  }
  sub_warp.row_count = known.count;
  sub_warp.rows = known.rows;
}

// The warp's active threads by their lane ids.
LaneMask Formation::lanes_of_warp(const Group& group) const {
  LaneMask lanes = 0;
  for (unsigned row = 0; row < group.rows(); ++row) {
    lanes |= group.active[row] << (row * state_.core.simd_width);
  }
  return lanes;
}

}  // namespace heddle::hw
