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

// A warp adds integers, whose lanes take four cycles, another one numbers of single precision: with its lanes looked at
// before it is fetched the first one holds up the second no more.
TEST(LaneSlots, OthersGoWhileAWarpWaitsForItsLanes) {
  Machine machine;
  machine.core.issue = "scoreboard";
  machine.core.policies.of<ScoreboardParameters>().stall = "on-use";
  machine.core.integer_interval = 4;
  GpuBench bench(machine);
  Code code;
  code.s2r(3, isa::Special::tid_x);
  code.setp(1, isa::Comparison::lt, 3, 32);
  const auto to_integers = code.when(1).bra();
  for (unsigned i = 0; i < 64; ++i) {
    code.rrr(isa::Op::FADD, 4 + i % 4, 8, 9);
  }
  code.exit();
  const auto integers = code.rrr(isa::Op::ADD, 4, 8, 9);
  for (unsigned i = 1; i < 64; ++i) {
    code.rrr(isa::Op::ADD, 4 + i % 4, 8, 9);
  }
  code.exit();
  code.aim(to_integers, integers);
  LaunchShape shape;
  shape.block = {64, 1, 1};
  const Totals totals = bench.run(code, shape);
  // 64 integers every four cycles, the others within that time; fetch, the pipeline's ends and the caches beside it.
  EXPECT_GE(totals.cycles, 64U * 4);
  EXPECT_LT(totals.cycles, 64U * 4 + 200);
}

}  // namespace
}  // namespace heddle::hw
