// Time as the model sees it: whole cycles of the GPU clock.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <utility>

#include "tlm/cycle.hpp"

namespace heddle::link {

class Calendar;

// A point of time.
struct Moment {
  Cycle cycle = 0;
  std::uint64_t value = 0;  // its start, in units of the SystemC time resolution
};

// Where the modules of a calendar are in time, which may be ahead of the SystemC kernel (tlm/calendar/calendar.hpp).
struct Progress {
  bool running = false;  // they are advanced just now; else the kernel's time is theirs
  bool apart = false;    // each host thread in a cycle of its own: its present_moment
  bool turns = false;    // some modules have their turns just now, and what they tell is to be kept
  bool checks = false;   // what they touch in their turns is looked at
  Moment moment;         // the cycle that they are advanced in
};

extern constinit thread_local Moment present_moment;

// The GPU clock. Cheap to copy; every module of one GPU holds the same one. A clock that a calendar has made tells the
// calendar's time, every other one the kernel's.
class Clock {
 public:
  explicit Clock(const sc_core::sc_time& period) : period_(period.value()), step_(period) {}
  Clock(const sc_core::sc_time& period, Calendar& calendar, std::shared_ptr<const Progress> progress)
      : period_(period.value()), step_(period), calendar_(&calendar), progress_(std::move(progress)) {}

  [[nodiscard]] Cycle now() const { return running() ? moment().cycle : kernel() / period_; }
  [[nodiscard]] const sc_core::sc_time& period() const { return step_; }
  // A sum of doublings: sc_time::from_value writes to what is shared by all host threads, and modules ask within their
  // turns. One step for one cycle.
  [[nodiscard]] sc_core::sc_time cycles(Cycle count) const {
    sc_core::sc_time sum;
    for (sc_core::sc_time doubled = step_; count != 0; count >>= 1U, doubled += doubled) {
      if ((count & 1U) != 0) {
        sum += doubled;
      }
    }
    return sum;
  }
  // Whole cycles that a delay lasts.
  [[nodiscard]] Cycle cycles_of(const sc_core::sc_time& delay) const {
    return delay.value() == 0 ? 0 : delay.value() / period_;
  }
  // From now until the start of a cycle that is not in the past.
  [[nodiscard]] sc_core::sc_time until(Cycle at) const { return sc_core::sc_time::from_value(at * period_ - time()); }
  // By how much `now` is ahead of the kernel: what has to be added to a delay that the kernel or a module from
  // elsewhere counts, as in sc_event::notify and at the GPU's own sockets.
  // Who asks is about to do such a thing.
  [[nodiscard]] sc_core::sc_time ahead() const;
  // The cycle in which something that arrives after `delay` is visible: never the present one, so that results do not
  // depend on the order in which processes run.
  [[nodiscard]] Cycle visible_after(const sc_core::sc_time& delay) const {
    const Cycle next = now() + 1;
    if (delay.value() == 0) {
      return next;
    }
    if (running() && delay.value() <= 2 * period_) {  // usual, and no division
      return delay.value() <= period_ ? next : next + 1;
    }
    const Cycle at = (time() + delay.value() + period_ - 1) / period_;
    return at > next ? at : next;
  }
  // What a module does to another one than itself, all of which counts from the next cycle on: done by the end of the
  // present cycle (tlm/calendar/calendar.hpp, which defines it); at once when no module has its turn, or without a
  // calendar. `task` is called once, and is so small and plain that it is kept as bytes.
  template <class Task>
  void tell(const Task& task) const;
  // Tells what must see the other modules as they are when all have had their turns in the cycle.
  template <class Task>
  void at_cycle_end(const Task& task) const;
  // A module touches in its turn what others touch in theirs, in other cycles: a payload. For tests, which look whether
  // that is so (Calendar::shuffle).
  void touch(const void* thing, const char* what) const {
    if (progress_ != nullptr && progress_->checks) {
      touch_checked(thing, what);
    }
  }
  // Null: none has made this clock.
  [[nodiscard]] Calendar* calendar() const { return calendar_; }
  // Where its calendar is; null: none has made it. As long as this clock, or a copy of it.
  [[nodiscard]] const Progress* progress() const { return progress_.get(); }

 private:
  [[nodiscard]] bool running() const { return progress_ != nullptr && progress_->running; }
  [[nodiscard]] const Moment& moment() const { return progress_->apart ? present_moment : progress_->moment; }
  void touch_checked(const void* thing, const char* what) const;
  [[nodiscard]] static std::uint64_t kernel() { return sc_core::sc_time_stamp().value(); }
  [[nodiscard]] std::uint64_t time() const { return running() ? moment().value : kernel(); }

  std::uint64_t period_;   // in units of the SystemC time resolution
  sc_core::sc_time step_;  // the period
  Calendar* calendar_ = nullptr;
  std::shared_ptr<const Progress> progress_;  // a clock may outlive the GPU whose time it told
};

}  // namespace heddle::link
