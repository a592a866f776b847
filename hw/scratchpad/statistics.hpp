// Counters of a scratchpad.
#pragma once

#include <cstdint>

namespace heddle::hw {

struct ScratchpadStatistics {
  std::uint64_t accesses = 0;
  std::uint64_t bank_conflicts = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("accesses", accesses, "sub-warps", "loads, stores and atomics on the scratchpad");
    visit("bank_conflicts", bank_conflicts, "cycles",
          "cycles beyond those that the accessed words need at one word per bank and cycle");
  }
};

}  // namespace heddle::hw
