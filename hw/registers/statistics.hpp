// Counters of the register banks.
#pragma once

#include <cstdint>

namespace heddle::hw {

// Of one bank, or of several together.
template <class Visitor, class Counter>
void describe_bank(Visitor& visit, Counter& reads, Counter& writes) {
  visit("reads", reads, "accesses", "operand rows read for a thread in this lane");
  visit("writes", writes, "accesses", "result rows written for a thread in this lane");
}

struct RegisterStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    describe_bank(visit, reads, writes);
  }
};

}  // namespace heddle::hw
