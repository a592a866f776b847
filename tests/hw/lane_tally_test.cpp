// Counts per lane.
#include "hw/registers/lane_tally.hpp"

#include <gtest/gtest.h>

#include <random>

namespace heddle::hw {
namespace {

TEST(LaneTally, CountsWhatWasAddedForEachLane) {
  std::mt19937 random(7);
  LaneTally tally;
  std::array<std::uint64_t, isa::kLanes> expected{};
  const auto compare = [&] {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      ASSERT_EQ(tally.of(lane), expected[lane]) << lane;
    }
  };
  for (unsigned round = 0; round < 60'000; ++round) {
    const auto lanes = round % 5 == 0 ? ~LaneMask{0} : static_cast<LaneMask>(random());
    const unsigned count = round % 977 == 0 ? 70'000 : random() % 9;  // more than 16 bits hold, now and then
    tally.add(lanes, count);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      expected[lane] += ((lanes >> lane) & 1U) * count;
    }
    if (round % 20'011 == 0) {
      compare();
    }
  }
  compare();
}

TEST(LaneTally, GoesOnFromWhatItsReaderHasWritten) {
  LaneTally tally;
  tally.add(0b11, 3);
  tally.of(0) = 100;
  tally.add(0b01, 5);
  EXPECT_EQ(tally.of(0), 105U);
  EXPECT_EQ(tally.of(1), 3U);
}

}  // namespace
}  // namespace heddle::hw
