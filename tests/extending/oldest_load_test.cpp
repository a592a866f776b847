// An example of docs/extending.md: a load limiter.
#include <gtest/gtest.h>

#include "hw/schedule/load_limiter.hpp"

namespace heddle::hw {
namespace {

TEST(OldestLoad, PassesOverWarpsThatWaitForOthers) {
  GroupTable groups(10, 1);
  const Machine machine;
  CoreStatistics statistics;
  const auto limiter = Registry<LoadLimiter>::instance().make("oldest-load", {groups, machine, statistics});
  for (GroupId id = 0; id < 10; ++id) {
    groups[id].age = groups.next_age();
    groups.set_state(groups[id], GroupState::ready);
  }
  EXPECT_TRUE(limiter->may_load(groups[7], 0));
  EXPECT_FALSE(limiter->may_load(groups[8], 0));
  groups.set_state(groups[2], GroupState::barrier);
  EXPECT_TRUE(limiter->may_load(groups[8], 0));
  EXPECT_FALSE(limiter->may_load(groups[9], 0));
}

}  // namespace
}  // namespace heddle::hw
