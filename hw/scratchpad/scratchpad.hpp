// The scratchpad (shared memory) of a core: 32-bit wide banks. Lanes that want different words of one bank are served
// one after the other; lanes that want the same word share it (broadcast), except atomics, which take a turn each.
//
// Parameters   ScratchpadParameters (hw/parameters/machine.hpp)
// Socket       access   target, ScratchpadProtocol. b_transport carries the timing: delay = cycles the access occupies
//                       the banks, as whole GPU cycles; it never waits. get_direct_mem_ptr hands out the storage.
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

class Scratchpad : public sc_core::sc_module, public ::tlm::tlm_fw_transport_if<ScratchpadProtocol> {
 public:
  Scratchpad(const sc_core::sc_module_name& name, const ScratchpadParameters& parameters, link::Clock clock);
  ScratchpadTargetSocket access;
  ScratchpadStatistics statistics;
  // What a b_transport does: counts the access and returns the cycles that it occupies the banks.
  [[nodiscard]] unsigned occupy(ScratchpadAccess& access);
  [[nodiscard]] std::byte* data() { return storage_.data(); }
  void clear(std::uint32_t base, std::uint32_t bytes);

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(ScratchpadAccess&, link::WarpPhase&, sc_core::sc_time&) override;
  void b_transport(ScratchpadAccess& access, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(ScratchpadAccess& access, ::tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(ScratchpadAccess&) override { return 0; }

  unsigned banks_;
  link::Clock clock_;
  std::vector<std::byte> storage_;
};

}  // namespace heddle::hw
