// Taps on TLM-2.0 connections. A tap sits between an initiator and a target, hands every call on unchanged and in the
// same instant, and looks at it. Without a tap the two are bound to each other directly, so watching costs nothing when
// it is off.
#pragma once

#include <systemc>
#include <tlm>

namespace heddle::link {

// What may stand between two ends: one module, or several in a row.
class Tap : public sc_core::sc_module {
 public:
  explicit Tap(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}
  // The sockets towards the connection's initiator and towards its target.
  [[nodiscard]] virtual ::tlm::tlm_target_socket<>& target_end() = 0;
  [[nodiscard]] virtual ::tlm::tlm_initiator_socket<>& initiator_end() = 0;
};

// A tap that shows the requests to whoever derives from it.
//
//   target     tlm_target_socket<32>     towards the initiator
//   initiator  tlm_initiator_socket<32>  towards the target
class ChannelTap : public Tap, protected ::tlm::tlm_fw_transport_if<>, protected ::tlm::tlm_bw_transport_if<> {
 public:
  explicit ChannelTap(const sc_core::sc_module_name& name) : Tap(name), target("target"), initiator("initiator") {
    target.bind(*this);
    initiator.bind(*this);
  }

  ::tlm::tlm_target_socket<> target;
  ::tlm::tlm_initiator_socket<> initiator;

  [[nodiscard]] ::tlm::tlm_target_socket<>& target_end() override { return target; }
  [[nodiscard]] ::tlm::tlm_initiator_socket<>& initiator_end() override { return initiator; }

 protected:
  // A request begins (BEGIN_REQ, before it is handed on). `delay`: annotated time until it takes effect.
  virtual void request(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) = 0;
  // Its response begins (BEGIN_RESP, or the call that completes it), before it is handed on.
  virtual void response(const ::tlm::tlm_generic_payload& /*payload*/, const sc_core::sc_time& /*delay*/) {}

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
    if (phase == ::tlm::BEGIN_REQ) {
      request(payload, delay);
    }
    const bool begins = phase == ::tlm::BEGIN_REQ;
    const ::tlm::tlm_sync_enum answer = initiator->nb_transport_fw(payload, phase, delay);
    if ((begins && answer == ::tlm::TLM_COMPLETED) || (answer == ::tlm::TLM_UPDATED && phase == ::tlm::BEGIN_RESP)) {
      response(payload, delay);
    }
    return answer;
  }
  void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    request(payload, delay);
    initiator->b_transport(payload, delay);
    response(payload, delay);
  }
  bool get_direct_mem_ptr(::tlm::tlm_generic_payload& payload, ::tlm::tlm_dmi& dmi) override {
    return initiator->get_direct_mem_ptr(payload, dmi);
  }
  unsigned transport_dbg(::tlm::tlm_generic_payload& payload) override { return initiator->transport_dbg(payload); }
  ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
    if (phase == ::tlm::BEGIN_RESP) {
      response(payload, delay);
    }
    return target->nb_transport_bw(payload, phase, delay);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    target->invalidate_direct_mem_ptr(start, end);
  }
};

}  // namespace heddle::link
