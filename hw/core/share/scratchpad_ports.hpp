// What several sub-cores share a scratchpad by: a port for each. Accesses have the banks one after the other, in the
// order in which they come; those of one cycle in the order of the sub-cores' turns, which goes round (Core::advance).
//
//   in[i]  target, ScratchpadProtocol     from sub-core i; the delay is that of the wait for the banks and the access
//   out    initiator, ScratchpadProtocol  to the scratchpad
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "hw/scratchpad/scratchpad.hpp"
#include "tlm/clock.hpp"

namespace heddle::hw {

class ScratchpadPorts final : public sc_core::sc_module, private link::ForwardOnlyInitiator<ScratchpadProtocol> {
 public:
  ScratchpadPorts(const sc_core::sc_module_name& name, unsigned ports, link::Clock clock);

  sc_core::sc_vector<ScratchpadTargetSocket> in;
  ScratchpadInitiatorSocket out;

 private:
  struct Port final : ::tlm::tlm_fw_transport_if<ScratchpadProtocol> {
    explicit Port(ScratchpadPorts& among) : ports(among) {}
    ::tlm::tlm_sync_enum nb_transport_fw(ScratchpadAccess& access, link::WarpPhase& phase,
                                         sc_core::sc_time& delay) override {
      return ports.out->nb_transport_fw(access, phase, delay);
    }
    void b_transport(ScratchpadAccess& access, sc_core::sc_time& delay) override { ports.serve(access, delay); }
    bool get_direct_mem_ptr(ScratchpadAccess& access, ::tlm::tlm_dmi& dmi) override {
      return ports.out->get_direct_mem_ptr(access, dmi);
    }
    unsigned transport_dbg(ScratchpadAccess& access) override { return ports.out->transport_dbg(access); }
    ScratchpadPorts& ports;
  };
  void serve(ScratchpadAccess& access, sc_core::sc_time& delay);

  link::Clock clock_;
  std::vector<std::unique_ptr<Port>> ports_;
  link::Cycle free_at_ = 0;  // the banks have served all accesses that have come before this cycle
};

}  // namespace heddle::hw
