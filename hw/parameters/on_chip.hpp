// Parameters of a core's on-chip memories that are no caches.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

struct ScratchpadParameters {
  std::uint64_t bytes = 128 * 1024;
  unsigned banks = 32;
  std::string carve_outs;
  unsigned least_carve_out = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("bytes", bytes, Limits::between(0, 16 << 20), "bytes", "capacity per core, shared by its resident blocks");
    visit("banks", banks, Limits::power_of_two(1, 64), "banks",
          "32-bit wide banks; conflicts serialise, broadcast is free");
    visit("carve_outs", carve_outs, Limits::any(), "KB",
          "sizes that the scratchpad can have as a part of the L1's store, which l1d.bytes then is: \"0 32 64\". In a "
          "launch it has the smallest one that holds the scratchpad of as many blocks as a core can have, or what the "
          "program prefers, and the L1 has the rest (CUDA C++ Programming Guide, shared memory of each compute "
          "capability); empty: it has a store of its own");
    visit("least_carve_out", least_carve_out, Limits::between(0, 16384), "KB",
          "of a launch whose program prefers none");
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
