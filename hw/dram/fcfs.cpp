// First come, first served (LWM report table 1, thesis table 5.1): requests start in the order in which they arrived.
// The oldest one waits for its bank and its bus slot, and everything younger waits behind it; accesses of different
// banks still overlap, because a conflict that has started does not keep the next request from starting in another
// bank. Requests that a hint holds back are passed over (hw/dram/row_holds.hpp).
#include <cstdint>

#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class FirstComeFirstServed final : public DramScheduler {
 public:
  explicit FirstComeFirstServed(const Setup& /*setup*/) {}
  [[nodiscard]] DramChoice choose(const DramView& view) override {
    if (view.all_may_start()) {
      return view.waiting.empty() ? DramChoice{} : first(view, view.waiting.front());
    }
    known_ = 0;
    for (DramRequest& request : view.waiting) {
      if (view.may_start(request)) {
        return {&request, view.earliest_start(request)};
      }
    }
    return {};
  }
  [[nodiscard]] bool stands() const override { return known_ != 0; }
  void stepped(const DramRequest& /*request*/) override { known_ = 0; }
  void rows_closed() override { known_ = 0; }

 private:
  // What arrives behind the oldest request changes nothing: the timing is asked again when something has stepped.
  [[nodiscard]] DramChoice first(const DramView& view, DramRequest& oldest) {
    if (oldest.serial != known_ || start_ < view.now()) {
      start_ = view.earliest_start(oldest);
      known_ = start_ <= view.timing.firm_until() ? oldest.serial : 0;
    }
    return {&oldest, start_};
  }
  std::uint64_t known_ = 0;  // the request whose start is known: its serial; 0: none
  Cycle start_ = 0;
};

const Register<DramScheduler, FirstComeFirstServed> first_come_first_served_entry{
    "fcfs", "requests start in order of arrival; the oldest one's bank and bus slot decide when"};

}  // namespace

}  // namespace heddle::hw
