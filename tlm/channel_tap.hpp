// Taps on connections of TLM-2.0's base protocol (tlm/protocol_tap.hpp), in terms of requests and responses.
#pragma once

#include <systemc>
#include <tlm>

#include "tlm/base_protocol.hpp"
#include "tlm/protocol_tap.hpp"

namespace heddle::link {

// What may stand between two ends: one module, or several in a row.
using Tap = TapOf<::tlm::tlm_base_protocol_types>;

// A tap that shows the requests to whoever derives from it. It grants no direct memory: what went around it would not
// be shown.
class ChannelTap : public ProtocolTap<::tlm::tlm_base_protocol_types> {
 public:
  using ProtocolTap::ProtocolTap;

 protected:
  // A request begins (BEGIN_REQ, before it is handed on). `delay`: annotated time until it takes effect.
  virtual void request(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) = 0;
  // Its response begins (BEGIN_RESP, or the call that completes it), before it is handed on.
  virtual void response(const ::tlm::tlm_generic_payload& /*payload*/, const sc_core::sc_time& /*delay*/) {}

 private:
  void calls(const Payload& payload, const Phase& phase, const sc_core::sc_time& delay) final {
    if (phase == ::tlm::BEGIN_REQ) {
      request(payload, delay);
    }
  }
  void returns(const Payload& payload, const Phase& called, const Phase& phase, const sc_core::sc_time& delay,
               ::tlm::tlm_sync_enum answer) final {
    if ((called == ::tlm::BEGIN_REQ && answer == ::tlm::TLM_COMPLETED) ||
        (answer == ::tlm::TLM_UPDATED && phase == ::tlm::BEGIN_RESP)) {
      response(payload, delay);
    }
  }
  void calls_back(const Payload& payload, const Phase& phase, const sc_core::sc_time& delay) final {
    if (phase == ::tlm::BEGIN_RESP) {
      response(payload, delay);
    }
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) final {
    ProtocolTap::b_transport(payload, delay);
    payload.set_dmi_allowed(false);
  }
  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, Phase& phase, sc_core::sc_time& delay) final {
    const ::tlm::tlm_sync_enum answer = ProtocolTap::nb_transport_fw(payload, phase, delay);
    payload.set_dmi_allowed(false);
    return answer;
  }
  ::tlm::tlm_sync_enum nb_transport_bw(Payload& payload, Phase& phase, sc_core::sc_time& delay) final {
    payload.set_dmi_allowed(false);
    return ProtocolTap::nb_transport_bw(payload, phase, delay);
  }
  bool get_direct_mem_ptr(Payload&, ::tlm::tlm_dmi& dmi) final { return deny_direct_memory(dmi); }
  void begins(const Payload& payload, const sc_core::sc_time& delay) final { request(payload, delay); }
  void ends(const Payload& payload, const sc_core::sc_time& delay) final { response(payload, delay); }
};

}  // namespace heddle::link
