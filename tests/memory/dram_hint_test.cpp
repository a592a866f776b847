// Row-buffer hints (thesis 7.2): what is held, for how long, and what figure 7.3 says about it.
#include "channel.hpp"

namespace heddle::hw::test {
namespace {

class Hints : public ::testing::TestWithParam<const char*> {
 protected:
  DramParameters parameters() const {
    DramParameters parameters;
    parameters.scheduler = GetParam();
    return parameters;
  }
};

// A hinted request, a conflict that waits behind it, and the awaited hit: sent so that it is in the queue `late` cycles
// after the hinted request's data (at 301) is complete.
struct Scene {
  const DramAccess* hinted;
  const DramAccess* conflict;
  const DramAccess* awaited;
};

Scene play(Channel& channel, Cycle late) {
  const Scene scene = {&channel.hinted(0, 0), &channel.read(1, kSameBank), &channel.read(300 + late, 128)};
  channel.run();
  return scene;
}

// Figure 7.3, "beneficial": the hit comes soon, and the bank is done with all three earlier than without the hint.
TEST_P(Hints, BeneficialWhenTheHitComesSoon) {
  Channel channel(parameters());
  const Scene scene = play(channel, 50);
  EXPECT_EQ(scene.hinted->data, 301U);
  EXPECT_TRUE(scene.awaited->row_hit);
  EXPECT_EQ(scene.awaited->started, 351U);
  EXPECT_EQ(scene.conflict->started, 451U);
  EXPECT_EQ(scene.conflict->data, 751U);  // without the hint: two conflicts from 301 on, until 901
  EXPECT_EQ(channel.statistics().hints.holds, 1U);
  EXPECT_EQ(channel.statistics().hints.hits, 1U);
  EXPECT_EQ(channel.statistics().hints.expiries, 0U);
  EXPECT_EQ(channel.statistics().hints.cycles, 50U);
  EXPECT_EQ(channel.statistics().hints.lost_cycles, 0U);
}

// "Break even": the last hit that is waited for, one cycle before the threshold of 300 - 100, gains one cycle.
TEST_P(Hints, BreaksEvenAtTheThreshold) {
  Channel channel(parameters());
  const Scene scene = play(channel, 199);
  EXPECT_TRUE(scene.awaited->row_hit);
  EXPECT_EQ(scene.conflict->data, 301 + 199 + 100 + 300U);  // 900; without the hint 901
  EXPECT_EQ(channel.statistics().hints.cycles, 199U);
}

// "Too late": the hold has run out, the conflict has started, and the awaited request is a conflict itself.
TEST_P(Hints, LosesTheThresholdWhenTheHitComesLate) {
  Channel channel(parameters());
  const Scene scene = play(channel, 201);
  EXPECT_EQ(scene.conflict->started, 501U);
  EXPECT_FALSE(scene.awaited->row_hit);
  EXPECT_EQ(scene.awaited->data, 301 + 200 + 300 + 300U);
  EXPECT_EQ(channel.statistics().hints.expiries, 1U);
  EXPECT_EQ(channel.statistics().hints.hits, 0U);
  EXPECT_EQ(channel.statistics().hints.lost_cycles, 200U);
  ASSERT_EQ(channel.holds.size(), 1U);
  EXPECT_EQ(channel.holds[0].until, 501U);
  EXPECT_EQ(channel.holds[0].over, 501U);
}

TEST_P(Hints, ConflictStartsInTheCycleInWhichTheHoldRunsOutAndNoEarlier) {
  std::vector<std::unique_ptr<Channel>> channels;
  const std::vector<unsigned> thresholds = {1, 17, 400};
  for (const unsigned threshold : thresholds) {
    DramParameters given = parameters();
    given.hint_threshold = threshold;
    channels.push_back(std::make_unique<Channel>(given, 128, 1.0, ("threshold" + std::to_string(threshold)).c_str()));
    channels.back()->hinted(0, 0);
    channels.back()->read(1, kSameBank);
  }
  for (std::size_t i = 0; i != channels.size(); ++i) {
    channels[i]->run();
    EXPECT_EQ(channels[i]->script()[1].started, 301 + thresholds[i]);
  }
}

TEST_P(Hints, AConflictThatArrivesDuringTheHoldLosesOnlyWhatIsLeft) {
  Channel channel(parameters());
  channel.hinted(0, 0);
  const DramAccess& conflict = channel.read(449, kSameBank);
  channel.run();
  EXPECT_EQ(conflict.started, 501U);
  EXPECT_EQ(channel.statistics().hints.lost_cycles, 51U);
}

TEST_P(Hints, AHoldThatNobodyMissesCostsNothing) {
  Channel channel(parameters());
  channel.hinted(0, 0);
  channel.read(1, kRow);  // another bank
  const DramAccess& late = channel.read(2000, kSameBank);
  channel.run();
  EXPECT_EQ(late.started, 2001U);
  EXPECT_EQ(channel.statistics().hints.expiries, 1U);
  EXPECT_EQ(channel.statistics().hints.cycles, 0U);
}

TEST_P(Hints, OtherBanksAreServedDuringAHold) {
  Channel channel(parameters());
  channel.hinted(0, 0);
  channel.read(310, kSameBank);
  const DramAccess& other = channel.read(320, kRow);
  channel.run();
  EXPECT_EQ(other.started, 321U);
}

TEST_P(Hints, WithoutHintsNothingIsHeld) {
  DramParameters given = parameters();
  given.hints = false;
  Channel channel(given);
  const Scene scene = play(channel, 50);
  EXPECT_EQ(scene.conflict->started, 301U);
  EXPECT_EQ(scene.awaited->data, 901U);
  EXPECT_EQ(channel.statistics().hints.holds, 0U);
}

TEST_P(Hints, AHitThatWaitsForTheBusKeepsTheHold) {
  DramParameters given = parameters();
  given.bandwidth_gbs = 128.0 / 90;  // a slot of 90 cycles
  Channel channel(given);
  channel.hinted(0, 0);
  const DramAccess& conflict = channel.read(1, kSameBank);
  channel.read(100, kRow);  // bus slots of other banks up to 571
  channel.read(100, 2 * kRow);
  channel.read(100, 3 * kRow);
  const DramAccess& awaited = channel.read(490, 128);  // before 501, but its slot is free later only
  channel.run();
  EXPECT_GT(awaited.started, 501U);
  EXPECT_TRUE(awaited.row_hit);
  EXPECT_GE(conflict.started, awaited.data);
  EXPECT_EQ(channel.statistics().hints.hits, 1U);
}

TEST_P(Hints, AHintedHitBeginsTheNextHold) {
  Channel channel(parameters());
  channel.hinted(0, 0);
  const DramAccess& conflict = channel.read(1, kSameBank);
  channel.hinted(350, 128);
  channel.run();
  EXPECT_EQ(channel.statistics().hints.holds, 2U);
  EXPECT_EQ(channel.statistics().hints.hits, 1U);
  EXPECT_EQ(conflict.started, 351 + 100 + 200U);
}

// A chain of hints may not starve a conflict: the bound frees it.
TEST_P(Hints, StarvationBoundEndsAChainOfHolds) {
  DramParameters given = parameters();
  given.starvation_bound = 1000;
  Channel bounded(given, 128, 1.0, "bounded");
  given.starvation_bound = 0;
  Channel endless(given, 128, 1.0, "endless");
  for (Channel* channel : {&bounded, &endless}) {
    channel->hinted(0, 0);
    channel->read(1, kSameBank);
    for (unsigned i = 1; i <= 20; ++i) {
      channel->hinted(300 + 150 * i, 128 * i);
    }
  }
  bounded.run();
  endless.run();
  EXPECT_EQ(bounded.script()[1].started, 2 + 1000U);  // the hit that started in 901 is done
  EXPECT_EQ(endless.script()[1].started, 3301 + 100 + 200U);
}

INSTANTIATE_TEST_SUITE_P(Schedulers, Hints, ::testing::Values("fcfs", "fcfs-per-bank", "fr-fcfs"));

// Strict order: the awaited hit is younger than the conflict and than a request to another bank; what is held back
// counts as not arrived, the rest keeps its order.
TEST(HintsInOrder, HeldRequestsArePassedTheOthersKeepTheirOrder) {
  DramParameters parameters;
  parameters.scheduler = "fcfs";
  Channel channel(parameters);
  channel.hinted(0, 0);
  const DramAccess& held = channel.read(310, kSameBank);
  const DramAccess& first = channel.read(310, kRow);
  const DramAccess& second = channel.read(310, kSameBank + kRow);  // bank 1, behind `first`
  const DramAccess& awaited = channel.read(320, 128);              // behind `second`
  channel.run();
  EXPECT_EQ(first.started, 311U);
  EXPECT_EQ(second.started, 611U);
  EXPECT_EQ(awaited.started, 612U);
  EXPECT_TRUE(awaited.row_hit);  // it had arrived in time
  EXPECT_EQ(held.started, 712U);
}

}  // namespace
}  // namespace heddle::hw::test
