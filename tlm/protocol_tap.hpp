// Taps on connections of any protocol. A tap sits between an initiator and a target, hands every call on unchanged and
// in the same instant, and looks at it. Without a tap the two are bound to each other directly, so watching costs
// nothing when it is off.
#pragma once

#include <systemc>
#include <tlm>

namespace heddle::link {

// What may stand between the two ends of a connection: one module, or several in a row. A tap, or a model that takes
// its time.
template <class Protocol>
class TapOf : public sc_core::sc_module {
 public:
  using TargetSocket = ::tlm::tlm_target_socket<32, Protocol>;
  using InitiatorSocket = ::tlm::tlm_initiator_socket<32, Protocol>;
  explicit TapOf(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}
  // The sockets towards the connection's initiator and towards its target.
  [[nodiscard]] virtual TargetSocket& target_end() = 0;
  [[nodiscard]] virtual InitiatorSocket& initiator_end() = 0;
};

// Binds `from`, an initiator, to `to`, a target or the initiator socket of a module around: through `tap`, or directly
// where that is null.
template <class Protocol, class From, class To>
void bind_through(TapOf<Protocol>* tap, From& from, To& to) {
  if (tap == nullptr) {
    from.bind(to);
    return;
  }
  from.bind(tap->target_end());
  tap->initiator_end().bind(to);
}

// A tap that shows every transaction to whoever derives from it. The calls themselves can be overridden too, by a model
// that does more than to look: each says what a tap does.
//
//   target     tlm_target_socket<32, Protocol>     towards the initiator
//   initiator  tlm_initiator_socket<32, Protocol>  towards the target
template <class Protocol>
class ProtocolTap : public TapOf<Protocol>,
                    protected ::tlm::tlm_fw_transport_if<Protocol>,
                    protected ::tlm::tlm_bw_transport_if<Protocol> {
 public:
  using Payload = typename Protocol::tlm_payload_type;
  using Phase = typename Protocol::tlm_phase_type;

  explicit ProtocolTap(const sc_core::sc_module_name& name)
      : TapOf<Protocol>(name), target("target"), initiator("initiator") {
    target.bind(*this);
    initiator.bind(*this);
  }

  typename TapOf<Protocol>::TargetSocket target;
  typename TapOf<Protocol>::InitiatorSocket initiator;

  [[nodiscard]] typename TapOf<Protocol>::TargetSocket& target_end() override { return target; }
  [[nodiscard]] typename TapOf<Protocol>::InitiatorSocket& initiator_end() override { return initiator; }

 protected:
  // A call on the forward path, before it is handed on.
  virtual void calls(const Payload& /*payload*/, const Phase& /*phase*/, const sc_core::sc_time& /*delay*/) {}
  // What has come of it: it was made with phase `called`; `phase` and `delay` are as the target has left them.
  virtual void returns(const Payload& /*payload*/, const Phase& /*called*/, const Phase& /*phase*/,
                       const sc_core::sc_time& /*delay*/, ::tlm::tlm_sync_enum /*answer*/) {}
  // A call on the backward path, before it is handed on.
  virtual void calls_back(const Payload& /*payload*/, const Phase& /*phase*/, const sc_core::sc_time& /*delay*/) {}
  // A blocking call, before and behind it.
  virtual void begins(const Payload& /*payload*/, const sc_core::sc_time& /*delay*/) {}
  virtual void ends(const Payload& /*payload*/, const sc_core::sc_time& /*delay*/) {}

  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, Phase& phase, sc_core::sc_time& delay) override {
    const Phase called = phase;
    calls(payload, phase, delay);
    const ::tlm::tlm_sync_enum answer = initiator->nb_transport_fw(payload, phase, delay);
    returns(payload, called, phase, delay, answer);
    return answer;
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    begins(payload, delay);
    initiator->b_transport(payload, delay);
    ends(payload, delay);
  }
  bool get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) override {
    return initiator->get_direct_mem_ptr(payload, dmi);
  }
  unsigned transport_dbg(Payload& payload) override { return initiator->transport_dbg(payload); }
  ::tlm::tlm_sync_enum nb_transport_bw(Payload& payload, Phase& phase, sc_core::sc_time& delay) override {
    calls_back(payload, phase, delay);
    return target->nb_transport_bw(payload, phase, delay);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    target->invalidate_direct_mem_ptr(start, end);
  }
};

}  // namespace heddle::link
