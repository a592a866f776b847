// Dynamic warp subdivision with dynamic warp formation: the mechanism alone, which threads are where after each step,
// four lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/check/machine.hpp"
#include "hw/divergence/dws.hpp"
#include "hw/divergence/owned_places.hpp"
#include "tests/hw/dynamic_groups.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {
namespace {

using test::DynamicGroups;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr bool kMarkedBranch = true;

struct FormingScheme {
  const char* memory = "none";
  const char* joins = "free-lanes";
  unsigned entries = 16;
  unsigned slots = 16;
};

CoreParameters forming(const FormingScheme& scheme) {
  CoreParameters core;
  core.simd_width = core.warp_size = 4;
  core.threads = 32;
  core.blocks = 2;
  auto& own = core.policies.of<DwsParameters>();
  own.memory = scheme.memory;
  own.entries = scheme.entries;
  own.slots = scheme.slots;
  core.policies.of<DwsDwfParameters>().joins = scheme.joins;
  return core;
}

// Two warps of one block, and their counters.
struct Forming {
  explicit Forming(const FormingScheme& scheme = {}) : core("dws-dwf", forming(scheme), 2, &count) {}
  void plain(Group& group, unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
      core.plain(group);
    }
  }
  CoreStatistics count;
  DynamicGroups core;
  Group& one = core.start(0, 0, 0b1111);
  Group& two = core.start(0, 1, 0b1111);
};

TEST(FormedSplits, ThreadsOfTwoWarpsThatTakeABranchRunTogetherInTheirLanes) {
  Forming bench;
  EXPECT_TRUE(bench.core.branch(bench.one, 5, 9, 0b0011, kMarkedBranch));
  EXPECT_TRUE(bench.core.branch(bench.two, 5, 9, 0b1100, kMarkedBranch));
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 0/1 1/1 2/0 3/0", "5: 0/0 1/0 2/1 3/1"));
  EXPECT_EQ(bench.count.splits_branch, 2U);
  EXPECT_EQ(bench.count.merges_formed, 2U);
  EXPECT_EQ(bench.count.merges_pc, 0U);
}

TEST(FormedSplits, AThreadWhoseLaneIsTakenKeepsItsGroupApart) {
  Forming bench;
  bench.core.branch(bench.one, 5, 9, 0b0011, kMarkedBranch);
  bench.core.branch(bench.two, 5, 9, 0b0110, kMarkedBranch);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 2/0 3/0", "1: 0/1 3/1", "5: 0/0 1/0", "5: 1/1 2/1"));
  EXPECT_EQ(bench.count.merges_formed, 0U);
}

// Paths that the stacks have made narrow join too, and part again where one warp's path ends.
TEST(FormedSplits, UndividedWarpsOnTheirStacksRunTogether) {
  Forming bench;
  bench.core.branch(bench.one, 5, 9, 0b0011);
  bench.core.branch(bench.two, 5, 7, 0b1100);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 0/1 1/1 2/0 3/0"));
  EXPECT_EQ(bench.count.splits_branch, 0U);
  Group& both = bench.core.at(1);
  bench.plain(both, 6);
  EXPECT_THAT(bench.core.live(), ElementsAre("7: 2/0 3/0", "5: 2/1 3/1")) << "the second warp's other path begins";
  Group& other_path = bench.core.at(5);
  bench.plain(other_path, 2);
  EXPECT_THAT(bench.core.live(), ElementsAre("7: 2/0 3/0", "7: 0/1 1/1 2/1 3/1"));
  bench.plain(bench.core.groups[both.id], 2);
  EXPECT_EQ(bench.core.at(5).active[0], 0b0011U);
}

TEST(FormedSplits, AWarpGoesOnWhenAllOfItHasArrivedWhereverItWas) {
  Forming bench;
  bench.core.branch(bench.one, 20, 9, 0b0001);  // on the stack: lanes 1 to 3 go on to PC 9
  bench.core.branch(bench.one, 5, 30, 0b0010, kMarkedBranch);
  Group& apart = bench.core.at(5);
  bench.core.branch(bench.two, 40, 50, 0b1101, kMarkedBranch);
  bench.core.branch(bench.core.at(1), 2, 50, 0);
  bench.core.branch(bench.core.at(2), 5, 50, 0b0010);  // lane 1 of the second warp: taken in the first one's group
  EXPECT_THAT(bench.core.live(), ElementsAre("3: 2/0 3/0", "5: 1/1", "5: 1/0", "40: 0/1 2/1 3/1"));
  bench.plain(apart, 4);
  EXPECT_EQ(apart.state, GroupState::free) << "arrived threads have no group";
  EXPECT_EQ(bench.core.live().size(), 3U);
  bench.core.branch(bench.one, 9, 50, 0b1100);
  EXPECT_THAT(bench.core.live(), ElementsAre("20: 0/0", "5: 1/1", "40: 0/1 2/1 3/1"));
  EXPECT_EQ(bench.count.merges_stack, 1U);
}

