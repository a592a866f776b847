// Thread block compaction, dynamic warp formation and per-thread program counters alone: which threads form a warp, at
// which PC, after branches, barriers, exits and re-convergence points. Four lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/divergence/dwf.hpp"
#include "hw/divergence/tbc.hpp"
#include "tests/hw/dynamic_groups.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::hw {
namespace {

using test::DynamicGroups;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

CoreParameters four_lanes() {
  CoreParameters core;
  core.simd_width = core.warp_size = 4;
  core.threads = 32;
  core.blocks = 2;
  return core;
}

// ---- thread block compaction: two warps of one block

class Tbc : public ::testing::Test {
 protected:
  DynamicGroups core_{"tbc", four_lanes(), 2};
  Group& first_ = core_.start(0, 0, 0b1111);
  Group& second_ = core_.start(0, 1, 0b1111);
  [[nodiscard]] std::size_t depth() const {
    return dynamic_cast<const BlockCompaction&>(*core_.divergence).stack(0).size();
  }
};

TEST_F(Tbc, WarpsWaitForEachOtherAtABranchAndAreCompactedLaneByLane) {
  EXPECT_FALSE(core_.branch(first_, 5, 9, 0b0011));
  EXPECT_EQ(first_.state, GroupState::parked);
  EXPECT_EQ(second_.state, GroupState::ready) << "the other warp goes on at its own pace";
  EXPECT_TRUE(core_.branch(second_, 5, 9, 0b1100));
  // Fall-through: lanes 2 and 3 of row 0, lanes 0 and 1 of row 1: one warp instead of two.
  EXPECT_THAT(core_.live(), ElementsAre("1: 0/1 1/1 2/0 3/0"));
  EXPECT_EQ(depth(), 2U);
  // It reaches the re-convergence point: the path that waits is compacted.
  Group& path = core_.at(1);
  for (std::uint32_t pc = 1; pc != 9; ++pc) {
    core_.plain(path);
  }
  EXPECT_THAT(core_.live(), ElementsAre("5: 0/0 1/0 2/1 3/1"));
  EXPECT_EQ(depth(), 1U);
  Group& other = core_.at(5);
  for (std::uint32_t pc = 5; pc != 9; ++pc) {
    core_.plain(other);
  }
  EXPECT_THAT(core_.live(), ElementsAre("9: 0/0 1/0 2/0 3/0", "9: 0/1 1/1 2/1 3/1")) << "the original warps";
  EXPECT_EQ(depth(), 0U);
}

TEST_F(Tbc, ThreadsOfOneLaneNeedAWarpEachAndWarpsLeaveTheCompactorOnePerCycle) {
  core_.branch(first_, 5, 9, 0b0001);
  core_.delays.clear();
  core_.branch(second_, 5, 9, 0b0001);
  EXPECT_THAT(core_.live(), ElementsAre("1: 1/0 2/0 3/0", "1: 1/1 2/1 3/1"));
  EXPECT_THAT(core_.delays, ElementsAre(0, 1));
}

TEST_F(Tbc, AnAgreedBranchPushesNothingAndKeepsTheWarps) {
  core_.branch(first_, 5, 9, 0b1111);
  EXPECT_FALSE(core_.branch(second_, 5, 9, 0b1111));
  EXPECT_THAT(core_.live(), ElementsAre("5: 0/0 1/0 2/0 3/0", "5: 0/1 1/1 2/1 3/1"));
  EXPECT_EQ(depth(), 0U);
}

TEST_F(Tbc, AWarpThatReachesTheMergePointWaitsForTheOthersOfItsPath) {
  core_.branch(first_, 5, 3, 0b0001);
  core_.branch(second_, 5, 3, 0b0001);
  Group& early = core_.at(1);
  core_.plain(early);
  core_.plain(early);
  EXPECT_EQ(early.state, GroupState::parked);
  Group& late = core_.at(1);
  core_.plain(late);
  EXPECT_EQ(depth(), 2U);
  core_.plain(late);
  EXPECT_THAT(core_.live(), ElementsAre("5: 0/0", "5: 0/1"));
}

TEST_F(Tbc, ALoopKeepsOneJoinEntry) {
  // PC 0 is the loop's exit branch (to 9, its re-convergence point): lane 0, then lane 1 leave.
  core_.branch(first_, 9, 9, 0b0001);
  core_.branch(second_, 9, 9, 0b0001);
  EXPECT_EQ(depth(), 1U);
  core_.branch(core_.at(1), 9, 9, 0b0010);
  core_.branch(core_.at(1), 9, 9, 0b0010);
  EXPECT_EQ(depth(), 1U);
  EXPECT_THAT(core_.live(), ElementsAre("2: 2/0 3/0", "2: 2/1 3/1"));
}

// Before that PC they go on without it (Divergence::Traits::steps_plainly).
TEST_F(Tbc, TellsTheWarpsOfAPathWhereTheyMeet) {
  EXPECT_EQ(first_.merge_pc, isa::kNoReconvergence);
  core_.branch(first_, 5, 2, 0b0011);
  core_.branch(second_, 5, 2, 0b1100);
  EXPECT_EQ(core_.at(1).merge_pc, 2U);
  core_.plain(core_.at(1));
  EXPECT_EQ(core_.at(5).merge_pc, 2U) << "the path that waited";
  core_.branch(core_.at(5), 2, 2, 0b1111);
  EXPECT_EQ(core_.at(2).merge_pc, isa::kNoReconvergence) << "all have met";
}

TEST_F(Tbc, LooksAtItsLanesAgainWhenSomeExit) {
  core_.branch(first_, 5, 9, 0b0011);
  core_.branch(second_, 5, 9, 0b1100);
  Group& path = core_.at(1);
  EXPECT_FALSE(path.aligned) << "lanes of both rows";
  core_.exit(path, 0b1100);
  EXPECT_TRUE(path.aligned) << "those of row 1 are left";
  EXPECT_EQ(path.first_row, 1U);
}

TEST_F(Tbc, ExitsLeaveTheStackAndCanCompleteABranch) {
  core_.branch(first_, 5, 9, 0b0011);
  core_.exit(second_, 0b1111);
  EXPECT_THAT(core_.live(), ElementsAre("1: 2/0 3/0")) << "the last warp's exit settles the branch";
  core_.exit(core_.at(1), 0b1100);
  EXPECT_THAT(core_.live(), ElementsAre("5: 0/0 1/0"));
  core_.exit(core_.at(5), 0b0011);
  EXPECT_THAT(core_.live(), IsEmpty());
  EXPECT_EQ(depth(), 0U);
}

TEST_F(Tbc, BlocksDoNotWaitForEachOther) {
  Group& other = core_.start(1, 0, 0b1111);
  core_.branch(first_, 5, 9, 0b0011);
  EXPECT_TRUE(core_.branch(other, 7, 9, 0b0001)) << "a block of one warp";
  core_.branch(second_, 5, 9, 0b0011);
  EXPECT_THAT(core_.live(), ElementsAre("1: 2/0 3/0", "1: 2/1 3/1", "1: 1/2 2/2 3/2"));
}

TEST_F(Tbc, WaitsAtABarrierAndGoesOnWhenReleased) {
  core_.barrier(first_, 0b1111);
  EXPECT_EQ(first_.state, GroupState::barrier);
  core_.divergence->released(first_, 0, 0b1111, true, core_);
  EXPECT_EQ(first_.state, GroupState::ready);
  EXPECT_EQ(first_.pc, 1U);
}

// Parts of two warps each, of a block of four (tbc.width): each is compacted as if it were a block.
TEST(TbcParts, AreCompactedByThemselves) {
  CoreParameters shape = four_lanes();
  shape.policies.of<TbcParameters>().width = 8;
  DynamicGroups core("tbc", shape, 4);
  const auto& tbc = dynamic_cast<const BlockCompaction&>(*core.divergence);
  Group& first = core.start(0, 0, 0b1111);
  Group& second = core.start(0, 1, 0b1111);
  Group& third = core.start(0, 2, 0b1111);
  Group& fourth = core.start(0, 3, 0b0111);
  EXPECT_FALSE(core.branch(first, 5, 9, 0b0011));
  EXPECT_TRUE(core.branch(second, 5, 9, 0b1100)) << "the other part's warps are not waited for";
  EXPECT_THAT(core.live(),
              ::testing::UnorderedElementsAre("1: 0/1 1/1 2/0 3/0", "0: 0/2 1/2 2/2 3/2", "0: 0/3 1/3 2/3"));
  EXPECT_FALSE(core.branch(third, 5, 9, 0b0001));
  EXPECT_TRUE(core.branch(fourth, 5, 9, 0b0001));
  EXPECT_THAT(core.live(), ::testing::UnorderedElementsAre("1: 0/1 1/1 2/0 3/0", "1: 1/2 2/2 3/2", "1: 1/3 2/3"));
  EXPECT_EQ(tbc.stack(0, 0).size(), 2U);
  EXPECT_EQ(tbc.stack(0, 1).size(), 2U);
  for (const Group& group : core.groups.all()) {
    if (group.state != GroupState::free) {
      EXPECT_EQ(group.part, group.lane_row[2] / 2U);
      EXPECT_EQ(group.warp_in_block / 2, group.part);
      EXPECT_EQ(tbc.inconsistency(group), "");
    }
  }
}

TEST_F(Tbc, WarpsFormedAnewHaveTheLeastProgressOfTheOldOnes) {
  first_.progress = 7;
  second_.progress = 5;
  core_.branch(first_, 5, 9, 0b0011);
  core_.branch(second_, 5, 9, 0b1100);
  EXPECT_EQ(core_.at(1).progress, 5U);
  core_.at(1).progress = 6;
  core_.exit(core_.at(1), 0b1111);
  EXPECT_EQ(core_.at(5).progress, 6U) << "the other path goes on where the warps that have exited were";
}

// ---- dynamic warp formation

class Dwf : public ::testing::Test {
 protected:
  static CoreParameters core(bool lane_aware) {
    CoreParameters parameters = four_lanes();
    parameters.policies.of<DwfParameters>().lane_aware = lane_aware;
    return parameters;
  }
  DynamicGroups aware_{"dwf", core(true), 2};
  DynamicGroups free_{"dwf", core(false), 2};
};

TEST_F(Dwf, AMergedWarpHasTheLessProgress) {
  Group& one = aware_.start(0, 0, 0b0011);
  Group& other = aware_.start(0, 1, 0b1100);
  one.progress = 4;
  other.progress = 9;
  aware_.plain(one);
  aware_.plain(other);
  ASSERT_THAT(aware_.live(), ElementsAre("1: 0/0 1/0 2/1 3/1"));
  EXPECT_EQ(aware_.at(1).progress, 4U);
}

TEST_F(Dwf, ThreadsOfOnePcFillFreeLanesOfTheYoungestWaitingWarp) {
  Group& a = aware_.start(0, 0, 0b1111);
  Group& b = aware_.start(0, 1, 0b1111);
  EXPECT_TRUE(aware_.branch(a, 5, 9, 0b0011));
  EXPECT_THAT(aware_.live(), ElementsAre("1: 2/0 3/0", "0: 0/1 1/1 2/1 3/1", "5: 0/0 1/0"));
  EXPECT_TRUE(aware_.branch(b, 5, 9, 0b1100));
  EXPECT_THAT(aware_.live(), ElementsAre("1: 0/1 1/1 2/0 3/0", "5: 0/0 1/0 2/1 3/1"));
}

TEST_F(Dwf, WhoFindsNoLaneStaysAWarpOfItsOwn) {
  Group& a = aware_.start(0, 0, 0b1111);
  Group& b = aware_.start(0, 1, 0b1111);
  aware_.branch(a, 5, 9, 0b0011);
  aware_.branch(b, 5, 9, 0b0111);
  // Lane 2 joins at PC 5; lanes 0 and 1 are taken there. At PC 1 lane 3 is taken.
  EXPECT_THAT(aware_.live(), ElementsAre("1: 2/0 3/0", "1: 3/1", "5: 0/0 1/0 2/1", "5: 0/1 1/1"));
}

TEST_F(Dwf, WithoutLanesAnyFreeOneWillDo) {
  Group& a = free_.start(0, 0, 0b1111);
  Group& b = free_.start(0, 1, 0b1111);
  free_.branch(a, 5, 9, 0b0011);
  free_.branch(b, 5, 9, 0b0011);
  EXPECT_THAT(free_.live(), ElementsAre("1: 0/1.2 1/1.3 2/0 3/0", "5: 0/0 1/0 2/1.0 3/1.1"));
  EXPECT_TRUE(free_.at(1).displaced);
}

TEST_F(Dwf, OnlyWaitingWarpsAreMerged) {
  Group& a = aware_.start(0, 0, 0b1111);
  Group& b = aware_.start(0, 1, 0b1111);
  aware_.branch(a, 5, 9, 0b0011);
  aware_.groups.set_state(aware_.at(5), GroupState::in_flight);
  aware_.branch(b, 5, 9, 0b1100);
  EXPECT_THAT(aware_.live(), ElementsAre("1: 0/1 1/1 2/0 3/0", "5: 0/0 1/0", "5: 2/1 3/1"));
}

TEST_F(Dwf, AtABarrierBlocksPart) {
  Group& a = aware_.start(0, 0, 0b0011);
  Group& b = aware_.start(1, 0, 0b1100);
  aware_.plain(a);
  aware_.plain(b);
  EXPECT_THAT(aware_.live(), ElementsAre("1: 0/0 1/0 2/2 3/2")) << "threads of two blocks share a warp";
  Group& both = aware_.at(1);
  aware_.barrier(both, 0b1111);
  EXPECT_THAT(aware_.live(), ElementsAre("2: 0/0 1/0", "2: 2/2 3/2"));
  EXPECT_THAT(aware_.handed_over, ElementsAre(DynamicGroups::HandOver{both.id, 1, both.id == 0 ? 1U : 0U}));
  EXPECT_EQ(both.state, GroupState::barrier);
}

TEST_F(Dwf, CountsTheMergePointsThatItsThreadsHavePassed) {
  Group& a = aware_.start(0, 0, 0b1111);
  Group& b = aware_.start(0, 1, 0b1111);
  aware_.branch(a, 2, 2, 0b0001);  // lane 0 goes to the merge point at once
  EXPECT_EQ(aware_.at(2).merge_points, 1U);
  EXPECT_EQ(aware_.at(1).merge_points, 0U);
  EXPECT_EQ(b.merge_points, 0U);
  aware_.plain(aware_.at(1));
  EXPECT_THAT(aware_.live(), ElementsAre("0: 0/1 1/1 2/1 3/1", "2: 0/0 1/0 2/0 3/0"));
  EXPECT_EQ(aware_.at(2).merge_points, 1U);
}

TEST_F(Dwf, ExitedThreadsFreeTheirWarp) {
  Group& a = aware_.start(0, 0, 0b1111);
  aware_.exit(a, 0b0111);
  EXPECT_THAT(aware_.live(), ElementsAre("1: 3/0"));
  aware_.exit(a, 0b1000);
  EXPECT_THAT(aware_.live(), IsEmpty());
}

// ---- a program counter per thread

class PerThreadPc : public ::testing::Test {
 protected:
  DynamicGroups core_{"per-thread-pc", four_lanes(), 2};
  Group& warp_ = core_.start(0, 0, 0b1111);
  void expect(std::uint32_t pc, LaneMask active) const {
    EXPECT_EQ(warp_.pc, pc);
    EXPECT_EQ(warp_.active[0], active);
  }
};

// The if of thesis 2.1.3.1 and 2.1.3.2: lanes 0 and 1 skip its body (PCs 1 and 2).
TEST_F(PerThreadPc, ThreadsThatSkipAnIfWaitUntilTheWarpsPcIsTheirs) {
  EXPECT_TRUE(core_.branch(warp_, 3, 3, 0b0011));
  expect(1, 0b1100);
  core_.plain(warp_);
  expect(2, 0b1100);
  core_.plain(warp_);
  expect(3, 0b1111);
}

TEST_F(PerThreadPc, TheWarpSkipsOnlyWhenEveryThreadDoes) {
  EXPECT_FALSE(core_.branch(warp_, 3, 3, 0b1111));
  expect(3, 0b1111);
}

TEST_F(PerThreadPc, ALoopRunsUntilItsLastThreadLeaves) {
  core_.plain(warp_);
  EXPECT_TRUE(core_.branch(warp_, 0, 2, 0b1000));
  expect(0, 0b1000);
  core_.plain(warp_);
  EXPECT_FALSE(core_.branch(warp_, 0, 2, 0));
  expect(2, 0b1111);
}

TEST_F(PerThreadPc, ThreadsAtABarrierLetTheOthersRun) {
  core_.branch(warp_, 5, isa::kNoReconvergence, 0b0011);
  expect(1, 0b1100);
  core_.barrier(warp_, 0b1100);
  expect(5, 0b0011);
  EXPECT_EQ(warp_.state, GroupState::ready);
  core_.barrier(warp_, 0b0011);
  EXPECT_EQ(warp_.state, GroupState::barrier) << "now all of them wait";
  core_.divergence->released(warp_, 0, 0b1100, false, core_);
  expect(2, 0b1100);
  EXPECT_EQ(warp_.state, GroupState::ready);
  core_.divergence->released(warp_, 0, 0b0011, true, core_);
  core_.plain(warp_);
  core_.plain(warp_);
  core_.plain(warp_);
  core_.plain(warp_);
  expect(6, 0b1111);
}

TEST_F(PerThreadPc, ExitedThreadsAreGone) {
  core_.branch(warp_, 5, isa::kNoReconvergence, 0b0011);
  core_.exit(warp_, 0b1100);
  expect(5, 0b0011);
  core_.exit(warp_, 0b0011);
  EXPECT_EQ(warp_.state, GroupState::free);
}

// A warp of two blocks' threads waits at a barrier by block; each of its threads has executed it.
TEST(DwfCore, EveryThreadOfAWarpOfTwoBlocksIsCountedAtABarrier) {
  Machine machine;
  machine.core.divergence = "dwf";
  machine.core.policies.of<DwfParameters>().lane_aware = false;
  heddle::test::GpuBench bench(machine);
  heddle::test::Code code;
  code.mov(1, 0);
  code.mov(1, 0);
  code.mov(1, 0);
  code.barrier(isa::Op::BAR_SYNC, 1);
  code.exit();
  const Totals totals = bench.run(code, {.grid = {2, 1, 1}, .block = {16, 1, 1}});
  EXPECT_EQ(totals.core.lane_instructions, 32U * 5);
  EXPECT_EQ(totals.core.thread_instructions, 32U * 5);
  EXPECT_LT(totals.core.warp_instructions, 10U) << "the blocks' threads share a warp";
  EXPECT_EQ(bench.core().pool.in_use(), 0U);
}

}  // namespace
}  // namespace heddle::hw
