// Dynamic warp subdivision integrated with dynamic warp formation, which the DWS report leaves for future work (section
// 8). Warps part into warp-splits at branches and accesses as in hw/divergence/subdivision.hpp, and warps and splits of
// *different* warps that stand at one PC run together ("grouped and run together as a wider SIMD group", 7), if their
// threads find free lanes: a thread keeps its lane, whose register bank is the only one it can read.
//
// What the report says, and so holds here: its core keeps the re-convergence stack, a warp's own, and formation groups
// threads across warps at one PC. So a group is any threads that stand at one PC; and for each warp, by register row:
//
//   stack     as in hw/divergence/warp_stack.hpp
//   running   the threads of the path that runs, in one group or several, alone or beside threads of other warps
//   arrived   running threads that have come to the re-convergence point of the top entry, and have left their group.
//             When all have, the stack is popped, and the warp is one group again
//
// What it leaves open:
//
//   who joins   a group that goes on joins another one that waits to be fetched at its PC only if all of its threads
//               find their lanes free there: to part it for the sake of some lanes would leave as many groups as there
//               were. First a group with threads of a warp of its own, then the youngest (as in hw/divergence/dwf.cpp).
//               Any group may join, undivided warps too, whose paths the stack has made narrow; or (unblocking) those
//               alone that take no lane of a running thread of one of their warps which is in neither: such a thread
//               may have fallen behind at an access, and would find its lane taken where its warp's others are
//   branches    decided warp by warp: a warp that is undivided (all its running threads are in the group) parts at
//               marked branches and uses its stack at others; one that is divided parts. The threads of all warps in
//               the group that take the branch stay together, as do the others
//   entries     of the warp-split table: one for every group but an undivided warp by itself, to which the report gives
//               none. Without one, no group joins or parts, but for a branch at which a group must part, as there
//   barriers    a group parts by block, so that each block's barrier releases its threads; threads that the barrier
//               does not concern (guard false) go on. Groups of a block that wait at one barrier operation become one
//
// Entries and slots are held, waited for and given back as in hw/divergence/subdivision.hpp: whoever waits for others
// (re-convergence point, barrier) holds neither.
#pragma once

#include <vector>

#include "base/set_bits.hpp"
#include "hw/divergence/split_mechanism.hpp"

namespace heddle::hw {

struct FormationRules : SplitRules {
  bool unblocking = false;  // no group takes the lane of a running thread that may come back to its warp's others
};

struct WarpOfSplits : SplitWarp {
  LaneMask arrived = 0;
  unsigned number = 0;                // in its block
  std::uint32_t progress = 0;         // the least of the groups that the arrived threads have left (Group::progress)
  std::uint32_t progress_before = 0;  // the same
};

class FormedSplits : public SplitMechanism<FormedSplits, FormationRules, WarpOfSplits, SplitState> {
 public:
  FormedSplits(const Setup& setup, const FormationRules& rules) : SplitMechanism(setup, rules) {}

  void start(Group& group) override;
  void started(Group& group, GroupMoves& moves) override;
  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override;
  [[nodiscard]] bool goes_on(const Group& group) const override;
  [[nodiscard]] bool branches_early(const Group& group, const isa::Instruction& instruction,
                                    std::span<const LaneMask> taken) const override;
  void released(Group& group, unsigned row, LaneMask lanes, bool last, GroupMoves& moves) override;
  void accesses(Group& group, GroupMoves& moves) override;
  [[nodiscard]] std::string inconsistency(const Group& group) const override;
  [[nodiscard]] std::string describe(const Group& group) const override;

 private:
  friend SplitMechanism;
  using Warp = WarpOfSplits;
  using Waits = SplitWait;
  // A branch's outcome for a group: who goes where; the others are on their warps' stacks.
  struct Ways {
    LaneMask taken = 0;
    LaneMask falls = 0;
  };

  // Calls visit(row, lanes) for each register row of the lanes.
  template <class Visit>
  static void each_warp(const Group& group, LaneMask lanes, Visit visit) {
    if (group.aligned && lanes != 0) {
      visit(group.first_row, lanes);
      return;
    }
    while (lanes != 0) {
      const std::uint16_t row = group.lane_row[static_cast<unsigned>(std::countr_zero(lanes))];
      LaneMask own = 0;
      for (const unsigned lane : set_bits(lanes)) {
        own |= group.lane_row[lane] == row ? LaneMask{1} << lane : 0;
      }
      visit(row, own);
      lanes &= ~own;
    }
  }
  // An undivided warp by itself.
  [[nodiscard]] bool whole(const Group& group) const {
    return group.aligned && group.active[0] == warps_[group.first_row].running;
  }
  [[nodiscard]] LaneMask arriving(const Group& group, std::uint32_t pc) const;
  [[nodiscard]] static bool share_a_warp(const Group& one, const Group& other);
  [[nodiscard]] bool can_join(const Group& from, LaneMask lanes, const Group& to) const;
  [[nodiscard]] bool blocks(const Group& one, LaneMask lanes, const Group& other, LaneMask other_lanes) const;
  [[nodiscard]] const Group* partner(const Group& group, LaneMask lanes, std::uint32_t pc) const;
  [[nodiscard]] bool moves_on_at(const Group& group, LaneMask lanes, std::uint32_t pc) const;

  void give_back(const Group& group);
  void begin(const Group& group);
  void look_at(Group& group, const GroupMoves& moves) const;
  void place(Group& group, GroupMoves& moves);
  void arrive(Group& group);
  void end(Group& group, SplitEnd how, GroupMoves& moves);
  void join(Group& group, GroupMoves& moves);
  void absorb(Group& from, Group& to, GroupMoves& moves);
  void let_accesses_go(std::uint32_t pc, GroupMoves& moves);
  void wait_by_block(Group& group, LaneMask waiting, GroupMoves& moves);
  void stand_at_barrier(Group& group, GroupMoves& moves);
  void branch(Group& group, const Outcome& outcome, GroupMoves& moves);
  [[nodiscard]] bool parts_at(const Group& group, const Warp& warp, LaneMask lanes,
                              const isa::Instruction& instruction) const;
  [[nodiscard]] Ways ways(const Group& group, const isa::Instruction& instruction, LaneMask taken);
  void pop(std::uint16_t row, const Group& like, GroupMoves& moves);
  void settle(const Group& like, GroupMoves& moves);
  void look_for_undivided(GroupMoves& moves);
  void is_undivided(const Group& group, GroupMoves& moves);
  [[nodiscard]] bool needs_entry(const Group& group) const { return !whole(group); }
  [[nodiscard]] bool room_to_part(const Group& group) const {
    return places_.entries_left(places_.has_entry(group.id) ? 1 : 2);
  }
  void has_parted(Group& group, Group& ahead, GroupMoves& moves);
  Group& split_off(const Group& from, LaneMask lanes, std::uint32_t pc, GroupMoves& moves);

  bool changed_ = false;             // who runs where, since undivided warps were looked for
  Group* spare_ = nullptr;           // the group that completes has no thread left: to be used again or freed
  std::vector<std::uint16_t> rows_;  // of the group that completes, as it was
  std::vector<GroupId> at_access_;   // groups in Waits::access
};

}  // namespace heddle::hw
