// MIMD lanes: the mechanism alone, where each thread stands after each step. Four lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "hw/check/machine.hpp"
#include "hw/divergence/mimd_lanes.hpp"
#include "tests/hw/dynamic_groups.hpp"

namespace heddle::hw {
namespace {

using test::DynamicGroups;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

CoreParameters four_mimd_lanes(bool step) {
  CoreParameters core;
  core.simd_width = core.warp_size = 4;
  core.threads = 16;
  core.blocks = 2;
  core.policies.of<MimdParameters>().step = step;
  return core;
}

std::vector<std::uint32_t> pcs(const DynamicGroups& core, const Group& group) {
  std::vector<std::uint32_t> all;
  for (unsigned lane = 0; lane < 4; ++lane) {
    all.push_back(core.divergence->lane_pc(group, 0, lane));
  }
  return all;
}

isa::Instruction branch_to(std::uint32_t target) {
  isa::Instruction branch;
  branch.op = isa::Op::BRA;
  branch.guard.reg = 0;
  branch.target = target;
  return branch;
}

TEST(MimdLanes, EveryThreadOfAWarpStepsFromItsOwnPc) {
  DynamicGroups core("mimd", four_mimd_lanes(true), 2);
  Group& warp = core.start(0, 0, 0b1111);
  EXPECT_FALSE(core.divergence->dynamic());
  core.divergence->executed(warp, 0, 0b1111, branch_to(7), 0b0011);
  core.plain(warp);
  EXPECT_THAT(pcs(core, warp), ElementsAre(7, 7, 1, 1));
  EXPECT_EQ(warp.active[0], 0b1111U) << "nobody waits for a path";
  EXPECT_EQ(warp.pc, 1U) << "the lowest, for those who look at the warp";
  // The next step: lanes 0 and 1 an instruction of their own, 2 jumps, 3 exits.
  core.divergence->executed(warp, 0, 0b0011, {}, 0);
  core.divergence->executed(warp, 0, 0b0100, branch_to(20), 0b0100);
  core.divergence->executed(warp, 0, 0b1000, {}, 0);
  core.exit(warp, 0b1000);
  EXPECT_EQ(warp.active[0], 0b0111U);
  EXPECT_THAT(pcs(core, warp), ElementsAre(8, 8, 20, 2));
  EXPECT_EQ(warp.state, GroupState::ready);
  EXPECT_EQ(core.divergence->describe(warp), "2 different PCs; 2 threads at PC 8; 1 threads at PC 20");
}

TEST(MimdLanes, ThreadsAtABarrierAreLeftOutOfTheStep) {
  DynamicGroups core("mimd", four_mimd_lanes(true), 2);
  Group& warp = core.start(0, 0, 0b1111);
  core.divergence->executed(warp, 0, 0b1111, {}, 0);
  core.barrier(warp, 0b0101);
  EXPECT_EQ(warp.active[0], 0b1010U);
  EXPECT_EQ(warp.state, GroupState::ready);
  core.barrier(warp, 0b1010);
  EXPECT_EQ(warp.active[0], 0b1111U);
  EXPECT_EQ(warp.state, GroupState::barrier);
  core.divergence->released(warp, 0, 0b0101, false, core);
  EXPECT_EQ(warp.active[0], 0b0101U);
  EXPECT_EQ(warp.state, GroupState::ready);
  core.divergence->released(warp, 0, 0b1010, true, core);
  core.plain(warp);
  EXPECT_EQ(warp.active[0], 0b1111U) << "those released meanwhile are in the next step";
}

TEST(MimdLanes, AWarpEndsWithItsLastThread) {
  DynamicGroups core("mimd", four_mimd_lanes(true), 2);
  Group& warp = core.start(0, 0, 0b0111);
  core.exit(warp, 0b0011);
  EXPECT_EQ(warp.active[0], 0b0100U);
  core.exit(warp, 0b0100);
  EXPECT_EQ(warp.state, GroupState::free);
}

TEST(MimdLanes, WithoutTheStepEveryThreadIsAGroup) {
  DynamicGroups core("mimd", four_mimd_lanes(false), 2);
  Group& first = core.start(0, 0, 0b1101);
  EXPECT_TRUE(core.divergence->dynamic());
  EXPECT_TRUE(core.divergence->lanes_of_several_groups());
  EXPECT_THAT(core.live(), ElementsAre("0: 0/0", "0: 2/0", "0: 3/0"));
  core.branch(first, 9, 12, 0b0001);
  EXPECT_THAT(core.live(), ElementsAre("9: 0/0", "0: 2/0", "0: 3/0"));
  Group& second = core.groups[1];
  core.plain(second);
  core.barrier(second, 0b0100);
  EXPECT_EQ(second.state, GroupState::barrier);
  EXPECT_EQ(first.state, GroupState::ready) << "who waits, waits for itself alone";
  core.exit(first, 0b0001);
  EXPECT_THAT(core.live(), ElementsAre("2: 2/0", "0: 3/0"));
}

// A thread's registers are where it began, whatever lane it is given.
TEST(MimdLanes, AThreadOfAnyLaneKeepsItsPlace) {
  CoreParameters four = four_mimd_lanes(false);
  four.policies.of<MimdParameters>().lanes = "any";
  DynamicGroups core("mimd", four, 2);
  core.start(1, 0, 0b0110);
  EXPECT_TRUE(core.divergence->displaces());
  Group& thread = core.groups[1];
  const Place home = thread.place_of(static_cast<unsigned>(std::countr_zero(thread.active[0])));
  EXPECT_FALSE(thread.displaced);
  for (const LaneMask lane : {0b0001U, 0b1000U}) {
    thread.active[0] = lane;
    thread.look_at_lanes();
    EXPECT_TRUE(thread.displaced);
    EXPECT_EQ(thread.place_of(static_cast<unsigned>(std::countr_zero(lane))).row, home.row);
    EXPECT_EQ(thread.place_of(static_cast<unsigned>(std::countr_zero(lane))).lane, home.lane);
    core.plain(thread);
    EXPECT_EQ(thread.state, GroupState::ready);
  }
}

TEST(MimdLanes, AnyLaneIsForThreadsThatGoOnForThemselves) {
  Machine machine;
  machine.core.divergence = "mimd";
  machine.core.policies.of<MimdParameters>().lanes = "any";
  EXPECT_THAT(check(machine), Contains(Field(&Contradiction::key, "mimd.lanes")));
  machine.core.policies.of<MimdParameters>().step = false;
  EXPECT_TRUE(check(machine).empty());
}

TEST(MimdLanes, WhatNeedsWarpsOfOnePcIsRefused) {
  Machine machine;
  machine.core.divergence = "mimd";
  EXPECT_TRUE(check(machine).empty());
  machine.core.former = "packed";
  EXPECT_THAT(check(machine), Contains(Field(&Contradiction::key, "core.former")));
  machine.core.former = "rows";
  machine.core.scalar = "detector";
  EXPECT_THAT(check(machine), Contains(Field(&Contradiction::key, "core.scalar")));
  machine.core.scalar = "none";
  machine.core.issue = "relaxed";
  EXPECT_THAT(check(machine), Contains(Field(&Contradiction::key, "core.issue")));
  machine.core.issue = "strict";
  machine.core.load_limiter = "ccws";
  const std::vector<Contradiction> found = check(machine);
  EXPECT_THAT(found, Contains(AllOf(Field(&Contradiction::key, "core.load_limiter"),
                                    Field(&Contradiction::message, HasSubstr("a next instruction of its own")))));
}

}  // namespace
}  // namespace heddle::hw
