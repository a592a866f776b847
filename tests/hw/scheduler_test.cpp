// The warp schedulers alone: who is fetched next, from the states of the warps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "hw/schedule/least_progress.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/schedule/two_level.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;

class Scheduler : public ::testing::Test {
 protected:
  void build(const char* name, unsigned warps) {
    groups_ = std::make_unique<GroupTable>(warps, 1);
    scheduler_ = Registry<WarpScheduler>::instance().make(name, {*groups_, core_});
    groups_->observe(scheduler_.get());
    for (GroupId id = 0; id < warps; ++id) {
      started(id, id);
    }
  }
  // It started as the `age`-th; it is ready.
  void started(GroupId id, std::uint64_t age) {
    state(id, GroupState::free);
    (*groups_)[id].age = age;
    state(id, GroupState::ready);
  }
  void state(GroupId id, GroupState state) { groups_->set_state((*groups_)[id], state); }
  void all(std::initializer_list<GroupId> ids, GroupState to) {
    for (const GroupId id : ids) {
      state(id, to);
    }
  }
  // Fetches `count` times; a fetched warp is in flight, and back after the others have been fetched.
  std::vector<int> fetch(unsigned count, bool back = true) {
    std::vector<int> picked;
    for (unsigned i = 0; i < count; ++i) {
      const MaybeGroup id = scheduler_->pick(now_++);
      picked.push_back(id ? static_cast<int>(*id) : -1);
      if (id && !back) {
        state(*id, GroupState::in_flight);
      }
    }
    return picked;
  }

  CoreParameters core_;
  std::unique_ptr<GroupTable> groups_;
  std::unique_ptr<WarpScheduler> scheduler_;
  Cycle now_ = 0;
};

TEST_F(Scheduler, OldestFirst) {
  build("oldest", 4);
  started(2, 0);
  started(0, 9);
  EXPECT_THAT(fetch(5, false), ElementsAre(2, 1, 3, 0, -1));
}

TEST_F(Scheduler, GreedyKeepsToOneWarpUntilItStalls) {
  build("gto", 3);
  EXPECT_THAT(fetch(2), ElementsAre(0, 0));
  state(0, GroupState::in_flight);
  EXPECT_THAT(fetch(1), ElementsAre(1)) << "the pipeline cycles of warp 0 are filled";
  state(0, GroupState::ready);
  EXPECT_THAT(fetch(2), ElementsAre(0, 0)) << "and it goes on";
  state(0, GroupState::memory);
  EXPECT_THAT(fetch(2), ElementsAre(1, 1));
  state(0, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(1)) << "greedy comes before oldest";
  state(1, GroupState::free);
  EXPECT_THAT(fetch(1), ElementsAre(0));
}

TEST_F(Scheduler, SwitchOnAccessLeavesAWarpWhenItAccessesTheCache) {
  build("switch-on-access", 3);
  EXPECT_THAT(fetch(2), ElementsAre(0, 0));
  state(0, GroupState::in_flight);
  EXPECT_THAT(fetch(1), ElementsAre(1)) << "the pipeline cycles of warp 0 are filled";
  state(0, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(0)) << "and it goes on";
  groups_->accessed((*groups_)[1]);
  EXPECT_THAT(fetch(1), ElementsAre(0)) << "what others do is no matter";
  groups_->accessed((*groups_)[0]);
  EXPECT_THAT(fetch(2), ElementsAre(1, 1)) << "hit or miss";
  groups_->accessed((*groups_)[1]);
  EXPECT_THAT(fetch(2), ElementsAre(2, 2)) << "in turn";
  state(2, GroupState::barrier);
  EXPECT_THAT(fetch(2), ElementsAre(0, 0)) << "a stall ends its turn too";
  groups_->accessed((*groups_)[0]);
  all({1, 2}, GroupState::memory);
  EXPECT_THAT(fetch(2), ElementsAre(0, 0)) << "nobody else is ready";
}

TEST_F(Scheduler, StickyKeepsToABlock) {
  build("sticky", 6);
  for (GroupId id = 0; id < 6; ++id) {
    (*groups_)[id].block_slot = id % 2;
    started(id, id);
  }
  EXPECT_THAT(fetch(4), ElementsAre(0, 2, 4, 0)) << "block 0 in turn";
  all({0, 2, 4}, GroupState::parked);
  EXPECT_THAT(fetch(4), ElementsAre(1, 3, 5, 1));
  state(2, GroupState::ready);
  EXPECT_THAT(fetch(2), ElementsAre(3, 5)) << "block 1 still has ready warps";
  all({1, 3, 5}, GroupState::parked);
  EXPECT_THAT(fetch(1), ElementsAre(2));
}

