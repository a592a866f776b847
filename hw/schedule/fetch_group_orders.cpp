// The outer orders of two-level scheduling. A fetch group that is first stays so until its turn is over, so that each
// of them is greedy but for `fixed`:
//
//   round-robin     LWM report 3.2; thesis 4.3
//   oldest          greedy-then-oldest over fetch groups: Rogers et al., Cache-Conscious Wavefront Scheduling (MICRO
//                   2012), who have greedy-then-oldest on both levels (thesis 3.3)
//   fixed           always the same one is preferred while it can go on, so that few warps use the cache at a time: the
//                   locality-aware scheduling of Jog et al., OWL (ASPLOS 2013), over fetch groups
//   least-progress  who has made the least progress() (thesis 9.2.2)
#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/fetch_groups.hpp"
#include "hw/schedule/least_progress.hpp"

namespace heddle::hw {

namespace {

class NextInTurn final : public FetchGroupOrder {
 public:
  explicit NextInTurn(const Setup& setup) : fetch_groups_(setup.fetch_groups) {}
  unsigned next(unsigned first) override { return fetch_groups_.next_live(first); }

 private:
  const FetchGroups& fetch_groups_;
};

// The fetch group with the oldest live warp that is not stalled; with none such, the next in turn that has warps.
class OldestWarp final : public FetchGroupOrder {
 public:
  static constexpr Traits traits{.ages_of_all_warps = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    lines.add(CostLine::Kind::estimated, kOrderOfAge, fmt::format("{0} warps x log2({0} warps)", shape.pool),
              shape.pool * index_bits(shape.pool), "own estimate: the oldest over all fetch groups");
  }

  explicit OldestWarp(const Setup& setup) : fetch_groups_(setup.fetch_groups) {}

  unsigned next(unsigned first) override {
    unsigned best = fetch_groups_.next_live(first);
    std::optional<std::uint64_t> age;
    for (unsigned step = 1; step < fetch_groups_.count; ++step) {
      fetch_groups_.each_going_on(fetch_groups_.behind(first, step), [&](GroupId id) {
        const std::uint64_t its_age = fetch_groups_.groups[id].age;
        if (!age || its_age < *age) {
          age = its_age;
          best = fetch_groups_.of(id);
        }
      });
    }
    return best;
  }

 private:
  const FetchGroups& fetch_groups_;
};

// The lowest number that goes on.
class FixedPreference final : public FetchGroupOrder {
 public:
  static constexpr Traits traits{.interrupts = true};
  explicit FixedPreference(const Setup& setup) : fetch_groups_(setup.fetch_groups) {}

  unsigned next(unsigned first) override {
    for (unsigned fetch_group = 0; fetch_group < fetch_groups_.count; ++fetch_group) {
      if (fetch_groups_.goes_on(fetch_group)) {
        return fetch_group;
      }
    }
    return fetch_groups_.has_live(first) ? first : fetch_groups_.next_live(first);
  }

 private:
  const FetchGroups& fetch_groups_;
};

// The fetch group with the warp that has made the least progress, of warps that are not stalled; of equals the next in
// turn.
class LeastProgressWarp final : public FetchGroupOrder {
 public:
  using Parameters = LeastProgressParameters;
  static void cost(const CostShape& shape, CostLines& lines) { cost_of_progress(shape, lines); }

  explicit LeastProgressWarp(const Setup& setup) : fetch_groups_(setup.fetch_groups), progress_of_(setup.core) {}

  unsigned next(unsigned first) override {
    unsigned best = fetch_groups_.next_live(first);
    std::optional<std::uint32_t> least;
    for (unsigned step = 1; step < fetch_groups_.count; ++step) {
      const unsigned candidate = fetch_groups_.behind(first, step);
      fetch_groups_.each_going_on(candidate, [&](GroupId id) {
        if (const std::uint32_t made = progress_of_(fetch_groups_.groups[id]); !least || made < *least) {
          least = made;
          best = candidate;
        }
      });
    }
    return best;
  }

 private:
  const FetchGroups& fetch_groups_;
  const ProgressOf progress_of_;
};

const Register<FetchGroupOrder, FixedPreference> fixed_preference{
    "fixed", "the fetch group with the lowest number that is not stalled, again as soon as it is not"};
const Register<FetchGroupOrder, LeastProgressWarp> least_progress_fetch_group{
    "least-progress", "the fetch group with the warp that has made the least progress()"};
const Register<FetchGroupOrder, NextInTurn> in_turn{"round-robin", "the next fetch group in turn"};
const Register<FetchGroupOrder, OldestWarp> oldest_fetch_group{
    "oldest", "the fetch group with the oldest warp that is not stalled"};

}  // namespace

}  // namespace heddle::hw