TEST(FormedSplits, EachWarpDecidesAboutABranchByItself) {
  Forming bench;
  bench.core.branch(bench.one, 5, 9, 0b0011);  // by the stack
  bench.core.branch(bench.two, 5, 9, 0b1000, kMarkedBranch);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 2/0 3/0", "1: 0/1 1/1 2/1", "5: 3/1"));
  Group& narrow = bench.one;
  Group& wide = bench.two;
  bench.core.branch(wide, 1, 9, 0b0100);  // to PC 1 again: lane 2 finds its lane taken, lanes 0 and 1 go on
  bench.plain(narrow, 1);
  EXPECT_THAT(bench.core.live(), ElementsAre("2: 0/1 1/1 2/0 3/0", "5: 3/1", "1: 2/1"));
  Group& both = bench.core.at(2);
  EXPECT_TRUE(bench.core.branch(both, 7, 8, 0b0101)) << "unmarked: the first warp's is the stack's, the second parts";
  EXPECT_THAT(bench.core.live(), ElementsAre("7: 0/1", "3: 1/1 3/0", "5: 3/1", "1: 2/1"));
}

TEST(FormedSplits, WarpsThatDisagreeWithEachOtherAreUndividedAgain) {
  Forming bench;
  bench.core.branch(bench.one, 5, 9, 0b0011);
  bench.core.branch(bench.two, 5, 9, 0b1100);
  Group& both = bench.core.at(1);
  EXPECT_EQ(bench.core.divergence->split_table().entries[0], both.id);
  EXPECT_TRUE(bench.core.branch(both, 3, 9, 0b1100)) << "all of the first warp, none of the second";
  EXPECT_THAT(bench.core.live(), ElementsAre("2: 0/1 1/1", "3: 2/0 3/0"));
  EXPECT_EQ(bench.count.splits_branch, 0U);
  EXPECT_EQ(bench.core.divergence->split_table().entries[0], OwnedPlaces::kNobody);
}

TEST(FormedSplits, WhoComesBackToItsOwnWarpFormsNoGroup) {
  Forming bench;
  Group& third = bench.core.start(1, 0, 0b0001);
  bench.core.branch(bench.one, 5, 9, 0b0010, kMarkedBranch);
  bench.core.branch(bench.two, 1, 9, 0b1111);
  bench.core.branch(bench.two, 5, 9, 0b0100, kMarkedBranch);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 0/0 2/0 3/0", "2: 0/1 1/1 3/1", "0: 0/2", "5: 1/0 2/1"));
  bench.core.branch(third, 4, 9, 0b0001);
  bench.plain(third, 1);
  EXPECT_EQ(bench.core.at(5).active[0], 0b0111U);
  EXPECT_EQ(bench.count.merges_formed, 2U);
  bench.core.branch(bench.one, 5, 9, 0b1000);
  EXPECT_EQ(bench.core.at(5).active[0], 0b1111U);
  EXPECT_EQ(bench.count.merges_pc, 1U) << "with lane 1 of its warp";
}

TEST(FormedSplits, WithoutAnEntryNobodyParts) {
  Forming bench({.entries = 2});
  Group& third = bench.core.start(1, 0, 0b0100);
  bench.core.branch(bench.one, 5, 9, 0b0011, kMarkedBranch);
  EXPECT_TRUE(bench.core.branch(bench.two, 5, 9, 0b1100, kMarkedBranch)) << "by the stack";
  EXPECT_EQ(bench.count.split_table_full, 1U);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 0/1 1/1 2/0 3/0", "0: 2/2", "5: 0/0 1/0"))
      << "who joins a group that has an entry needs none";
  bench.core.branch(third, 5, 9, 0b0100);
  EXPECT_EQ(bench.core.at(5).active[0], 0b0111U);
}

TEST(FormedSplits, AGroupWithoutASlotWaitsAndCanBeJoined) {
  Forming bench({.slots = 2});
  bench.core.branch(bench.one, 5, 9, 0b0011, kMarkedBranch);
  EXPECT_EQ(bench.core.at(5, GroupState::parked).active[0], 0b0011U);
  EXPECT_EQ(bench.count.split_slots_full, 1U);
  bench.core.branch(bench.two, 5, 9, 0b1100);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 0/1 1/1 2/0 3/0", "5: 0/0 1/0"));
  EXPECT_EQ(bench.core.at(5).active[0], 0b0011U) << "with the slot of the second warp's group";
}

