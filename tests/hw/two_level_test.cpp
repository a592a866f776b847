// Two-level scheduling alone: which fetch group is first, and which of its warps is fetched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

#include "hw/schedule/scheduler.hpp"
#include "hw/schedule/two_level.hpp"
#include "tests/hw/scheduler_bench.hpp"

namespace heddle::hw::test {
namespace {

using ::testing::ElementsAre;

TEST_F(Scheduler, StalledRuleRotatesOnlyWhenTheWholeFetchGroupStalls) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 2;
  build("two-level", 6);
  EXPECT_THAT(fetch(3), ElementsAre(0, 1, 0));
  state(0, GroupState::memory);
  EXPECT_THAT(fetch(2), ElementsAre(1, 1));
  state(1, GroupState::in_flight);
  EXPECT_THAT(fetch(2), ElementsAre(2, 3)) << "warp 1 is merely in flight: group 0 stays first, others fill in";
  state(1, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(1));
  state(1, GroupState::memory);  // now the whole of group 0
  state(0, GroupState::ready);
  state(1, GroupState::ready);
  EXPECT_THAT(fetch(2), ElementsAre(2, 3)) << "group 1 is first now, although group 0 is ready again";
  all({2, 3}, GroupState::in_flight);
  EXPECT_THAT(fetch(2), ElementsAre(4, 5)) << "priorities rotate: 1, 2, 0";
  all({4, 5}, GroupState::in_flight);
  EXPECT_THAT(fetch(2), ElementsAre(0, 1)) << "round robin inside goes on behind warp 1";
}

TEST_F(Scheduler, AFinishedWarpDoesNotKeepItsFetchGroupFirst) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 2;
  build("two-level", 4);
  state(0, GroupState::memory);
  state(1, GroupState::free);
  EXPECT_THAT(fetch(1), ElementsAre(2));
  state(0, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(3)) << "group 1 is first";
}

TEST_F(Scheduler, FetchGroupsWithoutWarpsHaveNoTurn) {
  for (const char* const outer : {"round-robin", "oldest"}) {
    core_.policies.of<TwoLevelParameters>().fetch_group = 1;
    core_.policies.of<TwoLevelParameters>().outer_scheduler = outer;
    build("two-level", 4);
    all({2, 3}, GroupState::free);  // half of the core is empty
    state(0, GroupState::memory);
    state(1, GroupState::memory);
    all({0, 1}, GroupState::ready);
    EXPECT_THAT(fetch(1), ElementsAre(0)) << outer;
    state(0, GroupState::memory);
    state(0, GroupState::ready);
    EXPECT_THAT(fetch(1), ElementsAre(1)) << outer << ": the priorities still rotate";
    state(1, GroupState::memory);
    state(1, GroupState::ready);
    EXPECT_THAT(fetch(1), ElementsAre(0)) << outer;
  }
}

TEST_F(Scheduler, ABlockThatComesToAnEmptyCoreFindsPrioritiesThatRotate) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 1;
  build("two-level", 3);
  for (const GroupId id : {0, 1, 2}) {
    state(id, GroupState::free);
  }
  all({0, 1}, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(0));
  state(0, GroupState::memory);
  state(0, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(1));
}

TEST_F(Scheduler, CurrentRuleSwitchesAsSoonAsNobodyCanBeFetched) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 2;
  core_.policies.of<TwoLevelParameters>().fetch_group_rule = "current";
  build("two-level", 6);
  EXPECT_THAT(fetch(2), ElementsAre(0, 1));
  all({0, 1}, GroupState::in_flight);  // too small a fetch group (report 3.2.1)
  EXPECT_THAT(fetch(1), ElementsAre(2));
  all({0, 1}, GroupState::ready);
  EXPECT_THAT(fetch(2), ElementsAre(3, 2)) << "group 1 is the current one";
  all({2, 3, 4, 5}, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(0)) << "the next one with a ready warp";
}

TEST_F(Scheduler, ExclusiveRuleWaitsForWarpsInThePipelineAndSwitchesOnceAllAreStalled) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 2;
  core_.policies.of<TwoLevelParameters>().fetch_group_rule = "exclusive";
  build("two-level", 6);
  EXPECT_THAT(fetch(2), ElementsAre(0, 1));
  all({0, 1}, GroupState::in_flight);
  EXPECT_THAT(fetch(1), ElementsAre(-1)) << "not actually stalled (report 3.2.1)";
  state(0, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(-1)) << "one of them is not";
  state(1, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(2));
  state(0, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(3)) << "group 1 is the current one";
  all({2, 3, 4}, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(5)) << "the next in turn";
  all({1, 4, 5}, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(0)) << "the one that is not all stalled";
  all({0, 1, 2, 3, 4, 5}, GroupState::memory);
  state(4, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(4)) << "nobody had a warp when the turn ended";
}

