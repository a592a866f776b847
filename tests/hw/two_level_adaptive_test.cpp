// Adaptive two-level scheduling alone: which candidate schedules when, from what is said to have retired.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/schedule/two_level_adaptive.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;

// Two fetch groups of four warps or four of two; settles for 10 cycles, tries for 20, runs for 100.
class Adaptive : public ::testing::Test {
 protected:
  Adaptive() {
    own().fetch_groups = "4, 2";
    own().inner_schedulers = "round-robin";
    own().outer_schedulers = "round-robin";
    own().settle = 10;
    own().sample = 20;
    own().run = 100;
  }
  AdaptiveTwoLevelParameters& own() { return core_.policies.of<AdaptiveTwoLevelParameters>(); }
  void build() {
    scheduler_ = Registry<WarpScheduler>::instance().make(
        "two-level-adaptive", {groups_, core_, 0, std::numeric_limits<unsigned>::max(), 0, &statistics_});
    groups_.observe(scheduler_.get());
    for (GroupId id = 0; id < 8; ++id) {
      groups_.set_state(groups_[id], GroupState::ready);
    }
  }
  // Lets cycles pass, in each of which as many instructions retire as rates[candidate] says; the candidate of each.
  std::string pass(Cycle cycles) {
    std::string candidates;
    for (Cycle cycle = 0; cycle < cycles; ++cycle) {
      static_cast<void>(scheduler_->pick(now_++));
      candidates += static_cast<char>('0' + scheduler_->candidate());
      statistics_.thread_instructions += rates_.at(scheduler_->candidate());
    }
    return candidates;
  }
  static std::string times(unsigned count, char what) { return std::string(count, what); }

  CoreParameters core_;
  GroupTable groups_{8, 1};
  CoreStatistics statistics_;
  std::unique_ptr<WarpScheduler> scheduler_;
  std::vector<unsigned> rates_ = {16, 32};
  Cycle now_ = 0;
};

TEST_F(Adaptive, TriesEachAndKeepsToTheBest) {
  build();
  scheduler_->launch_begins(0x1000, 0);
  EXPECT_EQ(pass(60), times(30, '0') + times(30, '1'));
  EXPECT_EQ(pass(100), times(100, '1'));
  EXPECT_EQ(scheduler_->candidates(), 2U);
  EXPECT_EQ(scheduler_->fetch_groups(), 4U) << "of the smaller size";
  rates_ = {33, 32};
  EXPECT_EQ(pass(160), times(30, '0') + times(130, '1').substr(0, 30) + times(100, '0')) << "another phase";
  rates_ = {8, 8};
  EXPECT_EQ(pass(160), times(30, '0') + times(30, '1') + times(100, '0')) << "of equals the first";
  EXPECT_EQ(statistics_.two_level_samples, 6U);
  scheduler_->launch_ends(now_);
  EXPECT_THAT(statistics_.two_level_candidates, ElementsAre(30 + 130 + 130, 130 + 30 + 30));
}

// What happens while a candidate settles does not count.
TEST_F(Adaptive, MeasuresBehindTheSettling) {
  build();
  scheduler_->launch_begins(0x1000, 0);
  rates_ = {1000, 1};
  pass(10);
  rates_ = {1, 1000};
  pass(20);
  rates_ = {1, 2};
  EXPECT_EQ(pass(31).back(), '1');
}

// A core whose warps all wait asks for none: a late fetch ends the interval, which counts per cycle that has passed.
TEST_F(Adaptive, RatesArePerCycleThatHasPassed) {
  build();
  scheduler_->launch_begins(0x1000, 0);
  pass(29);
  now_ = 529;  // 20 x 16 - 16 instructions in 519 cycles, of which the settling's are not
  EXPECT_EQ(pass(30), times(30, '1'));
  rates_ = {16, 1};
  EXPECT_EQ(pass(1), "1") << "304 in 519 cycles are fewer than 32 in each";
}

