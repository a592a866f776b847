// Several sub-cores in a core: what they do beside each other, what they share, and how blocks are dealt out to them.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

hw::Machine with_sub_cores(unsigned count) {
  hw::Machine machine;
  machine.core.sub_cores = count;
  machine.icache.ports = 8;
  return machine;
}

// Cycles that a loop of `body` takes per round in a block of so many warps (timing_pipeline_test.cpp).
template <class Emit>
double per_round(const hw::Machine& machine, unsigned warps, Emit emit) {
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
  return static_cast<double>(cycles[1] - cycles[0]) / 20;
}

auto nine_operations(Op op) {
  return [op](Code& code) {
    for (unsigned i = 0; i < 9; ++i) {
      code.rri(op, 1, 1, 1);
    }
  };
}
constexpr unsigned kSubCoreRound = 9 + kLoopInstructions;

class SubCoresOf : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Several, SubCoresOf, ::testing::Values(1, 2, 4),
                         [](const auto& info) { return std::to_string(info.param); });

// Up to seven warps share a barrel of seven cycles: 28 warps fill four of them.
TEST_P(SubCoresOf, FetchAnInstructionPerCycleEach) {
  EXPECT_EQ(per_round(with_sub_cores(GetParam()), 28, nine_operations(Op::ADD)), 28 / GetParam() * kSubCoreRound);
}

TEST(SubCores, WarpsAreDealtOutInTurn) {
  GpuBench bench(with_sub_cores(4));
  Code code;
  add_loop(code, 200, [&] { code.rri(Op::ADD, 1, 1, 1); });
  code.exit();
  LaunchShape shape;
  shape.grid = {3, 1, 1};
  shape.block = {96, 1, 1};  // three warps: the second block begins in the fourth sub-core
  bench.start(code, shape);
  bench.step(600);
  std::vector<unsigned> busy;
  for (const hw::SubCore* const sub_core : bench.gpu.core(0).sub_cores()) {
    busy.push_back(sub_core->state().groups.size() - sub_core->state().groups.count(hw::GroupState::free));
  }
  EXPECT_THAT(busy, ::testing::ElementsAre(3, 2, 2, 2));
  bench.finish();
}

TEST(SubCores, TheInstructionCachesPortsAreTheCores) {
  hw::Machine machine = with_sub_cores(4);
  machine.icache.ports = 1;
  EXPECT_EQ(per_round(machine, 28, nine_operations(Op::ADD)), 28 * kSubCoreRound) << "one word per cycle for all";
}

TEST(SubCores, AnL0IsEachSubCoresOwn) {
  hw::Machine machine = with_sub_cores(4);
  machine.icache.ports = 1;
  machine.l0i.enabled = true;
  EXPECT_EQ(per_round(machine, 28, nine_operations(Op::ADD)), 7 * kSubCoreRound) << "a word per cycle for each";
}

// A conflict of two cycles in each of four sub-cores: the banks have them one after the other.
TEST(SubCores, TheScratchpadsBanksAreTheCores) {
  hw::Machine machine = with_sub_cores(4);
  machine.core.threads = 28 * 32;
  GpuBench bench(machine);
  Code code;
  code.s2r(2, Special::laneid);
  code.rri(Op::SHL, 2, 2, 3);  // every second word
  add_loop(code, 40, [&] {
    for (unsigned i = 0; i < 6; ++i) {
      code.load(Op::LD_SHARED, 3, 2);
    }
  });
  code.exit();
  LaunchShape shape;
  shape.block = {28 * 32, 1, 1};
  shape.shared_bytes = 512;
  const hw::Totals totals = bench.run(code, shape);
  EXPECT_EQ(totals.scratchpad.accesses, 40U * 6 * 28);
  const Cycle banks = 40 * 6 * 28 * 2;  // cycles in which they serve an access
  EXPECT_GE(totals.cycles, banks);
  EXPECT_LE(totals.cycles, banks + banks / 10) << "what the loop needs beside them is done by others meanwhile";
}

// ---- barriers

// The last warp to come is late: the cycle in which the others go on.
TEST_P(SubCoresOf, CompleteABarrierWhenTheWarpsOfAllHaveCome) {
  GpuBench bench(with_sub_cores(GetParam()));
  Code code;
  code.s2r(2, Special::tid_x);
  code.rri(Op::SHR_U, 3, 2, 5);
  code.setp(1, isa::Comparison::ne, 3, 0);
  const Code::Pc branch = code.when(1).bra();
  add_loop(code, 300, [&] { code.rri(Op::ADD, 1, 1, 1); });  // warp 0 is late
  const Code::Pc wait = code.barrier(Op::BAR_SYNC, isa::kRZ);
  code.aim(branch, wait, wait);
  code.rri(Op::SHL, 4, 2, 2);
  code.param(5, 0);
  code.rrr(Op::ADD, 4, 4, 5);
  code.store(Op::ST_GLOBAL, 4, 2);
  code.exit();
  LaunchShape shape;
  shape.grid = {2, 1, 1};
  shape.block = {7 * 32, 1, 1};
  const hw::Totals totals = bench.run(code, shape);
  EXPECT_EQ(totals.core.barriers, 2U);
  EXPECT_GT(totals.core.barrier_imbalance, 2U * 300);
  EXPECT_EQ(totals.core.blocks, 2U);
  for (unsigned thread = 0; thread < 7 * 32; ++thread) {
    ASSERT_EQ(bench.word(thread), thread);
  }
}

