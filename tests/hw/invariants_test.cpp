// The checks of a debug run see what they are for.
#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"
#include "hw/state/invariants.hpp"

namespace heddle::hw {
namespace {

link::SubWarp of_row(std::uint16_t row, LaneMask lanes) {
  link::SubWarp sub_warp;
  sub_warp.first_row = row;
  sub_warp.lanes = lanes;
  return sub_warp;
}

TEST(Invariants, AThreadIsInOneSubWarpInFlight) {
  Invariants invariants(4, 32);
  const link::SubWarp first = of_row(2, 0b0110);
  invariants.formed(first);
  EXPECT_NO_THROW(invariants.formed(of_row(2, 0b1001)));
  EXPECT_NO_THROW(invariants.formed(of_row(3, 0b0110)));
  EXPECT_THROW(invariants.formed(of_row(2, 0b0100)), InternalError);
  invariants.retired(first);
  EXPECT_NO_THROW(invariants.formed(first));
}

TEST(Invariants, ABankIsReadOncePerCycle) {
  Invariants invariants(4, 32);
  invariants.read(of_row(0, 0b0011), 7);
  EXPECT_NO_THROW(invariants.read(of_row(1, 0b1100), 7)) << "other banks";
  EXPECT_THROW(invariants.read(of_row(1, 0b0010), 7), InternalError);
  EXPECT_NO_THROW(invariants.read(of_row(1, 0b0010), 8));
}

TEST(Invariants, SubWarpsHoldEachActiveThreadOnce) {
  const Group group;
  const std::vector<LaneMask> active = {0b1111, 0b0001};
  const std::vector<LaneMask> none = {0, 0};
  EXPECT_NO_THROW(Invariants::all_formed(group, active, active, none));
  EXPECT_NO_THROW(
      Invariants::all_formed(group, active, std::vector<LaneMask>{0b0101, 0b0001}, std::vector<LaneMask>{0b1010, 0}));
  EXPECT_THROW(Invariants::all_formed(group, active, std::vector<LaneMask>{0b0111, 0b0001}, none), InternalError);
  EXPECT_THROW(Invariants::all_formed(group, active, active, std::vector<LaneMask>{0b0001, 0}), InternalError);
  EXPECT_THROW(Invariants::all_formed(group, active, std::vector<LaneMask>{0b1111, 0b0011}, none), InternalError);
}

}  // namespace
}  // namespace heddle::hw
