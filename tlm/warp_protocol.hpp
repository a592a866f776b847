// Between the stages of a core: one sub-warp's instruction. Non-blocking with back-pressure:
//
//   fw offer -> TLM_COMPLETED  taken: the target owns the payload now; it works on it in a later cycle
//            -> TLM_UPDATED    refused: the target is full; offer it again in a later cycle
//   fw beside -> as offer, for a payload that shares the place of the payloads handed over in this cycle, in lanes that
//                they leave free: what reaches the target as one cycle's work. Refused when nothing has been handed
//                over in this cycle, or when a lane is taken
//
// An offer carries the payloads beside its own along (SubWarp::beside).
// Stages are advanced from write-back to fetch, so a stage that hands a payload on makes room in the same cycle, and
// what it took is looked at in the next: one slot per stage and cycle of latency is enough.
#pragma once

#include <cstdint>
#include <tlm>

#include "base/error.hpp"
#include "tlm/clock.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::link {

enum class WarpPhase : std::uint8_t { offer, beside };

struct WarpProtocol {
  using tlm_payload_type = SubWarp;
  using tlm_phase_type = WarpPhase;
};

using WarpInitiatorSocket = ::tlm::tlm_initiator_socket<32, WarpProtocol>;
using WarpTargetSocket = ::tlm::tlm_target_socket<32, WarpProtocol>;

// The parts of the transport interfaces that protocols of our own do not use.
template <class Protocol>
class NonBlockingTarget : public ::tlm::tlm_fw_transport_if<Protocol> {
 public:
  void b_transport(typename Protocol::tlm_payload_type&, sc_core::sc_time&) override {
    throw InternalError("this socket's protocol is non-blocking");
  }
  bool get_direct_mem_ptr(typename Protocol::tlm_payload_type&, ::tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(typename Protocol::tlm_payload_type&) override { return 0; }
};

template <class Protocol>
class ForwardOnlyInitiator : public ::tlm::tlm_bw_transport_if<Protocol> {
 public:
  ::tlm::tlm_sync_enum nb_transport_bw(typename Protocol::tlm_payload_type&, typename Protocol::tlm_phase_type&,
                                       sc_core::sc_time&) override {
    throw InternalError("this socket's protocol has no backward path");
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

}  // namespace heddle::link
