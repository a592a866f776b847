// Between a memory stage and the core's unit for copies in bulk (hw/core/share/bulk_copies.hpp). Non-blocking:
//
//   fw request  -> TLM_ACCEPTED  taken; one bw response follows. The payload stays until then
//               -> TLM_UPDATED   the unit's queue is full: nothing happened, offer it again later
//   bw response -> TLM_COMPLETED all bytes have come to the scratchpad, and the barrier object has counted them; or
//                                `failed`: the memory refused a line, and no object has counted any
// The initiator owns the payload.
#pragma once

#include <cstdint>
#include <tlm>

#include "isa/bulk_copy.hpp"
#include "tlm/cycle.hpp"

namespace heddle::hw {

struct BulkCopy {
  isa::BulkCopyRequest request;  // its `to` and `barrier` are addresses of the core's scratchpad
  bool timed_only = false;       // nothing is written: what replays has no data
  // Who asks, as in link::LineRequest.
  std::uint16_t core = 0;
  std::uint32_t group = 0;
  std::uint32_t pc = 0;
  // Written by the unit.
  bool failed = false;
  std::uint8_t port = 0;
  link::Cycle begins = 0;       // its first line may be asked for
  std::uint32_t asked = 0;      // bytes of lines that have been asked for
  std::uint32_t under_way = 0;  // lines
};

enum class BulkCopyPhase : std::uint8_t { request, response };
struct BulkCopyProtocol {
  using tlm_payload_type = BulkCopy;
  using tlm_phase_type = BulkCopyPhase;
};
using BulkCopyInitiatorSocket = ::tlm::tlm_initiator_socket<32, BulkCopyProtocol>;
using BulkCopyTargetSocket = ::tlm::tlm_target_socket<32, BulkCopyProtocol>;

}  // namespace heddle::hw
