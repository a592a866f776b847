// Cache-conscious scheduling (Rogers, O'Connor and Aamodt, MICRO 2012): victim tags, scores and their stack alone, and
// the policy with groups and lines made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "hw/check/machine.hpp"
#include "hw/schedule/load_limiter.hpp"
#include "hw/schedule/lost_locality.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;

TEST(VictimTags, ForgetTheLeastRecentlyUsedOfASet) {
  VictimTags tags(2, 4, 2);  // two sets of two
  for (const std::uint64_t line : {0U, 2U, 1U}) {
    tags.insert(0, line);
  }
  EXPECT_TRUE(tags.probe(0, 0));  // used again: 2 is the oldest of set 0
  tags.insert(0, 4);
  EXPECT_FALSE(tags.probe(0, 2));
  EXPECT_TRUE(tags.probe(0, 0));
  EXPECT_TRUE(tags.probe(0, 4));
  EXPECT_TRUE(tags.probe(0, 1)) << "another set";
  EXPECT_FALSE(tags.probe(1, 0)) << "another warp's";
  tags.insert(0, 0);  // there already: takes no other place
  EXPECT_TRUE(tags.probe(0, 4));
  tags.clear(0);
  EXPECT_FALSE(tags.probe(0, 0));
}

// Lost lines / instructions x throttle x cutoff: 1 / 40 x 8 x 400 = 80 is below the base, 2 / 40 makes 160.
TEST(LocalityScores, RiseWithLossesPerInstruction) {
  LocalityScores scores(4, {});
  for (unsigned i = 0; i != 40; ++i) {
    scores.issued();
  }
  EXPECT_EQ(scores.cutoff(4), 400U);
  scores.lost(1, 400, 1000);
  EXPECT_EQ(scores.at(1, 1000), 100U);
  scores.lost(1, 400, 1000);
  EXPECT_EQ(scores.at(1, 1000), 160U);
  EXPECT_EQ(scores.at(1, 1059), 101U);
  EXPECT_EQ(scores.at(1, 1060), 100U);
  EXPECT_EQ(scores.at(1, 5000), 100U);
  EXPECT_EQ(scores.at_base(1), 1060U);
  EXPECT_EQ(scores.at(0, 1000), 100U);
  scores.begin(1);
  EXPECT_EQ(scores.at(1, 1000), 100U);
}

TEST(LocalityScores, NeverFallByALossAndSaturate) {
  CcwsParameters parameters;
  parameters.score_bits = 8;
  LocalityScores scores(1, parameters);
  scores.issued();
  scores.lost(0, 100, 0);  // 1 / 1 x 8 x 100
  EXPECT_EQ(scores.at(0, 0), 255U);
  for (unsigned i = 0; i != 10'000; ++i) {
    scores.issued();
  }
  scores.lost(0, 100, 10);  // next to nothing
  EXPECT_EQ(scores.at(0, 10), 245U);
}

TEST(LocalityScores, DecayInStepsOfTheirInterval) {
  CcwsParameters parameters;
  parameters.decay = 10;
  LocalityScores scores(1, parameters);
  for (unsigned i = 0; i != 10; ++i) {
    scores.issued();
  }
  scores.lost(0, 130, 5);  // 104
  EXPECT_EQ(scores.at(0, 9), 104U);
  EXPECT_EQ(scores.at(0, 10), 103U);
  EXPECT_EQ(scores.at(0, 39), 101U);
  EXPECT_EQ(scores.at_base(0), 40U);
  EXPECT_EQ(scores.at(0, 40), 100U);
}

// The stack of four warps whose scores are `excess` above 100, in order of age; who may load, by number.
class Stacked {
 public:
  Stacked(const std::vector<unsigned>& excess, bool crossing = false)
      : scores_(static_cast<unsigned>(excess.size()), {}), stack_(crossing), excess_(excess) {
    for (unsigned warp = 0; warp != excess.size(); ++warp) {
      if (excess[warp] != 0) {
        raise(warp, excess[warp]);
      }
    }
  }
  std::vector<unsigned> allowed(Cycle now) {
    entries_.clear();
    for (unsigned warp = 0; warp != excess_.size(); ++warp) {
      entries_.push_back({warp, warp, scores_.at(warp, now)});
    }
    stack_.stack(entries_, scores_, now);
    std::vector<unsigned> out;
    for (std::size_t i = 0; i != stack_.allowed(); ++i) {
      out.push_back(entries_[i].warp);
    }
    return out;
  }
  [[nodiscard]] Cycle changes() const { return stack_.changes(); }

