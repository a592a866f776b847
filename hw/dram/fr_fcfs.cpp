// First ready, first come, first served (thesis 7.2 and table 8.1): a bank serves requests to its open row before
// others, each kind in order of arrival, and of all banks' next requests the one that can start first does: row hits
// before conflicts, older ones before younger ones on a tie. Once the oldest request of the channel has waited for
// dram.starvation_bound cycles nothing but that one is started, so that a stream of row hits starves nobody.
#include <algorithm>
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
    return view.all_may_start() ? first_of_kept(view) : first_of_allowed(view);
  }

 private:
  // A bank's next request.
  struct Candidate {
    DramRequest* request = nullptr;
    bool hit = false;
    Cycle start = kNever;
  };
  // When a request can start, and hits before conflicts in the same cycle, as one number: the least is first.
  using Rank = std::uint64_t;
  [[nodiscard]] static Rank rank(Cycle start, bool hit) { return start << 1 | (hit ? 0 : 1); }
  // The one found last where every request might start: it stays the next one until a request joins or leaves the bank
  // or its open row changes.
  struct Kept {
    std::uint64_t changes = 0;  // a bank that is waited for has changed at least once
    std::uint64_t open_row = 0;
    DramRequest* request = nullptr;
    std::uint64_t serial = 0;  // of that request
    Rank bound = 0;            // its rank is no less than this, whatever other banks do meanwhile
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
  [[nodiscard]] static DramChoice first_of_allowed(const DramView& view) {
    Candidate best;
    for (const unsigned index : view.waiting.banks()) {
      Candidate candidate = search(view, index);
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
  // What a step does to other banks only delays them (DramTiming::firm_until), so that a start once told is a bound
  // from below: the timing is asked first for the bank that seems to be first, then for those that may be before it.
  [[nodiscard]] DramChoice first_of_kept(const DramView& view) {
    Kept* first = nullptr;
    for (const unsigned index : view.waiting.banks()) {
      Kept& kept = banks_[index];
      const std::uint64_t changes = view.waiting.bank(index).changes;
      const std::uint64_t open_row = view.timing.open_row(index);
      if (kept.changes != changes || kept.open_row != open_row) {
        const Candidate found = search(view, index);
        kept = {changes, open_row, found.request, found.request->serial, rank(0, found.hit)};
      }
      first = first == nullptr || kept.bound < first->bound ? &kept : first;
    }
    Kept* best = first;
    Rank best_rank = ask(view, *first);
    for (const unsigned index : view.waiting.banks()) {
      Kept& kept = banks_[index];
      if (kept.bound > best_rank || &kept == first) {
        continue;
      }
      const Rank exact = ask(view, kept);
      if (exact < best_rank || (exact == best_rank && kept.serial < best->serial)) {
        best = &kept;
        best_rank = exact;
      }
    }
    return {best->request, best_rank >> 1};
  }
  static Rank ask(const DramView& view, Kept& kept) {
    const Cycle start = view.earliest_start(*kept.request);
    const bool hit = (kept.bound & 1) == 0;
    kept.bound = rank(std::min(start, view.timing.firm_until()), hit);
    return rank(start, hit);
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
