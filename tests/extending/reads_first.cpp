// Of the oldest requests of all banks reads go before writes, starving ones before both.
#include <tuple>
#include <vector>

#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class ReadsFirst final : public DramScheduler {
 public:
  explicit ReadsFirst(const Setup& setup) : seen_(setup.parameters.banks, 0) {}

  [[nodiscard]] DramChoice choose(const DramView& view) override {
    ++round_;
    DramChoice choice;
    unsigned best = 3;
    for (DramRequest& request : view.waiting) {
      std::uint64_t& seen = seen_[request.location.bank];
      if (seen == round_ || !view.may_start(request)) {
        continue;  // an older request of this bank goes first: so those to one address stay in order
      }
      seen = round_;
      const unsigned rank = view.starving(request) ? 0 : request.write ? 2 : 1;
      if (rank == 2) {
        view.ask_again(view.starves_at(request));
      }
      const Cycle start = view.earliest_start(request);
      if (std::tie(rank, start) < std::tie(best, choice.start)) {
        choice = {&request, start};
        best = rank;
      }
    }
    return choice;
  }

 private:
  std::vector<std::uint64_t> seen_;  // per bank: the round in which its oldest request was looked at
  std::uint64_t round_ = 0;
};

const Register<DramScheduler, ReadsFirst> reads_first_entry{"reads-first", "reads before writes of other banks"};

}  // namespace

}  // namespace heddle::hw
