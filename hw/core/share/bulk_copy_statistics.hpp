// Counters of a core's unit for copies in bulk.
#pragma once

#include <cstdint>

namespace heddle::hw {

struct BulkCopyStatistics {
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  std::uint64_t refused = 0;
  std::uint64_t full = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("copies", copies, "copies", "copies in bulk to the scratchpad that have ended");
    visit("bytes", bytes, "bytes", "that they have copied");
    visit("lines", lines, "lines", "that they have asked the L1 for, which keeps none of them");
    visit("refused", refused, "cycles", "in which the L1 had no room for the next line");
    visit("full", full, "cycles", "in which an instruction found the unit's queue full");
  }
};

}  // namespace heddle::hw
