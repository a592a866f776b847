// Least progress first (thesis 9.2.2): the ready warp whose progress register is lowest, so that warps come to their
// next barrier at about the same time. Equals are fetched in turn, so that a kernel without progress() has round robin.
#include "hw/schedule/least_progress.hpp"

#include "hw/parameters/cost.hpp"
#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

class LeastProgress final : public WarpScheduler {
 public:
  using Parameters = LeastProgressParameters;
  static constexpr Traits traits{.within_fetch_groups = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_places(shape, lines);
    cost_of_progress(shape, lines);
  }

  explicit LeastProgress(const Setup& setup) : range_(setup), progress_of_(setup.core), next_(setup.first) {}

  MaybeGroup pick(Cycle) override {
    MaybeGroup behind;  // the first of the least at or behind next_, in turn
    MaybeGroup before;
    range_.each_ready([&](GroupId id) {
      MaybeGroup& best = id >= next_ ? behind : before;
      if (!best || progress_of_(range_.groups[id]) < progress_of_(range_.groups[*best])) {
        best = id;
      }
    });
    const bool wraps =
        !behind || (before && progress_of_(range_.groups[*before]) < progress_of_(range_.groups[*behind]));
    const MaybeGroup picked = wraps ? before : behind;
    if (picked) {
      next_ = *picked + 1;
    }
    return picked;
  }

 private:
  const GroupRange range_;
  const ProgressOf progress_of_;
  GroupId next_;
};

const Register<WarpScheduler, LeastProgress> least_progress_entry{
    "least-progress", "the ready warp that has made the least progress(), equals in turn"};

}  // namespace

}  // namespace heddle::hw
