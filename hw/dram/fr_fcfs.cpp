// First ready, first come, first served (thesis 7.2 and table 8.1): a bank serves requests to its open row before
// others, each kind in order of arrival, and of all banks' next requests the one that can start first does: row hits
// before conflicts, older ones before younger ones on a tie. Once the oldest request of the channel has waited for
// dram.starvation_bound cycles nothing but that one is started, so that a stream of row hits starves no request.
#include <algorithm>
#include <vector>

#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class FirstReady final : public DramScheduler {
 public:
  explicit FirstReady(const Setup& setup)
      : kept_(setup.parameters.banks), bounds_(setup.parameters.banks, kNobody), news_from_(setup.parameters.banks) {}

  void admitted(DramRequest& request) override { news(request.location.bank); }
  void stepped(const DramRequest& request) override {
    news(request.location.bank);
    ++steps_;
  }
  void rows_closed() override {
    for (unsigned bank = 0; bank != kept_.size(); ++bank) {
      if (kept_[bank].request != nullptr) {
        news(bank);
      }
    }
    ++steps_;
  }

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
  static constexpr Rank kNobody = ~Rank{0};
  // The one found last where every request might start: it stays the next one until there is news from the bank.
  struct Kept {
    DramRequest* request = nullptr;
    std::uint64_t serial = 0;  // of that request
    bool hit = false;
    std::uint64_t asked = 0;  // the step since which its bound is its rank; no step: it is not, perhaps
  };

  void news(unsigned bank) {
    if (!news_from_[bank]) {
      news_from_[bank] = true;
      news_.push_back(bank);
    }
  }

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
  // from below: the timing is asked first for the bank that seems to be first, then for banks that may be before it. As
  // long as nothing has stepped, what was told holds, and so does the choice, but for banks with news.
  [[nodiscard]] DramChoice first_of_kept(const DramView& view) {
    bool holds = chosen_at_ == steps_ && view.now() <= chosen_rank_ >> 1;
    for (const unsigned index : news_) {
      const Candidate found = search(view, index);
      Kept& kept = kept_[index];
      kept = {found.request, found.request != nullptr ? found.request->serial : 0, found.hit, 0};
      bounds_[index] = found.request != nullptr ? rank(0, found.hit) : kNobody;
      holds = holds && index != chosen_;
    }
    if (holds) {
      for (const unsigned index : news_) {
        consider(view, index);
      }
    } else {
      const std::vector<unsigned>& banks = view.waiting.banks();
      chosen_ = banks.front();
      for (const unsigned index : banks) {
        chosen_ = bounds_[index] < bounds_[chosen_] ? index : chosen_;
      }
      chosen_rank_ = exact(view, chosen_);
      chosen_at_ = steps_;
      for (const unsigned index : banks) {
        consider(view, index);
      }
    }
    for (const unsigned index : news_) {
      news_from_[index] = false;
    }
    news_.clear();
    return {kept_[chosen_].request, chosen_rank_ >> 1};
  }
  void consider(const DramView& view, unsigned index) {
    if (bounds_[index] > chosen_rank_ || index == chosen_) {
      return;
    }
    const Rank at = exact(view, index);
    if (at < chosen_rank_ || (at == chosen_rank_ && kept_[index].serial < kept_[chosen_].serial)) {
      chosen_ = index;
      chosen_rank_ = at;
    }
  }
  Rank exact(const DramView& view, unsigned index) {
    Kept& kept = kept_[index];
    if (kept.asked == steps_ && bounds_[index] >> 1 >= view.now()) {
      return bounds_[index];
    }
    const Cycle start = view.earliest_start(*kept.request);
    const Cycle firm = view.timing.firm_until();
    bounds_[index] = rank(std::min(start, firm), kept.hit);
    kept.asked = start <= firm ? steps_ : 0;
    return rank(start, kept.hit);
  }
  [[nodiscard]] static bool before(const Candidate& a, const Candidate& b) {
    if (a.start != b.start) {
      return a.start < b.start;
    }
    return a.hit != b.hit ? a.hit : a.request->serial < b.request->serial;
  }

  std::vector<Kept> kept_;       // by bank
  std::vector<Rank> bounds_;     // likewise: the rank is no less than this, whatever other banks do; or kNobody
  std::vector<bool> news_from_;  // likewise: it is in news_
  std::vector<unsigned> news_;   // banks whose next request may be another one
  std::uint64_t steps_ = 1;      // so far, any bank's
  unsigned chosen_ = 0;          // the bank
  Rank chosen_rank_ = 0;
  std::uint64_t chosen_at_ = 0;  // the step since which it has been
};

const Register<DramScheduler, FirstReady> first_ready_entry{
    "fr-fcfs", "row hits before conflicts, each in order of arrival; dram.starvation_bound limits the wait"};

}  // namespace

}  // namespace heddle::hw
