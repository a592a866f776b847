// First come, first served (LWM report table 1, thesis table 5.1): requests start in the order in which they arrived.
// The oldest one waits for its bank and its bus slot, and everything younger waits behind it; accesses of different
// banks still overlap, because a conflict that has started does not keep the next request from starting in another
// bank. Requests that a hint holds back are passed over (hw/dram/row_holds.hpp).
#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class FirstComeFirstServed final : public DramScheduler {
 public:
  explicit FirstComeFirstServed(const Setup& /*setup*/) {}
  [[nodiscard]] DramChoice choose(const DramView& view) override {
    for (DramRequest& request : view.waiting) {
      if (view.may_start(request)) {
        return {&request, view.earliest_start(request)};
      }
    }
    return {};
  }
};

const Register<DramScheduler, FirstComeFirstServed> first_come_first_served_entry{
    "fcfs", "requests start in order of arrival; the oldest one's bank and bus slot decide when"};

}  // namespace

}  // namespace heddle::hw
