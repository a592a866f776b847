// The barrier of a cooperative launch's grid, by hand: when its blocks go on, what they see, and who can never come.
#include <gmock/gmock.h>

#include "hw/gpu/dispatcher.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

using ::testing::HasSubstr;

hw::Machine machine_of(unsigned cores, unsigned latency = 10) {
  hw::Machine machine;
  machine.gpu.cores = cores;
  machine.gpu.grid_barrier_latency = latency;
  machine.l1d.write_policy = cores > 1 ? "write-through" : "write-back";
  return machine;
}

LaunchShape cooperative(unsigned blocks, unsigned threads = 32) {
  LaunchShape shape;
  shape.grid = {blocks, 1, 1};
  shape.block = {threads, 1, 1};
  shape.cooperative = true;
  return shape;
}

// Each block writes the clock before its barriers and behind them to words 2 * block and on; block b goes round a loop
// b times `rounds` before the second one, for which the code has come.
Code clocks(std::uint32_t rounds) {
  Code code;
  code.s2r(0, Special::ctaid_x);
  code.rri(Op::SHL, 1, 0, 3);
  code.param(2, 0);
  code.rrr(Op::ADD, 1, 1, 2);
  code.mov(6, 0);
  const Code::Pc top = code.here();
  code.rri(Op::MUL_LO, 15, 0, rounds);
  code.rrr(Op::MUL_LO, 15, 15, 6);
  code.rri(Op::ADD, 15, 15, 1);
  const Code::Pc loop = code.here();
  code.rri(Op::ADD, 15, 15, ~std::uint32_t{0});
  code.setp(6, isa::Comparison::ne, 15, 0);
  code.aim(code.when(6).bra(), loop, code.here());
  code.s2r(4, Special::clock);
  code.plain(Op::BAR_GRID);
  code.s2r(5, Special::clock);
  code.rri(Op::ADD, 6, 6, 1);
  code.setp(5, isa::Comparison::ne, 6, 2);
  code.aim(code.when(5).bra(), top, code.here());
  code.store(Op::ST_GLOBAL, 1, 4);
  code.store(Op::ST_GLOBAL, 1, 5, 4);
  code.exit();
  return code;
}

class GridBarrier : public ::testing::TestWithParam<unsigned> {};

// An instruction takes 7 cycles from fetch to the next one's fetch. The last block's barrier is written back in cycle
// t, the dispatcher hears of it in t + L, and the cores in t + 2 L, where the block is ready for the next cycle.
TEST_P(GridBarrier, LetsBlocksGoTwoMessagesAfterTheLastArrival) {
  const unsigned latency = GetParam();
  GpuBench bench(machine_of(2, latency));
  const hw::Totals totals = bench.run(clocks(20), cooperative(2));
  const std::uint32_t early[] = {bench.word(0), bench.word(1)};
  const std::uint32_t late[] = {bench.word(2), bench.word(3)};
  EXPECT_EQ(late[1] - late[0], 14 + 2 * latency);
  EXPECT_EQ(early[1], late[1]) << "cores of their own";
  EXPECT_GT(late[0], early[0] + 20 * 3 * 7 - 7);
  EXPECT_EQ(totals.dispatcher.grid_barriers, 2U);
  EXPECT_EQ(totals.dispatcher.grid_barrier_messages, 2U * (2 + 2));
  EXPECT_EQ(totals.core.barriers, 0U) << "those are of blocks";
}
INSTANTIATE_TEST_SUITE_P(Latencies, GridBarrier, ::testing::Values(1, 2, 10, 300));

TEST(GridBarrier, OneCoreWaitsForItsOwnBlocks) {
  GpuBench bench(machine_of(1));
  const hw::Totals totals = bench.run(clocks(0), cooperative(8));
  EXPECT_EQ(totals.dispatcher.grid_barriers, 2U);
  EXPECT_EQ(totals.dispatcher.grid_barrier_messages, 2U * (8 + 1));
  for (unsigned block = 1; block < 8; ++block) {
    // They go on in one cycle, and fetch takes one of them per cycle.
    EXPECT_LE(bench.word(2 * block + 1) - bench.word(1) + 8, 16U);
    EXPECT_GE(bench.word(2 * block + 1) - bench.word(2 * 7), 14U + 2 * 10 - 7);
  }
}

