// Between the grid dispatcher and a core: which of the core's cycles belong to a launch. Non-blocking; the core acts
// upon it within the call, which comes in no module's turn.
//
//   fw begins  launch, cycle, global -> TLM_COMPLETED   the core is the launch's from `cycle` on; `global`: its blocks
//                                                       begin in the global scheduler. The launch lives until it ends.
//                                                       `carve_out`: bytes of its scratchpad
//   fw ends    cycle                 -> TLM_COMPLETED   up to (not including) `cycle`
#pragma once

#include <cstdint>
#include <tlm>

#include "hw/state/launch.hpp"
#include "tlm/cycle.hpp"

namespace heddle::hw {

struct LaunchCommand {
  unsigned core = 0;
  link::Cycle cycle = 0;
  const Launch* launch = nullptr;
  bool global = false;
  std::uint64_t carve_out = 0;
};
enum class LaunchPhase : std::uint8_t { begins, ends };
struct LaunchProtocol {
  using tlm_payload_type = LaunchCommand;
  using tlm_phase_type = LaunchPhase;
};
using LaunchInitiatorSocket = ::tlm::tlm_initiator_socket<32, LaunchProtocol>;
using LaunchTargetSocket = ::tlm::tlm_target_socket<32, LaunchProtocol>;

}  // namespace heddle::hw
