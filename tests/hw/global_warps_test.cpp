// Global warp re-formation: who leaves a core and who stays, and which threads make the next warp. Four lanes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "hw/divergence/branch_ranking.hpp"
#include "hw/divergence/odgs.hpp"
#include "hw/divergence/thread_moves.hpp"
#include "hw/gpu/bound_blocks.hpp"
#include "hw/gpu/global_pool.hpp"
#include "hw/state/block_home.hpp"
#include "tests/hw/dynamic_groups.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CoreParameters four_global_lanes(unsigned short_branch = 0, unsigned moves = 0) {
  CoreParameters core;
  core.simd_width = core.warp_size = 4;
  core.threads = 16;
  core.blocks = 2;
  core.policies.of<OdgsParameters>().short_branch = short_branch;
  core.policies.of<OdgsParameters>().moves_per_1024 = moves;
  return core;
}

CoreParameters with_local_paths(unsigned paths, unsigned wait = 1000) {
  CoreParameters core = four_global_lanes();
  core.policies.of<OdgsParameters>().local_paths = paths;
  core.policies.of<OdgsParameters>().local_wait = wait;
  return core;
}

// Notes who leaves for the global scheduler: "9: 3" is the threads of lanes 0 and 1 at PC 9, "waits" at a barrier,
// "last" of a register row, "last of 2" of two. "free" is a warp that nothing binds to the core any more.
class LeavingCore : public test::DynamicGroups, private ThreadMoves {
 public:
  explicit LeavingCore(const CoreParameters& core, bool global = true)
      : DynamicGroups("odgs", core, 2), global_(global) {
    divergence->begin_launch(global);
  }
  // As it comes from the global scheduler.
  Group& start(unsigned block, unsigned warp, LaneMask active, bool bound = false) {
    Group& group = DynamicGroups::start(block, warp, active);
    group.bound = bound;
    if (global_) {
      divergence->arrived(group, *this);
    }
    return group;
  }
  ThreadMoves& threads() override { return *this; }
  std::vector<std::string> left;

 private:
  void recall(Group& group, bool waits, unsigned places) override {
    left.push_back(fmt::format("{}: {:x}{}{}{}", group.pc, group.active[0], waits ? " waits" : "",
                               places != 0 ? " last" : "", places > 1 ? fmt::format(" of {}", places) : ""));
    free(group);
  }
  void unbind(Group& group) override {
    group.bound = false;
    left.emplace_back("free");
  }
  void give_place() override { left.emplace_back("place"); }
  [[nodiscard]] std::optional<Place> vacant(unsigned) const override { return std::nullopt; }
  void move(Group&, unsigned, const Place&) override {}
  void exchange(Group&, unsigned, Group&, unsigned) override {}
  [[nodiscard]] unsigned core() const override { return 0; }
  [[nodiscard]] unsigned cores() const override { return 1; }
  void depart(Group&, unsigned) override {}
  const bool global_;
};

TEST(GlobalWarps, BothPathsOfADivergentBranchLeave) {
  LeavingCore core(four_global_lanes());
  Group& warp = core.start(0, 0, 0b1111);
  EXPECT_FALSE(core.branch(warp, 9, 12, 0b1111)) << "all of them";
  EXPECT_EQ(warp.pc, 9U);
  EXPECT_THAT(core.left, IsEmpty());
  EXPECT_TRUE(core.branch(warp, 20, 30, 0b0011));
  EXPECT_THAT(core.left, ElementsAre("20: 3", "10: c last"));
  EXPECT_THAT(core.live(), IsEmpty());
}

TEST(GlobalWarps, TheLastThreadGivesThePlaceBack) {
  LeavingCore core(four_global_lanes());
  Group& warp = core.start(0, 0, 0b0111);
  core.exit(warp, 0b0011);
  EXPECT_THAT(core.left, IsEmpty());
  EXPECT_THAT(core.live(), ElementsAre("1: 2/0"));
  core.exit(warp, 0b0100);
  EXPECT_THAT(core.left, ElementsAre("place"));
}