TEST(GridBarrier, ItsImbalanceIsFromTheFirstToTheLastArrival) {
  GpuBench bench(machine_of(2));
  const hw::Totals none = bench.run(clocks(0), cooperative(2));
  const hw::Totals some = bench.run(clocks(50), cooperative(2));
  EXPECT_GE(some.dispatcher.grid_barrier_imbalance, none.dispatcher.grid_barrier_imbalance + 50 * 3 * 7 - 50);
}

// What another core has stored before the barrier is read behind it, although the own L1 had the line.
TEST(GridBarrier, WhatWasStoredBeforeIsSeenBehind) {
  GpuBench bench(machine_of(3));
  Code code;
  code.s2r(0, Special::ctaid_x);
  code.rri(Op::SHL, 1, 0, 2);
  code.param(2, 0);
  code.rrr(Op::ADD, 1, 1, 2);  // own word
  code.rri(Op::ADD, 3, 0, 1);
  code.setp(0, isa::Comparison::eq, 3, 3);
  code.when(0).mov(3, 0);
  code.rri(Op::SHL, 3, 3, 2);
  code.rrr(Op::ADD, 3, 3, 2);  // the next block's
  code.mov(4, 1);
  code.mov(6, 0);
  const Code::Pc top = code.here();
  code.load(Op::LD_GLOBAL, 5, 3);
  code.plain(Op::BAR_GRID);
  code.rrr(Op::ADD, 4, 4, 5);
  code.rrr(Op::ADD, 4, 4, 0);
  code.store(Op::ST_GLOBAL, 1, 4);
  code.plain(Op::BAR_GRID);
  code.rri(Op::ADD, 6, 6, 1);
  code.setp(5, isa::Comparison::ne, 6, 6);
  code.aim(code.when(5).bra(), top, code.here());
  code.exit();
  bench.run(code, cooperative(3));
  std::uint32_t own[] = {1, 1, 1};
  std::uint32_t memory[] = {0, 0, 0};
  for (unsigned round = 0; round < 6; ++round) {
    const std::uint32_t before[] = {memory[0], memory[1], memory[2]};
    for (std::uint32_t block = 0; block < 3; ++block) {
      memory[block] = own[block] += before[(block + 1) % 3] + block;
    }
  }
  for (unsigned block = 0; block < 3; ++block) {
    EXPECT_EQ(bench.word(block), memory[block]) << block;
  }
}

TEST(GridBarrier, ThreadsThatHaveExitedAreNotWaitedFor) {
  GpuBench bench(machine_of(2));
  Code code;
  code.s2r(0, Special::tid_x);
  code.setp(0, isa::Comparison::lt, 0, 40);
  code.when(0).exit();  // warp 0 and a part of warp 1
  code.plain(Op::BAR_GRID);
  code.exit();
  EXPECT_EQ(bench.run(code, cooperative(4, 64)).dispatcher.grid_barriers, 1U);
}

isa::Fault fault_of(GpuBench& bench, const Code& code, const LaunchShape& shape) {
  bench.start(code, shape);
  for (Cycle passed = 0; bench.step(100) && passed < 100'000; passed += 100) {
  }
  EXPECT_TRUE(bench.gpu.fault());
  return bench.gpu.fault().value_or(isa::Fault{});
}

