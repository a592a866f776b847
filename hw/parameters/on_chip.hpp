// Parameters of a core's on-chip memories that are no caches.
#pragma once

#include <cstdint>

#include "base/parameter.hpp"

namespace heddle::hw {

struct ScratchpadParameters {
  std::uint64_t bytes = 128 * 1024;
  unsigned banks = 32;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("bytes", bytes, Limits::between(0, 16 << 20), "bytes", "capacity per core, shared by its resident blocks");
    visit("banks", banks, Limits::power_of_two(1, 64), "banks",
          "32-bit wide banks; conflicts serialise, broadcast is free");
  }
};

struct PrivateMemoryParameters {
  unsigned bytes = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "bytes", bytes, Limits::between(0, 65536), "bytes",
        "of each thread's local memory, from its start, that are on the chip, in a bank per lane (LWM report 2.2; its "
        "table 1 has 128, of which the papers' kernels make use themselves, as scratchpad); what lies behind them is "
        "in device memory. 0: all of it");
  }
};

}  // namespace heddle::hw
