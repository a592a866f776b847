// Counters of the grid dispatcher.
#pragma once

#include <cstdint>

namespace heddle::hw {

struct DispatcherStatistics {
  std::uint64_t launches = 0;
  std::uint64_t cycles = 0;
  std::uint64_t blocks = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("launches", launches, "launches", "kernel launches ended");
    visit("cycles", cycles, "cycles", "cycles of all launches, from start to the last store in memory");
    visit("blocks", blocks, "blocks", "thread blocks handed to cores");
  }
};

}  // namespace heddle::hw