TEST(GlobalWarps, ShortBranchesAreTheStacks) {
  LeavingCore core(four_global_lanes(5));
  Group& warp = core.start(0, 0, 0b1111);
  // PC 0 to 5: as far as the parameter says. One within it, of whatever length, is the stack's too.
  EXPECT_TRUE(core.branch(warp, 3, 5, 0b0011));
  EXPECT_THAT(core.live(), ElementsAre("1: 2/0 3/0"));
  EXPECT_TRUE(core.branch(warp, 100, 200, 0b0100));
  EXPECT_THAT(core.left, IsEmpty());
  EXPECT_THAT(core.live(), ElementsAre("2: 3/0"));
  core.branch(warp, 200, 0, 0b1000);
  EXPECT_THAT(core.live(), ElementsAre("100: 2/0"));
  core.branch(warp, 200, 0, 0b0100);
  core.branch(warp, 5, 0, 0b1100);
  EXPECT_THAT(core.live(), ElementsAre("3: 0/0 1/0"));
  core.branch(warp, 5, 0, 0b0011);
  EXPECT_THAT(core.live(), ElementsAre("5: 0/0 1/0 2/0 3/0"));
  // One instruction longer, or backwards: not short.
  EXPECT_TRUE(core.branch(warp, 8, 11, 0b0011));
  EXPECT_THAT(core.left, ElementsAre("8: 3", "6: c last"));
}

TEST(GlobalWarps, ALoopIsNoShortBranch) {
  LeavingCore core(four_global_lanes(50));
  Group& warp = core.start(0, 0, 0b1111);
  core.plain(warp);
  core.plain(warp);
  EXPECT_TRUE(core.branch(warp, 1, 3, 0b0001));
  EXPECT_THAT(core.left, ElementsAre("1: 1", "3: e last"));
}

TEST(GlobalWarps, NoMoreMovesThanTheBound) {
  LeavingCore core(four_global_lanes(0, 1));
  core.branch(core.start(0, 0, 0b1111), 9, 12, 0b0011);
  EXPECT_THAT(core.left, ElementsAre("9: 3", "1: c last"));
  Group& second = core.start(0, 1, 0b1111);
  core.branch(second, 9, 12, 0b0011);
  EXPECT_EQ(core.left.size(), 2U);
  EXPECT_THAT(core.live(), ElementsAre("1: 2/1 3/1"));
}

TEST(GlobalWarps, WhoWaitsAtABarrierLeavesWithThoseWhoWaitForThem) {
  LeavingCore core(four_global_lanes(5));
  Group& warp = core.start(0, 0, 0b1111);
  core.branch(warp, 3, 5, 0b0001);
  // 1, 2 and 3 come to the barrier at PC 1, but the guard of 3 is false. 0 waits on the stack at PC 3.
  core.barrier(warp, 0b0110);
  EXPECT_THAT(core.left, ElementsAre("3: 1", "2: 6 waits"));
  EXPECT_THAT(core.live(), ElementsAre("2: 3/0"));
  core.barrier(warp, 0b1000);
  EXPECT_THAT(core.left, ElementsAre("3: 1", "2: 6 waits", "3: 8 waits last"));
}

TEST(GlobalWarps, KernelsThatStayHaveTheStackAndWaitWhereTheyAre) {
  LeavingCore core(four_global_lanes(), false);
  Group& warp = core.start(0, 0, 0b1111);
  EXPECT_TRUE(core.branch(warp, 3, 5, 0b0001));
  EXPECT_THAT(core.live(), ElementsAre("1: 1/0 2/0 3/0"));
  core.barrier(warp, 0b1110);
  EXPECT_EQ(warp.state, GroupState::barrier);
  core.exit(warp, 0b1110);
  core.exit(warp, 0b0001);
  EXPECT_THAT(core.left, IsEmpty());
  EXPECT_THAT(core.live(), IsEmpty());
}

TEST(GlobalWarps, ABoundWarpHasTheStackUpToItsLastAccess) {
  LeavingCore core(four_global_lanes());
  Group& warp = core.start(0, 0, 0b1111, true);
  EXPECT_TRUE(core.branch(warp, 3, 5, 0b0001));
  EXPECT_THAT(core.live(), ElementsAre("1: 1/0 2/0 3/0"));
  core.branch(warp, 5, 0, 0b1110);
  core.branch(warp, 5, 0, 0b0001);
  EXPECT_THAT(core.live(), ElementsAre("5: 0/0 1/0 2/0 3/0"));
  isa::Instruction barrier;
  barrier.op = isa::Op::BAR_SYNC;
  EXPECT_TRUE(core.divergence->waits_in_core(warp, barrier));
  core.barrier(warp, 0b1111);
  EXPECT_EQ(warp.state, GroupState::barrier);
  EXPECT_THAT(core.left, IsEmpty());
  core.past_scratchpad = true;
  EXPECT_TRUE(core.branch(warp, 20, 30, 0b0011));
  EXPECT_THAT(core.left, ElementsAre("free", "20: 3", "7: c last"));
  EXPECT_THAT(core.live(), IsEmpty());
}