TEST(FormedSplits, AnAccessThatIsAnsweredInPartPartsAGroupOfSeveralWarps) {
  Forming bench({.memory = "aggressive"});
  bench.core.branch(bench.one, 5, 9, 0b0011);
  bench.core.branch(bench.two, 5, 9, 0b1100);
  Group& both = bench.core.at(1);
  bench.core.put_aside(both, 0b0101);
  EXPECT_EQ(bench.count.splits_memory, 1U);
  Group& ahead = bench.core.at(1, GroupState::in_flight);
  EXPECT_EQ(ahead.active[0], 0b0101U);
  bench.core.plain(ahead);
  bench.core.plain(ahead);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 1/1 3/0", "3: 0/1 2/0"));
  bench.core.plain(both);
  bench.core.plain(both);
  EXPECT_THAT(bench.core.live(), ElementsAre("3: 0/1 1/1 2/0 3/0"));
  EXPECT_THAT(bench.core.told, ElementsAre("1 of 0: access"));
}

TEST(FormedSplits, ReviveAndPredictPartWhoWaitsAlready) {
  for (const char* const memory : {"lazy", "revive", "predict"}) {
    Forming bench({.memory = memory});
    bench.core.put_aside(bench.one, 0b0011);  // the second warp is ready
    EXPECT_EQ(bench.one.active_threads(), 4U);
    bench.core.groups.set_state(bench.two, GroupState::barrier);
    bench.core.divergence->starving(bench.core);
    EXPECT_EQ(bench.one.active_threads(), memory == std::string("lazy") ? 4U : 2U) << memory;
    EXPECT_EQ(bench.count.predictions, memory == std::string("predict") ? 1U : 0U);
  }
}

TEST(FormedSplits, AtABarrierAGroupPartsByBlock) {
  Forming bench;
  Group& elsewhere = bench.core.start(1, 0, 0b0001);
  bench.core.branch(bench.one, 5, 9, 0b1001);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 1/0 2/0", "0: 0/1 1/1 2/1 3/1", "0: 0/2"));
  bench.plain(elsewhere, 1);
  Group& both = bench.core.at(1);
  EXPECT_EQ(both.active[0], 0b0111U);
  bench.core.barrier(both, 0b0011);
  EXPECT_THAT(bench.core.live(), ::testing::UnorderedElementsAre("2: 1/0", "2: 2/0", "2: 0/2", "0: 0/1 1/1 2/1 3/1"));
  EXPECT_EQ(bench.core.at(2).active[0], 0b0100U) << "whom it does not concern";
  ASSERT_EQ(bench.core.handed_over.size(), 1U);
  EXPECT_EQ(bench.core.handed_over[0].from, both.id);
}

TEST(FormedSplits, GroupsOfABlockAtOneBarrierBecomeOne) {
  Forming bench;
  bench.core.branch(bench.one, 5, 9, 0b0011, kMarkedBranch);
  Group& taken = bench.core.at(5);
  bench.plain(taken, 1);
  bench.core.barrier(taken, 0b0011);
  bench.plain(bench.one, 5);
  EXPECT_EQ(bench.one.pc, 6U);
  bench.core.barrier(bench.one, 0b1100);
  EXPECT_THAT(bench.core.live(), ElementsAre("0: 0/1 1/1 2/1 3/1", "7: 0/0 1/0 2/0 3/0"));
  EXPECT_THAT(bench.core.handed_over, ElementsAre(DynamicGroups::HandOver{bench.one.id, 0, taken.id}));
  EXPECT_EQ(bench.count.merges_barrier, 1U);
  bench.core.divergence->released(taken, 0, 0b0011, false, bench.core);
  EXPECT_EQ(taken.state, GroupState::barrier);
  bench.core.divergence->released(taken, 0, 0b1100, true, bench.core);
  EXPECT_EQ(taken.state, GroupState::ready);
}

// Two narrow warps stand at one PC, but the only entries are another warp's splits'.
TEST(FormedSplits, WithoutAnEntryNobodyJoins) {
  Forming bench({.entries = 2});
  Group& third = bench.core.start(1, 0, 0b1111);
  bench.core.branch(third, 20, 29, 0b0011, kMarkedBranch);
  bench.core.branch(bench.one, 5, 9, 0b0011);
  bench.core.branch(third, 30, 29, 0b1100);
  bench.core.branch(bench.two, 5, 9, 0b1100);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 2/0 3/0", "1: 0/1 1/1", "30: 2/2 3/2", "20: 0/2 1/2"));
}

