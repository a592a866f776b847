// An example of docs/extending.md: a coalescer.
#include <gtest/gtest.h>

#include <vector>

#include "hw/coalesce/coalescer.hpp"

namespace heddle::hw {
namespace {

TEST(Ascending, SortsLinesAndSharesThem) {
  LaneAddresses addresses;
  addresses.lanes = 0b1101;
  addresses.address[0][0] = 300;
  addresses.address[0][1] = 0;  // no such lane
  addresses.address[0][2] = 130;
  addresses.address[0][3] = 256;
  std::vector<LineAccess> lines;
  Registry<Coalescer>::instance().make("ascending", {128})->coalesce(addresses, lines);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, 128U);
  EXPECT_EQ(lines[0].lanes, 0b0100U);
  EXPECT_EQ(lines[1].line, 256U);
  EXPECT_EQ(lines[1].lanes, 0b1001U);
}

}  // namespace
}  // namespace heddle::hw
