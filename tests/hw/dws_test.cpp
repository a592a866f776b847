// Dynamic warp subdivision and adaptive slip: the mechanism alone, which threads are where after each step, four lanes.
#include "hw/divergence/dws.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/check/machine.hpp"
#include "hw/divergence/owned_places.hpp"
#include "tests/hw/dynamic_groups.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {
namespace {

using test::DynamicGroups;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Scheme {
  const char* branches = "pc";
  const char* memory = "none";
  const char* reconvergence = "branch-bypass";
  unsigned entries = 16;
  unsigned slots = 16;
  const char* meet = "anywhere";
};

CoreParameters four_lanes_of_splits() {
  CoreParameters core;
  core.simd_width = core.warp_size = 4;
  core.threads = 32;
  core.blocks = 2;
  return core;
}

CoreParameters subdividing(const Scheme& scheme) {
  CoreParameters core = four_lanes_of_splits();
  auto& own = core.policies.of<DwsParameters>();
  own.branches = scheme.branches;
  own.memory = scheme.memory;
  own.reconvergence = scheme.reconvergence;
  own.entries = scheme.entries;
  own.slots = scheme.slots;
  own.meet = scheme.meet;
  return core;
}

constexpr bool kMarked = true;

// Two warps of one block; the second stands at a barrier.
struct Dws {
  explicit Dws(const Scheme& scheme) : core("dws", subdividing(scheme), 2) {
    core.groups.set_state(other, GroupState::barrier);
  }
  // The first warp's branch at PC 0: lanes 0 and 1 go to PC 5, the others to PC 1.
  Group& part_at_branch() {
    EXPECT_TRUE(core.branch(warp, 5, 9, 0b0011, kMarked));
    return core.at(5);
  }
  void plain(Group& group, unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
      core.plain(group);
    }
  }
  DynamicGroups core;
  Group& warp = core.start(0, 0, 0b1111);
  Group& other = core.start(0, 1, 0b1111);
};

constexpr const char* kOther = "0: 0/1 1/1 2/1 3/1";

TEST(Dws, BothPathsOfAMarkedBranchGoOnAndJoinAtOnePc) {
  Dws bench({});
  Group& taken = bench.part_at_branch();
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 2/0 3/0", kOther, "5: 0/0 1/0"));
  EXPECT_EQ(bench.warp.state, GroupState::ready);
  bench.plain(taken, 5);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 2/0 3/0", kOther, "10: 0/0 1/0")) << "the stack knows nothing of PC 9";
  bench.plain(bench.warp, 9);
  EXPECT_THAT(bench.core.live(), ElementsAre(kOther, "10: 0/0 1/0 2/0 3/0"));
}

// As decode asks, where instructions of a group overlap.
bool goes_on(Dws& bench, Group& group, isa::Op op = isa::Op::ADD) {
  link::DecodedInstruction decoded;
  decoded.instruction.op = op;
  group.decoded = &decoded;
  const bool goes = bench.core.divergence->goes_on(group);
  group.decoded = nullptr;
  return goes;
}

TEST(Dws, AWarpOrSplitGoesOnEarlyUnlessItMeetsAnotherOne) {
  Dws bench({});
  EXPECT_TRUE(goes_on(bench, bench.warp)) << "undivided";
  Group& taken = bench.part_at_branch();
  bench.plain(bench.warp, 3);
  EXPECT_TRUE(goes_on(bench, taken)) << "from PC 5 on it is alone";
  EXPECT_FALSE(goes_on(bench, bench.warp)) << "at PC 5 the others wait to be fetched";
  bench.core.groups.set_state(taken, GroupState::in_flight);
  EXPECT_TRUE(goes_on(bench, bench.warp)) << "they are under way there";
}

