// Warp-aware memory scheduling (thesis 9.2.4): whose request goes first, and what comes before that.
#include "hw/dram/warp_aware.hpp"
#include "channel.hpp"

namespace heddle::hw::test {
namespace {

DramParameters warp_aware(const char* first = "row-hits") {
  DramParameters parameters;
  parameters.scheduler = "warp-aware";
  parameters.policies.of<WarpAwareParameters>().first = first;
  return parameters;
}

// Every request below goes to bank 0, which is busy with row 0 until cycle 301, and to a row of its own.
std::uint64_t row(unsigned number) {
  return number * kSameBank;
}

TEST(WarpAware, TheWarpWithTheFewestWaitingMissesGoesFirst) {
  Channel channel(warp_aware());
  channel.of_warp(9, 0, row(0));
  const DramAccess& a = channel.of_warp(1, 10, row(1));
  const DramAccess& b = channel.of_warp(1, 11, row(2));
  const DramAccess& single = channel.of_warp(2, 12, row(3));
  channel.run();
  EXPECT_EQ(single.started, 301U);
  EXPECT_EQ(a.started, 601U);
  EXPECT_EQ(b.started, 901U);
}

// Each miss of a warp that is served leaves it fewer: the older of two equal warps keeps its turn to the end.
TEST(WarpAware, EqualWarpsAreNotInterleaved) {
  Channel channel(warp_aware());
  channel.of_warp(9, 0, row(0));
  std::vector<const DramAccess*> first;
  std::vector<const DramAccess*> second;
  for (unsigned i = 0; i != 3; ++i) {
    first.push_back(&channel.of_warp(1, 10 + 2 * i, row(1 + 2 * i)));
    second.push_back(&channel.of_warp(2, 11 + 2 * i, row(2 + 2 * i)));
  }
  channel.run();
  for (unsigned i = 0; i != 3; ++i) {
    EXPECT_EQ(first[i]->order, 1 + i);
    EXPECT_EQ(second[i]->order, 4 + i);
  }
}

// One warp number on two cores is two warps.
TEST(WarpAware, WarpsOfTwoCoresAreTwo) {
  Channel channel(warp_aware());
  channel.of_warp(9, 0, row(0));
  const DramAccess& a = channel.of_warp(1, 10, row(1), 0);
  channel.of_warp(1, 11, row(2), 0);
  const DramAccess& other = channel.of_warp(1, 12, row(3), 1);
  channel.run();
  EXPECT_EQ(other.order, 1U);
  EXPECT_EQ(a.order, 2U);
}

// A miss that arrives in cycle 300 (in the queue in 301) counts for the choice of cycle 301, a later one does not.
TEST(WarpAware, TheCountIsThePresentOne) {
  Channel in_time(warp_aware(), 128, 1.0, "in_time");
  Channel late(warp_aware(), 128, 1.0, "late");
  const auto play = [](Channel& channel, Cycle at) {
    channel.of_warp(9, 0, row(0));
    channel.of_warp(1, 10, row(1));
    channel.of_warp(2, 11, row(2));
    channel.of_warp(1, at, row(3));
  };
  play(in_time, 300);
  play(late, 301);
  in_time.run();
  late.run();
  EXPECT_EQ(in_time.script()[2].started, 301U) << "warp 1 has two misses";
  EXPECT_EQ(late.script()[1].started, 301U) << "both have one: the older";
}

TEST(WarpAware, RowHitsGoBeforeWarpsOrBehindThem) {
  Channel rows(warp_aware("row-hits"), 128, 1.0, "rows");
  Channel warps(warp_aware("warps"), 128, 1.0, "warps");
  for (Channel* channel : {&rows, &warps}) {
    channel->of_warp(9, 0, row(0));
    // Behind it in the bank, so that hits wait for it too (a hit would start at once otherwise).
    channel->of_warp(8, 10, row(5));
    channel->of_warp(1, 310, row(5) + 128);  // a hit from 601 on
    channel->of_warp(1, 311, row(5) + 256);
    channel->of_warp(2, 312, row(3));
  }
  rows.run();
  warps.run();
  EXPECT_TRUE(rows.script()[2].row_hit);
  EXPECT_TRUE(rows.script()[3].row_hit);
  EXPECT_GT(rows.script()[4].order, rows.script()[3].order);
  // The hits' warp has two misses; they come too late once the row is closed.
  EXPECT_LT(warps.script()[4].order, warps.script()[3].order);
}

// No warp waits for a write, nor for a read that a store caused.
TEST(WarpAware, RequestsOfNoWarpGoLast) {
  Channel channel(warp_aware());
  channel.of_warp(9, 0, row(0));
  const DramAccess& write = channel.write(10, row(1));
  const DramAccess& posted = channel.add({11, row(2), false, false, 3, 0, true});
  const DramAccess& a = channel.of_warp(1, 12, row(3));
  const DramAccess& b = channel.of_warp(1, 13, row(4));
  channel.run();
  EXPECT_EQ(a.order, 1U);
  EXPECT_EQ(b.order, 2U);
  EXPECT_EQ(write.order, 3U);
  EXPECT_EQ(posted.order, 4U);
}

// In the cycle in which the oldest request has waited for the bound it is next; with one cycle more the other is.
TEST(WarpAware, StarvationBoundEndsTheOrder) {
  const auto with_bound = [](unsigned bound) {
    DramParameters parameters = warp_aware();
    parameters.starvation_bound = bound;
    return parameters;
  };
  Channel reached(with_bound(290), 128, 1.0, "reached");
  Channel missed(with_bound(291), 128, 1.0, "missed");
  for (Channel* channel : {&reached, &missed}) {
    channel->of_warp(9, 0, row(0));
    channel->of_warp(1, 10, row(1));  // in the queue from 11 on
    channel->of_warp(1, 11, row(2));
    channel->of_warp(2, 12, row(3));
  }
  reached.run();
  missed.run();
  EXPECT_EQ(reached.script()[1].started, 301U);
  EXPECT_EQ(missed.script()[1].started, 601U);
  EXPECT_EQ(missed.script()[3].started, 301U);
}

// A read of the warp that would be first finds an older write of its line.
TEST(WarpAware, RequestsToALineKeepTheirOrder) {
  Channel channel(warp_aware());
  channel.of_warp(9, 0, row(0));
  const DramAccess& write = channel.write(10, row(1));
  const DramAccess& a = channel.of_warp(1, 11, row(2));
  const DramAccess& b = channel.of_warp(1, 12, row(3));
  const DramAccess& read = channel.of_warp(2, 13, row(1));
  channel.run();
  EXPECT_EQ(write.order, 1U) << "in the place of the read behind it";
  EXPECT_EQ(read.order, 2U);
  EXPECT_EQ(a.order, 3U);
  EXPECT_EQ(b.order, 4U);
}

// The row that a hint holds is closed for no warp, whichever has the fewest misses: not before the hold runs out.
TEST(WarpAware, HintsHoldTheirRowsAgainstEveryWarp) {
  Channel held(warp_aware("warps"), 128, 1.0, "held");
  Channel plain(warp_aware("warps"), 128, 1.0, "plain");
  held.hinted(0, row(0));
  plain.read(0, row(0));
  for (Channel* channel : {&held, &plain}) {
    channel->of_warp(1, 10, row(1));
  }
  held.run();
  plain.run();
  EXPECT_EQ(plain.script()[1].started, 301U);
  EXPECT_EQ(held.script()[1].started, 301U + 200U);
}

// Commands: an activation is not lost to a warp that comes when the row has been opened for another one.
TEST(WarpAware, AnOpenedRowIsUsedFirst) {
  DramParameters parameters = warp_aware("warps");
  parameters.timing = "jedec";
  Channel channel(parameters);
  channel.of_warp(1, 0, row(1));
  channel.of_warp(1, 1, row(2));
  channel.of_warp(1, 2, row(3));
  channel.of_warp(2, 3, row(4));  // fewer misses, but the row is being opened for the first
  channel.run();
  EXPECT_EQ(channel.script()[0].order, 0U);
  EXPECT_EQ(channel.script()[3].order, 1U);
  EXPECT_EQ(channel.statistics().activations, 4U);
}

}  // namespace
}  // namespace heddle::hw::test
