// The pipeline by hand: depth, barrel spacing, stage latencies, the complex unit, wide warps (LWM report 2.1, thesis
// 2.1.1 and table 5.1).
#include <gtest/gtest.h>

#include <algorithm>

#include "tb/config/config.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

// Cycles that a loop of `body` takes per round, once its instructions are in the I-cache: the difference between 30 and
// 10 rounds, so that the start of the launch, cold misses and the end drop out. `warps` warps in one block.
template <class Emit>
double cycles_per_round(const hw::Machine& machine, unsigned warps, Emit emit) {
  GpuBench bench(machine);
  Cycle cycles[2];
  for (const unsigned many : {0U, 0U, 1U}) {  // the first launch opens the code's DRAM row
    Code code;
    add_loop(code, many != 0 ? 30 : 10, [&] { emit(code); });
    code.exit();
    LaunchShape shape;
    shape.block = {warps * machine.core.warp_size, 1, 1};
    cycles[many] = bench.run(code, shape).cycles;
  }
  EXPECT_EQ((cycles[1] - cycles[0]) % 20, 0U) << "no steady state";
  return static_cast<double>(cycles[1] - cycles[0]) / 20;
}

// `count` additions, each of which needs the one before.
auto additions(unsigned count) {
  return [count](Code& code) {
    for (unsigned i = 0; i < count; ++i) {
      code.rri(Op::ADD, 1, 1, 1);
    }
  };
}

constexpr unsigned kBody = 7;
constexpr unsigned kRound = kBody + kLoopInstructions;

// A warp fetched in t is written back in t + 6 and fetched again in t + 7.
TEST(Pipeline, OneWarpIsFetchedEverySevenCycles) {
  EXPECT_EQ(cycles_per_round({}, 1, additions(kBody)), 7 * kRound);
}

class Warps : public ::testing::TestWithParam<unsigned> {};
// Up to seven warps fit between a warp's fetch and its next one; from seven on, one instruction is fetched per cycle.
TEST_P(Warps, ShareTheBarrel) {
  const unsigned warps = GetParam();
  EXPECT_EQ(cycles_per_round({}, warps, additions(kBody)), std::max(7U, warps) * kRound);
}
INSTANTIATE_TEST_SUITE_P(Pipeline, Warps, ::testing::Values(2, 6, 7, 8, 31, 32));

struct Latencies {
  unsigned fetch, decode, register_read, execute;
};
class Depth : public ::testing::TestWithParam<Latencies> {};
// Memory and write-back take a cycle each.
TEST_P(Depth, IsTheSumOfTheStages) {
  const Latencies& latencies = GetParam();
  hw::Machine machine;
  machine.core.fetch_latency = latencies.fetch;
  machine.core.decode_latency = latencies.decode;
  machine.core.register_read_latency = latencies.register_read;
  machine.core.execute_stages = latencies.execute;
  const unsigned depth = latencies.fetch + latencies.decode + latencies.register_read + latencies.execute + 2;
  EXPECT_EQ(cycles_per_round(machine, 1, additions(kBody)), depth * kRound);
}
TEST_P(Depth, IsTheNumberOfWarpsThatSaturate) {
  const Latencies& latencies = GetParam();
  hw::Machine machine;
  machine.core.fetch_latency = latencies.fetch;
  machine.core.decode_latency = latencies.decode;
  machine.core.register_read_latency = latencies.register_read;
  machine.core.execute_stages = latencies.execute;
  const unsigned depth = latencies.fetch + latencies.decode + latencies.register_read + latencies.execute + 2;
  EXPECT_EQ(cycles_per_round(machine, depth, additions(kBody)), depth * kRound);
}
INSTANTIATE_TEST_SUITE_P(Pipeline, Depth,
                         ::testing::Values(Latencies{1, 1, 1, 1}, Latencies{1, 1, 1, 3}, Latencies{4, 1, 1, 2},
                                           Latencies{1, 3, 1, 2}, Latencies{1, 1, 5, 2}, Latencies{2, 3, 4, 5}));

