// Least progress first (thesis 9.2.2): the ready warp whose progress register is lowest, so that warps come to their
// next barrier at about the same time. Equals are fetched in turn, so that a kernel without progress() has round robin.
#include "hw/parameters/cost.hpp"
#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

class LeastProgress final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_places(shape, lines);
    cost_of_progress(shape, lines);
  }

  explicit LeastProgress(const Setup& setup) : range_(setup), next_(setup.first) {}

  std::optional<GroupId> pick(Cycle) override {
    std::optional<GroupId> behind;  // the first of the least at or behind next_, in turn
    std::optional<GroupId> before;
    range_.each_ready([&](GroupId id) {
      std::optional<GroupId>& best = id >= next_ ? behind : before;
      if (!best || range_.groups[id].progress < range_.groups[*best].progress) {
        best = id;
      }
    });
    const bool wraps = !behind || (before && range_.groups[*before].progress < range_.groups[*behind].progress);
    const std::optional<GroupId> picked = wraps ? before : behind;
    if (picked) {
      next_ = *picked + 1;
    }
    return picked;
  }

 private:
  const GroupRange range_;
  GroupId next_;
};

const Register<WarpScheduler, LeastProgress> least_progress_entry{
    "least-progress", "the ready warp that has made the least progress(), equals in turn"};

}  // namespace

}  // namespace heddle::hw
