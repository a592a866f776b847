// Thread block compaction (Fung and Aamodt, as the thesis compares with it, 5.2): one re-convergence stack per thread
// block. At a conditional branch the block's warps wait for each other; if their threads disagree, the threads of
// either path are compacted, lane by lane, into as few warps of SIMD width as they fill, which are then scheduled on
// their own. At the re-convergence point they wait for each other again, and the path that waits in the stack, in the
// end the joined threads, is compacted and goes on. Full masks compact to the block's original warps.
//
// Entries are those of the per-warp stack (StackDivergence), with masks over the whole block. One compacted warp leaves
// the compactor per cycle.
#pragma once

#include <vector>

#include "hw/divergence/divergence.hpp"

namespace heddle::hw {

class BlockCompaction final : public Divergence {
 public:
  struct Entry {
    std::uint32_t reconvergence_pc;
    std::uint32_t execute_pc;
    std::vector<LaneMask> active;  // per row of the block
  };

  static constexpr Traits traits{.no_lockstep =
                                     "forms warps of threads that meet by chance, so that its lanes are not "
                                     "those that the program means"};
  static void cost(const CostShape& shape, CostLines& lines);

  explicit BlockCompaction(const Setup& setup);
  [[nodiscard]] unsigned groups(unsigned threads) const override { return threads / width_; }
  [[nodiscard]] bool dynamic() const override { return true; }
  [[nodiscard]] bool displaces() const override { return false; }  // compacted lane by lane
  void start(Group& group) override;
  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override;
  void released(Group& group, unsigned row, LaneMask lanes, bool last, GroupMoves& moves) override;
  [[nodiscard]] std::string inconsistency(const Group& group) const override;
  [[nodiscard]] std::string describe(const Group& group) const override;
  [[nodiscard]] StackKind stack_kind() const override { return StackKind::per_block; }
  [[nodiscard]] StackView stack_view(const Group& group) const override;

  // Bottom first; of the block in a slot.
  [[nodiscard]] const std::vector<Entry>& stack(unsigned block_slot) const { return blocks_[block_slot].stack; }

 private:
  struct Block {
    unsigned first_row = 0;
    std::vector<Entry> stack;
    std::vector<LaneMask> running;  // threads of the path that runs, per row
    isa::Instruction branch;        // at which its warps wait
    std::vector<LaneMask> taken;    // of that branch
    std::vector<GroupId> warps;     // of the path that runs
    unsigned at_branch = 0;         // of those, wait at the branch
    unsigned at_merge = 0;          // of those, have reached the re-convergence point
  };

  void go_on(Group& group, Block& block, GroupMoves& moves);
  void finish(Group& group, Block& block, GroupMoves& moves);
  bool settle(Block& block, GroupMoves& moves);
  bool branch(Block& block, GroupMoves& moves);
  void pop(Block& block, std::uint32_t pc, GroupMoves& moves);
  void compact(Block& block, std::uint32_t pc, GroupMoves& moves);
  [[nodiscard]] unsigned slot_of(const Block& block) const;

  GroupTable& groups_;
  unsigned width_;
  std::vector<Block> blocks_;
};

}  // namespace heddle::hw