// A complex operation spends complex_latency cycles where a simple one spends execute_stages.
TEST(Complex, LatencyReplacesTheExecuteStages) {
  hw::Machine machine;
  machine.core.complex_latency = 20;
  EXPECT_EQ(cycles_per_round(machine, 1, [](Code& code) { code.rrr(Op::DIV_U, 1, 2, 3); }),
            7 * kLoopInstructions + (7 - 2 + 20));
}

// Conditional accumulate and tree traverse pass a prefix-sum network of log2(lanes) levels (thesis 7.1), then the shift
// and the base's addition, where a simple operation passes the execute stages.
struct Network {
  unsigned lanes, levels_per_cycle, cycles;
};
class PrefixNetwork : public ::testing::TestWithParam<Network> {};
double cycles_of(const Network& network, bool traverse) {
  hw::Machine machine;
  machine.core.simd_width = machine.core.warp_size = network.lanes;
  machine.core.prefix_levels_per_cycle = network.levels_per_cycle;
  return cycles_per_round(machine, 1, [&](Code& code) {
    if (traverse) {
      code.tree_traverse(1, 2, {}, 5);
    } else {  // no thread's predicate is true: the network alone
      code.accumulate(Op::COND_ACC_SHARED, 4, 1, 2, {isa::kPT, true}, 3);
    }
  });
}
TEST_P(PrefixNetwork, TakesItsLevelsAndOneCycleForATreeTraverse) {
  EXPECT_EQ(cycles_of(GetParam(), true), 7 * kLoopInstructions + 7 - 2 + std::max(GetParam().cycles, 2U));
}
TEST_P(PrefixNetwork, TakesItsLevelsAndOneCycleForAConditionalAccumulate) {
  EXPECT_EQ(cycles_of(GetParam(), false), 7 * kLoopInstructions + 7 - 2 + std::max(GetParam().cycles, 2U));
}
INSTANTIATE_TEST_SUITE_P(Pipeline, PrefixNetwork,
                         ::testing::Values(Network{32, 5, 2}, Network{32, 4, 3}, Network{32, 3, 3}, Network{32, 2, 4},
                                           Network{32, 1, 6}, Network{16, 4, 2}, Network{16, 1, 5}, Network{2, 1, 2},
                                           Network{1, 1, 1}));

// It is pipelined: sixteen warps start one operation in every cycle, however long each takes, but for the few cycles in
// which one leaves together with one of the execute stages.
TEST(PrefixNetworkRate, StartsOneOperationPerCycle) {
  hw::Machine machine;
  machine.core.prefix_levels_per_cycle = 1;
  constexpr unsigned kTraverses = 9;
  constexpr double kStarts = 16 * (kTraverses + kLoopInstructions);
  const double cycles = cycles_per_round(machine, 16, [](Code& code) {
    for (unsigned i = 0; i < kTraverses; ++i) {
      code.tree_traverse(1, 2, {}, 5);
    }
  });
  EXPECT_GE(cycles, kStarts);
  EXPECT_LT(cycles, 1.03 * kStarts);
}

// malloc and free spend heap_latency cycles where a simple operation spends execute_stages, and are pipelined likewise.
class HeapLatency : public ::testing::TestWithParam<unsigned> {};
TEST_P(HeapLatency, ReplacesTheExecuteStages) {
  hw::Machine machine;
  machine.core.heap_latency = GetParam();
  EXPECT_EQ(cycles_per_round(machine, 1, [](Code& code) { code.rrr(Op::HEAP_ALLOC, 1, 2, isa::kRZ); }),
            7 * kLoopInstructions + 7 - 2 + std::max(GetParam(), 2U));
}
TEST_P(HeapLatency, OfAFree) {
  hw::Machine machine;
  machine.core.heap_latency = GetParam();
  EXPECT_EQ(cycles_per_round(machine, 1, [](Code& code) { code.rrr(Op::HEAP_FREE_E, isa::kRZ, 2, isa::kRZ); }),
            7 * kLoopInstructions + 7 - 2 + std::max(GetParam(), 2U));
}
INSTANTIATE_TEST_SUITE_P(Pipeline, HeapLatency, ::testing::Values(1U, 2U, 3U, 200U));
TEST(HeapRate, StartsOneOperationPerCycle) {
  hw::Machine machine;
  machine.core.heap_latency = 6;
  constexpr unsigned kCalls = 9;
  constexpr double kStarts = 16 * (kCalls + kLoopInstructions);
  const double cycles = cycles_per_round(machine, 16, [](Code& code) {
    for (unsigned i = 0; i < kCalls; ++i) {
      code.rrr(Op::HEAP_ALLOC, 1, 2, isa::kRZ);
    }
  });
  EXPECT_GE(cycles, kStarts);
  EXPECT_LT(cycles, 1.03 * kStarts);
}

