// The threads of a warp at convergence barriers, without a core around.
#include "hw/divergence/converging_warp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using SetState = ConvergingWarp::State;

constexpr LaneMask kFour = 0b1111;

// A warp of four threads, and the set of it that runs.
class ConvergingThreads : public ::testing::Test {
 protected:
  ConvergingThreads() { warp_.begin(kFour); }

  void expect(std::uint32_t pc, LaneMask lanes, const char* why = "") const {
    EXPECT_EQ(running_.pc, pc) << why;
    EXPECT_EQ(running_.lanes, lanes) << why;
    EXPECT_EQ(warp_.inconsistency(warp_.idle() ? 0 : running_.lanes), "");
  }
  void step(unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) {
      running_ = warp_.step(running_, count_);
    }
  }
  void branch(std::uint32_t target, std::uint32_t reconvergence, LaneMask taken, bool yields = false) {
    isa::Instruction branch;
    branch.op = isa::Op::BRA;
    branch.guard.reg = 0;
    branch.target = target;
    branch.reconvergence = reconvergence;
    branch.yields = yields;
    running_ = warp_.branch(running_, branch, taken, rules_, count_);
  }
  void exit(LaneMask lanes) { running_ = warp_.exit(running_, lanes, count_); }
  void wait(LaneMask lanes) { running_ = warp_.wait(running_, lanes, count_); }
  void release(LaneMask lanes) {
    warp_.release(lanes);
    if (warp_.idle()) {
      running_ = warp_.pick(count_);
    }
  }
  void sync(LaneMask lanes, LaneMask members) {
    isa::LaneWord all{};
    all.fill(members);
    running_ = warp_.sync(running_, lanes, all, count_);
  }
  // All threads of the running set wait for these.
  void sync(LaneMask members) { sync(running_.lanes, members); }

  ConvergingWarp::Rules rules_;
  ConvergenceStatistics count_;
  ConvergingWarp warp_;
  ConvergingWarp::Path running_{kFour, 0};
};

// PC 0 branches to 5, the paths meet at 8.
TEST_F(ConvergingThreads, RunTheFallThroughPathFirstAndMeet) {
  branch(5, 8, 0b0011);
  expect(1, 0b1100);
  EXPECT_THAT(warp_.sets(), ElementsAre(ConvergingWarp::Set{0b0011, 5, SetState::ready, 0}));
  EXPECT_THAT(warp_.barriers(), ElementsAre(ConvergingWarp::Barrier{8, kFour, true}));
  EXPECT_EQ(warp_.next_stop(running_), 8U);
  branch(8, 8, 0b1100);
  expect(5, 0b0011);
  EXPECT_THAT(warp_.sets(), ElementsAre(ConvergingWarp::Set{0b1100, 8, SetState::meeting, 0}));
  step(2);
  expect(7, 0b0011);
  step();
  expect(8, kFour);
  EXPECT_THAT(warp_.barriers(), IsEmpty());
  EXPECT_EQ(warp_.next_stop(running_), isa::kNoReconvergence);
  EXPECT_EQ(count_.set, 1U);
  EXPECT_EQ(count_.completed, 1U);
}

TEST_F(ConvergingThreads, RunTheTakenPathFirstWhereTheRuleSaysSo) {
  rules_.taken_first = true;
  branch(5, 8, 0b0011);
  expect(5, 0b0011);
  step(3);
  expect(1, 0b1100);
}

// An if without an else: those that skip it wait, whichever path is first.
TEST_F(ConvergingThreads, WaitAtOnceWhereTheirPathBeginsAtTheMeetingPoint) {
  for (const bool taken_first : {false, true}) {
    rules_.taken_first = taken_first;
    running_ = {kFour, 0};
    warp_.begin(kFour);
    branch(3, 3, 0b0001);
    expect(1, 0b1110);
    step(2);
    expect(3, kFour);
  }
}

