// From an inclusive L2 to the caches of a core: a line that the L2 gives up must not stay in an L1 (back-invalidation).
//
//   fw invalidate -> TLM_COMPLETED  taken note of; it takes effect after the annotated delay, in the next cycle at the
//                                   earliest
//
// There is no answer: a copy that the core has changed is written back as any other.
#pragma once

#include <cstdint>
#include <tlm>

#include "tlm/warp_protocol.hpp"

namespace heddle::link {

struct Invalidation {
  std::uint64_t address = 0;  // first byte
  unsigned bytes = 0;         // a multiple of the core's line size
};

enum class InvalidationPhase : std::uint8_t { invalidate };

struct InvalidationProtocol {
  using tlm_payload_type = Invalidation;
  using tlm_phase_type = InvalidationPhase;
};

using InvalidationInitiatorSocket = ::tlm::tlm_initiator_socket<32, InvalidationProtocol>;
// Bound to every slice of an inclusive L2; unbound where there is none.
using InvalidationTargetSocket = ::tlm::tlm_target_socket<32, InvalidationProtocol, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

}  // namespace heddle::link