TEST_F(Adaptive, RemembersAKernelFromLaunchToLaunch) {
  own().kernels = 2;
  build();
  const auto launch = [&](std::uint64_t kernel, Cycle cycles) {
    scheduler_->launch_begins(kernel, now_);
    const std::string candidates = pass(cycles);
    scheduler_->launch_ends(now_);
    return candidates;
  };
  EXPECT_EQ(launch(1, 45), times(30, '0') + times(15, '1'));
  EXPECT_EQ(launch(2, 60), times(30, '0') + times(30, '1')) << "another kernel learns from the beginning";
  EXPECT_EQ(launch(1, 40), times(40, '1')) << "15 of trying are left, then 25 of running";
  rates_ = {16, 1};
  EXPECT_EQ(launch(2, 5), times(5, '1'));
  EXPECT_EQ(launch(1, 80), times(75, '1') + times(5, '0')) << "75 of running are left";
  EXPECT_EQ(launch(3, 31), times(30, '0') + "1") << "takes the place of the kernel that came first";
  EXPECT_EQ(launch(2, 5), times(5, '1'));
  EXPECT_EQ(launch(1, 30), times(30, '0')) << "which has to learn again";
}

TEST_F(Adaptive, EachLaunchLearnsAnewWhereNoKernelIsRemembered) {
  own().kernels = 0;
  build();
  scheduler_->launch_begins(1, 0);
  EXPECT_EQ(pass(61).back(), '1');
  scheduler_->launch_ends(now_);
  scheduler_->launch_begins(1, now_);
  EXPECT_EQ(pass(31), times(30, '0') + "1");
}

// The candidate that takes over begins where the one before has fetched.
TEST_F(Adaptive, TheFetchGroupOfTheLatestWarpComesFirst) {
  own().settle = 0;
  own().sample = 1;
  build();
  scheduler_->launch_begins(1, 0);
  for (const GroupId id : {0U, 1U, 2U, 3U}) {
    groups_.set_state(groups_[id], GroupState::memory);
  }
  EXPECT_EQ(scheduler_->pick(0), 4U);
  EXPECT_EQ(scheduler_->first_fetch_group(), 1U) << "of two";
  EXPECT_EQ(scheduler_->pick(1), 4U);
  EXPECT_EQ(scheduler_->candidate(), 1U);
  EXPECT_EQ(scheduler_->first_fetch_group(), 2U) << "of four: that of warp 4";
}

TEST_F(Adaptive, OneCandidateIsTheTwoLevelSchedulerItself) {
  own().fetch_groups = "2";
  core_.policies.of<TwoLevelParameters>().fetch_group = 2;
  build();
  GroupTable others(8, 1);
  const auto plain = Registry<WarpScheduler>::instance().make("two-level", {others, core_});
  others.observe(plain.get());
  for (GroupId id = 0; id < 8; ++id) {
    others.set_state(others[id], GroupState::ready);
  }
  unsigned dice = 1;
  for (Cycle cycle = 0; cycle < 5000; ++cycle) {
    dice = dice * 1664525 + 1013904223;
    const GroupId id = dice >> 29;
    const GroupState state = (dice >> 20) % 2 == 0 ? GroupState::ready : GroupState::memory;
    groups_.set_state(groups_[id], state);
    others.set_state(others[id], state);
    ASSERT_EQ(scheduler_->pick(cycle), plain->pick(cycle)) << cycle;
  }
  EXPECT_EQ(statistics_.two_level_samples, 0U);
}

TEST(AdaptiveParameters, MakeEverySizeWithEveryPair) {
  AdaptiveTwoLevelParameters own;
  own.fetch_groups = "8,16";
  own.inner_schedulers = " gto , round-robin";
  own.outer_schedulers = "oldest,fixed";
  std::vector<std::string> all;
  for (const FetchGroupPolicies& one : own.candidates()) {
    all.push_back(std::to_string(one.fetch_group) + " " + one.inner + " " + one.outer);
  }
  EXPECT_THAT(all, ElementsAre("8 gto oldest", "8 gto fixed", "8 round-robin oldest", "8 round-robin fixed",
                               "16 gto oldest", "16 gto fixed", "16 round-robin oldest", "16 round-robin fixed"));
}

struct WrongLists {
  const char* sizes;
  const char* inner;
  const char* outer;
  const char* key;
  const char* message;
};