// As the functional units ask, of a branch with a condition at the group's PC.
bool branches_early(Dws& bench, const Group& group, std::uint32_t target, LaneMask taken, bool marked = false) {
  isa::Instruction branch;
  branch.op = isa::Op::BRA;
  branch.target = target;
  branch.subdivides = marked;
  return bench.core.divergence->branches_early(group, branch, {&taken, 1});
}

TEST(Dws, ABranchThatMakesNoSplitAndMeetsNoneResolvesEarly) {
  Dws bench({});
  EXPECT_TRUE(branches_early(bench, bench.warp, 5, 0b0011)) << "the stack's";
  EXPECT_FALSE(branches_early(bench, bench.warp, 5, 0b0011, kMarked)) << "the warp parts";
  EXPECT_TRUE(branches_early(bench, bench.warp, 5, 0b1111, kMarked)) << "all agree";
  bench.part_at_branch();  // the others wait at PC 5
  EXPECT_FALSE(branches_early(bench, bench.warp, 9, 0b0100)) << "a split parts at every branch";
  EXPECT_TRUE(branches_early(bench, bench.warp, 9, 0b1100));
  EXPECT_FALSE(branches_early(bench, bench.warp, 5, 0b1100)) << "it meets the others there";
  EXPECT_TRUE(branches_early(bench, bench.warp, 5, 0)) << "PC 2 comes next";
}

TEST(Dws, ALimitedSplitResolvesNoBranchEarly) {
  for (const bool limited : {true, false}) {
    Dws bench(
        {.branches = "none", .memory = "aggressive", .reconvergence = limited ? "branch-limited" : "branch-bypass"});
    EXPECT_TRUE(branches_early(bench, bench.warp, 9, 0b1111)) << "undivided";
    bench.core.put_aside(bench.warp, 0b0011);
    Group& ahead = bench.core.at(0, GroupState::in_flight);
    bench.core.plain(ahead);
    EXPECT_EQ(branches_early(bench, ahead, 9, 0b0011), !limited) << "it waits there for the others";
  }
}

TEST(Dws, AtTheStacksReconvergencePointAWarpGoesOnAndASplitWaits) {
  Dws bench({});
  bench.core.branch(bench.warp, 5, 3, 0b0111, !kMarked);
  bench.plain(bench.warp, 1);
  EXPECT_TRUE(goes_on(bench, bench.warp)) << "PC 3 comes next, where the other path begins";
  bench.plain(bench.warp, 1);
  EXPECT_TRUE(bench.core.branch(bench.warp, 8, 9, 0b0011, kMarked));
  bench.warp.pc = 2;
  EXPECT_FALSE(goes_on(bench, bench.warp)) << "it would wait for the other split there";
}

TEST(Dws, AnUnmarkedBranchIsTheStacks) {
  Dws bench({});
  EXPECT_TRUE(bench.core.branch(bench.warp, 5, 9, 0b0011));
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 2/0 3/0", kOther));
  bench.plain(bench.warp, 8);
  EXPECT_THAT(bench.core.live(), ElementsAre("5: 0/0 1/0", kOther));
  bench.plain(bench.warp, 4);
  EXPECT_THAT(bench.core.live(), ElementsAre("9: 0/0 1/0 2/0 3/0", kOther));
}

TEST(Dws, SplitsJoinAtTheStacksReconvergencePoint) {
  for (const char* branches : {"stack", "pc"}) {
    Dws bench({.branches = branches});
    bench.core.branch(bench.warp, 20, 30, 0b0001);  // lanes 1 to 3 go on to PC 30, alone
    bench.core.branch(bench.warp, 5, 9, 0b0010, kMarked);
    Group& taken = bench.core.at(5);
    bench.plain(taken, 25);
    EXPECT_EQ(taken.state, GroupState::parked);
    EXPECT_TRUE(bench.core.branch(bench.warp, 7, 9, 0b0100)) << "a split parts at every branch";
    Group& nested = bench.core.at(7);
    bench.plain(nested, 23);
    EXPECT_THAT(bench.core.live(), ElementsAre("3: 3/0", kOther, "30: 1/0 2/0"));
    bench.plain(bench.warp, 27);
    EXPECT_EQ(bench.core.live().size(), 2U) << "the other path of the first branch runs";
    Group& rest = bench.core.at(20);
    EXPECT_EQ(rest.active[0], 0b0001U);
    bench.plain(rest, 10);
    EXPECT_EQ(bench.core.at(30).active[0], 0b1111U);
  }
}

