#include "hw/dram/policy.hpp"

namespace heddle::hw {

bool DramView::allowed(const DramRequest& request) const {
  if (holds_.holds_back(request, now_)) {
    ask_again(holds_.free_at(request));
    return false;
  }
  if (!drain_.enabled()) {
    return true;
  }
  if (WriteDrain::waits_for_line(request)) {
    return false;  // until the other one starts
  }
  // A hit that a hold waits for goes in either direction's turn: the turn may end only with a request that is held
  // back.
  if (!drain_.turn_of(request) && !holds_.awaits(request) && !starving(request)) {
    ask_again(starves_at(request));
    return false;
  }
  if (drain_.closes_committed(request, timing) && !starving(request)) {
    ask_again(starves_at(request));
    return false;  // until the other one is served
  }
  return true;
}

Limits dram_schedulers() {
  return Limits::policy<Registry<DramScheduler>>();
}

Limits dram_row_policies() {
  return Limits::policy<Registry<DramRowPolicy>>();
}

}  // namespace heddle::hw