// Lanes 0 and 1 of the first warp may come back; a thread of the second warp would stand in lane 1.
TEST(FormedSplits, UnblockingGroupsLeaveTheirLanesToThoseBehind) {
  for (const char* const joins : {"free-lanes", "unblocking"}) {
    Forming bench({.joins = joins});
    bench.core.branch(bench.one, 5, 9, 0b1100, kMarkedBranch);
    bench.core.branch(bench.two, 5, 9, 0b0010);
    Group& rest = bench.core.at(1);
    EXPECT_EQ(rest.active[0], 0b0011U);
    bench.core.branch(bench.two, 4, 9, 0b1101);
    EXPECT_EQ(bench.two.pc, 4U);
    bench.core.exit(bench.two, 0b1101);  // its other path, lane 1, begins at PC 5
    EXPECT_EQ(bench.core.at(5).active[0], joins == std::string("unblocking") ? 0b0010U : 0b1110U) << joins;
  }
}

TEST(FormedSplits, AWarpOfExitedThreadsIsUndivided) {
  Forming bench;
  bench.core.branch(bench.one, 5, 9, 0b0011, kMarkedBranch);
  Group& taken = bench.core.at(5);
  EXPECT_NE(bench.core.divergence->split_table().entries[0], OwnedPlaces::kNobody);
  bench.core.exit(taken, 0b0011);
  EXPECT_EQ(bench.core.divergence->split_table().entries[0], OwnedPlaces::kNobody);
  bench.core.exit(bench.one, 0b1100);
  bench.core.exit(bench.two, 0b1111);
  EXPECT_THAT(bench.core.live(), IsEmpty());
  EXPECT_THAT(bench.core.told, ElementsAre("2 of 0: branch", "2 to 2: exit"));
}

TEST(FormedSplits, WhatCannotGoTogetherIsRefused) {
  Machine machine;
  machine.core.divergence = "dws-dwf";
  EXPECT_TRUE(check(machine).empty());
  machine.core.policies.of<DwsParameters>().reconvergence = "branch-limited";
  ASSERT_FALSE(check(machine).empty());
  EXPECT_THAT(check(machine).front().message, HasSubstr("beside threads of warps that do not"));
  machine.core.policies.of<DwsParameters>().reconvergence = "branch-bypass";
  machine.core.policies.of<DwsParameters>().branches = "stack";
  ASSERT_FALSE(check(machine).empty());
  EXPECT_THAT(check(machine).front().message, HasSubstr("stand at one PC"));
  machine.core.policies.of<DwsParameters>().branches = "none";
  EXPECT_TRUE(check(machine).empty());
}

// As decode and the functional units ask, where instructions of a group overlap.
TEST(FormedSplits, AGroupGoesOnEarlyWhereItMeetsNobody) {
  Forming bench;
  const auto goes_on = [&](Group& group) {
    link::DecodedInstruction decoded;
    group.decoded = &decoded;
    const bool goes = bench.core.divergence->goes_on(group);
    group.decoded = nullptr;
    return goes;
  };
  const auto branches_early = [&](const Group& group, std::uint32_t target, LaneMask taken, bool marked) {
    isa::Instruction branch;
    branch.op = isa::Op::BRA;
    branch.target = target;
    branch.subdivides = marked;
    return bench.core.divergence->branches_early(group, branch, {&taken, 1});
  };
  EXPECT_TRUE(goes_on(bench.one));
  EXPECT_TRUE(branches_early(bench.one, 5, 0b0011, false)) << "by the stack";
  EXPECT_FALSE(branches_early(bench.one, 5, 0b0011, true)) << "it parts";
  EXPECT_TRUE(branches_early(bench.one, 5, 0b1111, true));
  bench.core.branch(bench.one, 5, 9, 0b0011);
  EXPECT_FALSE(branches_early(bench.two, 5, 0b1100, false)) << "lanes 0 and 1 join the first warp's at PC 1";
  EXPECT_TRUE(branches_early(bench.two, 5, 0b0011, false)) << "lanes 2 and 3 find their lanes taken";
  bench.plain(bench.one, 7);
  EXPECT_FALSE(goes_on(bench.one)) << "its path ends at PC 9";
}

}  // namespace
}  // namespace heddle::hw