TEST(Dws, WithStackBasedReconvergenceAPcIsNothingThatSplitsMeetAt) {
  Dws bench({.branches = "stack"});
  Group& taken = bench.part_at_branch();
  bench.plain(bench.warp, 4);
  EXPECT_EQ(bench.warp.pc, taken.pc);
  EXPECT_THAT(bench.core.live(), ElementsAre("5: 2/0 3/0", kOther, "5: 0/0 1/0"));
}

// To the letter of 4.5: PCs are compared where a memory instruction has been executed. At PC 5 the other half of the
// warp waits to be fetched.
TEST(Dws, PcsCanBeComparedBehindAccessesAlone) {
  for (const bool access : {false, true}) {
    Dws bench({.meet = "accesses"});
    bench.part_at_branch();
    bench.plain(bench.warp, 3);
    EXPECT_TRUE(goes_on(bench, bench.warp)) << "another instruction";
    EXPECT_FALSE(goes_on(bench, bench.warp, isa::Op::LD_GLOBAL)) << "behind which the halves join";
    if (access) {
      bench.core.access(bench.warp);
      EXPECT_THAT(bench.core.live(), ElementsAre(kOther, "5: 0/0 1/0 2/0 3/0"));
    } else {
      bench.core.plain(bench.warp);
      EXPECT_THAT(bench.core.live(), ElementsAre("5: 2/0 3/0", kOther, "5: 0/0 1/0"));
    }
  }
}

// A split that is ready behind an access waits for others of its warp which come to that access, unless PCs are
// compared behind accesses alone.
TEST(Dws, AReadySplitWaitsForThoseAtItsAccess) {
  for (const char* meet : {"anywhere", "accesses"}) {
    Dws bench({.meet = meet});
    Group& taken = bench.part_at_branch();
    taken.pc = bench.warp.pc;
    bench.core.access(taken);
    EXPECT_EQ(taken.state, GroupState::ready);
    bench.core.put_aside(bench.warp, 0);
    EXPECT_EQ(taken.state, std::string(meet) == "anywhere" ? GroupState::parked : GroupState::ready);
    bench.core.access(bench.warp);
    EXPECT_EQ(bench.core.at(2).active[0], 0b1111U);
    EXPECT_EQ(bench.core.live().size(), 2U);
  }
}

TEST(Dws, AFullTableLeavesAWarpToItsStackAndASplitWaits) {
  Dws bench({.entries = 2});
  Group& taken = bench.part_at_branch();
  EXPECT_TRUE(bench.core.branch(taken, 15, 19, 0b0001));
  Group& waits = bench.core.at(15, GroupState::parked);
  EXPECT_EQ(waits.active[0], 0b0001U) << "without an entry";
  EXPECT_TRUE(bench.core.branch(bench.other, 5, 9, 0b0011, kMarked));
  EXPECT_EQ(bench.other.active[0], 0b1100U);
  EXPECT_EQ(bench.core.live().size(), 4U) << "on the stack";
  bench.core.exit(bench.warp, 0b1100);
  EXPECT_EQ(waits.state, GroupState::ready) << "with the entry of those that have gone";
}