// Blocks 1 and up come to a second barrier, block 0 ends: whoever is last, the first that waits is told.
TEST(GridBarrier, ABlockThatHasEndedCanNeverCome) {
  GpuBench bench(machine_of(2));
  Code code;
  code.plain(Op::BAR_GRID);
  code.s2r(0, Special::ctaid_x);
  code.setp(0, isa::Comparison::eq, 0, 0);
  code.when(0).exit();
  code.plain(Op::BAR_GRID);
  code.exit();
  const isa::Fault fault = fault_of(bench, code, cooperative(5, 64));
  EXPECT_EQ(fault.kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_EQ(fault.detail,
            "the grid's barrier can never complete: 4 blocks wait at it, 1 block has ended without coming to it");
  EXPECT_EQ(fault.block.x, 1U);
  EXPECT_EQ(fault.pc, 4U);
}

// Half of a block's warps wait at a barrier of the block.
TEST(GridBarrier, ABlockWhoseThreadsWaitElsewhereCanNeverCome) {
  GpuBench bench(machine_of(2));
  Code code;
  code.s2r(0, Special::tid_x);
  code.setp(0, isa::Comparison::lt, 0, 32);
  code.when(0).barrier(Op::BAR_SYNC, isa::kRZ);
  code.plain(Op::BAR_GRID);
  code.exit();
  const isa::Fault fault = fault_of(bench, code, cooperative(2, 64));
  EXPECT_EQ(fault.kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_THAT(fault.detail, HasSubstr("warp 0 (32 of its 32 threads) waits at barrier 0, PC 2; warp 1 (32 of its 32 "
                                      "threads) waits at the grid's barrier, PC 3; barrier 0 has 32 of 64 threads; the "
                                      "grid's barrier has 32 of 64 threads"));
}

TEST(GridBarrier, TakesACooperativeLaunch) {
  GpuBench bench(machine_of(2));
  LaunchShape shape = cooperative(2);
  shape.cooperative = false;
  const isa::Fault fault = fault_of(bench, clocks(0), shape);
  EXPECT_EQ(fault.kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_THAT(fault.detail, HasSubstr("the launch was not cooperative"));
}

TEST(GridBarrier, TheGridMustBeResidentAtOnce) {
  GpuBench bench(machine_of(2));
  bench.run(clocks(0), cooperative(16));  // 8 blocks a core
  const isa::Fault fault = fault_of(bench, clocks(0), cooperative(17));
  EXPECT_EQ(fault.kind, isa::Fault::Kind::resources);
  EXPECT_EQ(
      fault.detail,
      "the 17 blocks of a cooperative launch must be resident at once; there is room for 16: 8 on each of 2 cores "
      "(core.blocks)");
}

// A cooperative launch that begins beside another waits for the cores that the other leaves; its blocks wait meanwhile.
TEST(GridBarrier, ALaterLaunchGetsTheCoresThatItNeeds) {
  GpuBench bench(machine_of(2));
  Code code;  // of both
  code.s2r(0, Special::is_cooperative);
  code.setp(0, isa::Comparison::ne, 0, 0);
  add_loop(code, 100, [&] { code.rri(Op::ADD, 1, 1, 1); });
  code.when(0).plain(Op::BAR_GRID);
  code.exit();
  LaunchShape one;
  one.grid = {1, 1, 1};
  bench.start(code, one);
  bench.step(500);
  ASSERT_TRUE(bench.gpu.may_join());
  bench.start(code, cooperative(16));
  bench.finish();
  const std::vector<hw::Gpu::Ended> ended = bench.gpu.take_ended();
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_TRUE(ended[0].complete && ended[1].complete);
  EXPECT_LT(ended[1].begin, ended[0].end);
  EXPECT_EQ(bench.gpu.totals().dispatcher.grid_barriers, 1U);
}

// One block waits for the grid, the other for ever: what the watchdog sees.
TEST(GridBarrier, ABlockThatSpinsForEverIsALivelock) {
  hw::Machine machine = machine_of(2);
  machine.watchdog.livelock_instructions = 1000;
  GpuBench bench(machine);
  Code code;
  code.s2r(0, Special::ctaid_x);
  code.setp(0, isa::Comparison::eq, 0, 0);
  const Code::Pc top = code.here();
  code.aim(code.when(0).bra(), top, code.here());
  code.plain(Op::BAR_GRID);
  code.exit();
  bench.start(code, cooperative(2));
  bench.step(200);
  EXPECT_FALSE(bench.gpu.livelocked());
  bench.step(20'000);
  EXPECT_TRUE(bench.gpu.livelocked());
  bench.gpu.stop(bench.gpu.launch_fault(isa::Fault::Kind::livelock, ""));
}

}  // namespace
}  // namespace heddle::test