TEST(SubCores, ABarrierThatCannotCompleteNamesTheWarpsOfAll) {
  GpuBench bench(with_sub_cores(4));
  Code code;
  code.s2r(2, Special::tid_x);
  code.rri(Op::SHR_U, 3, 2, 5);
  code.rri(Op::ADD, 3, 3, 1);  // warp w waits at barrier w + 1
  code.barrier(Op::BAR_SYNC, 3);
  code.exit();
  LaunchShape shape;
  shape.block = {3 * 32, 1, 1};
  bench.start(code, shape);
  while (bench.step()) {
  }
  ASSERT_TRUE(bench.gpu.fault().has_value());
  EXPECT_EQ(bench.gpu.fault()->detail,
            "the barrier can never complete: warp 0 (32 of its 32 threads) waits at barrier 1, PC 3; warp 1 (32 of its "
            "32 threads) waits at barrier 2, PC 3; warp 2 (32 of its 32 threads) waits at barrier 3, PC 3; barrier 1 "
            "has 32 of 96 threads; barrier 2 has 32 of 96 threads; barrier 3 has 32 of 96 threads");
}

// ---- what cannot be shared out

std::vector<std::string> wrong_with(const hw::Machine& machine) {
  std::vector<std::string> keys;
  for (const hw::Contradiction& found : hw::check(machine)) {
    keys.push_back(found.key + ": " + found.message);
  }
  return keys;
}

TEST(SubCores, WarpsAndRegistersMustComeOutEven) {
  hw::Machine machine = with_sub_cores(4);
  machine.core.threads = 33 * 32;
  machine.core.registers = 16386;
  EXPECT_THAT(wrong_with(machine),
              ::testing::ElementsAre("core.sub_cores: core.sub_cores (4) does not share out the 33 warps of a core "
                                     "equally (core.threads 1056 / core.warp_size 32)",
                                     "core.sub_cores: core.sub_cores (4) does not divide core.registers (16386)"));
}

TEST(SubCores, WhatIsAWholeCoresIsRefused) {
  hw::Machine machine = with_sub_cores(2);
  machine.core.load_limiter = "ccws";
  EXPECT_THAT(wrong_with(machine), ::testing::Contains("core.sub_cores: core.load_limiter = \"ccws\" hears of the L1 "
                                                       "for all warps of a core; use core.sub_cores = 1"));
}

// Registers are of one sub-core: of seven warps two are in the last one, and four in the others would not help.
TEST(SubCores, ABlocksRegistersMustFitIntoEach) {
  hw::Machine machine = with_sub_cores(4);
  machine.core.registers = 8 * 32 * 16;  // two warps in each
  GpuBench bench(machine);
  Code code;
  code.exit();
  LaunchShape shape;
  shape.grid = {2, 1, 1};
  shape.block = {5 * 32, 1, 1};
  bench.start(code, shape);
  while (bench.step()) {
  }
  EXPECT_FALSE(bench.gpu.fault().has_value());
  shape.block = {9 * 32, 1, 1};
  bench.start(code, shape);
  while (bench.step()) {
  }
  ASSERT_TRUE(bench.gpu.fault().has_value());
  EXPECT_EQ(bench.gpu.fault()->detail, "a block needs 4608 registers, a core has 4096 (core.registers)");
}

// ---- lanes fewer than a warp's threads

struct NarrowLanes {
  const char* name;
  unsigned hw::CoreParameters::*interval;
  Op op;
  unsigned
      slow;  // of a round's operations, the ones in those lanes; the loop's comparison and subtraction are on integers
};
class NarrowLanesOf : public ::testing::TestWithParam<NarrowLanes> {};
TEST_P(NarrowLanesOf, TakeAnOperationEveryIntervalCycles) {
  hw::Machine machine;
  machine.core.*GetParam().interval = 4;
  const double cycles = per_round(machine, 32, [](Code& code) {
    for (unsigned i = 0; i < 9; ++i) {
      code.rrr(GetParam().op, 2, 4, 6);
    }
  });
  // While the last of them has the lanes, other operations begin.
  const unsigned overlap = GetParam().slow != 0 ? 3 : 0;
  EXPECT_EQ(cycles, 32 * (4 * GetParam().slow + (kSubCoreRound - GetParam().slow)) - overlap);
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, NarrowLanesOf,
    ::testing::Values(NarrowLanes{"integers", &hw::CoreParameters::integer_interval, Op::ADD, 9 + 2},
                      NarrowLanes{"beside_integers", &hw::CoreParameters::integer_interval, Op::FADD, 2},
                      NarrowLanes{"singles", &hw::CoreParameters::float_interval, Op::FADD, 9},
                      NarrowLanes{"beside_singles", &hw::CoreParameters::float_interval, Op::DADD, 0},
                      NarrowLanes{"doubles", &hw::CoreParameters::double_interval, Op::DADD, 9},
                      NarrowLanes{"beside_doubles", &hw::CoreParameters::double_interval, Op::FADD, 0}),
    [](const auto& info) { return std::string(info.param.name); });
// The name of a case says what it is.
void PrintTo(const NarrowLanes& lanes, std::ostream* out) {
  *out << lanes.name;
}

}  // namespace
}  // namespace heddle::test
