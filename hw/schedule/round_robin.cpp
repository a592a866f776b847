// Round robin: equal priority for every warp (LWM report 2.1 and table 1; thesis 2.1.1). The search starts behind the
// warp that was fetched last.
#include "hw/parameters/cost.hpp"
#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

class RoundRobin final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true};
  static void cost(const CostShape& shape, CostLines& lines) { cost_of_places(shape, lines); }

  explicit RoundRobin(const Setup& setup) : range_(setup) {}

  MaybeGroup pick(Cycle) override {
    const MaybeGroup found = range_.next_ready(next_);
    if (found) {
      next_ = *found + 1;
    }
    return found;
  }

 private:
  const GroupRange range_;
  unsigned next_ = 0;
};

const Register<WarpScheduler, RoundRobin> round_robin_entry{"round-robin", "every ready warp in turn"};

}  // namespace

}  // namespace heddle::hw
