// Lost-locality scoring: what cache-conscious scheduling (hw/schedule/ccws.cpp) is made of, without a core around it.
// After Rogers, O'Connor and Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012; see CcwsParameters for the
// figures and for what could not be confirmed. Plain C++.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameter.hpp"
#include "tlm/cycle.hpp"

namespace heddle::hw {

using link::Cycle;

struct CcwsParameters {
  static constexpr const char* kSection = "ccws";
  static constexpr const char* kMeaning = "cache-conscious scheduling (core.load_limiter = ccws)";
  unsigned victim_tags = 16;
  unsigned victim_ways = 8;
  unsigned base_score = 100;
  unsigned throttle = 8;
  unsigned decay = 1;
  unsigned score_bits = 16;
  bool crossing = false;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("victim_tags", victim_tags, Limits::power_of_two(1, 4096), "tags",
          "of each warp: lines that it has lost (MICRO 2012: 16)");
    visit("victim_ways", victim_ways, Limits::power_of_two(1, 4096), "ways",
          "of those: associativity; the least recently used goes (MICRO 2012: 8)");
    visit("base_score", base_score, Limits::between(1, 10000), "",
          "score of a warp that has lost nothing; times the live warps it is the cutoff (MICRO 2012: 100)");
    visit(
        "throttle", throttle, Limits::between(0, 1000), "",
        "score at a loss = lost lines / instructions issued x throttle x cutoff, of the core since the launch's start "
        "(MICRO 2012: 8)");
    visit("decay", decay, Limits::between(1, 10000), "cycles", "until a score falls by one (MICRO 2012: 1)");
    visit("score_bits", score_bits, Limits::between(1, 32), "bits",
          "of a score, which saturates (own choice: the width is not known)");
    visit("crossing", crossing, Limits::any(), "",
          "true: the warp at which the sum of scores passes the cutoff may still issue loads (not known)");
  }
};

// The tags of the lines that each warp has lost: `sets` x `ways` of each, least recently used first out.
class VictimTags {
 public:
  VictimTags(unsigned warps, unsigned tags, unsigned ways);
  void clear(unsigned warp);
  // The line (its number: address / line size) has been taken from the warp.
  void insert(unsigned warp, std::uint64_t line);
  // Whether the warp has lost the line. It counts as a use and stays.
  [[nodiscard]] bool probe(unsigned warp, std::uint64_t line);

 private:
  struct Tag {
    std::uint64_t line = 0;
    std::uint64_t used = 0;  // 0: empty
  };
  [[nodiscard]] Tag* set_of(unsigned warp, std::uint64_t line) {
    return &tags_[(std::size_t{warp} * sets_ + line % sets_) * ways_];
  }
  const unsigned ways_;
  const unsigned sets_;
  std::uint64_t uses_ = 0;
  std::vector<Tag> tags_;
};

// A warp's score: what it was at some time, less what has decayed since; never below the base.
class LocalityScores {
 public:
  LocalityScores(unsigned warps, const CcwsParameters& parameters);
  // Everything as at the start of a launch.
  void reset();
  // A new warp has this place.
  void begin(unsigned warp) { scores_[warp] = {}; }
  void issued() { ++issued_; }
  // The warp has lost a line: its score is at least (lost lines / instructions) x throttle x cutoff from now on.
  void lost(unsigned warp, std::uint64_t cutoff, Cycle now);
  [[nodiscard]] std::uint64_t cutoff(std::uint64_t live) const { return live * base_; }
  [[nodiscard]] std::uint64_t at(unsigned warp, Cycle now) const { return base_ + excess(warp, now); }
  // Above the base.
  [[nodiscard]] std::uint64_t excess(unsigned warp, Cycle now) const;
  // The cycle in which it is back at the base; in the past for one that is.
  [[nodiscard]] Cycle at_base(unsigned warp) const { return after(scores_[warp].since, scores_[warp].excess); }
  // All scores fall at the same times: the cycle in which they have done so `steps` times since `now`.
  [[nodiscard]] Cycle after(Cycle now, std::uint64_t steps) const { return (now / decay_ + steps) * decay_; }

 private:
  struct Score {
    std::uint64_t excess = 0;  // in cycle `since`
    Cycle since = 0;
  };
  const std::uint64_t base_;
  const std::uint64_t throttle_;
  const unsigned decay_;
  const std::uint64_t most_;
  std::vector<Score> scores_;
  std::uint64_t lost_ = 0;
  std::uint64_t issued_ = 0;
};

// Which warps may issue loads: stacked from the highest score down (equal ones: the older warp first), warps whose
// stack does not rise above the cutoff (`crossing`: that does not begin at or above it), and the first in any case.
class ScoreStack {
 public:
  struct Entry {
    unsigned warp = 0;
    std::uint64_t age = 0;
    std::uint64_t score = 0;
  };
  explicit ScoreStack(bool crossing) : crossing_(crossing) {}
  // The live warps, in any order. After it: allowed(), changes().
  void stack(std::vector<Entry>& warps, const LocalityScores& scores, Cycle now);
  // How many of the sorted warps may.
  [[nodiscard]] std::size_t allowed() const { return allowed_; }
  // The earliest cycle in which decay alone may change that or the order; kNever: in none.
  [[nodiscard]] Cycle changes() const { return changes_; }

 private:
  const bool crossing_;
  std::size_t allowed_ = 0;
  Cycle changes_ = link::kNever;
};

}  // namespace heddle::hw
