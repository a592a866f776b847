// The warp schedulers alone: who is fetched next, from the states of the warps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "hw/schedule/dynamic_warps.hpp"
#include "hw/schedule/least_progress.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/schedule/two_level.hpp"
#include "tests/hw/scheduler_bench.hpp"

namespace heddle::hw::test {
namespace {

using ::testing::ElementsAre;

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

TEST_F(Scheduler, GreedyThenYoungestKeepsToAWarpWhileItIsReady) {
  build("gty", 3);
  started(0, 5);
  started(1, 6);
  started(2, 7);
  EXPECT_THAT(fetch(2), ElementsAre(0, 0));
  state(0, GroupState::in_flight);
  EXPECT_THAT(fetch(2), ElementsAre(2, 2)) << "the youngest";
  state(0, GroupState::ready);
  EXPECT_THAT(fetch(1), ElementsAre(2)) << "and it stays with that";
  state(2, GroupState::memory);
  EXPECT_THAT(fetch(1), ElementsAre(1));
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

TEST_F(Scheduler, MajorityMayCountWarps) {
  core_.policies.of<MajorityParameters>().counts = "warps";
  build("majority", 5);
  const std::uint32_t pcs[] = {5, 9, 5, 7, 7};
  const LaneMask masks[] = {0x1, ~LaneMask{0}, 0x2, 0x3, 0x4};
  for (GroupId id = 0; id < 5; ++id) {
    (*groups_)[id].pc = pcs[id];
    (*groups_)[id].active[0] = masks[id];
    state(id, GroupState::ready);
  }
  // Two warps stand at PC 5 and at PC 7, of which the lower goes first; all threads of PC 9 are one warp's.
  EXPECT_THAT(fetch(6, false), ElementsAre(0, 2, 3, 4, 1, -1));
}

TEST_F(Scheduler, LowestPcTakesTheOldestOfWhoIsBehind) {
  build("lowest-pc", 4);
  const std::uint32_t pcs[] = {5, 3, 9, 3};
  for (GroupId id = 0; id < 4; ++id) {
    (*groups_)[id].pc = pcs[id];
    (*groups_)[id].active[0] = 1;
    started(id, 10 - id);
  }
  EXPECT_THAT(fetch(5, false), ElementsAre(3, 1, 0, 2, -1));
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

}  // namespace
}  // namespace heddle::hw::test
