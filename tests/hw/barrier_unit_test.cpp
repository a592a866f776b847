// The barrier unit of a core alone: what sub-warps bring to a barrier, who waits, and what is said of a block that can
// never go on. Rows have four lanes; blocks ten threads, in three warps.
#include "hw/core/warps/barrier_unit.hpp"
#include "tests/hw/begin_block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace heddle::hw {
namespace {

using ::testing::IsEmpty;

// A core with two blocks, (3, 1, 0) in slot 0 and (2, 1, 0), which comes before it in the grid, in slot 1. Group 3 b +
// w is warp w of the block in slot b, with its threads where they were born.
struct BarrierBench {
  explicit BarrierBench(unsigned warp_size = 4) : machine(small(warp_size)), state(machine, 1, nullptr) {
    launch.block = {10, 1, 1};
    launch.grid = {4, 2, 1};
    launch.id = 6;
    state.launch = &launch;
    begin_block(state, 0, {3, 1, 0}, 7);
    begin_block(state, 1, {2, 1, 0}, 6);
    const unsigned warps = (10 + warp_size - 1) / warp_size;
    for (unsigned slot = 0; slot != 2; ++slot) {
      for (unsigned warp = 0; warp != warps; ++warp) {
        Group& group = state.groups[slot * warps + warp];
        group.block_slot = slot;
        group.warp_in_block = warp;
        group.first_row = static_cast<std::uint16_t>((slot * warps + warp) * (warp_size / 4));
      }
    }
  }
  static Machine small(unsigned warp_size) {
    Machine out;
    out.core.simd_width = 4;
    out.core.warp_size = warp_size;
    out.core.threads = 32;
    out.core.blocks = 2;
    return out;
  }
  // Threads of a group, in one of its rows, execute a barrier operation.
  link::SubWarp& sub_warp(GroupId group, LaneMask lanes, unsigned barrier = 0, unsigned count = 0,
                          isa::Op op = isa::Op::BAR_SYNC, unsigned row = 0) {
    link::DecodedInstruction& decoded = instructions.emplace_back();
    decoded.instruction.op = op;
    link::SubWarp& out = sub_warps.emplace_back();
    out.group = group;
    out.pc = 20 + group;
    out.decoded = &decoded;
    out.first_row = static_cast<std::uint16_t>(state.groups[group].first_row + row);
    out.lanes = out.executing = lanes;
    out.values.a[0].fill(barrier);
    out.values.b[0].fill(count);
    return out;
  }
  // They come to it, and wait there.
  link::SubWarp& waits(GroupId group, LaneMask lanes, unsigned barrier = 0, unsigned count = 0,
                       isa::Op op = isa::Op::BAR_SYNC, unsigned row = 0) {
    link::SubWarp& out = sub_warp(group, lanes, barrier, count, op, row);
    const std::optional<BarrierArrival> arrival = BarrierUnit::arrival(state, out);
    EXPECT_TRUE(arrival.has_value());
    EXPECT_EQ(state.block(state.groups[group].block_slot).arrive(*arrival, 0), "");
    unit.wait(out);
    return out;
  }
  // Threads have exited, in the core and out of their block.
  void exit(unsigned slot, unsigned threads) {
    EXPECT_FALSE(state.homes[slot].exit(threads));
    state.leaves(state.homes[slot], threads);
  }
  [[nodiscard]] std::optional<BarrierUnit::Stuck> found() const {
    return BarrierUnit::stuck(std::array{BarrierUnit::Waiters{&state, &unit}});
  }
  [[nodiscard]] std::string stuck() const {
    const std::optional<BarrierUnit::Stuck> told = found();
    return told ? told->detail : "";
  }

