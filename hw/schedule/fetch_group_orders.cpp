// The outer orders of two-level scheduling: round robin (LWM report 3.2; thesis 4.3), and oldest first.
#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/fetch_groups.hpp"

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
    lines.add(CostLine::Kind::estimated, "order of age", fmt::format("{0} warps x log2({0} warps)", shape.pool),
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

const Register<FetchGroupOrder, NextInTurn> in_turn{"round-robin", "the next fetch group in turn"};
const Register<FetchGroupOrder, OldestWarp> oldest_fetch_group{
    "oldest", "the fetch group with the oldest warp that is not stalled"};

}  // namespace

}  // namespace heddle::hw