TEST(GlobalWarps, AWarpIsFreeOnlyWhenItIsWhole) {
  LeavingCore core(four_global_lanes());
  Group& warp = core.start(0, 0, 0b1111, true);
  core.branch(warp, 10, 50, 0b0001);
  core.past_scratchpad = true;
  // 0 waits for its access at PC 10: the others stay, at branches and at barriers.
  EXPECT_TRUE(core.branch(warp, 3, 5, 0b0010));
  EXPECT_THAT(core.live(), ElementsAre("2: 2/0 3/0"));
  isa::Instruction barrier;
  barrier.op = isa::Op::BAR_SYNC;
  barrier.past_scratchpad = true;
  EXPECT_TRUE(core.divergence->waits_in_core(warp, barrier));
  core.barrier(warp, 0b1100);
  EXPECT_EQ(warp.state, GroupState::barrier);
  core.branch(warp, 5, 0, 0b1100);
  core.branch(warp, 5, 0, 0b0010);
  core.branch(warp, 50, 0, 0b1110);
  EXPECT_TRUE(warp.bound);
  core.past_scratchpad = false;
  core.branch(warp, 50, 0, 0b0001);
  EXPECT_THAT(core.left, IsEmpty());
  EXPECT_THAT(core.live(), ElementsAre("50: 0/0 1/0 2/0 3/0"));
  EXPECT_FALSE(core.divergence->waits_in_core(warp, barrier));
  core.past_scratchpad = true;
  core.barrier(warp, 0b1111);
  EXPECT_THAT(core.left, ElementsAre("free", "51: f waits last"));
}

TEST(GlobalWarps, ABoundWarpThatEndsIsFree) {
  LeavingCore core(four_global_lanes());
  Group& warp = core.start(0, 0, 0b0111, true);
  core.exit(warp, 0b0011);
  EXPECT_THAT(core.left, IsEmpty());
  core.exit(warp, 0b0100);
  EXPECT_THAT(core.left, ElementsAre("free", "place"));
}

TEST(GlobalWarps, PathsDoNotWaitInTheCoreForThoseAtBarriers) {
  LeavingCore core(with_local_paths(8));
  Group& first = core.start(0, 0, 0b1111);
  Group& bound = core.start(0, 1, 0b1111, true);
  core.start(1, 0, 0b1111);
  core.branch(first, 9, 12, 0b0011);
  EXPECT_THAT(core.left, IsEmpty()) << "two run, two wait";
  core.barrier(bound, 0b1111);
  EXPECT_THAT(core.left, ElementsAre("9: 3")) << "one runs";
  core.exit(core.at(0), 0b1111);
  EXPECT_THAT(core.left, ElementsAre("9: 3", "place", "1: c last"));
}

// The first times are the stack's; then a branch leaves if what it has lost is worth it.
TEST(BranchRanking, LearnsFromTheStackAndDecidesByTheMeanLoss) {
  BranchRanking ranking(2, 10);
  EXPECT_FALSE(ranking.leaves(7));
  EXPECT_FALSE(ranking.leaves(7));
  EXPECT_TRUE(ranking.leaves(7)) << "nothing is known of it yet";
  ranking.resolved(7, 12);
  EXPECT_TRUE(ranking.leaves(7));
  ranking.resolved(7, 6);
  EXPECT_FALSE(ranking.leaves(7)) << "9 on average";
  ranking.resolved(7, 12);
  EXPECT_TRUE(ranking.leaves(7)) << "10 on average";
  EXPECT_FALSE(ranking.leaves(8)) << "each branch by itself";
  ranking.clear();
  EXPECT_FALSE(ranking.leaves(7));
  EXPECT_TRUE(BranchRanking(0, 10).leaves(7)) << "does not rank";
}

TEST(BranchRanking, CountsSoManyBranches) {
  BranchRanking ranking(1, 10);
  for (std::uint32_t pc = 0; pc != BranchRanking::kBranches; ++pc) {
    EXPECT_FALSE(ranking.leaves(pc));
  }
  EXPECT_TRUE(ranking.leaves(BranchRanking::kBranches));
  EXPECT_TRUE(ranking.leaves(0));
}

