// Thread block compaction (Fung and Aamodt, as the thesis compares with it, 5.2): one re-convergence stack per thread
// block. At a conditional branch the block's warps wait for each other; if their threads disagree, the threads of
// either path are compacted, lane by lane, into as few warps of SIMD width as they fill, which are then scheduled on
// their own. At the re-convergence point they wait for each other again, and the path that waits in the stack, in the
// end the joined threads, is compacted and goes on. Full masks compact to the block's original warps.
//
// Entries are as in the per-warp stack (WarpStack), with masks over the whole block. One compacted warp leaves
// the compactor per cycle.
//
// With tbc.width a block's threads are compacted in parts of so many, each with a stack of its own, as if each part
// were a block: the thesis has blocks of 256 threads and programs of 1024 threads that meet at barriers (5.1, 5.2).
#pragma once

#include <string>
#include <vector>

#include "base/parameter.hpp"
#include "hw/divergence/divergence.hpp"

namespace heddle::hw {

struct TbcParameters {
  static constexpr const char* kSection = "tbc";
  static constexpr const char* kMeaning = "thread block compaction (core.divergence = tbc)";
  unsigned width = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("width", width, Limits::between(0, 1024), "threads",
          "of a block that are compacted together, a multiple of simd_width (thesis 5.2: blocks of 256); 0: all of it");
  }
};

class BlockCompaction final : public Divergence {
 public:
  struct Entry {
    std::uint32_t reconvergence_pc;
    std::uint32_t execute_pc;
    std::vector<LaneMask> active;  // per row of the block
  };

  using Parameters = TbcParameters;
  static constexpr Traits traits{
      .no_lockstep =
          "forms warps of threads that meet by chance, so that its lanes are not those that the program means",
      .steps_plainly = true};
  static void check(const Machine& machine, std::vector<Contradiction>& found);
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
  [[nodiscard]] unsigned stacks_per_block() const override { return parts_; }
  [[nodiscard]] StackView stack_view(const Group& group) const override;

  // Bottom first; of a part of the block in a slot.
  [[nodiscard]] const std::vector<Entry>& stack(unsigned block_slot, unsigned part = 0) const {
    return blocks_[block_slot * parts_ + part].stack;
  }

 private:
  // A block, or a part of one whose threads are compacted together.
  struct Block {
    unsigned first_row = 0;
    std::vector<Entry> stack;
    std::vector<LaneMask> running;  // threads of the path that runs, per row
    isa::Instruction branch;        // at which its warps wait
    std::vector<LaneMask> taken;    // of that branch
    std::vector<GroupId> warps;     // of the path that runs
    unsigned at_branch = 0;         // warps that wait at the branch
    unsigned at_merge = 0;          // warps that have reached the re-convergence point
    std::uint32_t progress = 0;     // of the warp that finished last (Group)
    std::uint32_t progress_before = 0;
  };

  void go_on(Group& group, Block& block, GroupMoves& moves);
  void finish(Group& group, Block& block, GroupMoves& moves);
  bool settle(Block& block, GroupMoves& moves);
  bool branch(Block& block, GroupMoves& moves);
  void pop(Block& block, std::uint32_t pc, GroupMoves& moves);
  void compact(Block& block, std::uint32_t pc, GroupMoves& moves);
  // Group::merge_pc of the warps of the path that runs: the top entry's re-convergence PC.
  [[nodiscard]] static std::uint32_t merge_pc(const Block& block) {
    return block.stack.empty() ? isa::kNoReconvergence : block.stack.back().reconvergence_pc;
  }
  [[nodiscard]] Block& block_of(const Group& group) { return blocks_[group.block_slot * parts_ + group.part]; }
  [[nodiscard]] const Block& block_of(const Group& group) const {
    return blocks_[group.block_slot * parts_ + group.part];
  }

  GroupTable& groups_;
  unsigned width_;
  unsigned warps_;             // of a part at most
  unsigned parts_;             // of a block at most
  std::vector<Block> blocks_;  // part p of the block in slot s: s * parts_ + p
};

}  // namespace heddle::hw
