// Stack-based re-convergence at the immediate post-dominator (LWM report 2.3 and figure 3; thesis 2.1.3.3 and figure
// 2.2): a divergent branch pushes a join entry (re-convergence PC and execute PC: the merge point; mask: the present
// one) and a divergent entry (the path that waits); an instruction whose next PC is the top entry's re-convergence PC
// pops it.
//
// The fall-through path runs first (the papers leave the choice open), as in the reference interpreter. A branch to a
// path that begins at the re-convergence point itself has nothing to run there: its entry would be popped at once, so
// only the join entry is pushed. Where the paths never meet before the threads' exit, the re-convergence PC is
// kNoReconvergence: entries pop when the running path has no threads left.
#pragma once

#include <vector>

#include "hw/divergence/divergence.hpp"

namespace heddle::hw {

class StackDivergence final : public Divergence {
 public:
  struct Entry {
    std::uint32_t reconvergence_pc;
    std::uint32_t execute_pc;
    std::vector<LaneMask> active;
  };

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
  [[nodiscard]] std::string inconsistency(const Group& group) const override;
  [[nodiscard]] std::string describe(const Group& group) const override;
  [[nodiscard]] StackKind stack_kind() const override { return StackKind::per_group; }
  [[nodiscard]] StackView stack_view(const Group& group) const override;

  // Bottom first.
  [[nodiscard]] std::span<const Entry> stack(GroupId id) const {
    return {stacks_[id].entries.data(), stacks_[id].depth};
  }

 private:
  // Entries above `depth` keep their storage, so that pushing allocates nothing once a depth has been reached.
  struct Stack {
    std::vector<Entry> entries;
    std::size_t depth = 0;
    Entry& push();
    [[nodiscard]] Entry& top() { return entries[depth - 1]; }
  };

  // Group::merge_pc: the top entry's re-convergence PC.
  void note_merge_pc(Group& group) const;
  bool branch(Group& group, const Outcome& outcome);
  // `exited`: threads of the group have, so that perhaps none is left.
  void pop_reached(Group& group, bool exited);

  unsigned warp_size_;
  std::vector<Stack> stacks_;
};

}  // namespace heddle::hw
