// An example of docs/extending.md: a divergence mechanism.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hw/dynamic_groups.hpp"

namespace heddle::hw {
namespace {

TEST(NeverJoin, EachPathIsAGroupUntilItsThreadsExit) {
  CoreParameters core;
  core.simd_width = core.warp_size = 4;
  test::DynamicGroups bench("never-join", core, 1);
  Group& warp = bench.start(0, 0, 0b1111);
  EXPECT_TRUE(bench.branch(warp, 5, 9, 0b0011));
  EXPECT_THAT(bench.live(), ::testing::ElementsAre("1: 2/0 3/0", "5: 0/0 1/0"));
  EXPECT_FALSE(bench.branch(warp, 9, 9, 0b1100));
  EXPECT_FALSE(bench.branch(warp, 5, 9, 0));
  EXPECT_THAT(bench.live(), ::testing::ElementsAre("10: 2/0 3/0", "5: 0/0 1/0"));
  bench.exit(warp, 0b1100);
  EXPECT_THAT(bench.live(), ::testing::ElementsAre("5: 0/0 1/0"));
}

}  // namespace
}  // namespace heddle::hw
