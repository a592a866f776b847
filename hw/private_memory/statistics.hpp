// Counters of a private memory.
#pragma once

#include <cstdint>

namespace heddle::hw {

struct PrivateMemoryStatistics {
  std::uint64_t accesses = 0;
  std::uint64_t bank_conflicts = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("accesses", accesses, "sub-warps", "loads and stores of local memory that is on the chip");
    visit("bank_conflicts", bank_conflicts, "cycles",
          "cycles beyond one per 32-bit word, in which threads that share a bank took turns");
  }
};

}  // namespace heddle::hw