 private:
  // Scores start from 100: a throttle of 8 and `losses` lost lines per 8 x losses instructions are the cutoff itself.
  void raise(unsigned warp, unsigned excess) {
    ++losses_;
    while (issued_ < 8 * losses_) {
      scores_.issued();
      ++issued_;
    }
    scores_.lost(warp, 100 + excess, 0);
  }
  LocalityScores scores_;
  ScoreStack stack_;
  std::vector<unsigned> excess_;
  std::vector<ScoreStack::Entry> entries_;
  std::uint64_t losses_ = 0;
  std::uint64_t issued_ = 0;
};

TEST(ScoreStack, AllMayLoadWhileNobodyHasLostAnything) {
  Stacked stacked({0, 0, 0, 0});
  EXPECT_THAT(stacked.allowed(0), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(stacked.changes(), link::kNever);
}

// Scores 100, 100, 150, 100 against a cutoff of 400: the youngest of the lowest is above it, for 50 cycles.
TEST(ScoreStack, TheYoungestOfTheLowestIsPushedOut) {
  Stacked stacked({0, 0, 50, 0});
  EXPECT_THAT(stacked.allowed(0), ElementsAre(2, 0, 1));
  EXPECT_EQ(stacked.changes(), 50U);
  EXPECT_THAT(stacked.allowed(49), ElementsAre(2, 0, 1));
  EXPECT_EQ(stacked.changes(), 50U);
  EXPECT_THAT(stacked.allowed(50), ElementsAre(0, 1, 2, 3));
}

// 250 + 250 > 400: one alone; 50 cycles later both, 100 cycles later another one too (150 + 150 + 100).
TEST(ScoreStack, TheHighestMayLoadInAnyCase) {
  Stacked stacked({400, 0, 0, 0});
  EXPECT_THAT(stacked.allowed(0), ElementsAre(0)) << "500 alone is above the cutoff";
  Stacked two({150, 0, 150, 0});
  EXPECT_THAT(two.allowed(0), ElementsAre(0));
  EXPECT_EQ(two.changes(), 50U);
  EXPECT_THAT(two.allowed(49), ElementsAre(0));
  EXPECT_THAT(two.allowed(50), ElementsAre(0, 2));
  EXPECT_THAT(two.allowed(99), ElementsAre(0, 2));
  EXPECT_THAT(two.allowed(100), ElementsAre(0, 2, 1));
}

TEST(ScoreStack, TheOneThatCrossesTheCutoffMayLoadIfWanted) {
  Stacked stacked({0, 0, 50, 0}, true);
  EXPECT_THAT(stacked.allowed(0), ElementsAre(2, 0, 1, 3)) << "it begins at 350";
  Stacked more({0, 0, 100, 0}, true);
  EXPECT_THAT(more.allowed(0), ElementsAre(2, 0, 1)) << "it begins at 400";
  EXPECT_EQ(more.changes(), 1U);
  EXPECT_THAT(more.allowed(1), ElementsAre(2, 0, 1, 3));
}

// ---- the policy

class Limiter : public ::testing::Test {
 protected:
  Limiter() {
    for (GroupId id = 0; id != 4; ++id) {
      begin(id);
    }
    limiter_ = Registry<LoadLimiter>::instance().make("ccws", {groups_, machine_, statistics_});
    limiter_->begin_launch();
    for (unsigned i = 0; i != 16; ++i) {
      limiter_->issued(groups_[0]);
    }
  }
  void begin(GroupId id) {
    groups_[id].age = groups_.next_age();
    groups_.set_state(groups_[id], GroupState::ready);
  }
  // The group gets the line into frame 0, another line takes the frame, and the group misses the line.
  void lose(GroupId id, std::uint64_t line, Cycle now) {
    limiter_->installed(0, id);
    limiter_->evicted(0, line);
    limiter_->missed(line, id, now);
  }
  std::vector<bool> may(Cycle now) {
    std::vector<bool> out;
    for (GroupId id = 0; id != 4; ++id) {
      out.push_back(limiter_->may_load(groups_[id], now));
    }
    return out;
  }

  Machine machine_;
  CoreStatistics statistics_{32};
  GroupTable groups_{4, 1};
  std::unique_ptr<LoadLimiter> limiter_;
};

TEST_F(Limiter, AWarpThatLosesItsLineShutsTheYoungestOut) {
  EXPECT_THAT(may(10), ElementsAre(true, true, true, true));
  limiter_->missed(0x1000, 0, 20);
  EXPECT_EQ(statistics_.lost_locality, 0U) << "it never had the line";
  lose(0, 0x1000, 20);  // 1 / 16 x 8 x 400 = 200
  EXPECT_EQ(statistics_.lost_locality, 1U);
  EXPECT_THAT(may(20), ElementsAre(true, true, true, false));
  EXPECT_EQ(limiter_->next_change(), 120U);
  EXPECT_THAT(may(119), ElementsAre(true, true, true, false));
  EXPECT_THAT(may(120), ElementsAre(true, true, true, true));
}

TEST_F(Limiter, AnotherWarpsLossIsNotItsOwn) {
  limiter_->installed(0, 1);
  limiter_->evicted(0, 0x1000);
  limiter_->missed(0x1000, 2, 20);
  EXPECT_EQ(statistics_.lost_locality, 0U);
  limiter_->missed(0x1000, 1, 20);
  EXPECT_EQ(statistics_.lost_locality, 1U);
}

TEST_F(Limiter, AWarpThatBeginsHasLostNothing) {
  limiter_->installed(0, 0);
  limiter_->installed(1, 0);
  limiter_->evicted(0, 0x1000);
  groups_.set_state(groups_[0], GroupState::free);
  begin(0);
  limiter_->missed(0x1000, 0, 20);
  limiter_->evicted(1, 0x2000);  // the line of the one that is gone
  limiter_->missed(0x2000, 0, 21);
  EXPECT_EQ(statistics_.lost_locality, 0U);
}

TEST_F(Limiter, TheCutoffGoesWithTheLiveWarps) {
  lose(0, 0x1000, 20);
  EXPECT_THAT(may(20), ElementsAre(true, true, true, false));
  groups_.set_state(groups_[1], GroupState::free);  // 200 + 100 of 300
  EXPECT_TRUE(limiter_->may_load(groups_[2], 21));
  EXPECT_FALSE(limiter_->may_load(groups_[3], 21));
  begin(1);  // now the youngest
  EXPECT_TRUE(limiter_->may_load(groups_[3], 22));
  EXPECT_FALSE(limiter_->may_load(groups_[1], 22));
}

std::string refusal(const std::function<void(Machine&)>& change) {
  Machine machine;
  machine.core.load_limiter = "ccws";
  change(machine);
  std::string out;
  for (const Contradiction& one : check(machine)) {
    out += one.key + ": " + one.message + "\n";
  }
  return out;
}

TEST(LoadLimiterCheck, RefusesWhatCannotGoTogether) {
  EXPECT_EQ(refusal([](Machine&) {}), "");
  EXPECT_EQ(refusal([](Machine& machine) { machine.core.divergence = "per-thread-pc"; }), "");
  EXPECT_EQ(refusal([](Machine& machine) { machine.core.divergence = "tbc"; }),
            "core.load_limiter: core.load_limiter = \"ccws\" remembers what each warp has lost; core.divergence = "
            "\"tbc\" does not keep the threads of a warp together\n");
  EXPECT_EQ(refusal([](Machine& machine) { machine.l1d.enabled = false; }),
            "core.load_limiter: core.load_limiter = \"ccws\" scores lines that warps lose from the L1; l1d.enabled is "
            "false\n");
  EXPECT_EQ(refusal([](Machine& machine) { machine.core.policies.of<CcwsParameters>().victim_tags = 4; }),
            "ccws.victim_ways: ccws.victim_ways (8) is more than ccws.victim_tags (4)\n");
  EXPECT_EQ(refusal([](Machine& machine) { machine.core.policies.of<CcwsParameters>().score_bits = 6; }),
            "ccws.base_score: ccws.base_score (100) does not fit into ccws.score_bits (6)\n");
  EXPECT_EQ(refusal([](Machine& machine) { machine.watchdog.deadlock_cycles = 65535; }),
            "watchdog.deadlock_cycles: watchdog.deadlock_cycles (65535) is not above 65535, the cycles for which a "
            "score of ccws.score_bits (16) may hold loads back\n");
  EXPECT_EQ(refusal([](Machine& machine) { machine.watchdog.deadlock_cycles = 65536; }), "");
}

}  // namespace
}  // namespace heddle::hw