// One thread executes three instructions of the first path while three wait, which execute one of the second while it
// waits: 3 + 3 + 3 + 1 = 10.
TEST(GlobalWarps, WhatTheStackLosesAtABranchIsCounted) {
  for (const unsigned loss : {10U, 11U}) {
    CoreParameters core = four_global_lanes();
    core.policies.of<OdgsParameters>().rank_after = 1;
    core.policies.of<OdgsParameters>().rank_loss = loss;
    LeavingCore cores(core);
    Group& warp = cores.start(0, 0, 0b1111);
    cores.branch(warp, 4, 5, 0b0111);  // 3 runs PC 1 to 3: three wait in each
    cores.plain(warp);
    cores.plain(warp);
    EXPECT_EQ(warp.pc, 3U);
    cores.branch(warp, 5, 0, 0b1000);
    EXPECT_THAT(cores.live(), ElementsAre("4: 0/0 1/0 2/0"));
    cores.plain(warp);  // one waits
    EXPECT_THAT(cores.live(), ElementsAre("5: 0/0 1/0 2/0 3/0"));
    EXPECT_THAT(cores.left, IsEmpty());
    warp.pc = 0;
    cores.branch(warp, 4, 5, 0b0111);
    EXPECT_EQ(cores.left.empty(), loss > 10) << loss;
  }
}

TEST(GlobalWarps, PathsThatWaitFillEachOthersLanes) {
  LeavingCore core(with_local_paths(8));
  Group& first = core.start(0, 0, 0b1111);
  Group& second = core.start(0, 1, 0b1111);
  core.start(1, 0, 0b1111);
  core.start(1, 1, 0b1111);  // who run, so that others may wait
  core.branch(first, 9, 12, 0b0011);
  EXPECT_THAT(core.left, IsEmpty());
  core.branch(second, 9, 12, 0b1110);
  // At PC 9 lanes 2 and 3 of the second join; its lane 1 waits by itself. At PC 1 lane 0 joins nobody's lane.
  EXPECT_THAT(core.left, IsEmpty());
  EXPECT_EQ(core.at(9).active[0], 0b1111U) << "runs on";
  EXPECT_EQ(core.at(9, GroupState::parked).active[0], 0b0010U);
  EXPECT_EQ(core.at(1, GroupState::parked).active[0], 0b1101U);
  // The full one is of two rows, of which others are left in each.
  Group& full = core.at(9);
  core.branch(full, 20, 30, 0b0000);
  EXPECT_EQ(full.pc, 10U);
  core.exit(full, 0b1111);
  EXPECT_THAT(core.left, IsEmpty());
}

TEST(GlobalWarps, NoMorePathsWaitThanMayOrThanWarpsRun) {
  LeavingCore core(with_local_paths(1));
  Group& first = core.start(0, 0, 0b1111);
  Group& other = core.start(0, 1, 0b1111);
  core.branch(first, 9, 12, 0b0011);
  EXPECT_THAT(core.left, ElementsAre("9: 3")) << "the oldest, whose row has others";
  core.exit(other, 0b1111);
  EXPECT_THAT(core.left, ElementsAre("9: 3", "place", "1: c last")) << "nobody runs";
}

TEST(GlobalWarps, NoPathWaitsLongerThanItMay) {
  LeavingCore core(with_local_paths(8, 10));
  Group& first = core.start(0, 0, 0b1111);
  Group& other = core.start(0, 1, 0b1111);
  core.start(1, 0, 0b1111);
  core.branch(first, 9, 12, 0b0011);
  core.cycle = 9;
  core.plain(other);
  EXPECT_THAT(core.left, IsEmpty());
  core.cycle = 10;
  core.plain(other);
  EXPECT_THAT(core.left, ElementsAre("9: 3", "1: c last"));
}

// The next warp as "pc kind: numbers", of threads that are numbered in their home.
std::string next(GlobalPool& pool, unsigned owner = 0) {
  const std::optional<GlobalPool::Warp> warp = pool.take(owner);
  if (!warp) {
    return "nobody";
  }
  if (warp->kind == GlobalPool::Warp::Kind::fresh) {
    return fmt::format("new from {}", warp->home->first);
  }
  std::string text = fmt::format("{} {}:", warp->pc, warp->kind == GlobalPool::Warp::Kind::full ? "full" : "some");
  for (const Traveller& thread : warp->threads) {
    text += fmt::format(" {}/{}", thread.thread.number(), thread.lane);
  }
  return text;
}

