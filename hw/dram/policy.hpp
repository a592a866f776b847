// The two questions that a DRAM controller asks: which waiting request is served next, and what happens to a row after
// an access. Plain C++ (no SystemC); an answer is one file that registers itself (base/registry.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "hw/dram/request_queue.hpp"
#include "hw/dram/row_holds.hpp"
#include "hw/dram/timing.hpp"
#include "hw/dram/write_drain.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// What a scheduler sees: the requests, when each could start, and which may.
class DramView {
 public:
  DramView(const RequestQueue& waiting, const DramTiming& timing, const RowHolds& holds, const WriteDrain& drain,
           Cycle bound)
      : waiting(waiting), timing(timing), holds_(holds), drain_(drain), bound_(bound) {}

  const RequestQueue& waiting;  // in order of arrival
  const DramTiming& timing;

  // The present cycle. Set by the controller before it asks.
  void at(Cycle now) {
    now_ = now;
    ask_again_ = kNever;
  }
  [[nodiscard]] Cycle now() const { return now_; }

  // Whether hints (hw/dram/row_holds.hpp) and the write drain (hw/dram/write_drain.hpp) let the request start. One that
  // may not is to be passed over; the scheduler is asked again in the cycle in which that changes.
  [[nodiscard]] bool may_start(const DramRequest& request) const { return all_may_start() || allowed(request); }
  // Whether every request may.
  [[nodiscard]] bool all_may_start() const { return !any_held() && !drain_.enabled(); }
  // Whether some row is held. Where none is, what may start depends on the turn of the write drain, on the bank's other
  // requests, and on how long a request has waited.
  [[nodiscard]] bool any_held() const { return holds_.any(); }
  [[nodiscard]] bool turn_of_writes() const { return drain_.turn_of_writes(); }
  [[nodiscard]] Cycle earliest_start(const DramRequest& request) const { return timing.earliest_start(request, now_); }
  // Whether it has waited for dram.starvation_bound cycles, and when it will have (kNever: there is no bound).
  [[nodiscard]] bool starving(const DramRequest& request) const { return starves_at(request) <= now_; }
  [[nodiscard]] Cycle starves_at(const DramRequest& request) const {
    return bound_ == 0 ? kNever : request.arrival + bound_;
  }
  // The choice may be another one from this cycle on even if nothing arrives or starts before.
  void ask_again(Cycle at) const { ask_again_ = std::min(ask_again_, at); }
  [[nodiscard]] Cycle asked_again() const { return ask_again_; }

 private:
  [[nodiscard]] bool allowed(const DramRequest& request) const;

  const RowHolds& holds_;
  const WriteDrain& drain_;
  const Cycle bound_;
  Cycle now_ = 0;
  mutable Cycle ask_again_ = kNever;
};

// Which request takes its next step (hw/dram/timing.hpp) first, and when it can at the earliest: the controller sleeps
// until then, and asks again when a request arrives meanwhile.
struct DramChoice {
  DramRequest* request = nullptr;  // none: nothing can be chosen before another request arrives
  Cycle start = kNever;            // not before the cycle in which the controller asked
};

class DramScheduler {
 public:
  struct Setup {
    const DramParameters& parameters;
  };
  using About = PolicyAbout<NoTraits, DramPolicies>;
  virtual ~DramScheduler() = default;
  // A request has joined the queue.
  virtual void admitted(DramRequest& /*request*/) {}
  // Of the requests that may start (DramView::may_start). Requests to one address must start in the order of their
  // arrival.
  [[nodiscard]] virtual DramChoice choose(const DramView& view) = 0;
  // The latest choice stands until it starts, whatever arrives before.
  [[nodiscard]] virtual bool stands() const { return false; }
  // A chosen request has taken a step: its bank is another one than before, and so may the others' times be.
  virtual void stepped(const DramRequest& /*request*/) {}
  // A refresh has closed all rows, and taken time.
  virtual void rows_closed() {}
  // A chosen request was started.
  virtual void started(const DramRequest& /*request*/, Cycle /*now*/) {}
};

class DramRowPolicy {
 public:
  struct Setup {
    const DramParameters& parameters;
  };
  using About = PolicyAbout<NoTraits, DramPolicies>;
  virtual ~DramRowPolicy() = default;
  // Whether the row is closed after this access, which is about to start; `waiting` are the requests left.
  [[nodiscard]] virtual bool close_after(const DramRequest& request, const RequestQueue& waiting) = 0;
};

}  // namespace heddle::hw
