// Time as the model sees it: whole cycles of the GPU clock, and modules that sleep until something can change.
#pragma once

#include <cstdint>
#include <systemc>

#include "tlm/cycle.hpp"

namespace heddle::link {

// The GPU clock. Cheap to copy; every module of one GPU holds the same one.
class Clock {
 public:
  explicit Clock(const sc_core::sc_time& period) : period_(period.value()) {}

  [[nodiscard]] Cycle now() const { return sc_core::sc_time_stamp().value() / period_; }
  [[nodiscard]] sc_core::sc_time cycles(Cycle count) const { return sc_core::sc_time::from_value(count * period_); }
  // From now until the start of a cycle that is not in the past.
  [[nodiscard]] sc_core::sc_time until(Cycle at) const {
    return sc_core::sc_time::from_value(at * period_ - sc_core::sc_time_stamp().value());
  }
  // The cycle in which something that arrives after `delay` is visible: never the present one, so that results do not
  // depend on the order in which processes run.
  [[nodiscard]] Cycle visible_after(const sc_core::sc_time& delay) const {
    const Cycle next = now() + 1;
    if (delay.value() == 0) {
      return next;
    }
    const Cycle at = (sc_core::sc_time_stamp().value() + delay.value() + period_ - 1) / period_;
    return at > next ? at : next;
  }

 private:
  std::uint64_t period_;  // in units of the SystemC time resolution
};

// A module with one process that runs only in cycles in which it has work. `advance` does the work of one cycle and
// returns the next cycle in which it wants to run (kNever: only when woken).
class ClockedModule : public sc_core::sc_module, public Waker {
 public:
  void wake(Cycle at) final;
  [[nodiscard]] const Clock& clock() const { return clock_; }

 protected:
  ClockedModule(const sc_core::sc_module_name& name, Clock clock);
  virtual Cycle advance(Cycle now) = 0;

 private:
  void tick();

  Clock clock_;
  sc_core::sc_event tick_event_;
  Cycle scheduled_ = kNever;
  Cycle last_ = kNever;   // the latest cycle that was advanced
  bool ticking_ = false;  // within advance: one notification at its end is enough
};

}  // namespace heddle::link
