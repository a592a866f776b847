// First come, first served within each bank: a request waits for older ones of its own bank and for a bus slot, not for
// requests whose banks are busy. Of several that could start, the one that can start first does, the older one on a
// tie. (The papers say "first-come first-serve" and do not say whether a busy bank holds up the others; `fcfs` is the
// strict reading.)
#include <vector>

#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class FirstComeFirstServedPerBank final : public DramScheduler {
 public:
  explicit FirstComeFirstServedPerBank(const Setup& setup) : seen_(setup.parameters.banks, 0) {}

  [[nodiscard]] DramChoice choose(const DramView& view) override {
    ++round_;
    DramChoice choice;
    std::size_t found = 0;
    for (DramRequest& request : view.waiting) {
      std::uint64_t& seen = seen_[request.location.bank];
      if (seen == round_ || !view.may_start(request)) {
        continue;  // an older request of this bank goes first
      }
      seen = round_;
      const Cycle start = view.earliest_start(request);
      if (start < choice.start) {
        choice = {&request, start};
      }
      if (start == view.now() || ++found == seen_.size()) {
        break;
      }
    }
    return choice;
  }

 private:
  std::vector<std::uint64_t> seen_;  // per bank: the round in which its oldest request was looked at
  std::uint64_t round_ = 0;
};

const Register<DramScheduler, FirstComeFirstServedPerBank> first_come_first_served_per_bank_entry{
    "fcfs-per-bank", "requests of one bank start in order of arrival; a busy bank does not hold up the others"};

}  // namespace

}  // namespace heddle::hw
