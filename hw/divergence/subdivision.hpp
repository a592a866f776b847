// Warps that part into warp-splits, which are scheduled as warps are: what dynamic warp subdivision (DWS report 4, 5)
// and adaptive slip (5.7) have in common. Which events part a warp, and when its splits meet again, are
// SubdivisionRules.
//
// A warp has a re-convergence stack (hw/divergence/warp_stack.hpp). While the warp is divided the stack stays as it is,
// and its splits hold the threads of the path that runs. They wait for each other at the re-convergence point of the
// top entry, where the stack goes on as usual (4.4); with by_pc a split also joins another one of its warp that stands
// at its PC and can go on (4.5). Splits that wait at barriers join there.
//
// Two resources of the core:
//   an entry of the warp-split table (5.6) for every split that can go on or waits for memory; an undivided warp needs
//            none. Without a free one warps do not part. A split must part at a branch on which its threads disagree,
//            as the stack knows nothing of it; if no entry is left, threads that take the branch wait for one
//   a slot   of the scheduler for every warp or split that can go on or waits for memory. Of the two that a split
//            becomes, the one that goes on has the slot there was; the other one gets another, if there is one
// Where instructions of a group overlap (goes_on), a split goes on before its instruction has completed as long as it
// meets no other split at its next PC. Others may join it meanwhile, whatever it has in flight.
//
// What waits for others (re-convergence point, branch, barrier) holds neither, so that whoever holds one comes to its
// end: no split waits for a resource forever. First come, first served. Where a split that waits keeps its PC and mask
// is not in the report: at a re-convergence point the stack's entry has them, at a barrier the barrier.
#pragma once

#include <vector>

#include "hw/divergence/split_mechanism.hpp"

namespace heddle::hw {

struct SubdivisionRules : SplitRules {
  bool by_pc = true;         // splits at one PC join
  bool at_accesses = false;  // behind accesses alone
  bool bypass = true;        // splits pass branches; if not, they wait there for all of their warp
};

struct SubdivisionState : SplitState {
  std::uint16_t row = 0;  // the warp's
  bool behind = false;    // slip: others have left while its access waited
};

struct SubdividedWarp : SplitWarp {
  LaneMask taken = 0;           // of the branch at which its splits wait for each other
  isa::Instruction branch;      // that one
  std::vector<GroupId> splits;  // one: it is undivided
};

class Subdivision : public SplitMechanism<Subdivision, SubdivisionRules, SubdividedWarp, SubdivisionState> {
 public:
  Subdivision(const Setup& setup, const SubdivisionRules& rules) : SplitMechanism(setup, rules) {}

  void start(Group& group) override;
  void started(Group& group, GroupMoves& moves) override;
  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override;
  [[nodiscard]] bool goes_on(const Group& group) const override;
  [[nodiscard]] bool branches_early(const Group& group, const isa::Instruction& instruction,
                                    std::span<const LaneMask> taken) const override;
  void released(Group& group, unsigned row, LaneMask lanes, bool last, GroupMoves& moves) override;
  void accesses(Group& group, GroupMoves& moves) override;
  void memory_diverged(Group& group, GroupMoves& moves) override;
  [[nodiscard]] std::string inconsistency(const Group& group) const override;
  [[nodiscard]] std::string describe(const Group& group) const override;

 protected:
  // Slip: how many threads of a warp may fall behind now.
  [[nodiscard]] virtual unsigned behind_at_most(Cycle now) {
    (void)now;
    return 0;
  }

 private:
  friend SplitMechanism;
  using Warp = SubdividedWarp;
  using Waits = SplitWait;
  // A thread keeps its register row, which so tells its warp.
  [[nodiscard]] Warp& warp_of(const Group& group) { return warps_[group.first_row]; }
  // `access`: behind one.
  [[nodiscard]] bool goes_on_at(const Group& group, std::uint32_t next, bool access) const;
  [[nodiscard]] unsigned in(const Warp& warp, Waits waits) const;
  void begin(const Group& group);
  void give_back(GroupId group);
  void forget(Warp& warp, const Group& split, const Group& into, SplitEnd end, GroupMoves& moves);
  void stand_still(Group& group, Waits waits);
  void absorb(Warp& warp, Group& from, Group& to, SplitEnd end, GroupMoves& moves);
  void go_on(Group& group, Warp& warp, GroupMoves& moves);
  // Whether a split's PC is compared with other splits'.
  [[nodiscard]] bool compares(const Group& group) const { return compares_behind(state_[group.id].stands_at_access); }
  [[nodiscard]] bool compares_behind(bool access) const { return rules_.by_pc && (!rules_.at_accesses || access); }
  [[nodiscard]] Group* ready_at_pc(const Warp& warp, const Group& group);
  void fall_behind(Group& group, Warp& warp, GroupMoves& moves);
  void meet_at_pc(Group& group, Warp& warp, GroupMoves& moves);
  void arrive(Group& group, Warp& warp, GroupMoves& moves);
  void at_barrier(Group& group, Warp& warp, GroupMoves& moves);
  void settle(Warp& warp, GroupMoves& moves);
  void resume(Warp& warp, GroupMoves& moves);
  bool branch(Group& group, Warp& warp, const Outcome& outcome, GroupMoves& moves);
  void branch_together(Warp& warp, GroupMoves& moves);
  bool push(Group& group, Warp& warp, const isa::Instruction& instruction, LaneMask taken, GroupMoves& moves);
  void subdivide(Group& group, Warp& warp, const isa::Instruction& instruction, LaneMask taken, GroupMoves& moves);
  void pop(Group& group, Warp& warp, std::uint32_t pc, GroupMoves& moves);
  [[nodiscard]] bool needs_entry(const Group& group) const { return warps_[group.first_row].splits.size() > 1; }
  [[nodiscard]] bool room_to_part(const Group& group) const { return places_.entries_left(needs_entry(group) ? 1 : 2); }
  [[nodiscard]] bool may_slip(const Group& group, const Warp& warp, GroupMoves& moves);
  void has_parted(Group& group, Group& ahead, GroupMoves& moves);
};

}  // namespace heddle::hw