TEST(GlobalPool, FullWarpsComeFirstThenNewOnesThenTheLowestPc) {
  GlobalPool pool(2, 1);
  ThreadHome home;
  home.first = 100;
  ThreadHome fresh;
  fresh.first = 200;
  const auto thread = [&](std::uint8_t number) {
    Traveller out;
    out.thread = {&home, number};
    out.lane = 7;
    return out;
  };
  pool.begin(fresh, 0);
  pool.add(30, thread(0));
  pool.add(20, thread(1));
  pool.add(40, thread(2));
  pool.add(30, thread(3));
  pool.add(20, thread(4));
  pool.add(30, thread(5));
  EXPECT_EQ(pool.threads(), 8U);
  EXPECT_EQ(next(pool), "30 full: 100/0 103/1") << "in the order in which they became full, not by PC";
  EXPECT_EQ(next(pool), "20 full: 101/0 104/1");
  EXPECT_EQ(next(pool), "new from 200");
  EXPECT_FALSE(pool.take(0, true)) << "more threads come at once";
  EXPECT_EQ(next(pool), "30 some: 105/0");
  EXPECT_EQ(next(pool), "40 some: 102/0");
  EXPECT_EQ(pool.threads(), 0U);
  EXPECT_EQ(next(pool), "nobody");
}

TEST(GlobalPool, ACoreWithoutNewWarpsTakesABlocksFromTheCoreWithMost) {
  GlobalPool pool(2, 3);
  std::array<BlockHome, 3> blocks;
  std::array<ThreadHome, 5> homes;  // two of block 0, two of block 1, one of block 2
  for (std::size_t i = 0; i != homes.size(); ++i) {
    homes[i].first = static_cast<std::uint32_t>(i);
    homes[i].block = &blocks[i / 2];
    pool.begin(homes[i], i == 4 ? 1 : 0);
  }
  EXPECT_EQ(next(pool, 1), "new from 4");
  EXPECT_EQ(pool.stolen_blocks(), 0U);
  EXPECT_EQ(next(pool, 2), "new from 2") << "the latest block of core 0, from its first warp on";
  EXPECT_EQ(pool.stolen_blocks(), 1U);
  EXPECT_EQ(next(pool, 0), "new from 0");
  EXPECT_EQ(next(pool, 2), "new from 3");
  EXPECT_EQ(next(pool, 2), "new from 1") << "what is left of a block";
  EXPECT_EQ(pool.stolen_blocks(), 2U);
  EXPECT_EQ(next(pool, 0), "nobody");
}

// A part as "block slot: core/number".
std::string part(BoundBlocks& blocks, const std::vector<unsigned>& places) {
  const std::optional<BoundBlocks::Part> part = blocks.place(places);
  return part ? fmt::format("{}: {}/{}", part->slot, part->core, part->number) : "none";
}

TEST(BoundBlocks, BeginWholeWhereThereIsMostRoom) {
  BoundBlocks blocks;
  blocks.begin(8, 3, 2, 4);
  EXPECT_EQ(part(blocks, {9, 9, 9}), "none") << "no block waits";
  for (const unsigned slot : {5U, 0U, 1U, 2U, 3U}) {
    blocks.queue(slot);
  }
  EXPECT_EQ(blocks.queued(), 5U);
  EXPECT_EQ(part(blocks, {3, 3, 3}), "none") << "four warps each";
  EXPECT_EQ(part(blocks, {4, 5, 5}), "5: 1/0");
  EXPECT_EQ(part(blocks, {4, 4, 4}), "0: 2/0") << "the next in turn";
  EXPECT_EQ(part(blocks, {4, 9, 4}), "1: 1/1");
  EXPECT_EQ(part(blocks, {0, 9, 4}), "2: 2/1") << "core 1 has no part left";
  EXPECT_EQ(part(blocks, {0, 9, 9}), "none");
  EXPECT_EQ(blocks.taken(), 4U);
  for (unsigned warp = 0; warp != 3; ++warp) {
    EXPECT_FALSE(blocks.past(5));
  }
  EXPECT_EQ(part(blocks, {0, 9, 9}), "none");
  EXPECT_EQ(blocks.bound(5), 1U);
  EXPECT_TRUE(blocks.past(5));
  EXPECT_EQ(blocks.taken(), 3U);
  EXPECT_THROW((void)blocks.past(5), InternalError) << "once";
  EXPECT_EQ(part(blocks, {0, 9, 9}), "3: 1/0");
  blocks.begin(8, 3, 2, 4);
  EXPECT_EQ(blocks.queued() + blocks.taken() + blocks.bound(3), 0U);
}

}  // namespace
}  // namespace heddle::hw
