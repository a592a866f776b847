#include "hw/private_memory/private_memory.hpp"

#include <algorithm>

#include "base/error.hpp"
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

PrivateMemory::PrivateMemory(const sc_core::sc_module_name& name, const PrivateMemoryParameters& parameters,
                             unsigned threads, link::Clock clock)
    : sc_core::sc_module(name), access("access"), clock_(clock), storage_(std::size_t{parameters.bytes} * threads) {
  access.bind(*this);
}

::tlm::tlm_sync_enum PrivateMemory::nb_transport_fw(PrivateAccess&, link::WarpPhase&, sc_core::sc_time&) {
  throw InternalError("private memory's socket is blocking");
}

void PrivateMemory::b_transport(PrivateAccess& access, sc_core::sc_time& delay) {
  delay += clock_.cycles(occupy(access));
}

unsigned PrivateMemory::occupy(PrivateAccess& access) {
  const unsigned cycles = private_cycles(access);
  const unsigned conflicts = cycles - std::max(access.bytes / 4, 1U);
  statistics.accesses += access.joins ? 0 : 1;
  statistics.bank_conflicts += conflicts - (access.joins ? std::min(access.conflicts, conflicts) : 0);
  access.conflicts = conflicts;
  return cycles;
}

bool PrivateMemory::get_direct_mem_ptr(PrivateAccess&, ::tlm::tlm_dmi& dmi) {
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(storage_.data()));
  dmi.set_start_address(0);
  dmi.set_end_address(storage_.size() - 1);
  dmi.allow_read_write();
  return true;
}

}  // namespace heddle::hw
