// Large warps that part at branches: dynamic warp subdivision on top of the large warp microarchitecture "by splitting
// up a large warp upon branch divergence" (LWM report 7.1), so that both sides of a branch are fetched in turn and one
// can wait for memory while the other computes. A former packs the threads of each split as it does those of a warp.
//
// A warp-split is a group with the rows of its warp and some of its threads. Where its threads disagree at a branch
// that the compiler has marked (DWS report 4.3), and both sides have something to do, it parts: the threads that take
// the branch become another split, and the two meet at the branch's re-convergence point (DWS report 4.4). A Join
// remembers who is there; whoever comes last goes on with all of them. Elsewhere a split has a re-convergence stack as
// any warp (hw/divergence/warp_stack.hpp), and so it has where the table of warp-splits is full.
//
// Where the papers say nothing (own choices): accesses part no large warp, since its sub-warps of hits and misses are
// threads of one instruction already; splits do not meet at one PC before the re-convergence point.
#pragma once

#include <optional>
#include <vector>

#include "hw/divergence/dws.hpp"
#include "hw/divergence/warp_stack.hpp"

namespace heddle::hw {

class LargeSplits final : public Divergence {
 public:
  using Parameters = DwsParameters;
  static constexpr Traits traits{
      .large_warps = true,
      .no_lockstep = "runs both sides of a branch at a time",
      .short_block = [](const CoreParameters& core) { return core.policies.of<DwsParameters>().short_block; },
      .loop_branches = [](const CoreParameters& core) { return core.policies.of<DwsParameters>().loop_branches; },
      .steps_plainly = true};
  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found);
  static void cost(const CostShape& shape, CostLines& lines);

  explicit LargeSplits(const Setup& setup);
  // A group for each warp that begins, and others for warp-splits, of whom the last of a warp goes on as the warp.
  [[nodiscard]] unsigned groups(unsigned threads) const override { return 2 * (threads / warp_size_) + entries_; }
  [[nodiscard]] unsigned scheduled(unsigned threads) const override { return threads / warp_size_ + entries_; }
  void begin_launch(bool global) override;
  void start(Group& group) override;
  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override;
  [[nodiscard]] std::string inconsistency(const Group& group) const override;
  [[nodiscard]] std::string describe(const Group& group) const override;
  [[nodiscard]] StackKind stack_kind() const override { return StackKind::per_group; }
  [[nodiscard]] StackView stack_view(const Group& group) const override { return splits_[group.id].stack.view(); }

 private:
  // Where the splits of a branch meet.
  struct Join {
    std::uint32_t pc = 0;
    std::optional<unsigned> outer;                    // where the split that parted meets others
    WarpStack stack;                                  // of the split that parted, for whoever goes on
    std::vector<LaneMask> come;                       // threads that wait here
    unsigned missing = 0;                             // live threads that have not come
    std::uint32_t progress = 0, progress_before = 0;  // the least of who has come (Group::progress)
  };
  struct Split {
    WarpStack stack;
    std::optional<unsigned> join;  // none: it is a whole warp
  };
  [[nodiscard]] Split& split_of(const Group& group) { return splits_[group.id]; }

  void note_merge_pc(Group& group) const;
  bool branch(Group& group, const Outcome& outcome, GroupMoves& moves);
  void part(Group& group, const Outcome& outcome, GroupMoves& moves);
  void exit(Group& group, std::span<const LaneMask> exited);
  // False: it has joined others, or has no threads and others of its warp have, and is none any more.
  [[nodiscard]] bool meets(Group& group, bool exited, GroupMoves& moves);

  const unsigned warp_size_;
  const unsigned entries_;  // of the warp-split table
  CoreStatistics nobodys_;
  CoreStatistics& count_;
  unsigned used_ = 0;          // entries: live splits that have a join
  std::vector<Split> splits_;  // by group
  std::vector<Join> joins_;
  std::vector<unsigned> free_joins_;
};

}  // namespace heddle::hw
