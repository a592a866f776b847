// An example of docs/extending.md: a DRAM scheduler and a row policy.
#include <gtest/gtest.h>

#include "tests/memory/channel.hpp"

namespace heddle::hw::test {
namespace {

TEST(ReadsFirst, PassTheWritesOfOtherBanksAndRowsCloseAfterWrites) {
  DramParameters parameters;
  parameters.scheduler = "reads-first";
  parameters.row_policy = "closed-after-writes";
  Channel channel(parameters);
  channel.read(0, 0);                                    // its bus slot holds the others up
  const DramAccess& write = channel.write(0, kRow);      // of the next bank
  const DramAccess& read = channel.read(0, 2 * kRow);    // of the one behind it, younger
  const DramAccess& again = channel.read(2000, kRow);    // the row of the write
  const DramAccess& hit = channel.read(2000, 2 * kRow);  // the row of the read
  channel.run();
  EXPECT_LT(read.started, write.started);
  EXPECT_FALSE(again.row_hit);
  EXPECT_TRUE(hit.row_hit);
}

}  // namespace
}  // namespace heddle::hw::test
