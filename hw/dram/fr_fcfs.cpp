// First ready, first come, first served (thesis 7.2 and table 8.1): a bank serves requests to its open row before
// others, each kind in order of arrival, and of all banks' next requests the one that can start first does: row hits
// before conflicts, older ones before younger ones on a tie. Once the oldest request of the channel has waited for
// dram.starvation_bound cycles nothing but that one is started, so that a stream of row hits starves no request.
#include <algorithm>
#include <array>
#include <vector>

#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class FirstReady final : public DramScheduler {
 public:
  explicit FirstReady(const Setup& setup) : turns_{Turn(setup.parameters.banks), Turn(setup.parameters.banks)} {}

  void admitted(DramRequest& request) override { news(request.location.bank); }
  void stepped(const DramRequest& request) override {
    news(request.location.bank);
    ++steps_;
  }
  void rows_closed() override {
    for (unsigned bank = 0; bank != turns_[0].kept.size(); ++bank) {
      if (turns_[0].kept[bank].request != nullptr || turns_[1].kept[bank].request != nullptr) {
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
    return view.any_held() ? first_of_allowed(view) : first_of_kept(view, turns_[view.turn_of_writes() ? 1 : 0]);
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
  // The one found last where no row was held: it stays the next one until there is news from the bank, or one that was
  // passed over may start as it has waited for long.
  struct Kept {
    DramRequest* request = nullptr;
    std::uint64_t serial = 0;  // of that request
    bool hit = false;
    std::uint64_t asked = 0;     // the step since which its bound is its rank; no step: it is not, perhaps
    Cycle passed_over = kNever;  // the cycle from which on one that was passed over may start
  };
  // What is known of the banks in the turn of reads, or of writes (hw/dram/write_drain.hpp): which requests may start
  // depends on the turn, and on nothing else of other banks.
  struct Turn {
    explicit Turn(unsigned banks) : kept(banks), bounds(banks, kNobody), news_from(banks) {}
    std::vector<Kept> kept;       // by bank
    std::vector<Rank> bounds;     // likewise: the rank is no less than this, whatever other banks do; or kNobody
    std::vector<bool> news_from;  // likewise: it is in news
    std::vector<unsigned> news;   // banks whose next request may be another one
    Cycle passed_over = kNever;   // the least of kept, or less
    unsigned chosen = 0;          // the bank
    Rank chosen_rank = 0;
    std::uint64_t chosen_at = 0;  // the step since which it has been
  };

  void news(unsigned bank) {
    for (Turn& turn : turns_) {
      news(turn, bank);
    }
  }
  static void news(Turn& turn, unsigned bank) {
    if (!turn.news_from[bank]) {
      turn.news_from[bank] = true;
      turn.news.push_back(bank);
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
  static void search(const DramView& view, unsigned index, Turn& turn) {
    Kept& kept = turn.kept[index];
    kept = {};
    for (DramRequest* request = view.waiting.bank(index).first; request != nullptr; request = request->next_of_bank) {
      const bool hit = view.timing.row_hit(*request);
      if (kept.request != nullptr && !hit) {
        continue;
      }
      if (!view.may_start(*request)) {
        kept.passed_over = std::min(kept.passed_over, view.starves_at(*request));
        continue;
      }
      kept.request = request;
      kept.serial = request->serial;
      kept.hit = hit;
      if (hit) {
        break;
      }
    }
    turn.bounds[index] = kept.request != nullptr ? rank(0, kept.hit) : kNobody;
    turn.passed_over = std::min(turn.passed_over, kept.passed_over);
  }
  static void look_at_passed_over(const DramView& view, Turn& turn) {
    turn.passed_over = kNever;
    for (const unsigned index : view.waiting.banks()) {
      if (turn.kept[index].passed_over <= view.now()) {
        news(turn, index);
      } else {
        turn.passed_over = std::min(turn.passed_over, turn.kept[index].passed_over);
      }
    }
  }
  // What a step does to other banks only delays them (DramTiming::firm_until), so that a start once told is a bound
  // from below: the timing is asked first for the bank that seems to be first, then for banks that may be before it. As
  // long as nothing has stepped, what was told holds, and so does the choice, but for banks with news.
  [[nodiscard]] DramChoice first_of_kept(const DramView& view, Turn& turn) {
    if (turn.passed_over <= view.now()) {
      look_at_passed_over(view, turn);
    }
    bool holds = turn.chosen_at == steps_ && view.now() <= turn.chosen_rank >> 1;
    for (const unsigned index : turn.news) {
      search(view, index, turn);
      holds = holds && index != turn.chosen;
    }
    if (holds) {
      for (const unsigned index : turn.news) {
        consider(view, index, turn);
      }
    } else {
      choose_anew(view, turn);
    }
    for (const unsigned index : turn.news) {
      turn.news_from[index] = false;
    }
    turn.news.clear();
    view.ask_again(turn.passed_over);
    return turn.chosen_rank == kNobody ? DramChoice{}
                                       : DramChoice{turn.kept[turn.chosen].request, turn.chosen_rank >> 1};
  }
  void choose_anew(const DramView& view, Turn& turn) {
    const std::vector<unsigned>& banks = view.waiting.banks();
    turn.chosen = banks.front();
    for (const unsigned index : banks) {
      turn.chosen = turn.bounds[index] < turn.bounds[turn.chosen] ? index : turn.chosen;
    }
    turn.chosen_rank = turn.bounds[turn.chosen] == kNobody ? kNobody : exact(view, turn.chosen, turn);
    turn.chosen_at = steps_;
    for (const unsigned index : banks) {
      consider(view, index, turn);
    }
  }
  void consider(const DramView& view, unsigned index, Turn& turn) {
    if (turn.bounds[index] > turn.chosen_rank || index == turn.chosen || turn.bounds[index] == kNobody) {
      return;
    }
    const Rank at = exact(view, index, turn);
    if (at < turn.chosen_rank || (at == turn.chosen_rank && turn.kept[index].serial < turn.kept[turn.chosen].serial)) {
      turn.chosen = index;
      turn.chosen_rank = at;
    }
  }
  Rank exact(const DramView& view, unsigned index, Turn& turn) {
    Kept& kept = turn.kept[index];
    Rank& bound = turn.bounds[index];
    if (kept.asked == steps_ && bound >> 1 >= view.now()) {
      return bound;
    }
    const Cycle start = view.earliest_start(*kept.request);
    const Cycle firm = view.timing.firm_until();
    bound = rank(std::min(start, firm), kept.hit);
    kept.asked = start <= firm ? steps_ : 0;
    return rank(start, kept.hit);
  }
  [[nodiscard]] static bool before(const Candidate& a, const Candidate& b) {
    if (a.start != b.start) {
      return a.start < b.start;
    }
    return a.hit != b.hit ? a.hit : a.request->serial < b.request->serial;
  }

  std::array<Turn, 2> turns_;  // of reads, and of writes
  std::uint64_t steps_ = 1;    // so far, any bank's
};

const Register<DramScheduler, FirstReady> first_ready_entry{
    "fr-fcfs", "row hits before conflicts, each in order of arrival; dram.starvation_bound limits the wait"};

}  // namespace

}  // namespace heddle::hw
