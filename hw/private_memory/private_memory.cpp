#include "hw/private_memory/private_memory.hpp"

#include <algorithm>

#include "base/set_bits.hpp"

namespace heddle::hw {

unsigned private_cycles(const PrivateAccess& access) {
  std::array<std::uint8_t, isa::kLanes> of_bank{};
  std::uint8_t most = 1;
  for (const unsigned lane : set_bits(access.lanes)) {
    most = std::max(most, ++of_bank[access.bank[lane]]);
  }
  return most * std::max(access.bytes / 4, 1U);
}

unsigned PrivateMemory::occupy(PrivateAccess& access) {
  const unsigned cycles = private_cycles(access);
  const unsigned conflicts = cycles - std::max(access.bytes / 4, 1U);
  statistics.accesses += access.joins ? 0 : 1;
  statistics.bank_conflicts += conflicts - (access.joins ? std::min(access.conflicts, conflicts) : 0);
  access.conflicts = conflicts;
  return cycles;
}

}  // namespace heddle::hw