TEST_F(Scheduler, TheFixedOrderComesBackToTheLowestNumber) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 2;
  core_.policies.of<TwoLevelParameters>().outer_scheduler = "fixed";
  build("two-level", 6);
  EXPECT_THAT(fetch(3), ElementsAre(0, 1, 0));
  all({0, 1}, GroupState::memory);
  EXPECT_THAT(fetch(2), ElementsAre(2, 3));
  all({2, 3}, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(4));
  state(3, GroupState::ready);
  EXPECT_THAT(fetch(2), ElementsAre(3, 3)) << "group 1 before group 2, whose turn is not over";
  state(1, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(1));
  state(1, GroupState::in_flight);
  EXPECT_THAT(fetch(1), ElementsAre(3)) << "group 0 is in the pipeline: others fill in";
  all({0, 1, 2, 3}, GroupState::free);
  EXPECT_THAT(fetch(2), ElementsAre(5, 4));
}

TEST_F(Scheduler, TheFetchGroupWithTheLeastProgressFollows) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 2;
  core_.policies.of<TwoLevelParameters>().outer_scheduler = "least-progress";
  build("two-level", 6);
  const unsigned made[] = {0, 0, 5, 3, 4, 9};
  for (GroupId id = 0; id < 6; ++id) {
    (*groups_)[id].progress = made[id];
  }
  all({0, 1}, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(2)) << "group 1 has warp 3";
  all({0, 1}, GroupState::ready);
  (*groups_)[0].progress = (*groups_)[1].progress = 7;
  all({3, 2}, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(4)) << "warp 3 is stalled: group 2 has warp 4";
  all({4, 5}, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(0));
  all({0, 1}, GroupState::memory);
  state(5, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(5));
}

TEST_F(Scheduler, TheTimeoutSwitchesAFetchGroup) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 1;
  core_.policies.of<TwoLevelParameters>().fetch_group_timeout = 3;
  build("two-level", 2);
  EXPECT_THAT(fetch(7), ElementsAre(0, 0, 0, 1, 1, 1, 0));
}

TEST_F(Scheduler, OneFetchGroupIsRoundRobin) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 5;
  build("two-level", 5);
  const std::vector<int> two_level = fetch(8, false);
  all({1, 4}, GroupState::ready);
  const std::vector<int> later = fetch(3, false);
  build("round-robin", 5);
  EXPECT_EQ(two_level, fetch(8, false));
  all({1, 4}, GroupState::ready);
  EXPECT_EQ(later, fetch(3, false));
}

TEST_F(Scheduler, GreedyAndOldestInside) {
  core_.policies.of<TwoLevelParameters>().fetch_group = 2;
  core_.policies.of<TwoLevelParameters>().inner_scheduler = "gto";
  build("two-level", 4);
  EXPECT_THAT(fetch(2), ElementsAre(0, 0));
  core_.policies.of<TwoLevelParameters>().inner_scheduler = "oldest";
  build("two-level", 4);
  started(0, 9);
  EXPECT_THAT(fetch(2), ElementsAre(1, 1));
}

