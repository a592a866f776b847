// Oldest first, greedy-then-oldest and greedy-then-youngest. Age counts from the start of a warp's block; a dynamic
// warp's, from its forming.
#include <fmt/format.h>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

class Oldest final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true};
  static void cost(const CostShape& shape, CostLines& lines) { cost_of_ages(shape, lines); }

  explicit Oldest(const Setup& setup) : range_(setup) {}
  MaybeGroup pick(Cycle) override { return range_.oldest_ready(); }

 private:
  const GroupRange range_;
};

// Keeps to one warp while that is ready, then takes the oldest. In a barrel core, where a fetched warp is not ready
// before its instruction has completed, "greedy" lasts across those cycles: the warp is taken again as soon as it is
// back, before older ones.
class GreedyThenOldest final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    lines.add(CostLine::Kind::estimated, "warp to stay with",
              fmt::format("{}log2({} warps)", each_set_of(shape), shape.set_warps),
              shape.sets * index_bits(shape.set_warps), "own estimate");
    cost_of_ages(shape, lines);
  }

  explicit GreedyThenOldest(const Setup& setup) : range_(setup), greedy_(setup.first) {}

  MaybeGroup pick(Cycle) override {
    if (range_.is_ready(greedy_)) {
      stalled_ = false;
      return greedy_;
    }
    const MaybeGroup oldest = range_.oldest_ready();
    // Filling the greedy warp's pipeline cycles does not end its turn; a stall does.
    if (oldest && stalled_) {
      greedy_ = *oldest;
      stalled_ = false;
    }
    return oldest;
  }

  void stalled(const Group& group) override { stalled_ = stalled_ || group.id == greedy_; }

 private:
  const GroupRange range_;
  GroupId greedy_;
  bool stalled_ = true;  // the greedy warp has stalled or finished, or there is none yet
};

// What NVIDIA's schedulers were found to do: the warp of the last instruction while it can be fetched, else the
// youngest that can ("Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025, section 5.1). It stays
// with a warp from one cycle to the next, so that it wants core.issue = "scoreboard".
class GreedyThenYoungest final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    lines.add(CostLine::Kind::estimated, "warp of the last instruction",
              fmt::format("{}log2({} warps)", each_set_of(shape), shape.set_warps),
              shape.sets * index_bits(shape.set_warps), "own estimate");
    cost_of_ages(shape, lines);
  }

  explicit GreedyThenYoungest(const Setup& setup) : range_(setup), greedy_(setup.first) {}

  MaybeGroup pick(Cycle) override {
    if (range_.is_ready(greedy_)) {
      return greedy_;
    }
    const MaybeGroup youngest = range_.youngest_ready();
    greedy_ = youngest ? *youngest : greedy_;
    return youngest;
  }

 private:
  const GroupRange range_;
  GroupId greedy_;
};

const Register<WarpScheduler, GreedyThenYoungest> gty{
    "gty", "the warp of the last instruction while it is ready, else the ready warp that started last"};
const Register<WarpScheduler, Oldest> oldest{"oldest", "the ready warp that started first"};
const Register<WarpScheduler, GreedyThenOldest> gto{"gto", "one warp until it stalls, then the oldest ready one"};

}  // namespace

}  // namespace heddle::hw
