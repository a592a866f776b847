// Stack-based re-convergence at the immediate post-dominator: a group is a warp, with a stack
// (hw/divergence/warp_stack.hpp).
#pragma once

#include <vector>

#include "hw/divergence/divergence.hpp"
#include "hw/divergence/warp_stack.hpp"

namespace heddle::hw {

class StackDivergence final : public Divergence {
 public:
  using Entry = WarpStack::Entry;

  static constexpr Traits traits{
      .large_warps = true, .overlap = true, .lockstep_lanes = true, .keeps_warps = true, .steps_plainly = true};
  static void cost(const CostShape& shape, CostLines& lines);

  explicit StackDivergence(const Setup& setup);
  [[nodiscard]] unsigned groups(unsigned threads) const override;
  void start(Group& group) override;
  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override;
  // A group is a warp: whichever of its threads run next, its instructions are the warp's.
  [[nodiscard]] bool goes_on(const Group&) const override { return true; }
  [[nodiscard]] bool branches_early(const Group&, const isa::Instruction&, std::span<const LaneMask>) const override {
    return true;
  }
  [[nodiscard]] bool parts_at_once(const Group& group, const isa::Instruction& branch) const override;
  LaneMask decided(Group& group, unsigned row, LaneMask lanes, bool taken) override;
  [[nodiscard]] std::string inconsistency(const Group& group) const override {
    return stacks_[group.id].inconsistency(group);
  }
  [[nodiscard]] std::string describe(const Group& group) const override { return stacks_[group.id].describe(); }
  [[nodiscard]] StackKind stack_kind() const override { return StackKind::per_group; }
  [[nodiscard]] StackView stack_view(const Group& group) const override { return stacks_[group.id].view(); }

  // Bottom first.
  [[nodiscard]] std::span<const Entry> stack(GroupId id) const { return stacks_[id].entries(); }

 private:
  // Group::merge_pc: the top entry's re-convergence PC.
  void note_merge_pc(Group& group) const { group.merge_pc = stacks_[group.id].reconvergence_pc(); }

  // A branch at which some lanes were undecided: who leaves the path that runs, and whether they wait as a path of
  // their own, not only for the join.
  struct Deciding {
    bool taken_leave = true;
    bool wait = true;
  };

  unsigned warp_size_;
  std::vector<WarpStack> stacks_;
  std::vector<Deciding> deciding_;  // by group
};

}  // namespace heddle::hw
