// Schedulers for dynamic warp formation: the two that the thesis compares with (5.2, id dwf-avg; LWM report 4 and 6),
// and the one that the ODGS paper would try for WP (3.7).
//
// Majority: the PC at which most threads, or most warps, of those that are ready stand; its warps are fetched until
// none is left, then the next majority is found.
// Post-dominator priority: the ready warp whose threads have passed the fewest re-convergence points, so that threads
// behind catch up and merge; ties go to the older warp.
// Lowest PC: the ready warp at the lowest PC, of several the oldest: in code laid out in the order of the program, who
// stands there is behind.
#include <fmt/format.h>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/dynamic_warps.hpp"
#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

// The oldest warp of a range at a PC.
MaybeGroup oldest_at(const GroupRange& range, std::uint32_t pc) {
  const ReadyByPc& ready = range.groups.ready_by_pc();
  if (range.all()) {
    return ready.oldest(pc);
  }
  MaybeGroup oldest;
  ready.each_at(pc, [&](GroupId id, unsigned) {
    oldest = range.has(id) ? MaybeGroup(id) : MaybeGroup();
    return !oldest;
  });
  return oldest;
}

class Majority final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true, .needs_warp_pool = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_ages(shape, lines);
    lines.add(CostLine::Kind::estimated, "PC of the majority", fmt::format("{}{}", each_set_of(shape), kPcBits),
              shape.sets * kPcBits, "thesis 5.2; own estimate");
  }

  using Parameters = MajorityParameters;
  explicit Majority(const Setup& setup)
      : range_(setup), of_warps_(setup.core.policies.of<MajorityParameters>().counts == "warps") {}

  MaybeGroup pick(Cycle) override {
    MaybeGroup picked = oldest_at(range_, pc_);
    if (!picked) {
      find_majority();
      picked = oldest_at(range_, pc_);
    }
    return picked;
  }

 private:
  // Of equal counts the lowest PC.
  void find_majority() {
    const ReadyByPc& ready = range_.groups.ready_by_pc();
    unsigned most = 0;
    ready.each_pc([&](std::uint32_t pc, unsigned threads, unsigned warps) {
      unsigned count = of_warps_ ? warps : threads;
      if (!range_.all()) {
        count = 0;
        ready.each_at(pc, [&](GroupId id, unsigned of_it) {
          count += !range_.has(id) ? 0 : of_warps_ ? 1 : of_it;
          return true;
        });
      }
      if (count > most || (count == most && count != 0 && pc < pc_)) {
        most = count;
        pc_ = pc;
      }
    });
  }

  const GroupRange range_;
  const bool of_warps_;
  std::uint32_t pc_ = 0;
};

class PostDominatorPriority final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true, .needs_merge_points = true, .needs_warp_pool = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_ages(shape, lines);
    lines.add(CostLine::Kind::estimated, "post-dominators passed", fmt::format("core.threads {} x 16", shape.threads),
              shape.threads * 16, "thesis 3.2.1; own estimate: counters of 16 bits");
  }

  explicit PostDominatorPriority(const Setup& setup) : range_(setup) {}

  MaybeGroup pick(Cycle) override {
    MaybeGroup best;
    range_.each_ready([&](GroupId id) {
      const Group& group = range_.groups[id];
      if (!best || group.merge_points < range_.groups[*best].merge_points ||
          (group.merge_points == range_.groups[*best].merge_points && group.age < range_.groups[*best].age)) {
        best = id;
      }
    });
    return best;
  }

 private:
  const GroupRange range_;
};

class LowestPc final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true, .needs_warp_pool = true};
  static void cost(const CostShape& shape, CostLines& lines) { cost_of_ages(shape, lines); }

  explicit LowestPc(const Setup& setup) : range_(setup) {}

  MaybeGroup pick(Cycle) override {
    MaybeGroup lowest;
    std::uint32_t at = 0;
    range_.groups.ready_by_pc().each_pc([&](std::uint32_t pc, unsigned, unsigned) {
      if (lowest && pc > at) {
        return;
      }
      if (const MaybeGroup oldest = oldest_at(range_, pc)) {
        lowest = oldest;
        at = pc;
      }
    });
    return lowest;
  }

 private:
  const GroupRange range_;
};

const Register<WarpScheduler, Majority> majority{"majority", "dynamic warps: the PC with most threads first"};
const Register<WarpScheduler, LowestPc> lowest_pc{"lowest-pc", "dynamic warps: the lowest PC first (ODGS paper 3.7)"};
const Register<WarpScheduler, PostDominatorPriority> priority{
    "pdom-priority", "dynamic warps: the fewest re-convergence points passed first"};

}  // namespace

}  // namespace heddle::hw