// Contiguous words lie in different banks: however many threads write, the scratchpad takes one cycle.
TEST(PrefixNetworkRate, ConditionalAccumulateWritesTheScratchpadInOneCycle) {
  GpuBench bench;
  Cycle cycles[2];
  for (const bool all : {false, false, true}) {
    Code code;
    code.setp(0, isa::Comparison::eq, isa::kRZ, all ? 0 : 1);
    code.accumulate(Op::COND_ACC_SHARED, 4, 1, 2, {0, false}, 3);
    code.exit();
    LaunchShape shape;
    shape.shared_bytes = 128;
    cycles[all ? 1 : 0] = bench.run(code, shape).cycles;
  }
  EXPECT_EQ(cycles[0], cycles[1]);
}

// Never shorter than the simple ones' path.
TEST(Complex, LatencyIsAtLeastTheExecuteStages) {
  hw::Machine machine;
  machine.core.complex_latency = 1;
  machine.core.complex_interval = 1;
  EXPECT_EQ(cycles_per_round(machine, 1, [](Code& code) { code.rrr(Op::DIV_U, 1, 2, 3); }),
            7 * (kLoopInstructions + 1));
}

// Starts are complex_interval cycles apart: eight warps with nothing but divisions between the loop's three
// instructions. 16 warps x (12 divisions x 5 cycles); the loop's own instructions hide behind them only partly, so the
// body is long enough to make the bound tight from below, and the loop's share bounds it from above.
TEST(Complex, IntervalLimitsTheRate) {
  hw::Machine machine;
  machine.core.complex_interval = 5;
  constexpr unsigned kDivisions = 12;
  const double cycles = cycles_per_round(machine, 16, [](Code& code) {
    for (unsigned i = 0; i < kDivisions; ++i) {
      code.rrr(Op::DIV_U, 1, 2, 3);
    }
  });
  EXPECT_GE(cycles, 16 * kDivisions * 5);
  EXPECT_LE(cycles, 16 * (kDivisions * 5 + kLoopInstructions));
}

// Three warps' divisions come to execute in cycles 0, 1 and 2, and start in 0, 50 and 100: the unit starts one
// every 50. A division takes 8 cycles, then memory, write-back, and 3 cycles from the warp's next fetch to its exit's
// start in 13, 63 and 113.
struct Divisions {
  unsigned queue;
  unsigned queued, full, wait_cycles;
  unsigned idle_complex;
};
class ComplexQueue : public ::testing::TestWithParam<Divisions> {};
TEST_P(ComplexQueue, HoldsAsManyAsItHasPlaces) {
  hw::Machine machine;
  machine.core.complex_interval = 50;
  machine.core.complex_queue = GetParam().queue;
  GpuBench bench(machine);
  Code code;
  code.rrr(Op::DIV_U, 1, 2, 3);
  code.exit();
  LaunchShape shape;
  shape.block = {96, 1, 1};
  const hw::Totals totals = bench.run(code, shape);
  const hw::CoreStatistics& counted = bench.core().statistics;
  EXPECT_EQ(counted.complex_operations, 3U);
  EXPECT_EQ(counted.complex_queued, GetParam().queued);
  EXPECT_EQ(counted.complex_queue_full, GetParam().full);
  EXPECT_EQ(counted.complex_wait_cycles, GetParam().wait_cycles);
  EXPECT_EQ(totals.core.idle[static_cast<std::size_t>(hw::IdleCause::complex)], GetParam().idle_complex);
  EXPECT_EQ(totals.core.fu_active[32], 6U);
}
// In each cycle without a start its cause is that of the fetch slot three cycles before, when most of the warps that
// are left (or as many as are in the pipeline) wait for the unit: one from its division's coming to the unit until it
// leaves it, 8 cycles after its start. Two places: neither waits in the stage. Waits: 50 - 1 and 100 - 2. Fetch slots 1
// to 9, 11 to 59 (10 fetches an exit) and 61 to 106. One place: the third division holds the stage in cycles 2 to 49,
// enters the queue in 50, when the second one starts, and waits for 50 cycles more. The first warp's exit, behind it,
// starts in 51. Fetch slots 49 to 59 and 61 to 106. None: both hold the stage, in 1 to 49 and 51 to 99. The exits of
// the others follow in 101 and 102; fetch slots 100 to 103 still find both of them in the pipeline, 104 to 106 at most
// one.
INSTANTIATE_TEST_SUITE_P(Pipeline, ComplexQueue,
                         ::testing::Values(Divisions{16, 2, 0, 49 + 98, 9 + 49 + 46},
                                           Divisions{2, 2, 0, 49 + 98, 9 + 49 + 46},
                                           Divisions{1, 2, 1, 49 + 50, 48 + 11 + 46},
                                           Divisions{0, 0, 2, 0, 49 + 49 + 3}));

