// Warps that part on memory divergence: the mechanism alone, which threads are where after each step, four lanes; and
// in a core, where the threads leave while their load is in flight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/divergence/memory_split.hpp"
#include "tests/hw/dynamic_groups.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::hw {
namespace {

using test::DynamicGroups;
using ::testing::ElementsAre;

CoreParameters splitting(const char* when, unsigned entries = 16) {
  CoreParameters core;
  core.simd_width = core.warp_size = 4;
  core.threads = 32;
  core.blocks = 2;
  core.policies.of<MemorySplitParameters>().when = when;
  core.policies.of<MemorySplitParameters>().entries = entries;
  return core;
}

// Two warps of one block, the first of which has loaded: its lanes 0 and 1 have been answered.
struct Splits {
  explicit Splits(const char* when, unsigned entries = 16) : core("memory-split", splitting(when, entries), 2) {}
  DynamicGroups core;
  Group& warp = core.start(0, 0, 0b1111);
  Group& other = core.start(0, 1, 0b1111);
  Group& load() {
    core.put_aside(warp, 0b0011);
    return core.at(0, GroupState::in_flight);  // the split that runs ahead
  }
};

TEST(MemorySplit, ThreadsWithTheirDataRunAheadToTheBranchWhereTheWarpJoins) {
  Splits bench("always");
  Group& ahead = bench.load();
  EXPECT_THAT(bench.core.live(), ElementsAre("0: 2/0 3/0", "0: 0/1 1/1 2/1 3/1", "0: 0/0 1/0"));
  EXPECT_EQ(bench.warp.state, GroupState::memory);
  bench.core.plain(ahead);
  EXPECT_EQ(ahead.state, GroupState::ready);
  bench.core.plain(ahead);
  EXPECT_FALSE(bench.core.branch(ahead, 5, 9, 0b0001));
  EXPECT_EQ(ahead.state, GroupState::parked);
  bench.core.plain(bench.warp);
  bench.core.plain(bench.warp);
  EXPECT_TRUE(bench.core.branch(bench.warp, 5, 9, 0b1000)) << "the branch is the whole warp's";
  EXPECT_THAT(bench.core.live(), ElementsAre("3: 1/0 2/0", "0: 0/1 1/1 2/1 3/1"));
  for (std::uint32_t pc = 3; pc != 9; ++pc) {
    bench.core.plain(bench.warp);
  }
  EXPECT_THAT(bench.core.live(), ElementsAre("5: 0/0 3/0", "0: 0/1 1/1 2/1 3/1"));
  for (std::uint32_t pc = 5; pc != 9; ++pc) {
    bench.core.plain(bench.warp);
  }
  EXPECT_THAT(bench.core.live(), ElementsAre("9: 0/0 1/0 2/0 3/0", "0: 0/1 1/1 2/1 3/1"));
}

TEST(MemorySplit, SplitsWaitForEachOtherAtTheReconvergencePoint) {
  Splits bench("always");
  EXPECT_TRUE(bench.core.branch(bench.warp, 2, 3, 0b0111)) << "lane 3 falls through";
  bench.core.plain(bench.warp);
  bench.core.plain(bench.warp);  // comes to PC 3: the others' turn
  EXPECT_THAT(bench.core.live(), ElementsAre("2: 0/0 1/0 2/0", "0: 0/1 1/1 2/1 3/1"));
  bench.core.put_aside(bench.warp, 0b0010);
  Group& ahead = bench.core.at(2, GroupState::in_flight);
  bench.core.plain(ahead);
  EXPECT_EQ(ahead.state, GroupState::parked);
  bench.core.plain(bench.warp);
  EXPECT_THAT(bench.core.live(), ElementsAre("3: 0/0 1/0 2/0 3/0", "0: 0/1 1/1 2/1 3/1"));
}

TEST(MemorySplit, ASplitJoinsOneThatWaitsToBeFetchedAtItsPc) {
  Splits bench("always");
  Group& ahead = bench.load();
  bench.core.plain(ahead);
  bench.core.plain(bench.warp);
  EXPECT_THAT(bench.core.live(), ElementsAre("0: 0/1 1/1 2/1 3/1", "1: 0/0 1/0 2/0 3/0"));
  EXPECT_EQ(ahead.active_threads(), 4U);
}

TEST(MemorySplit, AFullTableKeepsWarpsTogether) {
  Splits bench("always", 2);
  Group& ahead = bench.load();
  bench.core.put_aside(bench.other, 0b0001);
  EXPECT_EQ(bench.other.active_threads(), 4U);
  bench.core.put_aside(ahead, 0b0001);
  EXPECT_EQ(ahead.active_threads(), 2U);
  // A split that ends gives its entry back, and the other one of an undivided warp its own.
  bench.core.exit(ahead, 0b0011);
  EXPECT_THAT(bench.core.live(), ElementsAre("0: 2/0 3/0", "0: 0/1 1/1 2/1 3/1"));
  bench.core.put_aside(bench.other, 0b0001);
  EXPECT_EQ(bench.other.active_threads(), 3U);
  bench.core.exit(bench.warp, 0b1100);
  EXPECT_EQ(bench.warp.state, GroupState::free);
}

TEST(MemorySplit, SplitsWaitAtABarrierOneByOne) {
  Splits bench("always");
  Group& ahead = bench.load();
  bench.core.barrier(ahead, 0b0011);
  EXPECT_EQ(ahead.state, GroupState::barrier);
  bench.core.barrier(bench.warp, 0b1100);
  bench.core.divergence->released(ahead, 0, 0b0011, true, bench.core);
  EXPECT_EQ(ahead.state, GroupState::ready);
  bench.core.divergence->released(bench.warp, 0, 0b1100, true, bench.core);
  EXPECT_THAT(bench.core.live(), ElementsAre("0: 0/1 1/1 2/1 3/1", "1: 0/0 1/0 2/0 3/0"));
}

TEST(MemorySplit, PartsOnlyWhenNothingElseHidesTheLatency) {
  Splits bench("idle");
  bench.core.put_aside(bench.warp, 0b0011);
  EXPECT_EQ(bench.warp.active_threads(), 4U) << "the other warp is ready";
  bench.core.groups.set_state(bench.other, GroupState::barrier);
  bench.core.divergence->starving(bench.core);
  EXPECT_EQ(bench.warp.active_threads(), 4U) << "later is too late";
  bench.core.put_aside(bench.warp, 0b0011);
  EXPECT_EQ(bench.warp.active_threads(), 2U);
}

TEST(MemorySplit, RevivesTheOldestThatWaitsOneAtATime) {
  Splits bench("revive");
  bench.core.put_aside(bench.warp, 0b0011);
  bench.core.put_aside(bench.other, 0b0001);
  EXPECT_EQ(bench.warp.active_threads(), 4U) << "then the other warp had been ready";
  EXPECT_EQ(bench.other.active_threads(), 3U) << "the last one that is active";
  bench.core.divergence->starving(bench.core);
  EXPECT_EQ(bench.warp.active_threads(), 4U) << "a split runs";
  Group& ahead = bench.core.at(0, GroupState::in_flight);
  bench.core.put_aside(ahead, 0);
  EXPECT_EQ(bench.warp.active_threads(), 4U);
  bench.core.divergence->starving(bench.core);
  EXPECT_EQ(bench.warp.active_threads(), 2U);
}

// r2 = word 2 * tid of the buffer, whose first line alone is in the L1: threads 0 to 15 hit, 16 to 31 miss. Then word
// 1024 + tid = r2 + 1.
heddle::test::Code half_hits() {
  heddle::test::Code code;
  code.param(9, 0);
  code.s2r(0, isa::Special::tid_x);
  code.load(isa::Op::LD_GLOBAL, 3, 9);
  code.rri(isa::Op::SHL, 1, 0, 3);
  code.rrr(isa::Op::ADD, 1, 1, 9);
  code.load(isa::Op::LD_GLOBAL, 2, 1);
  code.rri(isa::Op::ADD, 2, 2, 1);
  code.rri(isa::Op::SHL, 1, 0, 2);
  code.rrr(isa::Op::ADD, 1, 1, 9);
  code.store(isa::Op::ST_GLOBAL, 1, 2, 4096);
  code.exit();
  return code;
}

class SplitCore : public ::testing::TestWithParam<unsigned> {};

TEST_P(SplitCore, ThreadsThatHitGoOnWhileTheOthersWait) {
  Machine machine;
  machine.core.divergence = "memory-split";
  machine.l1d.hit_latency = GetParam();
  heddle::test::GpuBench bench(machine);
  for (std::uint32_t i = 0; i < 64; ++i) {
    bench.memory.put<std::uint32_t>(heddle::test::GpuBench::kBuffer + 4 * i, 100 + i);
  }
  bench.start(half_hits());
  unsigned ran_ahead = 0;
  unsigned instructions = 0;
  while (bench.step()) {
    const Group* waits = nullptr;
    const Group* ahead = nullptr;
    for (const Group& group : bench.core().groups.all()) {
      waits = group.state == GroupState::memory && group.active[0] == 0xffff0000U ? &group : waits;
      ahead = group.state != GroupState::free && group.active[0] == 0x0000ffffU ? &group : ahead;
    }
    if (waits != nullptr && ahead != nullptr && ahead->pc > waits->pc) {
      instructions = std::max(instructions, ahead->pc - waits->pc);
      ++ran_ahead;
    }
  }
  EXPECT_GT(ran_ahead, 30U) << "cycles of the miss";
  EXPECT_GE(instructions, 4U) << "up to the store, at least";
  for (std::uint32_t thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(bench.word(1024 + thread), 101 + 2 * thread) << thread;
  }
  const Totals totals = bench.gpu.totals();
  EXPECT_EQ(totals.core.thread_instructions, 32U * 11);
  EXPECT_EQ(bench.core().pool.in_use(), 0U);
}

INSTANTIATE_TEST_SUITE_P(MemorySplit, SplitCore, ::testing::Values(1U, 4U));

}  // namespace
}  // namespace heddle::hw
