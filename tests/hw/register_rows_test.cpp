// Counts per lane, and operands that are gathered and scattered by the rows of a sub-warp's lanes, against going from
// lane to lane.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "hw/core/execute/register_read.hpp"
#include "hw/registers/lane_tally.hpp"
#include "hw/registers/register_file.hpp"

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
    const auto lanes = static_cast<LaneMask>(random());
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

// A sub-warp of `lanes` in rows 0 to kRows - 1, and the same one that is told row by row.
class Rows : public ::testing::TestWithParam<LaneMask> {
 protected:
  static constexpr unsigned kRows = 5;
  static constexpr unsigned kRegisters = 8;

  Rows() {
    array_.resize(kRows, kRegisters);
    for (unsigned row = 0; row < kRows; ++row) {
      for (unsigned reg = 0; reg < kRegisters; ++reg) {
        for (std::uint32_t& word : array_.word(row, reg)) {
          word = random_();
        }
      }
      for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
        array_.predicate(row, reg) = random_();
      }
    }
    by_lane_.lanes = GetParam();
    by_lane_.uniform = false;
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      by_lane_.row[lane] = static_cast<std::uint16_t>(random_() % kRows);
    }
    by_row_ = by_lane_;
    by_row_.row_count = kRows;
    for (unsigned row = 0; row < kRows; ++row) {
      by_row_.rows[row].row = static_cast<std::uint16_t>(row);
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {  // lanes beside the sub-warp's, too
        by_row_.rows[row].lanes |= static_cast<LaneMask>(by_lane_.row[lane] == row) << lane;
      }
    }
  }

  std::mt19937 random_{11};
  RegisterArray array_;
  link::SubWarp by_lane_, by_row_;
};

TEST_P(Rows, GiveTheSameOperands) {
  for (const unsigned reg : {0U, 3U, kRegisters - 1, isa::kRZ}) {
    isa::LaneWord one, other;
    gather_word(array_, by_lane_, reg, one);
    gather_word(array_, by_row_, reg, other);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      const bool there = ((GetParam() >> lane) & 1U) != 0 && reg != isa::kRZ;
      const std::uint32_t expected = there ? array_.word(by_lane_.row[lane], reg)[lane] : 0;
      EXPECT_EQ(one[lane], expected) << reg << ' ' << lane;
      EXPECT_EQ(other[lane], expected) << reg << ' ' << lane;
    }
  }
  for (const bool negated : {false, true}) {
    for (const std::uint8_t reg : {std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{isa::kPT}}) {
      const isa::Pred pred{reg, negated};
      EXPECT_EQ(gather_predicate(array_, by_lane_, pred), gather_predicate(array_, by_row_, pred));
    }
  }
}

TEST_P(Rows, TakeTheSameResults) {
  link::DecodedInstruction decoded;
  decoded.form = {.dst = 2, .words = 2, .p = 1, .q = 3, .stored = 0, .address = false};
  for (link::SubWarp* const sub_warp : {&by_lane_, &by_row_}) {
    sub_warp->decoded = &decoded;
    for (unsigned word = 0; word < 2; ++word) {
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        sub_warp->values.result[word][lane] = 1000 * (word + 1) + lane;
      }
    }
    sub_warp->values.p = 0x1234'5678;
    sub_warp->values.q = 0x9abc'def0;
  }
  RegisterArray other;
  other.resize(kRows, kRegisters);
  for (unsigned row = 0; row < kRows; ++row) {
    for (unsigned reg = 0; reg < kRegisters; ++reg) {
      other.word(row, reg) = array_.word(row, reg);
    }
    for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
      other.predicate(row, reg) = array_.predicate(row, reg);
    }
  }
  const LaneMask some = GetParam() & 0xfffe'7fffU;
  array_.write_results(by_lane_, some);
  other.write_results(by_row_, some);
  for (unsigned row = 0; row < kRows; ++row) {
    for (unsigned reg = 0; reg < kRegisters; ++reg) {
      EXPECT_EQ(array_.word(row, reg), other.word(row, reg)) << row << " " << reg;
    }
    for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
      EXPECT_EQ(array_.predicate(row, reg), other.predicate(row, reg)) << row << " " << reg;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, Rows, ::testing::Values(0U, ~0U, 1U, 0x8000'0000U, 0x0ff0'a55aU));

}  // namespace
}  // namespace heddle::hw