  Machine machine;
  Launch launch;
  CoreState state;
  BarrierUnit unit{8};
  std::deque<link::DecodedInstruction> instructions;
  std::deque<link::SubWarp> sub_warps;
};

TEST(BarrierUnit, ASubWarpBringsItsExecutingThreads) {
  BarrierBench bench;
  link::SubWarp& sub_warp = bench.sub_warp(1, 0b1011, 5, 8, isa::Op::BAR_RED_AND);
  sub_warp.values.predicate_a = 0b0110;
  sub_warp.values.a[0][2] = 9;  // of a thread that does not execute it
  sub_warp.values.b[0][2] = 1;
  const std::optional<BarrierArrival> arrival = BarrierUnit::arrival(bench.state, sub_warp);
  ASSERT_TRUE(arrival.has_value());
  EXPECT_EQ(arrival->op, isa::Op::BAR_RED_AND);
  EXPECT_EQ(arrival->barrier, 5U);
  EXPECT_EQ(arrival->count, 8U);
  EXPECT_EQ(arrival->threads, 3U);
  EXPECT_EQ(arrival->true_threads, 1U);
  EXPECT_EQ(arrival->core, 1U);
  EXPECT_EQ(arrival->sub_warp, &sub_warp);
  EXPECT_TRUE(arrival->waits());
  EXPECT_FALSE(bench.state.fault.has_value());
  const std::optional<BarrierArrival> passing =
      BarrierUnit::arrival(bench.state, bench.sub_warp(1, 0b0001, 3, 4, isa::Op::BAR_ARRIVE));
  ASSERT_TRUE(passing.has_value());
  EXPECT_FALSE(passing->waits());
}

TEST(BarrierUnit, ThreadsOfAWarpThatNameDifferentBarriersAreAFault) {
  BarrierBench bench;
  link::SubWarp& barriers = bench.sub_warp(1, 0b1110, 5, 8);
  barriers.values.a[0][3] = 6;
  EXPECT_FALSE(BarrierUnit::arrival(bench.state, barriers).has_value());
  ASSERT_TRUE(bench.state.fault.has_value());
  const isa::Fault fault = *bench.state.fault;
  EXPECT_EQ(fault.kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_EQ(fault.detail, "threads of one warp name different barriers or counts: 5 (8) and 6 (8)");
  EXPECT_EQ(fault.launch, 6U);
  EXPECT_EQ(fault.pc, 21U);
  EXPECT_EQ(fault.block, (isa::Dim3{3, 1, 0}));
  EXPECT_EQ(fault.thread, (isa::Dim3{7, 0, 0})) << "the first that differs";
  EXPECT_EQ(fault.size, 0U);
  bench.state.fault.reset();
  link::SubWarp& counts = bench.sub_warp(1, 0b0111, 5, 8);
  counts.values.b[0][1] = 9;
  counts.values.b[0][2] = 10;
  EXPECT_FALSE(BarrierUnit::arrival(bench.state, counts).has_value());
  ASSERT_TRUE(bench.state.fault.has_value());
  EXPECT_EQ(bench.state.fault->detail, "threads of one warp name different barriers or counts: 5 (8) and 5 (9)");
  EXPECT_EQ(bench.state.fault->thread, (isa::Dim3{5, 0, 0}));
}

TEST(BarrierUnit, TheGridsBarrierNeedsACooperativeLaunchAndNoOperands) {
  BarrierBench bench;
  link::SubWarp& alone = bench.sub_warp(4, 0b1100, 5, 8, isa::Op::BAR_GRID);
  alone.values.a[0][3] = 6;
  EXPECT_FALSE(BarrierUnit::arrival(bench.state, alone).has_value());
  ASSERT_TRUE(bench.state.fault.has_value());
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_EQ(bench.state.fault->detail,
            "the kernel waits for its whole grid, whose blocks need not all be resident: the launch was not "
            "cooperative");
  EXPECT_EQ(bench.state.fault->block, (isa::Dim3{2, 1, 0}));
  EXPECT_EQ(bench.state.fault->thread, (isa::Dim3{6, 0, 0}));
  bench.state.fault.reset();
  bench.launch.cooperative = true;
  const std::optional<BarrierArrival> arrival = BarrierUnit::arrival(bench.state, alone);
  ASSERT_TRUE(arrival.has_value());
  EXPECT_EQ(arrival->barrier, isa::reference::kGridBarrier);
  EXPECT_EQ(arrival->count, 0U);
  EXPECT_EQ(arrival->threads, 2U);
  EXPECT_TRUE(arrival->waits());
  EXPECT_FALSE(bench.state.fault.has_value());
}

TEST(BarrierUnit, AGroupWaitsUntilItsLastSubWarpIsReleased) {
  BarrierBench bench;
  const Group& group = bench.state.groups[1];
  EXPECT_FALSE(bench.unit.waits(group));
  link::SubWarp& first = bench.waits(1, 0b0011);
  link::SubWarp& second = bench.waits(1, 0b1100);
  EXPECT_TRUE(bench.unit.waits(group));
  EXPECT_FALSE(bench.unit.waits(bench.state.groups[0]));
  bench.unit.released(first);
  EXPECT_TRUE(bench.unit.waits(group));
  bench.unit.released(second);
  EXPECT_FALSE(bench.unit.waits(group));
  bench.unit.wait(first);
  bench.unit.reset();
  EXPECT_FALSE(bench.unit.waits(group));
}

TEST(BarrierUnit, TheFirstOfABlockIsTheFirstByWarpAndRow) {
  BarrierBench bench(8);
  const BlockHome& block = bench.state.homes[0];
  // Groups 0 and 1 are the block's, of two rows each; 2 and 3 the other's.
  bench.waits(2, 0b1111);
  link::SubWarp& last = bench.waits(1, 0b0011);
  EXPECT_EQ(bench.unit.first_waiting(bench.state, block), &last);
  link::SubWarp& lower = bench.waits(0, 0b1111, 0, 0, isa::Op::BAR_SYNC, 1);
  EXPECT_EQ(bench.unit.first_waiting(bench.state, block), &lower);
  link::SubWarp& upper = bench.waits(0, 0b1111, 0, 0, isa::Op::BAR_SYNC, 0);
  EXPECT_EQ(bench.unit.first_waiting(bench.state, block), &upper);
  // By the number of the warp, whatever that of the group is.
  std::swap(bench.state.groups[0].warp_in_block, bench.state.groups[1].warp_in_block);
  EXPECT_EQ(bench.unit.first_waiting(bench.state, block), &last);
}

TEST(BarrierUnit, WhatIsHandedOverIsOneBlocks) {
  BarrierBench bench;
  // Group 0 has threads of both blocks, as a dynamic warp has.
  link::SubWarp& own = bench.waits(0, 0b0011);
  link::SubWarp& others = bench.waits(3, 0b0011);
  bench.unit.released(others);
  others.group = 0;
  bench.unit.wait(others);
  link::SubWarp& more = bench.waits(0, 0b1100);
  bench.unit.hand_over(bench.state, 0, 1, 5);
  EXPECT_EQ(own.group, 0U);
  EXPECT_EQ(more.group, 0U);
  EXPECT_EQ(others.group, 5U);
  EXPECT_TRUE(bench.unit.waits(bench.state.groups[0]));
  EXPECT_TRUE(bench.unit.waits(bench.state.groups[5]));
  bench.unit.released(others);
  EXPECT_FALSE(bench.unit.waits(bench.state.groups[5]));
  bench.unit.hand_over(bench.state, 0, 0, 2);
  EXPECT_FALSE(bench.unit.waits(bench.state.groups[0]));
  bench.unit.released(own);
  EXPECT_TRUE(bench.unit.waits(bench.state.groups[2])) << "both have gone over";
  bench.unit.released(more);
  EXPECT_FALSE(bench.unit.waits(bench.state.groups[2]));
}

TEST(BarrierUnit, ABlockWhoseThreadsAreAllHereAndWaitIsStuck) {
  BarrierBench bench;
  EXPECT_FALSE(bench.found().has_value()) << "nobody waits";
  bench.waits(1, 0b0011, 2);
  link::SubWarp& first = bench.waits(0, 0b1110, 15, 6);
  bench.exit(0, 3);
  const std::optional<BarrierUnit::Stuck> found = bench.found();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->sub_warp, &first);
  EXPECT_EQ(found->detail,
            "the barrier can never complete: warp 0 (3 of its 4 threads) waits at barrier 15, PC 20; warp 1 (2 of its "
            "4 threads) waits at barrier 2, PC 21; barrier 2 has 2 of 7 threads; barrier 15 has 3 of 6 threads; 3 "
            "threads have exited");
}

TEST(BarrierUnit, TheLastWarpHasAsManyThreadsAsTheBlockLeavesIt) {
  BarrierBench bench;
  bench.waits(2, 0b0001);
  EXPECT_EQ(bench.stuck(),
            "the barrier can never complete: warp 2 (1 of its 2 threads) waits at barrier 0, PC 22; barrier 0 has 1 of "
            "10 threads");
}

TEST(BarrierUnit, AWarpOfSeveralRowsHasTheThreadsOfAllOfThem) {
  BarrierBench bench(8);
  bench.waits(0, 0b1111, 0, 0, isa::Op::BAR_SYNC, 1);
  bench.waits(1, 0b0011);
  EXPECT_EQ(bench.stuck(),
            "the barrier can never complete: warp 0 (4 of its 8 threads) waits at barrier 0, PC 20; warp 1 (2 of its 2 "
            "threads) waits at barrier 0, PC 21; barrier 0 has 6 of 10 threads");
}

TEST(BarrierUnit, OfSeveralBlocksTheFirstInTheGridIsTold) {
  BarrierBench bench;
  bench.waits(0, 0b1111);
  EXPECT_THAT(bench.stuck(), ::testing::HasSubstr("PC 20"));
  link::SubWarp& first = bench.waits(3, 0b1111);  // block 6, in slot 1
  const std::optional<BarrierUnit::Stuck> found = bench.found();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->sub_warp, &first);
  EXPECT_EQ(found->detail,
            "the barrier can never complete: warp 0 (4 of its 4 threads) waits at barrier 0, PC 23; barrier 0 has 4 of "
            "10 threads");
}

