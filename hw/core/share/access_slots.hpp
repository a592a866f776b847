// What sub-cores share the load-store unit by: it takes an access every lsu.interval cycles, in the order in which they
// are offered, those of one cycle in the order of the sub-cores' turns, which goes round (Core::advance). Plain C++.
#pragma once

#include <algorithm>

#include "tlm/cycle.hpp"

namespace heddle::hw {

class AccessSlots {
 public:
  explicit AccessSlots(unsigned interval) : interval_(interval) {}
  // An access is offered in cycle `now`. Returns the cycle in which it is taken.
  [[nodiscard]] link::Cycle claim(link::Cycle now) {
    const link::Cycle at = std::max(now, free_at_);
    free_at_ = at + interval_;
    return at;
  }
  void reset() { free_at_ = 0; }

 private:
  const unsigned interval_;
  link::Cycle free_at_ = 0;
};

}  // namespace heddle::hw