TEST(AdaptiveParameters, ContradictionsSayWhatIsWrong) {
  for (const WrongLists& wrong : {
           WrongLists{"8,,16", "gto", "oldest", "two_level_adaptive.fetch_groups",
                      "two_level_adaptive.fetch_groups has ''; give sizes from 1 to 4096 warps with commas between"},
           WrongLists{
               "8,0x10", "gto", "oldest", "two_level_adaptive.fetch_groups",
               "two_level_adaptive.fetch_groups has '0x10'; give sizes from 1 to 4096 warps with commas between"},
           WrongLists{
               "8,4097", "gto", "oldest", "two_level_adaptive.fetch_groups",
               "two_level_adaptive.fetch_groups has '4097'; give sizes from 1 to 4096 warps with commas between"},
           WrongLists{"8,08", "gto", "oldest", "two_level_adaptive.fetch_groups",
                      "two_level_adaptive.fetch_groups has 8 twice"},
           WrongLists{"8", "gto,gto", "oldest", "two_level_adaptive.inner_schedulers",
                      "two_level_adaptive.inner_schedulers has 'gto' twice; name it once"},
           WrongLists{"8", "gtoo", "oldest", "two_level_adaptive.inner_schedulers",
                      "two_level_adaptive.inner_schedulers has 'gtoo'; did you mean 'gto'?"},
           WrongLists{"8", "two-level", "oldest", "two_level_adaptive.inner_schedulers",
                      "two_level_adaptive.inner_schedulers has 'two-level'; give names with commas between; known: "
                      "gto, gty, least-progress, lowest-pc, majority, "
                      "oldest, pdom-priority, round-robin, sticky"},
           WrongLists{"8", "gto", "", "two_level_adaptive.outer_schedulers",
                      "two_level_adaptive.outer_schedulers has ''; give names with commas between; known: fixed, "
                      "least-progress, oldest, round-robin"},
           WrongLists{"1,2,3,4,5,6,7,8,9", "gto,oldest,sticky,round-robin", "oldest,fixed",
                      "two_level_adaptive.fetch_groups",
                      "two_level_adaptive.fetch_groups, two_level_adaptive.inner_schedulers and "
                      "two_level_adaptive.outer_schedulers make 72 candidates; 64 are the most"},
           WrongLists{"8", "majority", "oldest", "two_level_adaptive.inner_schedulers",
                      "two_level_adaptive.inner_schedulers = \"majority\" chooses between dynamic warps by the PCs "
                      "at which they stand; it needs core.divergence = \"dwf\" or \"dws-dwf\" or \"odgs\""},
       }) {
    Machine machine;
    machine.core.scheduler = "two-level-adaptive";
    auto& own = machine.core.policies.of<AdaptiveTwoLevelParameters>();
    own.fetch_groups = wrong.sizes;
    own.inner_schedulers = wrong.inner;
    own.outer_schedulers = wrong.outer;
    const std::vector<Contradiction> found = check(machine);
    ASSERT_EQ(found.size(), 1U) << wrong.message;
    EXPECT_EQ(found.front().key, wrong.key);
    EXPECT_EQ(found.front().message, wrong.message);
  }
}

// The lists choose sections, and say so with file and key when they are wrong.
TEST(AdaptiveParameters, ListsNameWhoseParametersCount) {
  Machine machine;
  std::vector<ParameterReference> all = parameters_of(machine);
  const auto set = [&](const std::string& path, const std::string& value) {
    for (const ParameterReference& parameter : all) {
      if (parameter.path() == path) {
        assign(parameter, value, {"m.toml", 3, 5});
      }
    }
  };
  const auto idle = [&](const std::string& key) {
    const std::vector<WithoutEffect> found = without_effect(machine);
    return std::any_of(found.begin(), found.end(), [&](const WithoutEffect& one) {
      return std::find(one.keys.begin(), one.keys.end(), key) != one.keys.end();
    });
  };
  set("core.scheduler", "two-level-adaptive");
  EXPECT_TRUE(idle("least_progress.since"));
  EXPECT_FALSE(idle("two_level.fetch_group_rule")) << "all candidates have it";
  EXPECT_TRUE(idle("two_level.fetch_group"));
  EXPECT_FALSE(idle("two_level_adaptive.sample"));
  set("two_level_adaptive.outer_schedulers", "oldest, least-progress");
  EXPECT_FALSE(idle("least_progress.since"));
  set("core.scheduler", "gto");
  EXPECT_TRUE(idle("least_progress.since"));
  EXPECT_TRUE(idle("two_level_adaptive.outer_schedulers"));
  try {
    set("two_level_adaptive.inner_schedulers", "gto,oldst");
    ADD_FAILURE() << "there is no oldst";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "m.toml:3:5: two_level_adaptive.inner_schedulers has 'oldst'; did you mean 'oldest'?");
  }
}

}  // namespace
}  // namespace heddle::hw
