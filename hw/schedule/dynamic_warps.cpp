// The two schedulers for dynamic warp formation that the thesis compares with (5.2, id dwf-avg; LWM report 4 and 6).
//
// Majority: the PC at which most threads of ready warps stand; its warps are fetched until none is left, then the next
// majority is found.
// Post-dominator priority: the ready warp whose threads have passed the fewest re-convergence points, so that threads
// behind catch up and merge; ties go to the older warp.
#include <fmt/format.h>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

class Majority final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true, .needs_warp_pool = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_ages(shape, lines);
    lines.add(CostLine::Kind::estimated, "PC of the majority", fmt::format("{}{}", each_set_of(shape), kPcBits),
              shape.sets * kPcBits, "thesis 5.2; own estimate");
  }

  explicit Majority(const Setup& setup) : range_(setup) {}

  MaybeGroup pick(Cycle) override {
    MaybeGroup picked = oldest_at(pc_);
    if (!picked) {
      find_majority();
      picked = oldest_at(pc_);
    }
    return picked;
  }

 private:
  [[nodiscard]] MaybeGroup oldest_at(std::uint32_t pc) const {
    const ReadyByPc& ready = range_.groups.ready_by_pc();
    if (range_.all()) {
      return ready.oldest(pc);
    }
    MaybeGroup oldest;
    ready.each_at(pc, [&](GroupId id, unsigned) {
      oldest = range_.has(id) ? MaybeGroup(id) : MaybeGroup();
      return !oldest;
    });
    return oldest;
  }

  // Of equal counts the lowest PC.
  void find_majority() {
    const ReadyByPc& ready = range_.groups.ready_by_pc();
    unsigned most = 0;
    ready.each_pc([&](std::uint32_t pc, unsigned threads) {
      if (!range_.all()) {
        threads = 0;
        ready.each_at(pc, [&](GroupId id, unsigned of_it) {
          threads += range_.has(id) ? of_it : 0;
          return true;
        });
      }
      if (threads > most || (threads == most && threads != 0 && pc < pc_)) {
        most = threads;
        pc_ = pc;
      }
    });
  }

  const GroupRange range_;
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

const Register<WarpScheduler, Majority> majority{"majority", "dynamic warps: the PC with most threads first"};
const Register<WarpScheduler, PostDominatorPriority> priority{
    "pdom-priority", "dynamic warps: the fewest re-convergence points passed first"};

}  // namespace

}  // namespace heddle::hw
