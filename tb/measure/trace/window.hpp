// Which cycles of a run are shown.
#pragma once

#include "tlm/clock.hpp"

namespace heddle::tb {

// Both ends belong to it. Cycles of the GPU's clock, which counts from the start of the simulation.
struct CycleWindow {
  link::Cycle from = 0;
  link::Cycle to = link::kNever;
  [[nodiscard]] bool contains(link::Cycle cycle) const { return cycle >= from && cycle <= to; }
};

}  // namespace heddle::tb
