// Which threads an instruction is executed for, and where they are: the rows and lanes of a sub-warp. Who forms one,
// and in which cycle, is not looked at here.
#pragma once

#include <array>
#include <vector>

#include "hw/effects/operands.hpp"
#include "hw/registers/register_array.hpp"
#include "hw/state/core_state.hpp"
#include "hw/subwarp/former.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

class Formation {
 public:
  // `registers`: where guards are.
  Formation(CoreState& state, RegisterArray& registers);
  // Before a launch.
  void reset() { known_rows_.clear(); }

  // ---- a group of one row, none of whose threads is in flight, which becomes one sub-warp
  // The threads of the row that are in it, and those that execute.
  struct Row {
    LaneMask lanes = 0;
    LaneMask executing = 0;
  };
  [[nodiscard]] static Row of_row(const CoreState& state, RegisterArray& registers,
                                  const link::DecodedInstruction& decoded, const Group& group) {
    const LaneMask active = group.active[0];
    const isa::Pred guard = decoded.instruction.guard;
    const LaneMask executing = guard.always() ? active : guarded(state, registers, guard, group, 0, active);
    return {decoded.by_guard ? executing : active, executing};
  }
  // Forms the sub-warp of a whole row; its instruction has been decoded.
  void whole_row(link::SubWarp& sub_warp, Group& group);

  // ---- any other group
  // The threads of a shape that a former has made: from the group's rows and columns to register rows and home lanes.
  // `scalar`: SubWarp::scalar.
  void shaped(link::SubWarp& sub_warp, const SubWarpShape& shape, Group& group, bool scalar);
  // Lanes that have been fetched for, in their own row; of a group that is a thread, in whatever lane it has taken.
  static void by_lane(link::SubWarp& sub_warp, const Group& group);

  // The lanes among `lanes`, of a row of the group's mask, whose guard is true.
  [[nodiscard]] LaneMask true_guards(isa::Pred guard, const Group& group, unsigned row, LaneMask lanes) const {
    return guard.always() ? lanes : guarded(state_, registers_, guard, group, row, lanes);
  }
  // Threads whose guard is false pass the instruction without being in a sub-warp.
  void leave_out(const Group& group, unsigned row, LaneMask lanes);

 private:
  static void fresh(link::SubWarp& sub_warp);
  void of_dynamic(link::SubWarp& sub_warp, const Group& group);
  void find_rows(link::SubWarp& sub_warp, const Group& group);
  [[nodiscard]] LaneMask lanes_of_warp(const Group& group) const;

  CoreState& state_;
  RegisterArray& registers_;
  const bool overlaps_;  // IssueDiscipline::Traits: threads in flight are left alone
  // By dynamic group: the rows of its lanes as they were last, since they seldom change from instruction to
  // instruction.
  struct KnownRows {
    std::array<std::uint16_t, isa::kLanes> lane_row{};
    LaneMask lanes = 0;  // of those; 0: nothing is known
    std::uint8_t count = 0;
    std::array<link::RowLanes, link::SubWarp::kMostRows> rows{};
  };
  std::vector<KnownRows> known_rows_;
};

}  // namespace heddle::hw