TEST(Dws, ASplitWithoutASlotWaitsForOneAndCanJoin) {
  Dws bench({.slots = 2});
  EXPECT_TRUE(bench.core.branch(bench.warp, 5, 9, 0b0011, kMarked));
  Group& waits = bench.core.at(5, GroupState::parked);
  bench.plain(bench.warp, 4);
  EXPECT_THAT(bench.core.live(), ElementsAre("5: 0/0 1/0 2/0 3/0", kOther));
  EXPECT_EQ(waits.state, GroupState::free);
  EXPECT_EQ(bench.warp.state, GroupState::ready);
  EXPECT_TRUE(bench.core.branch(bench.warp, 15, 19, 0b0011, kMarked));
  Group& later = bench.core.at(15, GroupState::parked);
  bench.core.exit(bench.other, 0b1111);
  EXPECT_EQ(later.state, GroupState::ready);
}

// The table's owners as text: "0 2 -".
std::string owners(std::span<const GroupId> places) {
  std::string text;
  for (const GroupId owner : places) {
    text += (text.empty() ? "" : " ") + (owner == OwnedPlaces::kNobody ? "-" : std::to_string(owner));
  }
  return text;
}

TEST(Dws, EntriesAndSlotsAreTheLowestFreeOnes) {
  Dws bench({.entries = 4, .slots = 4});
  const auto table = [&] { return bench.core.divergence->split_table(); };
  EXPECT_EQ(owners(table().entries), "- - - -") << "an undivided warp needs none";
  EXPECT_EQ(owners(table().slots), "0 1 - -");
  Group& taken = bench.part_at_branch();
  ASSERT_EQ(taken.id, 2U);
  EXPECT_EQ(owners(table().entries), "0 2 - -");
  EXPECT_EQ(owners(table().slots), "0 1 2 -");
  EXPECT_TRUE(bench.core.branch(bench.warp, 15, 19, 0b0100));
  EXPECT_EQ(owners(table().entries), "0 2 3 -");
  bench.core.exit(taken, 0b0011);
  EXPECT_EQ(owners(table().entries), "0 - 3 -") << "the others stay where they are";
  EXPECT_EQ(owners(table().slots), "0 1 - 3");
  EXPECT_TRUE(bench.core.branch(bench.core.at(15), 25, 29, 0b0000) == false);
  bench.core.exit(bench.core.at(15 + 1), 0b0100);
  EXPECT_EQ(owners(table().entries), "- - - -") << "one is left: the warp";
  EXPECT_EQ(owners(table().slots), "0 1 - -");
}

// What is told of splits: each that was made ends once.
TEST(Dws, SplitsThatBeginEnd) {
  Dws bench({.branches = "pc", .memory = "aggressive"});
  Group& taken = bench.part_at_branch();
  EXPECT_TRUE(bench.core.branch(taken, 15, 19, 0b0001));
  bench.core.put_aside(bench.warp, 0b0100);
  EXPECT_THAT(bench.core.told, ElementsAre("2 of 0: branch", "3 of 2: branch", "4 of 0: access"));
  bench.core.told.clear();
  bench.plain(bench.core.groups[4], 1);
  bench.plain(bench.warp, 1);  // at PC 2, where the others are
  bench.core.exit(bench.core.groups[3], 0b0001);
  bench.core.exit(bench.core.groups[2], 0b0010);
  EXPECT_THAT(bench.core.told, ElementsAre("0 to 4: pc", "3 to 3: exit", "2 to 2: exit", "4 to 4: alone"));
}

TEST(Dws, WarpsThatFindNoSlotBeginLater) {
  DynamicGroups core("dws", subdividing({.slots = 1}), 2);
  Group& first = core.start(0, 0, 0b1111);
  Group& second = core.start(0, 1, 0b1111);
  EXPECT_EQ(second.state, GroupState::parked);
  core.barrier(first, 0b1111);
  EXPECT_EQ(second.state, GroupState::ready) << "who waits at a barrier has no slot";
  core.divergence->released(first, 0, 0b1111, true, core);
  EXPECT_EQ(first.state, GroupState::parked);
  core.exit(second, 0b1111);
  EXPECT_EQ(first.state, GroupState::ready);
}

