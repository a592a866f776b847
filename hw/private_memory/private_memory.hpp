// The private memory of a core: the first bytes of each thread's local memory, on the chip, with a bank per lane
// (LWM report 2.2; table 1: 128 bytes per thread). What lies behind them is in device memory, by way of the L1.
//
// Parameters   PrivateMemoryParameters (hw/parameters/on_chip.hpp)
// Socket       access   target, PrivateProtocol, blocking (tlm/on_chip_memory.hpp)
// Timing       a bank serves 32 bits in a cycle. A thread's bank is that of its lane in its block, so that the threads
//              of a warp never meet in one; those that a mechanism packs into other lanes may, and take turns.
// Storage      the bytes of thread t of the core begin at t * bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/parameters/on_chip.hpp"
#include "hw/private_memory/statistics.hpp"
#include "isa/instruction.hpp"
#include "tlm/clock.hpp"
#include "tlm/on_chip_memory.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

struct PrivateAccess {
  isa::LaneMask lanes = 0;
  unsigned bytes = 4;                             // per lane
  std::array<std::uint8_t, isa::kLanes> bank{};   // of the thread in a lane
  std::array<std::uint32_t, isa::kLanes> from{};  // the first byte, in the storage
  // Lanes join others of an access that has been counted: the delay is that of all lanes, from the first cycle of the
  // access on.
  bool joins = false;
  unsigned conflicts = 0;  // written by the private memory: extra cycles in the delay
};
struct PrivateProtocol {
  using tlm_payload_type = PrivateAccess;
  using tlm_phase_type = link::WarpPhase;
};
using PrivateInitiatorSocket = ::tlm::tlm_initiator_socket<32, PrivateProtocol>;
using PrivateTargetSocket = ::tlm::tlm_target_socket<32, PrivateProtocol>;

// Cycles that an access occupies the banks: the words of the lanes whose threads share a bank, most of all.
[[nodiscard]] unsigned private_cycles(const PrivateAccess& access);

class PrivateMemory final : public link::OnChipMemory<PrivateProtocol> {
 public:
  // Of a core with so many threads.
  PrivateMemory(const sc_core::sc_module_name& name, const PrivateMemoryParameters& parameters, unsigned threads,
                link::Clock clock)
      : link::OnChipMemory<PrivateProtocol>(name, std::size_t{parameters.bytes} * threads, clock) {}
  PrivateMemoryStatistics statistics;
  [[nodiscard]] unsigned occupy(PrivateAccess& access) override;
};

}  // namespace heddle::hw
