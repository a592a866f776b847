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

TEST(LaneVectors, BlendsWords) {
  std::mt19937 random(9);
  for (unsigned round = 0; round != 100; ++round) {
    const auto lanes = static_cast<LaneMask>(random());
    std::array<std::uint32_t, kLanes> into{};
    std::array<std::uint32_t, kLanes> from{};
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      into[lane] = static_cast<std::uint32_t>(random());
      from[lane] = ~into[lane];
    }
    const std::array<std::uint32_t, kLanes> before = into;
    vectors::blend(into.data(), from.data(), lanes);
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      EXPECT_EQ(into[lane], (lanes >> lane & 1U) != 0 ? from[lane] : before[lane]);
    }
  }
}

TEST(LaneVectors, GathersWordsOfSeveral) {
  std::mt19937 random(10);
  for (unsigned round = 0; round != 100; ++round) {
    std::array<std::array<std::uint32_t, kLanes>, 3> words{};
    std::array<LaneMask, 3> lanes{};
    std::array<std::uint32_t, kLanes> expected{};
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      for (auto& word : words) {
        word[lane] = static_cast<std::uint32_t>(random());
      }
      if (const unsigned of = random() % 4; of != 3) {  // 3: of none
        lanes[of] |= LaneMask{1} << lane;
        expected[lane] = words[of][lane];
      }
    }
    std::array<std::uint32_t, kLanes> out{};
    out.fill(7);
    vectors::gather(
        3,
        [&](unsigned index, LaneMask& of) {
          of = lanes[index];
          return words[index].data();
        },
        out.data());
    EXPECT_EQ(out, expected);
  }
}

}  // namespace
}  // namespace heddle::isa
