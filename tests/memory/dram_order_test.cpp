// The order in which a DRAM controller starts requests: first-ready, starvation bound, row policies, write drain, bus
// turnaround.
#include <random>

#include "channel.hpp"

namespace heddle::hw::test {
namespace {

DramParameters first_ready() {
  DramParameters parameters;
  parameters.scheduler = "fr-fcfs";
  return parameters;
}

TEST(FirstReady, RowHitsGoBeforeOlderConflicts) {
  Channel channel(first_ready());
  channel.read(0, 0);
  const DramAccess& conflict = channel.read(500, kSameBank);
  const DramAccess& first_hit = channel.read(500, 128);
  const DramAccess& second_hit = channel.read(500, 256);
  channel.run();
  EXPECT_EQ(first_hit.started, 501U);
  EXPECT_EQ(second_hit.started, 505U);  // its bus slot comes behind
  // The conflict starts when the data of the last hit is there, not when its bus slot begins.
  EXPECT_EQ(second_hit.data, 605U);
  EXPECT_EQ(conflict.started, 605U);
  EXPECT_EQ(channel.statistics().row_hits, 2U);
}

TEST(FirstReady, AHitThatComesLaterPassesAConflictThatWaits) {
  Channel channel(first_ready());
  channel.read(0, 0);
  const DramAccess& hit = channel.read(450, 128);  // keeps the bank busy until 551
  const DramAccess& conflict = channel.read(460, kSameBank);
  const DramAccess& late_hit = channel.read(549, 256);
  const DramAccess& too_late = channel.read(900, 384);  // the conflict has closed the row
  channel.run();
  EXPECT_EQ(hit.started, 451U);
  EXPECT_EQ(late_hit.started, 550U);
  EXPECT_EQ(conflict.started, 650U);
  EXPECT_FALSE(too_late.row_hit);
}

TEST(FirstReady, AHitThatArrivesInTheVeryCycleGoesFirst) {
  Channel in_time(first_ready(), 128, 1.0, "in_time");
  Channel late(first_ready(), 128, 1.0, "late");
  const auto play = [](Channel& channel, Cycle at) {
    channel.read(0, 0);
    channel.read(10, kSameBank);
    channel.read(at, 128);
  };
  // The first request's data is complete in 301: the conflict can start then.
  play(in_time, 300);
  play(late, 301);
  in_time.run();
  late.run();
  EXPECT_TRUE(in_time.script()[2].row_hit);
  EXPECT_EQ(in_time.script()[1].started, 401U);
  EXPECT_FALSE(late.script()[2].row_hit);
  EXPECT_EQ(late.script()[1].started, 301U);
}

TEST(FirstReady, OtherBanksDoNotWait) {
  Channel channel(first_ready());
  channel.read(0, 0);
  const DramAccess& conflict = channel.read(10, kSameBank);
  const DramAccess& other = channel.read(10, kRow);
  channel.run();
  EXPECT_EQ(other.started, 11U);
  EXPECT_EQ(conflict.started, 301U);
}

TEST(FirstReady, OlderGoesFirstAmongEquals) {
  Channel channel(first_ready());
  const DramAccess& a = channel.read(10, 5 * kRow);
  const DramAccess& b = channel.read(10, 2 * kRow);
  const DramAccess& c = channel.read(10, 7 * kRow);
  channel.run();
  EXPECT_EQ(a.order, 0U);
  EXPECT_EQ(b.order, 1U);
  EXPECT_EQ(c.order, 2U);
}

// A conflict that has waited for the bound is next; one cycle less and the stream of hits goes on.
TEST(FirstReady, StarvationBoundEndsAStreamOfHits) {
  const auto with_bound = [](unsigned bound) {
    DramParameters parameters = first_ready();
    parameters.starvation_bound = bound;
    return parameters;
  };
  Channel reached(with_bound(400), 128, 1.0, "reached");
  Channel missed(with_bound(401), 128, 1.0, "missed");
  Channel none(with_bound(0), 128, 1.0, "none");
  for (Channel* channel : {&reached, &missed, &none}) {
    channel->read(0, 0);
    // One hit per 80 cycles, in the queue from 321, 401... 721...: one is always under way, so that the bank is never
    // free for the conflict, which is in the queue from 321 on too.
    for (unsigned i = 0; i != 20; ++i) {
      channel->read(320 + 80 * i, 128 * (i + 1));
    }
    channel->script().insert(channel->script().begin() + 2, DramAccess{320, kSameBank});
  }
  for (Channel* channel : {&reached, &missed, &none}) {
    channel->run();
  }
  EXPECT_EQ(reached.script()[2].started, 641 + 100U);
  EXPECT_EQ(missed.script()[2].started, 721 + 100U);
  EXPECT_EQ(none.script()[2].started, 321 + 19 * 80 + 100U);
}

TEST(RowPolicy, ClosedRowIsAConflictUnlessSomeoneWaitsForIt) {
  DramParameters parameters = first_ready();
  parameters.row_policy = "closed";
  Channel channel(parameters);
  const DramAccess& first = channel.read(0, 0);
  const DramAccess& waiting = channel.read(0, 128);
  const DramAccess& later = channel.read(1000, 256);
  channel.run();
  EXPECT_FALSE(first.row_hit);
  EXPECT_TRUE(waiting.row_hit);
  EXPECT_FALSE(later.row_hit);
}

TEST(RowPolicy, ClosedAlwaysMakesEveryAccessAConflict) {
  DramParameters parameters = first_ready();
  parameters.row_policy = "closed-always";
  Channel channel(parameters);
  channel.read(0, 0);
  channel.read(0, 128);
  channel.run();
  EXPECT_EQ(channel.statistics().row_conflicts, 2U);
}

TEST(RowPolicy, AClosedRowOpensFasterOnceItIsPrecharged) {
  DramParameters parameters;
  parameters.row_policy = "closed";
  parameters.row_closed = 200;
  Channel channel(parameters);
  const DramAccess& first = channel.read(0, 0);
  const DramAccess& soon = channel.read(210, kSameBank);  // precharging takes 300 - 200 cycles from 201 on
  const DramAccess& late = channel.read(900, 0);
  channel.run();
  EXPECT_EQ(first.data, 1 + 200U);
  EXPECT_EQ(soon.started, 301U);
  EXPECT_EQ(soon.data, 501U);
  EXPECT_EQ(late.data, 901 + 200U);
}

TEST(Turnaround, BusRestsBetweenReadsAndWrites) {
  DramParameters parameters;
  parameters.turnaround = 7;
  Channel channel(parameters);
  channel.read(0, 0);
  const DramAccess& read = channel.read(500, 128);
  const DramAccess& write = channel.write(500, 256);
  const DramAccess& more = channel.write(500, 384);
  const DramAccess& back = channel.read(500, 512);
  channel.run();
  EXPECT_EQ(read.data, 601U);
  EXPECT_EQ(write.data, 601 + 7 + 4U);
  EXPECT_EQ(more.data, write.data + 4);
  EXPECT_EQ(back.data, more.data + 7 + 4);
}

TEST(WriteDrain, WritesWaitForTheHighMarkAndStopAtTheLowOne) {
  DramParameters parameters;
  parameters.write_high = 3;
  parameters.write_low = 1;
  Channel channel(parameters);
  channel.read(0, 0);
  // While reads wait all the time (bank 0, conflicts), two writes wait, a third starts the drain.
  std::vector<const DramAccess*> reads;
  for (unsigned i = 1; i <= 6; ++i) {
    reads.push_back(&channel.read(1, i * kSameBank));
  }
  std::vector<const DramAccess*> writes = {&channel.write(2, kRow), &channel.write(2, kRow + 128)};
  writes.push_back(&channel.write(700, kRow + 256));
  channel.run();
  EXPECT_EQ(writes[0]->started, 701U);
  EXPECT_LT(writes[1]->started, reads[3]->started);
  // One is left, as the low mark says, until no read waits.
  EXPECT_GT(writes[2]->started, reads.back()->started);
}

TEST(WriteDrain, WritesGoAtOnceWhenNoReadWaits) {
  DramParameters parameters;
  parameters.write_high = 8;
  parameters.write_low = 2;
  Channel channel(parameters);
  const DramAccess& write = channel.write(0, 0);
  channel.run();
  EXPECT_EQ(write.started, 1U);
}

TEST(WriteDrain, OneLinesRequestsKeepTheirOrder) {
  DramParameters parameters = first_ready();
  parameters.write_high = 30;
  parameters.write_low = 1;
  Channel channel(parameters);
  channel.read(0, 8 * kSameBank);
  const DramAccess& write = channel.write(1, 128);
  const DramAccess& read = channel.read(1, 128);         // waits for the write, which goes ahead of the mark
  const DramAccess& other = channel.read(1, kSameBank);  // keeps reads waiting
  const DramAccess& again = channel.write(1, 128);       // waits for the read
  channel.run();
  EXPECT_LT(write.order, read.order);
  EXPECT_LT(read.order, again.order);
  EXPECT_LT(other.order, again.order);
}

// Every combination of options under random traffic: everything is answered, one line's requests in order.
TEST(DramRandom, EveryRequestIsServedOnceAndOneLineInOrder) {
  std::mt19937 engine(7);
  const auto pick = [&](unsigned low, unsigned high) { return low + engine() % (high - low + 1); };
  struct Round {
    DramParameters parameters;
    std::unique_ptr<Channel> channel;
  };
  std::vector<Round> rounds;
  for (unsigned round = 0; round != 60; ++round) {
    DramParameters parameters;
    const char* const schedulers[] = {"fcfs", "fcfs-per-bank", "fr-fcfs"};
    const char* const policies[] = {"open", "closed", "closed-always"};
    parameters.scheduler = schedulers[pick(0, 2)];
    parameters.row_policy = policies[pick(0, 2)];
    parameters.banks = 1U << pick(0, 3);
    parameters.row_hit = pick(1, 30);
    parameters.row_conflict = parameters.row_hit + pick(0, 60);
    parameters.row_closed = pick(0, 1) != 0 ? pick(parameters.row_hit, parameters.row_conflict) : 0;
    parameters.queue = pick(2, 20);
    parameters.starvation_bound = pick(0, 1) * pick(1, 300);
    parameters.turnaround = pick(0, 9);
    parameters.write_high = pick(0, 2) != 0 ? pick(1, parameters.queue) : 0;
    parameters.write_low = parameters.write_high / 2;
    parameters.hint_threshold = pick(0, 100);
    auto channel = std::make_unique<Channel>(parameters, 128, 1.0, ("random" + std::to_string(round)).c_str());
    Cycle at = 0;
    for (unsigned i = 0; i != 300; ++i) {
      at += pick(0, 3) == 0 ? pick(0, 80) : 0;
      channel->add({at, std::uint64_t{pick(0, 5)} * kSameBank + std::uint64_t{pick(0, 40)} * 128, pick(0, 2) == 0,
                    pick(0, 2) == 0});
    }
    rounds.push_back({parameters, std::move(channel)});
  }
  for (Round& round : rounds) {
    Channel& channel = *round.channel;
    channel.run();
    EXPECT_EQ(channel.starts, 300U);
    EXPECT_EQ(channel.statistics().row_hits + channel.statistics().row_conflicts, 300U);
    EXPECT_TRUE(channel.controller().quiet());
    std::map<std::uint64_t, unsigned> last;
    for (const DramAccess& access : channel.script()) {
      const auto [place, first] = last.emplace(access.address, access.order);
      EXPECT_TRUE(first || place->second < access.order) << channel.name();
      place->second = access.order;
    }
    const DramStatistics& statistics = channel.statistics();
    EXPECT_GE(statistics.hints.holds, statistics.hints.hits + statistics.hints.expiries);
    EXPECT_LE(statistics.hints.holds, statistics.hints.hits + statistics.hints.expiries + round.parameters.banks);
  }
}

}  // namespace
}  // namespace heddle::hw::test
