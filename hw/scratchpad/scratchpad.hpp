// The scratchpad (shared memory) of a core: 32-bit wide banks. Lanes that want different words of one bank are served
// one after the other; lanes that want the same word share it (broadcast), except atomics, which take a turn each.
//
// Parameters   ScratchpadParameters (hw/parameters/machine.hpp)
// Socket       access   target, ScratchpadProtocol, blocking (tlm/on_chip_memory.hpp)
// Addresses are bytes into the core's scratchpad.
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "hw/scratchpad/statistics.hpp"
#include "isa/instruction.hpp"
#include "tlm/clock.hpp"
#include "tlm/on_chip_memory.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

struct ScratchpadAccess {
  isa::LaneMask lanes = 0;
  unsigned bytes = 4;  // per lane
  bool atomic = false;
  std::array<std::uint32_t, isa::kLanes> address{};
  // Lanes join others of an access that has been counted: the delay is that of all lanes, from the first cycle of the
  // access on.
  bool joins = false;
  unsigned conflicts = 0;  // written by the scratchpad: extra cycles in the delay
};
struct ScratchpadProtocol {
  using tlm_payload_type = ScratchpadAccess;
  using tlm_phase_type = link::WarpPhase;
};
using ScratchpadInitiatorSocket = ::tlm::tlm_initiator_socket<32, ScratchpadProtocol>;
using ScratchpadTargetSocket = ::tlm::tlm_target_socket<32, ScratchpadProtocol>;

// Cycles that an access occupies the banks: the largest number of distinct words wanted from one bank.
[[nodiscard]] unsigned scratchpad_cycles(const ScratchpadAccess& access, unsigned banks);

class Scratchpad final : public link::OnChipMemory<ScratchpadProtocol> {
 public:
  Scratchpad(const sc_core::sc_module_name& name, const ScratchpadParameters& parameters, link::Clock clock);
  ScratchpadStatistics statistics;
  [[nodiscard]] unsigned occupy(ScratchpadAccess& access) override;
  void clear(std::uint32_t base, std::uint32_t bytes);

 private:
  unsigned banks_;
};

}  // namespace heddle::hw
