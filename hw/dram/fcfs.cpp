// First come, first served (LWM report table 1, thesis table 5.1): requests start in the order in which they arrived.
// The oldest one waits for its bank and its bus slot, and everything younger waits behind it; accesses of different
// banks still overlap, because a conflict that has started does not keep the next request from starting in another
// bank.
#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class FirstComeFirstServed final : public DramScheduler {
 public:
  explicit FirstComeFirstServed(const Setup& /*setup*/) {}
  [[nodiscard]] DramChoice choose(Cycle now, const RequestQueue& waiting, const BankTiming& banks) override {
    if (waiting.empty()) {
      return {};
    }
    return {&waiting.front(), banks.earliest_start(waiting.front(), now)};
  }
};

const Register<DramScheduler, FirstComeFirstServed> entry{
    "fcfs", "requests start in order of arrival; the oldest one's bank and bus slot decide when"};

}  // namespace

}  // namespace heddle::hw