TEST(Dws, SplitsAreOneAtABarrier) {
  Dws bench({});
  Group& taken = bench.part_at_branch();
  bench.plain(taken, 1);
  bench.core.barrier(taken, 0b0011);
  bench.plain(bench.warp, 5);
  EXPECT_EQ(bench.warp.pc, 6U);
  EXPECT_EQ(bench.warp.state, GroupState::ready) << "the others wait behind their barrier";
  bench.core.barrier(bench.warp, 0b1100);
  EXPECT_THAT(bench.core.live(), ElementsAre(kOther, "7: 0/0 1/0 2/0 3/0"));
  EXPECT_THAT(bench.core.handed_over, ElementsAre(DynamicGroups::HandOver{bench.warp.id, 0, taken.id}));
  EXPECT_EQ(taken.state, GroupState::barrier);
  bench.core.divergence->released(taken, 0, 0b0011, false, bench.core);
  EXPECT_EQ(taken.state, GroupState::barrier);
  bench.core.divergence->released(taken, 0, 0b1100, true, bench.core);
  EXPECT_EQ(taken.state, GroupState::ready);
}

TEST(Dws, AggressiveSplitsAtEveryAccessAndPassesBranches) {
  Dws bench({.branches = "none", .memory = "aggressive"});
  bench.core.groups.set_state(bench.other, GroupState::ready);
  bench.core.put_aside(bench.warp, 0b0011);
  Group& ahead = bench.core.at(0, GroupState::in_flight);
  bench.core.plain(ahead);
  EXPECT_TRUE(bench.core.branch(ahead, 5, 9, 0b0001)) << "marked or not";
  EXPECT_THAT(bench.core.live(), ElementsAre("0: 2/0 3/0", kOther, "2: 1/0", "5: 0/0"));
  bench.core.plain(bench.warp);
  EXPECT_EQ(bench.warp.pc, 1U);
  bench.core.plain(bench.warp);
  EXPECT_THAT(bench.core.live(), ElementsAre(kOther, "2: 1/0 2/0 3/0", "5: 0/0"));
}

TEST(Dws, LimitedSplitsMeetAtTheNextBranch) {
  Dws bench({.branches = "none", .memory = "aggressive", .reconvergence = "branch-limited"});
  bench.core.put_aside(bench.warp, 0b0011);
  Group& ahead = bench.core.at(0, GroupState::in_flight);
  bench.core.plain(ahead);
  EXPECT_FALSE(bench.core.branch(ahead, 5, 9, 0b0001));
  EXPECT_EQ(ahead.state, GroupState::parked);
  bench.core.plain(bench.warp);
  EXPECT_TRUE(bench.core.branch(bench.warp, 5, 9, 0b1000));
  EXPECT_THAT(bench.core.live(), ElementsAre("2: 1/0 2/0", kOther));
}

TEST(Dws, LazyPartsOnlyWhileAllOthersWaitAndReviveLaterToo) {
  for (const char* memory : {"lazy", "revive"}) {
    Dws bench({.memory = memory});
    bench.core.groups.set_state(bench.other, GroupState::ready);
    bench.core.put_aside(bench.warp, 0b0011);
    EXPECT_EQ(bench.warp.active_threads(), 4U);
    bench.core.groups.set_state(bench.other, GroupState::barrier);
    bench.core.divergence->starving(bench.core);
    EXPECT_EQ(bench.warp.active_threads(), memory == std::string("lazy") ? 4U : 2U);
  }
}

TEST(Dws, WhatCannotGoTogetherIsRefused) {
  Machine machine;
  machine.core.divergence = "dws";
  machine.core.policies.of<DwsParameters>().reconvergence = "branch-limited";
  ASSERT_FALSE(check(machine).empty());
  EXPECT_THAT(check(machine).front().message, HasSubstr("never come"));
  machine.core.policies.of<DwsParameters>().reconvergence = "branch-bypass";
  EXPECT_TRUE(check(machine).empty());
  machine.core.policies.of<DwsParameters>().branches = "stack";
  ASSERT_FALSE(check(machine).empty());
  EXPECT_THAT(check(machine).front().message, HasSubstr("at one PC"));
  machine.core.policies.of<DwsParameters>().branches = "pc";
  machine.core.warp_size = 64;
  EXPECT_FALSE(check(machine).empty()) << "large warps";
}