// Random warps at random PCs and in random blocks, which stall and come back at random: one fetch group of all of them
// is its inner scheduler, and with several, each inner scheduler fetches from its own only.
TEST_F(Scheduler, AnySchedulerGoesInside) {
  constexpr unsigned kWarps = 70;  // more than a word of the sets
  const auto play = [&](const char* name) {
    build(name, kWarps);
    std::mt19937 random(1);
    std::vector<int> fetched;
    for (unsigned i = 0; i < 3000; ++i) {
      const auto id = static_cast<GroupId>(random() % kWarps);
      Group& group = (*groups_)[id];
      group.pc = random() % 4;
      group.merge_points = random() % 4;
      group.active[0] = 0xff;
      group.block_slot = id / 16;
      state(id, std::array{GroupState::ready, GroupState::memory, GroupState::in_flight}[random() % 3]);
      fetched.push_back(fetch(1, false).front());
    }
    return fetched;
  };
  for (const auto& [name, entry] : Registry<WarpScheduler>::instance().entries()) {
    if (!entry.about.traits.within_fetch_groups) {
      continue;
    }
    SCOPED_TRACE(name);
    core_.policies.of<TwoLevelParameters>().inner_scheduler = name;
    core_.policies.of<TwoLevelParameters>().fetch_group = kWarps;
    EXPECT_EQ(play("two-level"), play(name.c_str()));
    core_.policies.of<TwoLevelParameters>().fetch_group = 9;
    const std::vector<int> fetched = play("two-level");
    EXPECT_GT(std::count_if(fetched.begin(), fetched.end(), [](int id) { return id >= 0; }), 500);

    groups_ = std::make_unique<GroupTable>(kWarps, 1);
    scheduler_ = Registry<WarpScheduler>::instance().make(name, {*groups_, core_, 60, 66});
    for (GroupId id = 0; id < kWarps; ++id) {
      (*groups_)[id].active[0] = 0xff;
      state(id, GroupState::ready);
    }
    std::vector<int> mine = fetch(6, false);
    std::sort(mine.begin(), mine.end());
    EXPECT_THAT(mine, ElementsAre(60, 61, 62, 63, 64, 65));
    EXPECT_THAT(fetch(1), ElementsAre(-1));
  }
}

// Figure 4.6: sixteen warps compute and then wait for memory. Round robin: all of them compute, then all of them wait.
// Two fetch groups of eight: group 1 computes while group 0 waits.
struct Finish {
  std::vector<int> order;  // who was fetched, -1: an idle cycle
  unsigned idle() const { return static_cast<unsigned>(std::count(order.begin(), order.end(), -1)); }
};

TEST_F(Scheduler, TwoFetchGroupsOverlapAsInFigure46) {
  constexpr unsigned kCompute = 10;
  constexpr unsigned kLatency = 60;
  const auto run = [&](const char* name) {
    build(name, 16);
    std::vector<unsigned> left(16, 2 * kCompute);  // two compute phases with a memory request between them
    std::vector<Cycle> back(16, 0);
    Finish finish;
    unsigned live = 16;
    for (Cycle now = 0; live != 0; ++now) {
      for (GroupId id = 0; id < 16; ++id) {
        if ((*groups_)[id].state == GroupState::memory && back[id] == now) {
          state(id, GroupState::ready);
        }
      }
      const MaybeGroup id = groups_->any_ready() ? scheduler_->pick(now) : std::nullopt;
      finish.order.push_back(id ? static_cast<int>(*id) : -1);
      if (id && --left[*id] == 0) {
        state(*id, GroupState::free);
        --live;
      } else if (id && left[*id] == kCompute) {
        back[*id] = now + kLatency;
        state(*id, GroupState::memory);
      }
    }
    return finish;
  };
  const Finish plain = run("round-robin");
  core_.policies.of<TwoLevelParameters>().fetch_group = 8;
  const Finish two_level = run("two-level");
  const auto in_group_0 = [](int id) { return id >= 0 && id < 8; };
  EXPECT_TRUE(std::all_of(two_level.order.begin(), two_level.order.begin() + 8 * kCompute, in_group_0))
      << "group 0 computes alone";
  EXPECT_TRUE(std::none_of(two_level.order.begin() + 8 * kCompute, two_level.order.begin() + 16 * kCompute, in_group_0))
      << "group 1 computes while group 0 waits";
  EXPECT_EQ(two_level.idle(), 0U) << "the latency is hidden";
  EXPECT_EQ(plain.idle(), kLatency - 15 - 1) << "all warps wait together";
}

// Fetch groups cover as many threads as on the machine's own warps, at least one warp.
TEST(FetchGroups, CountThreadsWhereALaunchHasItsOwnWarpSize) {
  const auto groups = [](unsigned machine_warp_size, unsigned warp_size, unsigned size) {
    GroupTable table(1024 / warp_size, 1);
    CoreParameters core;
    core.warp_size = warp_size;
    core.policies.of<TwoLevelParameters>().fetch_group = size;
    return Registry<WarpScheduler>::instance()
        .make("two-level", {table, core, 0, std::numeric_limits<unsigned>::max(), machine_warp_size})
        ->fetch_groups();
  };
  EXPECT_EQ(groups(32, 32, 8), 4U);
  EXPECT_EQ(groups(32, 128, 8), 4U) << "2 warps of 128";
  EXPECT_EQ(groups(128, 32, 2), 4U) << "8 warps of 32";
  EXPECT_EQ(groups(32, 256, 2), 4U) << "at least one warp";
}

}  // namespace
}  // namespace heddle::hw::test
