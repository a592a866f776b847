// Rows held open for row-buffer hints (thesis 7.2). A request whose hint bit is set says that another one to its row
// will come soon. From its start on, requests to other rows of that bank are held back,
//   - until a request to the row (a hit, whoever it is from) starts; once such a request has arrived the hold does not
//     run out before that one starts;
//   - or, when none has arrived, until `threshold` cycles after the hinted request's data was complete: from that cycle
//     on conflicts can start. With threshold = conflict - hit latency a hit that arrives in the very cycle in which the
//     hold runs out comes exactly as late as if it had not been held for (figure 7.3, "break even").
// A hit that is hinted itself begins the next hold. A request that has waited for `bound` cycles is held back no longer
// (0: there is no bound), so that no chain of hints starves it; its start ends the hold.
//
// What holding back means for the order of requests is the same under every scheduler: a request that is held back
// counts as if it had not arrived yet. So even under strict first come, first served, younger requests pass it -
// otherwise the awaited hit, always younger than the conflict that waits, could never be served and every hold would
// run out.
#pragma once

#include <cstdint>
#include <vector>

#include "base/instrument.hpp"
#include "hw/dram/statistics.hpp"
#include "hw/dram/timing.hpp"

namespace heddle::hw {

class RowHolds {
 public:
  RowHolds(unsigned banks, bool enabled, Cycle threshold, Cycle bound, HoldStatistics& statistics)
      : enabled_(enabled), threshold_(threshold), bound_(bound), banks_(banks), statistics_(statistics) {}

  [[nodiscard]] bool enabled() const { return enabled_; }
  [[nodiscard]] bool any() const { return active_ != 0; }
  [[nodiscard]] bool holds_back(const DramRequest& request, Cycle now) const {
    if (active_ == 0) {
      return false;
    }
    const Hold& hold = banks_[request.location.bank];
    return hold.active && hold.row != request.location.row && (bound_ == 0 || now - request.arrival < bound_);
  }
  // Whether a hold waits for this very request's start: it is a hit to the held row.
  [[nodiscard]] bool awaits(const DramRequest& request) const {
    const Hold& hold = banks_[request.location.bank];
    return active_ != 0 && hold.active && hold.row == request.location.row;
  }
  // For a request that is held back: the cycle in which that ends if nothing starts before (kNever: not by itself).
  [[nodiscard]] Cycle free_at(const DramRequest& request) const;

  // A request joined the queue.
  void admitted(const DramRequest& request, Cycle now);
  // A request is about to take a step, and has left or will leave the queue: ends the hold of its bank.
  void starts(const DramRequest& request, Cycle now);
  // A hinted request was served (its data is known): begins a hold. `waiting`: the requests left in the queue.
  void served(const DramRequest& request, Cycle now, const RequestQueue& waiting);
  // Ends the holds that have run out by now. First of all in every cycle.
  void expire(Cycle now);

  void set_observer(DramObserver* observer) { observer_ = observer; }

 private:
  struct Hold {
    bool active = false;
    bool claimed = false;  // a hit has arrived
    std::uint64_t row = 0;
    Cycle data = 0;          // of the hinted request
    Cycle until = 0;         // runs out
    Cycle blocked = kNever;  // the first cycle in which a conflict could have started
  };
  void note(Hold& hold, const DramRequest& request, Cycle arrival);
  void end(unsigned bank, Cycle at, bool hit);

  const bool enabled_;
  const Cycle threshold_;
  const Cycle bound_;
  std::vector<Hold> banks_;
  unsigned active_ = 0;
  Cycle next_expiry_ = kNever;  // at the earliest
  HoldStatistics& statistics_;
  Instrument<DramObserver> observer_;
};

}  // namespace heddle::hw
