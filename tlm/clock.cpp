#include "tlm/clock.hpp"

namespace heddle::link {

ClockedModule::ClockedModule(const sc_core::sc_module_name& name, Clock clock)
    : sc_core::sc_module(name), clock_(clock), tick_event_("tick") {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&tick_event_);
  options.dont_initialize();
  sc_core::sc_spawn([this] { tick(); }, "advance", &options);
}

void ClockedModule::wake(Cycle at) {
  if (last_ != kNever && at <= last_) {
    at = last_ + 1;  // a cycle runs once
  }
  if (at < scheduled_) {
    scheduled_ = at;
    if (!ticking_) {
      tick_event_.notify(clock_.until(at));
    }
  }
}

void ClockedModule::tick() {
  const Cycle now = clock_.now();
  scheduled_ = kNever;
  last_ = now;
  ticking_ = true;
  const Cycle next = advance(now);
  if (next != kNever) {
    wake(next);
  }
  ticking_ = false;
  if (scheduled_ != kNever) {
    tick_event_.notify(clock_.cycles(scheduled_ - now));
  }
}

}  // namespace heddle::link