TEST_F(ConvergingThreads, NestAndMeetInnermostFirst) {
  branch(10, 20, 0b1000);
  expect(1, 0b0111);
  branch(5, 8, 0b0001);
  expect(2, 0b0110);
  branch(4, 6, 0b0010);
  expect(3, 0b0100);
  EXPECT_EQ(warp_.barriers().size(), 3U);
  EXPECT_EQ(warp_.next_stop(running_), 6U);
  step();
  step(2);
  expect(4, 0b0010, "lane 2 waits at 6");
  step(2);
  expect(6, 0b0110);
  step(2);
  expect(5, 0b0001);
  step(3);
  expect(8, 0b0111);
  step(12);
  expect(10, 0b1000);
  step(10);
  expect(20, kFour);
  EXPECT_EQ(count_.completed, 3U);
}

// A loop whose threads leave one by one, by a branch at its end and a break in its midst.
TEST_F(ConvergingThreads, WaitBehindALoopForThoseThatGoRound) {
  branch(9, 9, 0b0001);  // break
  expect(1, 0b1110);
  branch(0, 9, 0b1100);  // back; lane 1 falls through to PC 2, which leads to 9
  expect(2, 0b0010);
  step(7);
  expect(0, 0b1100);
  EXPECT_THAT(warp_.sets(), ElementsAre(ConvergingWarp::Set{0b0011, 9, SetState::meeting, 0}));
  EXPECT_EQ(count_.set, 1U);
  EXPECT_EQ(count_.joined, 1U);
  branch(9, 9, 0b1100);
  expect(9, kFour);
}

TEST_F(ConvergingThreads, DoNotWaitForThoseThatExit) {
  branch(5, 8, 0b0011);
  step(7);
  expect(5, 0b0011);
  exit(0b0001);
  expect(6, 0b0010);
  exit(0b0010);
  expect(8, 0b1100);
  exit(0b1100);
  EXPECT_EQ(running_.lanes, 0U);
  EXPECT_EQ(warp_.live(), 0U);
  EXPECT_THAT(warp_.barriers(), IsEmpty());
}

TEST_F(ConvergingThreads, OfPathsThatNeverMeetRunOneAfterTheOther) {
  branch(5, isa::kNoReconvergence, 0b0011);
  expect(1, 0b1100);
  EXPECT_THAT(warp_.barriers(), IsEmpty());
  exit(0b1100);
  expect(5, 0b0011);
}

// Two sets that wait for their turn at one PC are one.
TEST_F(ConvergingThreads, ThatMayRunAtOnePcAreOneSet) {
  branch(9, isa::kNoReconvergence, 0b0001);
  branch(9, isa::kNoReconvergence, 0b0010);
  EXPECT_THAT(warp_.sets(), ElementsAre(ConvergingWarp::Set{0b0011, 9, SetState::ready, 0}));
}

// ---- registers

TEST_F(ConvergingThreads, PutTheBarrierThatWasSetFirstAside) {
  rules_.registers = 2;
  branch(10, 20, 0b1000);
  branch(5, 8, 0b0001);
  EXPECT_EQ(warp_.moved(), 0U);
  branch(4, 6, 0b0010);
  EXPECT_EQ(warp_.moved(), 1U);
  EXPECT_EQ(warp_.moved(), 0U) << "asked once";
  EXPECT_THAT(warp_.barriers(),
              ElementsAre(ConvergingWarp::Barrier{20, kFour, false}, ConvergingWarp::Barrier{8, 0b0111, true},
                          ConvergingWarp::Barrier{6, 0b0110, true}));
  step(3);
  step(2);
  expect(6, 0b0110);
  step(2);
  step(3);
  expect(8, 0b0111);
  step(12);
  expect(10, 0b1000);
  EXPECT_EQ(warp_.moved(), 0U);
  step(10);
  expect(20, kFour);
  EXPECT_EQ(warp_.moved(), 1U) << "it has come back";
  EXPECT_EQ(count_.spills, 2U);
}

// ---- rounds