// Sixteen warps with one division among sixteen instructions ask for 64 of 256 cycles of the unit. Round robin keeps
// them together, so that they come to it in a burst. With places for them every cycle executes something; without, the
// burst takes 4 cycles per warp instead of one, in which nothing passes: 48 of 304 cycles are idle.
class Bursts : public ::testing::TestWithParam<unsigned> {};
TEST_P(Bursts, PassWhereThereAreEnoughPlaces) {
  hw::Machine machine;
  machine.core.complex_queue = GetParam();
  GpuBench bench(machine);
  Cycle cycles[2];
  for (const unsigned many : {0U, 0U, 1U}) {
    Code code;
    add_loop(code, many != 0 ? 30 : 10, [&] {
      code.rrr(Op::DIV_U, 1, 2, 3);
      additions(12)(code);
    });
    code.exit();
    LaunchShape shape;
    shape.block = {512, 1, 1};
    cycles[many] = bench.run(code, shape).cycles;
  }
  const double round = static_cast<double>(cycles[1] - cycles[0]) / 20;
  if (GetParam() == 0) {
    EXPECT_NEAR(round, 16 * (16 + 3), 4);
  } else {
    EXPECT_LE(round, 16 * 16 + 12);
  }
}
INSTANTIATE_TEST_SUITE_P(Complex, Bursts, ::testing::Values(0, 16));

// Two fetch groups of two warps; an operation starts every 50 cycles. Where complex operations count as long-latency,
// the first fetch group is stalled, and the second becomes first, as soon as its second division waits, not when that
// starts, 49 cycles later.
class LongLatency : public ::testing::TestWithParam<bool> {};
TEST_P(LongLatency, BeginsWhenTheOperationWaits) {
  hw::Machine machine =
      tb::read_machine("baseline", {"core.scheduler=two-level", "two_level.fetch_group=2", "core.complex_interval=50",
                                    GetParam() ? "core.complex_long_latency=true" : "core.complex_long_latency=false"});
  GpuBench bench(machine);
  Code code;
  code.rrr(Op::DIV_U, 1, 2, 3);
  code.exit();
  LaunchShape shape;
  shape.block = {128, 1, 1};
  bench.start(code, shape);
  const auto waiting = [&] { return bench.core().groups.count(hw::GroupState::complex); };
  while (waiting() != 1) {
    ASSERT_TRUE(bench.step());
  }
  EXPECT_EQ(bench.gpu.core(0).scheduler().first_fetch_group(), 0U);
  bench.step();
  EXPECT_EQ(waiting(), 2U);
  EXPECT_EQ(bench.core().statistics.complex_queued, 1U);
  EXPECT_EQ(bench.gpu.core(0).scheduler().first_fetch_group(), GetParam() ? 1U : 0U);
}
INSTANTIATE_TEST_SUITE_P(Complex, LongLatency, ::testing::Bool());

