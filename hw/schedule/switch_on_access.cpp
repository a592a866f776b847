// Switch on access: coarse-grained multithreading as the DWS report's core does it (3.3: a warp goes on until it
// accesses the D-cache, hit or miss; then the core switches to another one, at no cost). Who comes next the report does
// not say: here the next one in turn, so that a warp that has left waits for all others that are ready.
//
// A warp stalls the core for no other reason there. Here others are fetched meanwhile, in turn too, where the pipeline
// keeps it (a branch that has not been resolved, an instruction word that is not there), without ending its turn; it
// ends as well when the warp waits at a barrier, for a complex operation that counts as long-latency, for others, or
// has ended.
#include <fmt/format.h>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

class SwitchOnAccess final : public WarpScheduler {
 public:
  static constexpr Traits traits{};
  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_places(shape, lines);
    lines.add(CostLine::Kind::estimated, "warp to stay with", fmt::format("log2({} warps)", shape.set_warps),
              index_bits(shape.set_warps), "own estimate");
  }

  explicit SwitchOnAccess(const Setup& setup) : range_(setup), present_(range_.last - 1) {}

  MaybeGroup pick(Cycle) override {
    if (!left_ && range_.is_ready(present_)) {
      return present_;
    }
    const MaybeGroup next = range_.next_ready(present_ + 1);
    if (next && left_) {
      present_ = *next;
      left_ = false;
    }
    return next;
  }

  void stalled(const Group& group) override { left_ = left_ || group.id == present_; }
  void accessed(const Group& group) override { left_ = left_ || group.id == present_; }

 private:
  const GroupRange range_;
  GroupId present_;
  bool left_ = true;  // the present warp has accessed the D-cache, stalled or ended, or there is none yet
};

const Register<WarpScheduler, SwitchOnAccess> switch_on_access_entry{
    "switch-on-access", "one warp until it accesses the D-cache, hit or miss, then the next ready one"};

}  // namespace

}  // namespace heddle::hw