TEST(BarrierUnit, WhoseThreadsAreElsewhereOrWaitForTheGridIsNotStuck) {
  BarrierBench away;
  away.waits(0, 0b1111);
  away.state.departs(away.state.homes[0]);
  EXPECT_THAT(away.stuck(), IsEmpty()) << "a thread of the block is in another core";
  away.waits(3, 0b1111);
  EXPECT_THAT(away.stuck(), ::testing::HasSubstr("PC 23"));
  BarrierBench grid;
  grid.launch.cooperative = true;
  for (GroupId group = 0; group != 3; ++group) {
    grid.waits(group, group == 2 ? 0b11 : 0b1111, 0, 0, isa::Op::BAR_GRID);
  }
  EXPECT_TRUE(grid.state.homes[0].comes_to_grid());
  EXPECT_THAT(grid.stuck(), IsEmpty());
  // Not all of the other block have come there.
  grid.waits(3, 0b0111, 0, 0, isa::Op::BAR_GRID);
  grid.waits(4, 0b0001, 1);
  EXPECT_EQ(grid.stuck(),
            "the barrier can never complete: warp 0 (3 of its 4 threads) waits at the grid's barrier, PC 23; warp 1 (1 "
            "of its 4 threads) waits at barrier 1, PC 24; barrier 1 has 1 of 10 threads; the grid's barrier has 3 of "
            "10 threads");
}

}  // namespace
}  // namespace heddle::hw