// A warp of four rows takes four cycles in each stage; the next fetch is seven cycles after the last row's formation.
TEST(WideWarp, TakesOneCyclePerRow) {
  hw::Machine machine;
  machine.core.warp_size = 128;
  EXPECT_EQ(cycles_per_round(machine, 1, additions(kBody)), (7 + 3) * kRound);
}

TEST(WideWarp, EnoughRowsSaturate) {
  hw::Machine machine;
  machine.core.warp_size = 128;
  EXPECT_EQ(cycles_per_round(machine, 3, additions(kBody)), 12 * kRound);
}

TEST(WideWarp, EmptyRowsTakeNoCycle) {
  hw::Machine machine;
  machine.core.warp_size = 128;
  GpuBench bench(machine);
  // Threads 32 to 95 leave; the loop then runs with rows 0 and 3: 7 + 1 cycles per instruction.
  Cycle cycles[2];
  for (const unsigned many : {0U, 0U, 1U}) {
    Code code;
    code.s2r(1, Special::tid_x);
    code.rri(Op::SUB, 1, 1, 32);
    code.setp(0, isa::Comparison::lt, 1, 64);
    code.when(0).exit();
    add_loop(code, many != 0 ? 30 : 10, [&] { additions(kBody)(code); });
    code.exit();
    LaunchShape shape;
    shape.block = {128, 1, 1};
    cycles[many] = bench.run(code, shape).cycles;
  }
  EXPECT_EQ(cycles[1] - cycles[0], 20 * 8 * kRound);
}

// One warp: its instructions' execute cycles are busy, with as many units as threads; everything else is idle.
TEST(FunctionalUnits, AreCountedByActiveLanes) {
  GpuBench bench;
  Code code;
  code.s2r(1, Special::tid_x);                 // 32 lanes
  code.setp(0, isa::Comparison::lt, 1, 5);     // 32
  code.when(0).rri(Op::ADD, 2, 2, 1);          // 5
  code.when(0, true).rri(Op::ADD, 2, 2, 1);    // 27
  code.setp(1, isa::Comparison::gt, 1, 100);   // 32
  code.when(1).rri(Op::ADD, 2, 2, 1);          // none
  const Code::Pc branch = code.when(0).bra();  // 32: every thread evaluates its condition
  code.aim(branch, code.here() + 1, code.here() + 1);
  code.rri(Op::ADD, 2, 2, 1);  // 27
  code.exit();                 // 32
  const hw::Totals totals = bench.run(code);
  EXPECT_EQ(totals.core.fu_active[32], 5U);
  EXPECT_EQ(totals.core.fu_active[27], 2U);
  EXPECT_EQ(totals.core.fu_active[5], 1U);
  EXPECT_EQ(totals.core.idle[static_cast<std::size_t>(hw::IdleCause::predicated_off)], 1U);
  EXPECT_EQ(totals.core.warp_instructions, 9U);
  EXPECT_EQ(totals.core.thread_instructions, 5U * 32 + 2 * 27 + 5);
  EXPECT_EQ(totals.core.branches, 1U);
  EXPECT_EQ(totals.core.divergent_branches, 1U);
  std::uint64_t cycles = 0;
  for (const std::uint64_t with : totals.core.fu_active) {
    cycles += with;
  }
  EXPECT_EQ(cycles, totals.cycles);
  std::uint64_t idle = 0;
  for (const std::uint64_t cause : totals.core.idle) {
    idle += cause;
  }
  EXPECT_EQ(idle, totals.core.fu_active[0]);
}

// Fetching 16 instructions of 8 bytes per line of 128: a straight run of n instructions misses once per line.
TEST(InstructionCache, MissesOncePerLine) {
  GpuBench bench;
  for (const unsigned instructions : {1U, 16U, 17U, 33U, 480U}) {
    Code code;
    additions(instructions - 1)(code);
    code.exit();
    const hw::Totals totals = bench.run(code);
    EXPECT_EQ(totals.icache.misses, (instructions + 15) / 16) << instructions;
    EXPECT_EQ(totals.icache.accesses, instructions) << "a miss that is asked again counts once";
  }
}

