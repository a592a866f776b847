// When narrow lanes take another operation, as a scheduler knows it.
#include "hw/issue/lane_slots.hpp"

#include <gtest/gtest.h>

#include "hw/issue/scoreboard.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::hw {
namespace {

using namespace heddle::test;
using isa::LaneKind;

TEST(LaneSlots, TakeAnOperationOfAKindEveryInterval) {
  CoreParameters core;
  core.integer_interval = 2;
  core.double_interval = 4;
  LaneSlots slots(core);
  EXPECT_EQ(slots.free_at(LaneKind::integer, 10), 10U);
  slots.take(LaneKind::integer, 10);
  slots.take(LaneKind::double_precision, 10);
  slots.take(LaneKind::single_precision, 10);
  slots.take(LaneKind::other, 10);
  EXPECT_EQ(slots.free_at(LaneKind::integer, 11), 12U);
  EXPECT_EQ(slots.free_at(LaneKind::integer, 13), 13U);
  EXPECT_EQ(slots.free_at(LaneKind::double_precision, 11), 14U);
  EXPECT_EQ(slots.free_at(LaneKind::single_precision, 11), 11U);
  EXPECT_EQ(slots.free_at(LaneKind::other, 11), 11U);
}

TEST(LaneSlots, HoldNothingUpWhereLanesAreWide) {
  LaneSlots slots{CoreParameters{}};
  slots.take(LaneKind::integer, 10);
  EXPECT_EQ(slots.free_at(LaneKind::integer, 10), 10U);
}

// Cycles of a round of two warps, once their code is in the I-cache: one adds integers, whose lanes take four cycles,
// the other one four times as many numbers of single precision.
double cycles_of_round(const char* stall) {
  Machine machine;
  machine.core.issue = "scoreboard";
  machine.core.policies.of<ScoreboardParameters>().stall = stall;
  machine.core.integer_interval = 4;
  GpuBench bench(machine);
  Cycle cycles[2] = {};
  for (const unsigned many : {0U, 0U, 1U}) {
    const std::uint32_t rounds = many != 0 ? 30 : 10;
    Code code;
    code.s2r(3, isa::Special::tid_x);
    code.setp(1, isa::Comparison::lt, 3, 32);
    const Code::Pc to_integers = code.when(1).bra();
    add_loop(code, rounds, [&] {
      for (unsigned i = 0; i < 64; ++i) {
        code.rrr(isa::Op::FADD, 4 + i % 8, 12, 13);
      }
    });
    code.exit();
    code.aim(to_integers, code.here());
    add_loop(code, rounds, [&] {
      for (unsigned i = 0; i < 16; ++i) {
        code.rrr(isa::Op::ADD, 4 + i % 8, 12, 13);
      }
    });
    code.exit();
    LaunchShape shape;
    shape.block = {64, 1, 1};
    cycles[many] = bench.run(code, shape).cycles;
  }
  return static_cast<double>(cycles[1] - cycles[0]) / 20;
}

// Cycles of a round of some warps of 64 operations each, all on numbers of single precision, whose lanes take
// `interval` cycles.
double cycles_of_round_in_one_kind(unsigned warps, unsigned interval) {
  Machine machine;
  machine.core.issue = "scoreboard";
  machine.core.policies.of<ScoreboardParameters>().stall = "on-use";
  machine.core.float_interval = interval;
  GpuBench bench(machine);
  Cycle cycles[2] = {};
  for (const unsigned many : {0U, 0U, 1U}) {
    Code code;
    add_loop(code, many != 0 ? 30 : 10, [&] {
      for (unsigned i = 0; i < 64; ++i) {
        code.rrr(isa::Op::FADD, 4 + i % 8, 12, 13);
      }
    });
    code.exit();
    LaunchShape shape;
    shape.block = {32 * warps, 1, 1};
    cycles[many] = bench.run(code, shape).cycles;
  }
  return static_cast<double>(cycles[1] - cycles[0]) / 20;
}

// Whoever waits for the lanes has them in the cycle in which they are free.
class LanesOfOneKind : public ::testing::TestWithParam<std::tuple<unsigned, unsigned>> {};
TEST_P(LanesOfOneKind, AreNeverFreeWhileWarpsWaitForThem) {
  const auto [warps, interval] = GetParam();
  const double cycles = cycles_of_round_in_one_kind(warps, interval);
  const unsigned busy = 64 * warps * interval;
  EXPECT_GE(cycles, busy);
  EXPECT_LE(cycles, 1.05 * busy + (warps == 1 ? 12 : 0)) << "of its own loop a warp alone waits, and so does the last";
}
INSTANTIATE_TEST_SUITE_P(Warps, LanesOfOneKind,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U, 8U), ::testing::Values(2U, 4U)),
                         [](const auto& info) {
                           return fmt::format("{}_warps_{}_cycles", std::get<0>(info.param), std::get<1>(info.param));
                         });

// The numbers' warp has 67 instructions in a round, between which 18 of the other warp take turns; its branch and its
// own two integer operations wait some cycles more. Integers that wait for their lanes in the pipeline make it wait
// behind them, too.
TEST(LaneSlots, OthersGoWhileAWarpWaitsInFrontOfFetch) {
  EXPECT_LT(cycles_of_round("on-use"), 120);
}
TEST(LaneSlots, OthersWaitBehindAnOperationInThePipeline) {
  EXPECT_GT(cycles_of_round("on-access"), 120);
}

}  // namespace
}  // namespace heddle::hw
