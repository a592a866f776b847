// An example of docs/extending.md: a sub-warp former.
#include <gtest/gtest.h>

#include <vector>

#include "hw/subwarp/former.hpp"

namespace heddle::hw {
namespace {

TEST(HighestRow, TakesRowsFromTheTopAndLeavesPendingOnes) {
  const CoreParameters core;
  const auto former = Registry<SubWarpFormer>::instance().make("highest-row", {4, 3, core});
  std::vector<LaneMask> candidates = {0b0011, 0b0100, 0b1111};
  const std::vector<LaneMask> pending = {0, 0, 0b0001};
  SubWarpShape shape;
  ASSERT_TRUE(former->form({}, candidates, pending, shape));
  EXPECT_EQ(shape.first_row, 1U) << "row 2 has a thread in flight";
  EXPECT_EQ(shape.lanes, 0b0100U);
  EXPECT_EQ(candidates, (std::vector<LaneMask>{0b0011, 0, 0b1111}));
}

}  // namespace
}  // namespace heddle::hw
