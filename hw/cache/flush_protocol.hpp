// Between the grid dispatcher and a slice of the L2: the flush at the end of launches, once the cores' caches are
// empty, and what the host has changed since. Non-blocking; each side looks at what it was told in a later cycle, but
// for `changed`, upon which a slice acts within the call, which comes in no module's turn.
//
//   fw flush   -> TLM_ACCEPTED   memory has every dirty line, and the slice is empty or, with l2.kept, as it was, once
//                                what has arrived is done
//   fw changed -> TLM_COMPLETED  with l2.kept, before a launch that begins while none runs: the host may have written
//                                to memory
//   bw flushed -> TLM_COMPLETED  memory has every store of the slice
#pragma once

#include <cstdint>
#include <tlm>

namespace heddle::hw {

struct FlushCommand {
  unsigned slice = 0;
};
enum class FlushPhase : std::uint8_t { flush, changed, flushed };
struct FlushProtocol {
  using tlm_payload_type = FlushCommand;
  using tlm_phase_type = FlushPhase;
};
using FlushInitiatorSocket = ::tlm::tlm_initiator_socket<32, FlushProtocol>;
// Unbound where a slice stands alone.
using FlushTargetSocket = ::tlm::tlm_target_socket<32, FlushProtocol, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

}  // namespace heddle::hw
