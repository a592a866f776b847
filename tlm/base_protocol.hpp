// What the model's TLM-2.0 base-protocol sockets do alike: one phase at a time in each direction, requests within one
// line, no direct memory where an access around a module would have no timing.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "tlm/clock.hpp"

namespace heddle::link {

// One direction of one socket under the base protocol's exclusion rule: a request (or response) phase that has begun
// keeps the next from beginning until it has ended. At most one begins per cycle. (The port to device memory has an
// exclusion of its own: a memory that answers within the call takes several requests in a cycle.)
class ExclusivePhase {
 public:
  [[nodiscard]] bool under_way() const { return payload_ != nullptr; }
  [[nodiscard]] bool under_way(const ::tlm::tlm_generic_payload& payload) const { return payload_ == &payload; }
  // The first cycle in which another may begin, when none is under way.
  [[nodiscard]] Cycle next() const { return next_; }
  [[nodiscard]] bool can_begin(Cycle now) const { return payload_ == nullptr && next_ <= now; }

  void begin(const ::tlm::tlm_generic_payload& payload, Cycle now) {
    payload_ = &payload;
    next_ = now + 1;
  }
  // Another phase may begin in the cycle after the one in which this phase began.
  void end() { payload_ = nullptr; }
  // Another phase may begin in cycle `next`.
  void end(Cycle next) {
    payload_ = nullptr;
    next_ = next;
  }

 private:
  const ::tlm::tlm_generic_payload* payload_ = nullptr;
  Cycle next_ = 0;
};

// Sends BEGIN_RESP by a target socket, to arrive after `delay`. The phase is over at once when the initiator says so in
// its return; else its END_RESP is to end it.
template <class TargetSocket>
void begin_response(TargetSocket& socket, ::tlm::tlm_generic_payload& payload, ExclusivePhase& response,
                    const Clock& clock, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
  response.begin(payload, clock.now());
  ::tlm::tlm_phase phase = ::tlm::BEGIN_RESP;
  const ::tlm::tlm_sync_enum result = socket->nb_transport_bw(payload, phase, delay);
  if (result == ::tlm::TLM_COMPLETED || (result == ::tlm::TLM_UPDATED && phase == ::tlm::END_RESP)) {
    response.end(clock.visible_after(delay));
  }
}

// Sends the END_REQ that a target has owed.
template <class TargetSocket>
void end_request(TargetSocket& socket, ::tlm::tlm_generic_payload& payload,
                 sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
  ::tlm::tlm_phase phase = ::tlm::END_REQ;
  socket->nb_transport_bw(payload, phase, delay);
}

// Whether a request is plain bytes of one line: some, all of them in it, no streaming. One that is not has its error
// status, and is to be answered by TLM_COMPLETED.
[[nodiscard]] inline bool within_line(::tlm::tlm_generic_payload& payload, unsigned line_bytes) {
  const unsigned length = payload.get_data_length();
  const std::uint64_t offset = payload.get_address() & (line_bytes - 1);
  if (length != 0 && offset + length <= line_bytes && payload.get_streaming_width() >= length) {
    return true;
  }
  payload.set_response_status(::tlm::TLM_BURST_ERROR_RESPONSE);
  return false;
}

// The answer to get_direct_mem_ptr of a socket that grants none, for no address: an access around the module would have
// no timing, or miss what the module knows better than the memory.
[[nodiscard]] inline bool deny_direct_memory(::tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  dmi.set_start_address(0);
  dmi.set_end_address(~sc_dt::uint64{0});
  return false;
}

}  // namespace heddle::link
