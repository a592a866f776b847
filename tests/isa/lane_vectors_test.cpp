// Lanes in vectors, against loops over lanes.
#include "isa/lane_vectors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace heddle::isa {
namespace {

TEST(LaneVectors, FindsTheLanesThatHaveANumber) {
  std::array<std::uint16_t, kLanes> numbers{};
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    numbers.fill(0xff);
    numbers[lane] = 0x1ff;  // another number with the same low byte
    EXPECT_EQ(vectors::equal(numbers.data(), 0x1ff), LaneMask{1} << lane);
    EXPECT_EQ(vectors::equal(numbers.data(), 0xff), ~(LaneMask{1} << lane));
  }
  std::mt19937 random(7);
  for (unsigned round = 0; round != 1000; ++round) {
    LaneMask expected = 0;
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      numbers[lane] = static_cast<std::uint16_t>(random() % 3 * 0x4001);
      expected |= numbers[lane] == 0x4001 ? LaneMask{1} << lane : 0;
    }
    EXPECT_EQ(vectors::equal(numbers.data(), 0x4001), expected);
  }
}

TEST(LaneVectors, FillsSomeLanes) {
  std::mt19937 random(8);
  for (unsigned round = 0; round != 100; ++round) {
    const auto lanes = static_cast<LaneMask>(random());
    std::array<std::uint16_t, kLanes> numbers{};
    numbers.fill(3);
    vectors::fill(numbers.data(), 0xabcd, lanes);
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      EXPECT_EQ(numbers[lane], (lanes >> lane & 1U) != 0 ? 0xabcd : 3);
    }
  }
}

}  // namespace
}  // namespace heddle::isa
