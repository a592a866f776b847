// The write drain under command timing: what becomes of requests that are half served when the turn changes.
#include "channel.hpp"
#include "command_checker.hpp"
#include "hw/dram/jedec.hpp"

namespace heddle::hw::test {
namespace {

using CommandKind = DramCommand::Kind;

constexpr std::uint64_t kDrainBank = 2048;
constexpr std::uint64_t kDrainRow = 16 * kDrainBank;  // next row of the same bank

// GDDR5: tRCD = tRP = 12, tRAS 28, CL 12, CWL 4, burst 2, tCCD_L 3, tRTP 2, read to write 12.
DramParameters draining(unsigned high, unsigned low) {
  DramParameters parameters;
  parameters.timing = "jedec";
  parameters.preset = "gddr5";
  parameters.scheduler = "fr-fcfs";
  parameters.banks = 16;
  parameters.row_bytes = 2048;
  parameters.jedec.refresh = false;
  parameters.write_high = high;
  parameters.write_low = low;
  return parameters;
}

void expect_legal(const DramParameters& parameters, const Channel& channel) {
  EXPECT_TRUE(CommandChecker(resolve_jedec(parameters), parameters.banks).check(channel.commands).empty());
}

TEST(WriteDrainCommands, ARowThatWasOpenedIsUsedBeforeTheOtherTurnClosesIt) {
  const DramParameters parameters = draining(2, 0);
  Channel channel(parameters, 32);
  const DramAccess& read = channel.read(0, 0);  // activated in 1
  channel.write(4, kDrainRow);                  // the drain begins in 5, in the same bank
  channel.write(4, kDrainRow + 32);
  channel.run();
  const std::vector<std::pair<CommandKind, std::uint64_t>> expected = {
      {CommandKind::activate, 1},       {CommandKind::read, 1 + 12},   {CommandKind::precharge, 1 + 28},
      {CommandKind::activate, 29 + 12}, {CommandKind::write, 41 + 12}, {CommandKind::write, 53 + 3},
  };
  ASSERT_EQ(channel.commands.size(), expected.size());
  for (std::size_t i = 0; i != expected.size(); ++i) {
    EXPECT_EQ(channel.commands[i].kind, expected[i].first) << i;
    EXPECT_EQ(channel.commands[i].clock, expected[i].second) << i;
  }
  expect_legal(parameters, channel);
  // The read could go out in 13 and not before.
  std::vector<DramCommand> early(channel.commands.begin(), channel.commands.begin() + 2);
  --early.back().clock;
  EXPECT_FALSE(CommandChecker(resolve_jedec(parameters), parameters.banks).check(early).empty());
  EXPECT_EQ(read.order, 0U);
  EXPECT_EQ(channel.statistics().activations, 2U);
}

TEST(WriteDrainCommands, ALineThatIsHalfTransferredIsFinished) {
  const DramParameters parameters = draining(2, 0);
  Channel channel(parameters, 128);  // four bursts
  channel.read(0, 0);
  const DramAccess& hit = channel.read(100, 128);  // its bursts go out in 101, 104, 107, 110
  channel.write(104, kDrainRow);                   // the drain begins in 105
  channel.write(104, kDrainRow + 128);
  channel.run();
  EXPECT_EQ(hit.started, 110U);
  EXPECT_EQ(channel.statistics().activations, 2U);
  expect_legal(parameters, channel);
}

// Neither the read nor the last of the writes passes the first ones, though it is the reads' turn and none of the
// writes' watermarks is reached; and a write passes no older read, though another one stands between them.
TEST(WriteDrainCommands, RequestsToOneLineKeepTheirOrder) {
  const DramParameters parameters = draining(20, 1);
  Channel channel(parameters, 32);
  for (unsigned i = 0; i != 12; ++i) {
    channel.read(0, i * kDrainRow);  // a conflict each: reads wait all the time
  }
  std::vector<const DramAccess*> line;
  for (unsigned i = 0; i != 3; ++i) {
    line.push_back(&channel.write(1 + i, kDrainBank));
  }
  line.push_back(&channel.read(4, kDrainBank));
  line.push_back(&channel.read(5, kDrainBank));
  line.push_back(&channel.write(6, kDrainBank));
  line.push_back(&channel.read(7, kDrainBank));
  channel.run();
  for (std::size_t i = 1; i != line.size(); ++i) {
    EXPECT_LT(line[i - 1]->order, line[i]->order) << i;
  }
  EXPECT_LT(line.back()->order, 12U) << "none of them waits for the watermark";
  expect_legal(parameters, channel);
}

TEST(WriteDrainCommands, WhatWasActivatedCountsForNoWatermark) {
  const DramParameters parameters = draining(3, 1);
  Channel channel(parameters, 32);
  const DramAccess& first = channel.write(0, kDrainBank);  // no read waits: activated in 1
  std::vector<const DramAccess*> reads;
  for (unsigned i = 0; i != 4; ++i) {
    reads.push_back(&channel.read(3, i * kDrainRow));
  }
  std::vector<const DramAccess*> writes;
  for (unsigned i = 0; i != 2; ++i) {  // two wait, and the third one is not counted any more
    writes.push_back(&channel.write(4, 2 * kDrainBank + 32 * i));
  }
  channel.run();
  EXPECT_EQ(first.started, 13U);  // in the reads' turn
  for (const DramAccess* write : writes) {
    EXPECT_GT(write->order, reads[2]->order);
  }
  expect_legal(parameters, channel);
}

// An activated write that reads keep off the bus, each of them coming sooner than the bus turns round, waits for the
// starvation bound at the longest.
TEST(WriteDrainCommands, AnActivatedRequestDoesNotStarve) {
  const auto play = [](Channel& channel) {
    channel.read(0, 0);
    channel.write(99, kDrainBank);  // activated in 100
    for (unsigned i = 1; i != 60; ++i) {
      channel.read(99 + 3 * i, 32 * i);  // a hit every tCCD_L
    }
  };
  DramParameters bounded = draining(30, 1);
  bounded.starvation_bound = 60;
  DramParameters unbounded = draining(30, 1);
  unbounded.starvation_bound = 0;
  Channel with(bounded, 32, 1.0, "with");
  Channel without(unbounded, 32, 1.0, "without");
  play(with);
  play(without);
  with.run();
  without.run();
  const DramAccess& write = with.script()[1];
  EXPECT_GE(write.started, 100 + 60U);
  EXPECT_LE(write.started, 100 + 60 + 12U);  // the bus turns round after the last read
  EXPECT_EQ(without.script()[1].order, 60U);
  expect_legal(bounded, with);
}

}  // namespace
}  // namespace heddle::hw::test