// A hit of n cycles makes the pipeline n - 1 longer, and is pipelined: as many warps as the pipeline then has cycles
// fetch one instruction per cycle, and more warps do too.
class SlowHits : public ::testing::TestWithParam<unsigned> {};
TEST_P(SlowHits, LengthenThePipelineAndKeepItsRate) {
  hw::Machine machine;
  machine.icache.hit_latency = GetParam();
  const unsigned depth = 7 + GetParam() - 1;
  EXPECT_EQ(cycles_per_round(machine, 1, additions(kBody)), depth * kRound);
}
TEST_P(SlowHits, AreSaturatedByAsManyWarps) {
  hw::Machine machine;
  machine.icache.hit_latency = GetParam();
  const unsigned depth = 7 + GetParam() - 1;
  EXPECT_EQ(cycles_per_round(machine, std::min(depth, 32U), additions(kBody)), depth * kRound);
}
TEST_P(SlowHits, AreNoMisses) {
  hw::Machine machine;
  machine.icache.hit_latency = GetParam();
  GpuBench bench(machine);
  Code code;
  additions(32)(code);
  code.exit();
  const hw::Totals totals = bench.run(code);
  EXPECT_EQ(totals.icache.misses, 3U);
  EXPECT_EQ(totals.icache.accesses, 33U) << "a fetch that is looked up again when its line has come counts once";
  EXPECT_EQ(totals.icache.hits, 33U - 3);
  EXPECT_EQ(bench.core().statistics.fetch_misses, 3U);
  EXPECT_EQ(bench.core().statistics.fetched, 33U);
}
INSTANTIATE_TEST_SUITE_P(InstructionCache, SlowHits, ::testing::Values(1, 2, 3, 9, 40));

// A warp of 256 threads on 32 lanes: five additions and the exit are six instructions of eight sub-warps each.
TEST(Instructions, OfALargeWarpCountOnceAndBySubWarp) {
  hw::Machine machine;
  machine.core.warp_size = 256;
  GpuBench bench(machine);
  Code code;
  additions(5)(code);
  code.exit();
  LaunchShape shape;
  shape.block = {256, 1, 1};
  const hw::Totals totals = bench.run(code, shape);
  EXPECT_EQ(totals.core.group_instructions, 6U);
  EXPECT_EQ(totals.core.warp_instructions, 6U * 8);
}

// The second warp executes four instructions and waits at a barrier; the first goes round a loop before it comes there.
// When the n-th instruction is fetched, it has n - 4: n - 8 more. That is looked at for n = 1024, 2048, 3072, 4096.
TEST(Instructions, HowFarWarpsAreApartIsSampled) {
  constexpr unsigned kRounds = 1000;
  GpuBench bench;
  Code code;
  code.s2r(0, Special::tid_x);
  code.setp(5, isa::Comparison::lt, 0, 32);
  const Code::Pc branch = code.when(5, true).bra();
  add_loop(code, kRounds, [&] { additions(2)(code); });
  code.aim(branch, code.here(), code.here());
  code.barrier(Op::BAR_SYNC, isa::kRZ);
  code.exit();
  LaunchShape shape;
  shape.block = {64, 1, 1};
  const hw::Totals totals = bench.run(code, shape);
  constexpr unsigned kSecond = 5;
  EXPECT_EQ(totals.core.fetched, 3 + 1 + kRounds * (2 + kLoopInstructions) + 2 + kSecond);
  EXPECT_EQ(totals.core.drift_samples, 4U);
  EXPECT_EQ(totals.core.drift_instructions, 1024U + 2048 + 3072 + 4096 - 4 * 8);
}

// 4 KB of 4 ways are 8 sets: a loop of 33 lines puts five lines into one set, which least-recently-used replacement
// throws out in turn; the other 28 stay.
TEST(InstructionCache, ALoopBeyondItsCapacityMissesInTheFullSet) {
  GpuBench bench;
  std::uint64_t misses[2];
  for (const unsigned many : {0U, 1U}) {
    Code code;
    add_loop(code, many != 0 ? 12 : 2, [&] { additions(33 * 16 - 2 - kLoopInstructions)(code); });
    code.exit();
    misses[many] = bench.run(code).icache.misses;
  }
  EXPECT_EQ(misses[1] - misses[0], 10U * 5);
}

}  // namespace
}  // namespace heddle::test
