// When narrow lanes take another operation, as a scheduler knows it.
#include "hw/issue/lane_slots.hpp"

#include <gtest/gtest.h>

namespace heddle::hw {
namespace {

using isa::LaneKind;

TEST(LaneSlots, TakeAnOperationOfAKindEveryInterval) {
  CoreParameters core;
  core.integer_interval = 2;
  core.double_interval = 4;
  LaneSlots slots(core);
  EXPECT_EQ(slots.free_at(LaneKind::integer, 10), 10U);
  slots.take(LaneKind::integer, 10);
  slots.take(LaneKind::double_precision, 10);
  slots.take(LaneKind::single_precision, 10);
  slots.take(LaneKind::other, 10);
  EXPECT_EQ(slots.free_at(LaneKind::integer, 11), 12U);
  EXPECT_EQ(slots.free_at(LaneKind::integer, 13), 13U);
  EXPECT_EQ(slots.free_at(LaneKind::double_precision, 11), 14U);
  EXPECT_EQ(slots.free_at(LaneKind::single_precision, 11), 11U);
  EXPECT_EQ(slots.free_at(LaneKind::other, 11), 11U);
}

TEST(LaneSlots, HoldNothingUpWhereLanesAreWide) {
  LaneSlots slots{CoreParameters{}};
  slots.take(LaneKind::integer, 10);
  EXPECT_EQ(slots.free_at(LaneKind::integer, 10), 10U);
}

}  // namespace
}  // namespace heddle::hw
