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
  explicit FirstReady(const Setup& setup) : banks_(setup.parameters.banks) {}

  [[nodiscard]] DramChoice choose(const DramView& view) override {
    if (view.waiting.empty()) {
      return {};
    }
    DramRequest& oldest = view.waiting.front();
    if (view.starving(oldest) && view.may_start(oldest)) {
      return {&oldest, view.earliest_start(oldest)};
    }
    view.ask_again(view.starves_at(oldest));
    Candidate best;
    for (const unsigned index : view.waiting.banks()) {
      Candidate candidate = view.all_may_start() ? kept(view, index) : search(view, index);
      if (candidate.request == nullptr) {
        continue;
      }
      candidate.start = view.earliest_start(*candidate.request);
      if (best.request == nullptr || before(candidate, best)) {
        best = candidate;
      }
    }
    return {best.request, best.start};
  }

 private:
  // A bank's next request.
  struct Candidate {
    DramRequest* request = nullptr;
    bool hit = false;
    Cycle start = kNever;
  };
  // The one found last where every request might start: it stays the next one until a request joins or leaves the bank
  // or its open row changes.
  struct Kept {
    std::uint64_t changes = 0;  // a bank that is waited for has changed at least once
    std::uint64_t open_row = 0;
    Candidate candidate;
  };

  [[nodiscard]] static Candidate search(const DramView& view, unsigned index) {
    Candidate found;
    for (DramRequest* request = view.waiting.bank(index).first; request != nullptr; request = request->next_of_bank) {
      const bool hit = view.timing.row_hit(*request);
      if ((found.request == nullptr || hit) && view.may_start(*request)) {
        found = {request, hit, kNever};
        if (hit) {
          break;
        }
      }
    }
    return found;
  }
  [[nodiscard]] const Candidate& kept(const DramView& view, unsigned index) {
    Kept& kept = banks_[index];
    const std::uint64_t changes = view.waiting.bank(index).changes;
    if (kept.changes != changes || kept.open_row != view.timing.open_row(index)) {
      kept = {changes, view.timing.open_row(index), search(view, index)};
    }
    return kept.candidate;
  }
  [[nodiscard]] static bool before(const Candidate& a, const Candidate& b) {
    if (a.start != b.start) {
      return a.start < b.start;
    }
    return a.hit != b.hit ? a.hit : a.request->serial < b.request->serial;
  }

  std::vector<Kept> banks_;
};

const Register<DramScheduler, FirstReady> first_ready_entry{
    "fr-fcfs", "row hits before conflicts, each in order of arrival; dram.starvation_bound limits the wait"};

}  // namespace

}  // namespace heddle::hw
