// How many host threads to have, found by trial: with times that are given.
#include "tlm/calendar/thread_trial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>

namespace heddle::link {
namespace {

constexpr std::uint64_t kTurnsOfWindow = 10'000;  // of a window

// A host, on which a turn takes so many nanoseconds with so many threads in the n-th window.
class TrialHost {
 public:
  using PerTurn = std::function<double(unsigned threads, unsigned window)>;
  explicit TrialHost(PerTurn per_turn) : per_turn_(std::move(per_turn)) {}
  void have_windows(ThreadTrial& trial, unsigned count) {
    trial.resumes(now_);
    for (unsigned i = 0; i != count; ++i) {
      const unsigned before = trial.threads();
      now_ += static_cast<std::uint64_t>(std::llround(per_turn_(before, windows_++) * kTurnsOfWindow));
      const bool changes = trial.look(kTurnsOfWindow, now_);
      EXPECT_EQ(changes, trial.threads() != before) << "window " << windows_;
    }
    trial.pauses(now_);
    now_ += 1'000'000'000;  // the host does something else, which does not count
  }

 private:
  PerTurn per_turn_;
  std::uint64_t now_ = 77;
  unsigned windows_ = 0;
};

TEST(ThreadTrial, BeginsAloneAndTakesTurns) {
  ThreadTrial trial(4);
  TrialHost host([](unsigned, unsigned) { return 600; });
  EXPECT_EQ(trial.threads(), 1U);
  host.have_windows(trial, 1);
  EXPECT_EQ(trial.threads(), 4U);
  host.have_windows(trial, 1);
  EXPECT_EQ(trial.threads(), 1U);
  EXPECT_FALSE(trial.found());
}

TEST(ThreadTrial, KeepsWhatIsFaster) {
  ThreadTrial trial(4);
  TrialHost host([](unsigned threads, unsigned) { return threads == 1 ? 1000 : 600; });
  host.have_windows(trial, 5);
  EXPECT_FALSE(trial.found());
  host.have_windows(trial, 1);
  EXPECT_TRUE(trial.found());
  EXPECT_EQ(trial.threads(), 4U);
}

TEST(ThreadTrial, FallsBackToOne) {
  ThreadTrial trial(2);
  TrialHost host([](unsigned threads, unsigned) { return threads == 1 ? 1000 : 1300; });
  host.have_windows(trial, 6);
  EXPECT_TRUE(trial.found());
  EXPECT_EQ(trial.threads(), 1U);
}

// A gain that is hardly there costs the other processors for nothing.
TEST(ThreadTrial, WantsMoreThanATrifle) {
  ThreadTrial trifle(2);
  TrialHost([](unsigned threads, unsigned) { return threads == 1 ? 1040 : 1000; }).have_windows(trifle, 6);
  EXPECT_EQ(trifle.threads(), 1U);
  ThreadTrial more(2);
  TrialHost([](unsigned threads, unsigned) { return threads == 1 ? 1060 : 1000; }).have_windows(more, 6);
  EXPECT_EQ(more.threads(), 2U);
}

TEST(ThreadTrial, TriesHalfAsManyWhereAllLose) {
  ThreadTrial trial(12);
  TrialHost host([](unsigned threads, unsigned) { return threads == 3 ? 700 : threads == 1 ? 1000 : 1100; });
  host.have_windows(trial, 6);
  EXPECT_EQ(trial.tried(), 6U);
  EXPECT_FALSE(trial.found());
  host.have_windows(trial, 12);
  EXPECT_TRUE(trial.found());
  EXPECT_EQ(trial.threads(), 3U);
  ThreadTrial three(3);
  TrialHost([](unsigned threads, unsigned) { return threads == 2 ? 700 : 1000; }).have_windows(three, 12);
  EXPECT_TRUE(three.found());
  EXPECT_EQ(three.threads(), 2U);
}

// Somebody else had the processors for one window of them.
TEST(ThreadTrial, IsNotMisledByOneWindow) {
  for (unsigned disturbed = 0; disturbed != 6; ++disturbed) {
    for (const double of_two : {500.0, 2000.0}) {
      ThreadTrial trial(2);
      TrialHost host([&](unsigned threads, unsigned window) {
        return (threads == 1 ? 1000 : of_two) * (window == disturbed ? 50 : 1);
      });
      host.have_windows(trial, 6);
      EXPECT_TRUE(trial.found());
      EXPECT_EQ(trial.threads(), of_two < 1000 ? 2U : 1U) << disturbed;
    }
  }
}

// Turns that become slower all the time are compared with those right before.
TEST(ThreadTrial, ComparesNeighbours) {
  ThreadTrial trial(2);
  TrialHost host([](unsigned threads, unsigned window) { return (threads == 1 ? 1000 : 700) * std::pow(1.2, window); });
  host.have_windows(trial, 6);
  EXPECT_EQ(trial.threads(), 2U);
}

TEST(ThreadTrial, LooksAnewEachTimeTwiceAsLate) {
  ThreadTrial trial(4);
  bool pays = false;
  TrialHost host([&](unsigned threads, unsigned) { return threads == 1 || !pays == (threads != 1) ? 1000 : 500; });
  host.have_windows(trial, 12);
  EXPECT_TRUE(trial.found());
  EXPECT_EQ(trial.threads(), 1U);
  pays = true;
  host.have_windows(trial, ThreadTrial::kHold - 1);
  EXPECT_TRUE(trial.found());
  host.have_windows(trial, 1);
  EXPECT_FALSE(trial.found());
  host.have_windows(trial, 6);
  EXPECT_TRUE(trial.found());
  EXPECT_EQ(trial.threads(), 4U);
  host.have_windows(trial, 2 * ThreadTrial::kHold - 1);
  EXPECT_TRUE(trial.found());
  host.have_windows(trial, 1);
  EXPECT_FALSE(trial.found());
}

// Windows last their time, however many looks that are.
TEST(ThreadTrial, CountsTimeOfWorkOnly) {
  ThreadTrial trial(2);
  std::uint64_t now = 5;
  for (std::uint64_t taken = 0; taken < ThreadTrial::kWindow; taken += ThreadTrial::kWindow / 10) {
    EXPECT_EQ(trial.threads(), 1U);
    trial.resumes(now);
    now += ThreadTrial::kWindow / 10;
    static_cast<void>(trial.look(600, now));
    trial.pauses(now);
    now += 10 * ThreadTrial::kWindow;
  }
  EXPECT_EQ(trial.threads(), 2U);
}

TEST(ThreadTrial, GivesUpForGood) {
  ThreadTrial trial(8);
  TrialHost host([](unsigned, unsigned) { return 1000; });
  host.have_windows(trial, 1);
  trial.give_up();
  host.have_windows(trial, 1000);
  EXPECT_EQ(trial.threads(), 1U);
}

}  // namespace
}  // namespace heddle::link