TEST_F(Scheduler, StickyKeepsToAPartOfABlock) {
  build("sticky", 4);
  for (GroupId id = 0; id < 4; ++id) {
    (*groups_)[id].part = id % 2;
    started(id, id);
  }
  EXPECT_THAT(fetch(3), ElementsAre(0, 2, 0));
  all({0, 2}, GroupState::parked);
  EXPECT_THAT(fetch(3), ElementsAre(1, 3, 1));
}

TEST_F(Scheduler, MajorityTakesThePcOfMostThreads) {
  build("majority", 4);
  const std::uint32_t pcs[] = {5, 9, 9, 7};
  const LaneMask masks[] = {0xff, 0x3f, 0x0f, 0xff};
  for (GroupId id = 0; id < 4; ++id) {
    (*groups_)[id].pc = pcs[id];
    (*groups_)[id].active[0] = masks[id];
    state(id, GroupState::ready);  // it stands there before it may be fetched
  }
  // PC 9 has ten threads; then 5 and 7 have eight each and the lower goes first.
  EXPECT_THAT(fetch(5, false), ElementsAre(1, 2, 0, 3, -1));
}

// Among more warps than a word of the sets has bits, against a count of its own.
TEST_F(Scheduler, MajorityOfManyWarps) {
  constexpr GroupId kWarps = 200;
  build("majority", kWarps);
  std::mt19937 random(5);
  const auto comes = [&](GroupId id) {
    (*groups_)[id].pc = random() % 7;
    (*groups_)[id].active[0] = static_cast<LaneMask>(random());
    started(id, random());
  };
  for (GroupId id = 0; id < kWarps; ++id) {
    comes(id);
  }
  std::uint32_t majority = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    std::map<std::uint32_t, unsigned> threads;
    std::map<std::uint32_t, std::pair<std::uint64_t, int>> oldest;  // by PC
    for (const Group& group : groups_->all()) {
      if (group.state == GroupState::ready) {
        threads[group.pc] += static_cast<unsigned>(std::popcount(group.active[0]));
        const std::pair<std::uint64_t, int> one{group.age, static_cast<int>(group.id)};
        const auto [at, first] = oldest.try_emplace(group.pc, one);
        at->second = first ? one : std::min(at->second, one);
      }
    }
    if (oldest.count(majority) == 0 && !threads.empty()) {
      majority = std::max_element(threads.begin(), threads.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->first;
    }
    const int expected = threads.empty() ? -1 : oldest.at(majority).second;
    ASSERT_THAT(fetch(1, false), ElementsAre(expected)) << round;
    if (round % 3 != 0) {
      const GroupId id = random() % kWarps;
      if ((*groups_)[id].state != GroupState::ready) {
        comes(id);
      }
    }
  }
}

TEST_F(Scheduler, PostDominatorPriorityTakesWhoIsBehind) {
  build("pdom-priority", 3);
  (*groups_)[0].merge_points = 4;
  (*groups_)[1].merge_points = 2;
  (*groups_)[2].merge_points = 2;
  started(2, 0);
  started(0, 7);
  EXPECT_THAT(fetch(4, false), ElementsAre(2, 1, 0, -1));
}

TEST_F(Scheduler, LeastProgressTakesWhoIsBehindAndEqualsInTurn) {
  build("least-progress", 4);
  EXPECT_THAT(fetch(5), ElementsAre(0, 1, 2, 3, 0)) << "round robin without progress()";
  (*groups_)[0].progress = (*groups_)[3].progress = 3;
  (*groups_)[1].progress = (*groups_)[2].progress = 2;
  EXPECT_THAT(fetch(3), ElementsAre(1, 2, 1));
  state(1, GroupState::memory);
  EXPECT_THAT(fetch(2), ElementsAre(2, 2));
  state(2, GroupState::memory);
  EXPECT_THAT(fetch(3), ElementsAre(3, 0, 3));
  (*groups_)[1].progress = 9;
  all({0, 3}, GroupState::memory);
  state(1, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(1)) << "the only one";
  all({0, 1, 2, 3}, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(-1));
}

TEST_F(Scheduler, ProgressCanCountFromTheLatestBarrier) {
  core_.policies.of<LeastProgressParameters>().since = "barrier";
  core_.policies.of<TwoLevelParameters>().outer_scheduler = "least-progress";
  core_.policies.of<TwoLevelParameters>().fetch_group = 1;
  for (const char* const name : {"least-progress", "two-level"}) {
    SCOPED_TRACE(name);
    build(name, 3);
    (*groups_)[0].progress = 10;  // 3 since its barrier
    (*groups_)[0].progress_before = 7;
    (*groups_)[1].progress = 4;
    (*groups_)[2].progress = 12;  // 1
    (*groups_)[2].progress_before = 11;
    state(0, GroupState::memory);
    EXPECT_THAT(fetch(1), ElementsAre(2));
    state(2, GroupState::memory);
    state(0, GroupState::ready);
    state(1, GroupState::memory);
    EXPECT_THAT(fetch(1), ElementsAre(0));
  }
}

// ---- two levels

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
}  // namespace heddle::hw
