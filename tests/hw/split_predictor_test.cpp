// The predictor of misses that decides when a warp parts: what it learns from a history of accesses made by hand, what
// it says then, and how it judges itself.
#include "hw/divergence/split_predictor.hpp"

#include <gtest/gtest.h>

namespace heddle::hw {
namespace {

struct PredictorBench {
  explicit PredictorBench(unsigned entries = 8, unsigned threshold = 100, unsigned bits = 10)
      : predictor({entries, bits, threshold, 8}, count) {}
  // An access of a group: it begins and is put aside in one cycle, and ends in another one.
  void miss(GroupId group, std::uint32_t pc, Cycle begin, Cycle end) {
    begins(group, pc, begin);
    predictor.completed(group, pc, end);
  }
  void begins(GroupId group, std::uint32_t pc, Cycle now) {
    predictor.accesses(group);
    predictor.misses(group, pc, now);
  }
  void hit(GroupId group, std::uint32_t pc, Cycle end) {
    predictor.accesses(group);
    predictor.completed(group, pc, end);
  }
  // "predictions right wrong"
  [[nodiscard]] std::string counts() const {
    return std::to_string(count.predictions) + " " + std::to_string(count.predictions_right) + " " +
           std::to_string(count.predictions_wrong);
  }
  CoreStatistics count;
  SplitPredictor predictor;
};

TEST(MovingCycles, TakeTheFirstSampleAndThenAQuarterOfEachDifference) {
  MovingCycles average;
  EXPECT_FALSE(average.known());
  average.learn(100, 1023);
  EXPECT_TRUE(average.known());
  EXPECT_EQ(average.value(), 100U);
  average.learn(180, 1023);
  EXPECT_EQ(average.value(), 120U);
  average.learn(80, 1023);
  EXPECT_EQ(average.value(), 110U);
  average.learn(111, 1023);
  EXPECT_EQ(average.value(), 111U) << "by one at least";
  average.learn(110, 1023);
  EXPECT_EQ(average.value(), 110U);
  average.learn(110, 1023);
  EXPECT_EQ(average.value(), 110U);
  average.learn(5000, 1023);
  EXPECT_EQ(average.value(), 110U + (1023 - 110) / 4) << "a sample has no more than the largest value";
}

TEST(SplitPredictor, LearnsHowLongAnAccessWaitsAndHowSoonTheGroupMissesAgain) {
  PredictorBench bench;
  bench.miss(0, 1, 100, 160);
  EXPECT_EQ(bench.predictor.latency(1).value(), 60U);
  EXPECT_FALSE(bench.predictor.distance(1).known());
  bench.begins(1, 5, 170);  // another group's business
  EXPECT_FALSE(bench.predictor.distance(1).known());
  bench.miss(0, 2, 190, 200);
  EXPECT_EQ(bench.predictor.distance(1).value(), 30U);
  EXPECT_EQ(bench.predictor.latency(2).value(), 10U);
}

TEST(SplitPredictor, AnInstructionThatIsNoAccessTeachesNothing) {
  PredictorBench bench;
  bench.predictor.completed(0, 1, 100);
  bench.miss(0, 2, 120, 130);
  EXPECT_FALSE(bench.predictor.distance(1).known());
  EXPECT_FALSE(bench.predictor.latency(1).known());
}

TEST(SplitPredictor, AnAccessThatHitsPassesOnWhatItsPcSays) {
  PredictorBench bench;
  bench.miss(0, 2, 0, 10);
  bench.miss(0, 3, 50, 60);  // 40 cycles behind 2
  bench.hit(0, 1, 100);
  EXPECT_FALSE(bench.predictor.distance(3).known()) << "nothing is known of 1 yet";
  bench.hit(0, 2, 107);
  EXPECT_EQ(bench.predictor.distance(1).value(), 7U + 40U);
}

TEST(SplitPredictor, PcsShareEntriesModuloTheirNumber) {
  PredictorBench bench(4);
  bench.miss(0, 1, 0, 60);
  EXPECT_EQ(bench.predictor.latency(5).value(), 60U);
  EXPECT_FALSE(bench.predictor.latency(4).known());
}

TEST(SplitPredictor, SaysYesToWhatItDoesNotKnow) {
  PredictorBench bench;
  bench.begins(0, 1, 0);
  EXPECT_TRUE(bench.predictor.predict(0, 1, 0));
  bench.predictor.completed(0, 1, 60);
  bench.begins(1, 1, 100);
  EXPECT_TRUE(bench.predictor.predict(1, 1, 100)) << "of the distance nothing is known";
  EXPECT_FALSE(bench.predictor.declined(1));
}

// PC 1 waits for 60 cycles, and the next miss is 40 cycles behind it.
struct Sixty : PredictorBench {
  explicit Sixty(unsigned threshold = 100) : PredictorBench(8, threshold) {
    miss(7, 1, 0, 60);
    miss(7, 2, 100, 110);
    predictor.gone(7, true);
  }
};

TEST(SplitPredictor, SaysYesWhileTheMissComesBeforeTheLines) {
  Sixty bench;
  bench.begins(0, 1, 1000);
  EXPECT_TRUE(bench.predictor.predict(0, 1, 1020)) << "40 cycles, and 40 are left";
  EXPECT_FALSE(bench.predictor.predict(0, 1, 1021));
  EXPECT_TRUE(bench.predictor.declined(0));
  bench.predictor.completed(0, 1, 1060);
  EXPECT_FALSE(bench.predictor.declined(0)) << "for that access alone";
  bench.begins(0, 1, 2000);
  EXPECT_FALSE(bench.predictor.predict(0, 1, 2060)) << "due";
  bench.begins(1, 1, 2000);
  EXPECT_TRUE(bench.predictor.predict(1, 1, 2061)) << "overdue: nobody knows";
}

TEST(SplitPredictor, TheThresholdIsAShareOfWhatIsLeft) {
  Sixty strict(66);
  strict.begins(0, 1, 1000);
  EXPECT_FALSE(strict.predictor.predict(0, 1, 1000)) << "40 of 60 are more than 66 %";
  Sixty exact(67);
  exact.begins(0, 1, 1000);
  EXPECT_TRUE(exact.predictor.predict(0, 1, 1000));
  Sixty never(0);
  never.begins(0, 1, 1000);
  EXPECT_FALSE(never.predictor.predict(0, 1, 1000));
}

TEST(SplitPredictor, PartingWasRightIfThoseAheadMissBeforeTheLinesCome) {
  PredictorBench bench;
  bench.begins(0, 1, 100);
  EXPECT_TRUE(bench.predictor.predict(0, 1, 100));
  bench.predictor.parted(0, 3);
  bench.predictor.completed(3, 1, 102);
  EXPECT_EQ(bench.counts(), "1 0 0");
  bench.begins(3, 2, 110);
  EXPECT_EQ(bench.counts(), "1 1 0");
  EXPECT_EQ(bench.predictor.distance(1).value(), 8U) << "those ahead teach too";
  bench.predictor.completed(0, 1, 160);
  EXPECT_EQ(bench.counts(), "1 1 0") << "once";
}

TEST(SplitPredictor, PartingWasWrongIfTheLinesComeFirst) {
  PredictorBench bench;
  bench.begins(0, 1, 100);
  EXPECT_TRUE(bench.predictor.predict(0, 1, 100));
  bench.predictor.parted(0, 3);
  bench.predictor.completed(3, 1, 102);
  bench.predictor.completed(0, 1, 160);
  EXPECT_EQ(bench.counts(), "1 0 1");
  bench.begins(3, 2, 170);
  EXPECT_EQ(bench.counts(), "1 0 1");
}

TEST(SplitPredictor, ThoseAheadWhoHaveJoinedOthersMissNoMore) {
  PredictorBench bench;
  bench.begins(0, 1, 100);
  EXPECT_TRUE(bench.predictor.predict(0, 1, 100));
  bench.predictor.parted(0, 3);
  bench.predictor.completed(3, 1, 102);
  bench.predictor.gone(3, false);
  bench.begins(3, 2, 105);  // another group has the number
  EXPECT_EQ(bench.counts(), "1 0 0");
  bench.predictor.completed(0, 1, 160);
  EXPECT_EQ(bench.counts(), "1 0 1");
}

// Two leave, one after the other; one of them misses in time.
TEST(SplitPredictor, EachThatLeavesIsJudged) {
  PredictorBench bench;
  bench.begins(0, 1, 100);
  EXPECT_TRUE(bench.predictor.predict(0, 1, 100));
  bench.predictor.parted(0, 3);
  EXPECT_TRUE(bench.predictor.predict(0, 1, 120));
  bench.predictor.parted(0, 4);
  bench.predictor.completed(3, 1, 121);
  bench.predictor.completed(4, 1, 122);
  bench.begins(4, 2, 130);
  bench.predictor.completed(0, 1, 160);
  EXPECT_EQ(bench.counts(), "2 1 1");
}

TEST(SplitPredictor, StayingTogetherWasRightIfTheNextMissComesLate) {
  for (const bool late : {false, true}) {
    Sixty bench(0);
    bench.begins(0, 1, 1000);
    EXPECT_FALSE(bench.predictor.predict(0, 1, 1010));
    bench.predictor.completed(0, 1, 1060);  // 50 cycles later
    bench.hit(0, 4, 1070);
    EXPECT_EQ(bench.counts(), "1 0 0");
    bench.begins(0, 2, 1060 + (late ? 50 : 49));
    EXPECT_EQ(bench.counts(), late ? "1 1 0" : "1 0 1");
  }
}

TEST(SplitPredictor, StayingTogetherWasRightIfThereIsNoOtherMiss) {
  Sixty bench(0);
  bench.begins(0, 1, 1000);
  EXPECT_FALSE(bench.predictor.predict(0, 1, 1010));
  bench.predictor.completed(0, 1, 1060);
  bench.predictor.gone(0, true);
  EXPECT_EQ(bench.counts(), "1 1 0");
  bench.begins(1, 1, 2000);
  EXPECT_FALSE(bench.predictor.predict(1, 1, 2010));
  bench.predictor.completed(1, 1, 2060);
  bench.predictor.gone(1, false);
  EXPECT_EQ(bench.counts(), "2 1 0") << "who has joined others says nothing";
}

}  // namespace
}  // namespace heddle::hw
