// The two schedulers for dynamic warp formation that the thesis compares with (5.2, id dwf-avg; LWM report 4 and 6).
//
// Majority: the PC at which most threads of ready warps stand; its warps are fetched until none is left, then the next
// majority is found.
// Post-dominator priority: the ready warp whose threads have passed the fewest re-convergence points, so that those
// behind catch up and merge; ties go to the older warp.
#include <fmt/format.h>

#include <vector>

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
    MaybeGroup oldest;
    const auto look = [&](GroupId id) {
      if (!oldest || range_.groups.ready_age(id) < range_.groups.ready_age(*oldest)) {
        oldest = id;
      }
    };
    range_.each_word([&](unsigned word, std::uint64_t own) {
      if (range_.groups.ready()[word] != 0) {
        each_bit(word, range_.groups.ready_at(word, pc) & own, look);
      }
    });
    return oldest;
  }

  // Of equal counts the lowest PC.
  void find_majority() {
    range_.each_ready([&](GroupId id) {
      const std::uint32_t pc = range_.groups.ready_pc(id);
      if (pc >= threads_.size()) {
        threads_.resize(pc + 1, 0);
      }
      if (threads_[pc] == 0) {
        counted_.push_back(pc);
      }
      threads_[pc] += range_.groups[id].active_threads();
    });
    unsigned most = 0;
    for (const std::uint32_t pc : counted_) {
      if (threads_[pc] > most || (threads_[pc] == most && pc < pc_)) {
        most = threads_[pc];
        pc_ = pc;
      }
      threads_[pc] = 0;
    }
    counted_.clear();
  }

  const GroupRange range_;
  std::uint32_t pc_ = 0;
  std::vector<unsigned> threads_;       // of ready warps, by PC; zero between two questions
  std::vector<std::uint32_t> counted_;  // PCs that have some
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
