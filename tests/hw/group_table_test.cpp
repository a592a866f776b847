// The sets and counts of a core's groups, and who is told of their changes, against what each change of state means.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <tuple>
#include <vector>

#include "hw/state/group.hpp"
#include "hw/state/observer.hpp"
#include "tests/hw/effects_bench.hpp"

namespace heddle::hw::test {
namespace {

constexpr unsigned kGroupsOfTable = 130;

bool stalls(GroupState state, bool complex_stalls) {
  switch (state) {
    case GroupState::memory:
    case GroupState::barrier:
    case GroupState::parked:
    case GroupState::throttled:
      return true;
    case GroupState::complex:
      return complex_stalls;
    default:
      return false;
  }
}

struct StallsSeen final : StallObserver {
  void stalled(const Group& group) override { seen.push_back(group.id); }
  std::vector<GroupId> seen;
};

struct ChangesSeen final : CoreObserver {
  void group_changed(const CoreState&, const Group& group, GroupState before) override {
    seen.emplace_back(group.id, before, group.state);
  }
  std::vector<std::tuple<GroupId, GroupState, GroupState>> seen;
};

bool in(const GroupBits& bits, GroupId id) {
  return ((bits[id / 64] >> (id % 64)) & 1U) != 0;
}

void expect_as_states_say(const GroupTable& groups, bool complex_stalls) {
  std::array<unsigned, kGroupStates> counts{};
  for (const Group& group : groups.all()) {
    ++counts[static_cast<unsigned>(group.state)];
    ASSERT_EQ(in(groups.ready(), group.id), group.state == GroupState::ready) << group.id;
    ASSERT_EQ(in(groups.live(), group.id), group.state != GroupState::free) << group.id;
    ASSERT_EQ(in(groups.stalled(), group.id), stalls(group.state, complex_stalls)) << group.id;
    if (group.state == GroupState::ready) {
      ASSERT_EQ(groups.stands(group.id).pc, group.pc);
    }
  }
  for (unsigned state = 0; state != kGroupStates; ++state) {
    ASSERT_EQ(groups.count(static_cast<GroupState>(state)), counts[state]) << state;
  }
}

TEST(GroupTable, KnowsWhatEachChangeMeansAndTellsOfIt) {
  for (const bool complex_stalls : {false, true}) {
    EffectsBench bench;
    GroupTable groups(kGroupsOfTable, 1, complex_stalls);
    StallsSeen stalls_seen;
    ChangesSeen changes_seen;
    std::mt19937 random(5);
    bool by_pc = false;
    for (unsigned step = 0; step != 20'000; ++step) {
      // Without an observer, with one of stalls, with one of changes, and with groups by PC, each for a while.
      if (step == 4'000) {
        groups.observe(&stalls_seen);
      } else if (step == 8'000) {
        groups.watch(&changes_seen, bench.state);
      } else if (step == 12'000) {
        groups.watch(nullptr, bench.state);
      } else if (step == 16'000) {
        static_cast<void>(groups.ready_by_pc());
        by_pc = true;
      }
      stalls_seen.seen.clear();
      changes_seen.seen.clear();
      Group& group = groups[random() % kGroupsOfTable];
      const GroupState before = group.state;
      if (before != GroupState::ready) {
        group.pc = random() % 16;
      }
      const auto state = static_cast<GroupState>(random() % kGroupStates);
      groups.set_state(group, state);
      std::vector<GroupId> stalled;
      if (step >= 4'000 && (stalls(state, complex_stalls) || state == GroupState::free)) {
        stalled.push_back(group.id);
      }
      ASSERT_EQ(stalls_seen.seen, stalled);
      decltype(changes_seen.seen) changes;
      if (step >= 8'000 && step < 12'000 && before != state) {
        changes.emplace_back(group.id, before, state);
      }
      ASSERT_EQ(changes_seen.seen, changes);
      if (step % 97 == 0) {
        expect_as_states_say(groups, complex_stalls);
      }
      if (by_pc) {
        unsigned ready = 0;
        for (std::uint32_t pc = 0; pc != 16; ++pc) {
          groups.ready_by_pc().each_at(pc, [&](GroupId, unsigned) { return ++ready != 0; });
        }
        ASSERT_EQ(ready, groups.count(GroupState::ready));
      }
    }
  }
}

TEST(Group, KnowsWhichOfItsInstructionsAreUnderWay) {
  Group group;
  group.flights.assign(Group::kFlights, InFlight{});
  const unsigned last = Group::kFlights - 1;
  EXPECT_TRUE(group.all_completed());
  group.sub_warp_formed(last);
  group.sub_warp_formed(2);
  group.sub_warp_formed(2);
  EXPECT_EQ(group.under_way, std::uint32_t{1} << last | 1U << 2);
  group.sub_warp_completed(2);
  EXPECT_EQ(group.under_way, std::uint32_t{1} << last | 1U << 2) << "its second sub-warp";
  group.sub_warp_completed(last);
  EXPECT_FALSE(group.all_completed());
  group.sub_warp_completed(2);
  EXPECT_TRUE(group.all_completed());
  EXPECT_EQ(group.flights[2].completed, 2U);
}

TEST(Group, TakesRecordsOfInstructionsInTurnOrTheFirstThatIsFree) {
  const auto fetch = [](Group& group) {
    group.next_flight();
    group.sub_warp_formed(group.latest);
    group.flight().all_formed = true;
    return group.latest;
  };
  for (const bool any : {false, true}) {
    Group group;
    group.flights.assign(4, InFlight{});
    group.takes_any_record = any;
    const unsigned load = fetch(group);
    const std::uint64_t number = group.flight().number;
    for (unsigned i = 1; i != 8; ++i) {
      if (!any && i == 4) {
        EXPECT_FALSE(group.has_free_flight()) << "the load's record is the next one";
        break;
      }
      ASSERT_TRUE(group.has_free_flight());
      const unsigned other = fetch(group);
      EXPECT_NE(other, load);
      EXPECT_EQ(group.flight().number, number + i);
      group.sub_warp_completed(other);
    }
    EXPECT_FALSE(group.all_completed());
    if (any) {
      const unsigned second = fetch(group);
      fetch(group);
      EXPECT_TRUE(group.has_free_flight());
      fetch(group);
      EXPECT_FALSE(group.has_free_flight()) << "four are under way";
      group.sub_warp_completed(second);
      EXPECT_TRUE(group.has_free_flight());
      EXPECT_EQ(fetch(group), second);
    }
  }
}

}  // namespace
}  // namespace heddle::hw::test
