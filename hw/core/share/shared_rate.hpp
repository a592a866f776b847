// A rate that sub-cores share: one use every `interval` cycles of all of them together (0: any number). In a cycle, who
// has its turn first is first; the order of turns goes round (Core::advance). Plain C++.
#pragma once

#include "tlm/cycle.hpp"

namespace heddle::hw {

class SharedRate {
 public:
  explicit SharedRate(unsigned interval) : interval_(interval) {}
  [[nodiscard]] bool free(link::Cycle now) const { return free_at_ <= now; }
  // It is free.
  void take(link::Cycle now) { free_at_ = now + interval_; }
  void reset() { free_at_ = 0; }

 private:
  const unsigned interval_;
  link::Cycle free_at_ = 0;
};

}  // namespace heddle::hw