// while (lock is taken); ... unlock: the loop is PCs 0 and 1, its threads meet at 2.
TEST_F(ConvergingThreads, ThatSpinLetTheOneThatHasTheLockGoOn) {
  rules_.yield_after = 3;
  step();
  branch(0, 2, 0b1110, true);
  expect(0, 0b1110);
  EXPECT_THAT(warp_.sets(), ElementsAre(ConvergingWarp::Set{0b0001, 2, SetState::meeting, 0}));
  for (unsigned round = 0; round < 2; ++round) {
    step();
    branch(0, 2, 0b1110, true);
    expect(0, 0b1110);
  }
  step();
  branch(0, 2, 0b1110, true);
  expect(2, 0b0001);
  EXPECT_EQ(count_.yields, 1U);
  EXPECT_EQ(count_.left_behind, 1U);
  EXPECT_THAT(warp_.barriers(), IsEmpty());
  EXPECT_THAT(warp_.sets(), ElementsAre(ConvergingWarp::Set{0b1110, 0, SetState::ready, 0}));
  exit(0b0001);
  expect(0, 0b1110);
}

TEST_F(ConvergingThreads, ThatGoRoundWithoutTheMarkDoNotYield) {
  rules_.yield_after = 1;
  step();
  branch(0, 2, 0b1110);
  for (unsigned round = 0; round < 10; ++round) {
    step();
    branch(0, 2, 0b1110);
    expect(0, 0b1110);
  }
  EXPECT_EQ(count_.yields, 0U);
}

// A try-lock: in each round one thread leaves.
TEST_F(ConvergingThreads, ThatLeaveOneByOneMeetBehindTheLoop) {
  rules_.yield_after = 2;
  for (const LaneMask left : {0b1110U, 0b1100U, 0b1000U}) {
    step();
    branch(0, 2, left, true);
    expect(0, left);
  }
  step();
  branch(0, 2, 0, true);
  expect(2, kFour);
  EXPECT_EQ(count_.yields, 0U);
}

// Threads that part and meet again within the loop have not got on.
TEST_F(ConvergingThreads, ThatPartWithinTheLoopGoRoundAllTheSame) {
  rules_.yield_after = 4;
  branch(9, 9, 0b0001);  // leaves
  for (unsigned round = 1; round <= 4; ++round) {
    expect(1, 0b1110);
    branch(3, 4, 0b0010);
    step(2);
    expect(3, 0b0010);
    step();
    expect(4, 0b1110);
    branch(1, 9, 0b1110, true);
  }
  expect(9, 0b0001);
  EXPECT_EQ(count_.left_behind, 1U);
}

// Two loops that wait for each other's threads, and a third set that both wait for.
TEST_F(ConvergingThreads, OfTwoLoopsTakeTurns) {
  rules_.yield_after = 1;
  branch(10, 20, 0b0011);  // PC 0
  expect(1, 0b1100);
  branch(20, 20, 0b1000);
  expect(2, 0b0100);
  branch(2, 20, 0b0100, true);
  expect(10, 0b0011);
  branch(10, 20, 0b0011, true);
  expect(20, 0b1000, "all others have let others run");
  exit(0b1000);
  expect(2, 0b0100, "who let others run first comes first");
  branch(2, 20, 0b0100, true);
  expect(10, 0b0011);
  branch(10, 20, 0b0011, true);
  expect(2, 0b0100, "nothing waits for the two but they for each other");
}

// With nobody to let run a loop goes on, and a whole warp's rounds are not counted.
TEST_F(ConvergingThreads, ThatAreAloneGoOn) {
  rules_.yield_after = 1;
  for (unsigned round = 0; round < 3; ++round) {
    branch(0, 2, kFour, true);
    expect(0, kFour);
  }
  EXPECT_EQ(count_.yields, 0U);
  branch(0, isa::kNoReconvergence, 0b0111, false);
  expect(1, 0b1000);
  wait(0b1000);
  expect(0, 0b0111);
  branch(0, 2, 0b0111, true);
  expect(0, 0b0111, "the other waits at a barrier of the block");
}

// ---- waiting

TEST_F(ConvergingThreads, WaitAtABlocksBarrierEachForItself) {
  branch(5, 8, 0b0011);
  wait(0b1100);
  expect(5, 0b0011);
  wait(0b0011);
  EXPECT_EQ(running_.lanes, 0U);
  EXPECT_TRUE(warp_.idle());
  EXPECT_TRUE(warp_.waits_at_block());
  release(0b0100);
  expect(2, 0b0100);
  release(0b1011);
  step(6);
  expect(2, 0b1000, "those of the barrier's later part run one after the other");
  step(6);
  expect(6, 0b0011);
  step(2);
  expect(8, kFour);
}

