// First ready, first come, first served (thesis 7.2 and table 8.1): a bank serves requests to its open row before
// others, each kind in order of arrival, and of all banks' next requests the one that can start first does: row hits
// before conflicts, older ones before younger ones on a tie. Once the oldest request of the channel has waited for
// dram.starvation_bound cycles nothing but that one is started, so that a stream of row hits starves nobody.
#include <vector>

#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class FirstReady final : public DramScheduler {
 public:
  explicit FirstReady(const Setup& setup) : banks_(setup.parameters.banks) { used_.reserve(banks_.size()); }

  [[nodiscard]] DramChoice choose(const DramView& view) override {
    if (view.waiting.empty()) {
      return {};
    }
    DramRequest& oldest = view.waiting.front();
    if (view.starving(oldest) && view.may_start(oldest)) {
      return {&oldest, view.earliest_start(oldest)};
    }
    view.ask_again(view.starves_at(oldest));
    ++round_;
    used_.clear();
    for (DramRequest& request : view.waiting) {
      Bank& bank = banks_[request.location.bank];
      const bool seen = bank.round == round_;
      if (seen && bank.hit) {
        continue;  // an older hit goes first
      }
      const bool hit = view.timing.row_hit(request);
      if ((seen && !hit) || !view.may_start(request)) {
        continue;
      }
      if (!seen) {
        used_.push_back(&bank);
      }
      bank = {round_, &request, hit, view.earliest_start(request)};
      if (hit && bank.start == view.now()) {
        return {&request, bank.start};  // the oldest hit that is ready
      }
    }
    const Bank* best = nullptr;
    for (const Bank* bank : used_) {
      if (best == nullptr || before(*bank, *best)) {
        best = bank;
      }
    }
    return best == nullptr ? DramChoice{} : DramChoice{best->request, best->start};
  }

 private:
  struct Bank {
    std::uint64_t round = 0;         // in which the rest was found
    DramRequest* request = nullptr;  // its next one
    bool hit = false;
    Cycle start = kNever;
  };
  [[nodiscard]] static bool before(const Bank& a, const Bank& b) {
    if (a.start != b.start) {
      return a.start < b.start;
    }
    return a.hit != b.hit ? a.hit : a.request->serial < b.request->serial;
  }

  std::vector<Bank> banks_;
  std::vector<Bank*> used_;  // banks of this round
  std::uint64_t round_ = 0;
};

const Register<DramScheduler, FirstReady> entry{
    "fr-fcfs", "row hits before conflicts, each in order of arrival; dram.starvation_bound limits the wait"};

}  // namespace

}  // namespace heddle::hw