// ------------------------------------------------------------------------------- slip

struct Slip {
  explicit Slip(bool bypass, unsigned limit = 4, unsigned entries = 16)
      : core("slip", parameters(bypass, limit, entries), 2) {}
  static CoreParameters parameters(bool bypass, unsigned limit, unsigned entries) {
    CoreParameters core = four_lanes_of_splits();
    core.policies.of<SlipParameters>().branch_bypass = bypass;
    core.policies.of<SlipParameters>().first_limit = limit;
    core.policies.of<DwsParameters>().entries = entries;
    return core;
  }
  // The first warp has loaded at PC 0, with answers for lanes 0 and 1.
  Group& load() {
    core.put_aside(warp, 0b0011);
    Group& ahead = core.at(0, GroupState::in_flight);
    core.plain(ahead);
    return ahead;
  }
  DynamicGroups core;
  Group& warp = core.start(0, 0, 0b1111);
};

TEST(Slip, ThreadsBehindWaitUntilOthersComeToTheirAccess) {
  Slip bench(true);
  Group& ahead = bench.load();
  bench.core.plain(ahead);
  bench.core.plain(bench.warp);  // its lines have come
  EXPECT_EQ(bench.warp.state, GroupState::parked);
  EXPECT_FALSE(bench.core.branch(ahead, 0, 3, 0b0011)) << "round the loop again";
  bench.core.plain(ahead);
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 0/0 1/0 2/0 3/0"));
  EXPECT_EQ(ahead.state, GroupState::ready);
}

TEST(Slip, WithoutBypassThoseAheadWaitAtABranch) {
  Slip bench(false);
  Group& ahead = bench.load();
  bench.core.plain(bench.warp);
  EXPECT_EQ(bench.warp.state, GroupState::free) << "those ahead are still there";
  EXPECT_THAT(bench.core.live(), ElementsAre("1: 0/0 1/0 2/0 3/0"));
  bench.core.put_aside(ahead, 0b0001);
  Group& first = bench.core.at(1, GroupState::in_flight);
  bench.core.plain(first);
  bench.core.plain(first);
  bench.core.plain(ahead);
  EXPECT_EQ(ahead.state, GroupState::parked);
  EXPECT_FALSE(bench.core.branch(first, 0, 4, 0b0001));
  EXPECT_EQ(first.state, GroupState::parked);
  EXPECT_EQ(ahead.state, GroupState::ready) << "nobody else can go on";
  bench.core.plain(ahead);
  EXPECT_FALSE(bench.core.branch(ahead, 0, 4, 0b1110)) << "the whole warp's: all of them";
  EXPECT_EQ(bench.core.at(0).active[0], 0b1111U);
}

TEST(Slip, NoMoreThreadsThanAllowedFallBehind) {
  Slip bench(true, 1);
  bench.core.put_aside(bench.warp, 0b0011);
  EXPECT_EQ(bench.warp.active_threads(), 4U);
  bench.core.put_aside(bench.warp, 0b0111);
  EXPECT_EQ(bench.warp.active_threads(), 1U);
}

TEST(Slip, ThreadsBehindGoOnWhenTheLastOnesAheadHaveExited) {
  Slip bench(true);
  Group& ahead = bench.load();
  bench.core.plain(ahead);
  bench.core.plain(bench.warp);
  EXPECT_EQ(bench.warp.state, GroupState::parked);
  bench.core.exit(ahead, 0b0011);
  EXPECT_EQ(bench.warp.state, GroupState::ready);
}

}  // namespace
}  // namespace heddle::hw