TEST_F(ConvergingThreads, ThatABarrierReleasesTogetherAreOneSet) {
  branch(5, isa::kNoReconvergence, 0b0011);
  wait(0b1100);
  branch(1, isa::kNoReconvergence, 0b0011);
  wait(0b0011);
  release(0b1100);
  expect(2, 0b1100);
  warp_.release(0b0011);
  running_ = warp_.pick_again(running_, count_);
  expect(2, kFour);
}

// Threads at a block's barrier are waited for: whatever comes may release them.
TEST_F(ConvergingThreads, WaitForThreadsAtABlocksBarrier) {
  branch(5, 8, 0b0011);
  wait(0b1100);
  step(3);
  EXPECT_TRUE(warp_.idle());
  EXPECT_THAT(warp_.barriers(), ElementsAre(ConvergingWarp::Barrier{8, kFour, true}));
  release(0b1100);
  step(6);
  expect(8, kFour);
}

TEST_F(ConvergingThreads, WaitForTheLanesThatTheyName) {
  branch(5, isa::kNoReconvergence, 0b0011);
  sync(0b0110);
  expect(5, 0b0011, "lanes 2 and 3 wait for lane 1");
  step();
  sync(0b0110);
  EXPECT_EQ(count_.warp_syncs, 2U);
  EXPECT_EQ(count_.warp_sync_waits, 2U);
  expect(2, 0b1100, "who has waited longer comes first");
  exit(0b1100);
  expect(7, 0b0011);
}

TEST_F(ConvergingThreads, ThatAreAllThereDoNotWait) {
  sync(kFour);
  expect(1, kFour);
  sync(~LaneMask{0});
  expect(2, kFour, "lanes without threads are not waited for");
  EXPECT_EQ(count_.warp_sync_waits, 0U);
}

// Threads whose wait has ended at one PC go on together.
TEST_F(ConvergingThreads, GoOnTogetherFromOnePc) {
  branch(5, isa::kNoReconvergence, 0b0001);
  sync(kFour);
  expect(5, 0b0001);
  branch(1, isa::kNoReconvergence, 0b0001);
  expect(1, 0b0001);
  sync(kFour);
  expect(2, kFour);
}

TEST_F(ConvergingThreads, DoNotWaitForLanesThatHaveExited) {
  branch(5, isa::kNoReconvergence, 0b0001);
  sync(kFour);
  expect(5, 0b0001);
  exit(0b0001);
  expect(2, 0b1110);
}

// Of the threads at the instruction those whose guard is false go on.
TEST_F(ConvergingThreads, WhoseGuardIsFalseDoNotWait) {
  sync(0b0011, 0b0111);
  expect(1, 0b1100);
  sync(0b1100, 0b0111);
  expect(1, 0b0011, "who has waited longer comes first");
  EXPECT_THAT(warp_.sets(), ElementsAre(ConvergingWarp::Set{0b1100, 2, SetState::ready, 0}));
}

// Threads before the meeting point wait for threads at it, which are let go on.
TEST_F(ConvergingThreads, AtTheMeetingPointGoOnWhereOthersWaitForThem) {
  branch(5, 8, 0b0011);
  sync(kFour);
  step(3);
  expect(8, 0b0011);
  EXPECT_EQ(count_.given_up, 1U);
  sync(kFour);
  EXPECT_THAT(warp_.barriers(), IsEmpty());
  expect(2, 0b1100);
}

TEST_F(ConvergingThreads, ThatNameEachOtherInVainStandStill) {
  branch(5, isa::kNoReconvergence, 0b0011);
  sync(kFour);
  sync(0b0111);
  EXPECT_EQ(running_.lanes, 0U);
  EXPECT_TRUE(warp_.idle());
  EXPECT_FALSE(warp_.waits_at_block());
  EXPECT_EQ(warp_.in(SetState::syncing), kFour);
  EXPECT_EQ(warp_.describe(),
            "0 convergence barriers; PC 2 lanes 0000000c wait for lanes 0000000f; PC 6 lanes 00000003 wait for lanes "
            "00000007");
}

}  // namespace
}  // namespace heddle::hw
