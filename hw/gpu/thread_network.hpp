// What connects the cores of a GPU whose threads change cores: it hands each message on to its core. It takes no time
// of its own (a core hears in the next cycle) and has room for everything: what moving threads costs is for the
// mechanism to say that moves them.
//
//   core[i]  target, HomeProtocol   core i's messages, and messages for it
#pragma once

#include "hw/core/warps/home_protocol.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

class ThreadNetwork final : public sc_core::sc_module, private link::NonBlockingTarget<HomeProtocol> {
 public:
  ThreadNetwork(const sc_core::sc_module_name& name, unsigned cores) : sc_core::sc_module(name), core("core", cores) {
    for (unsigned i = 0; i != cores; ++i) {
      core[i].bind(*this);
    }
  }

  sc_core::sc_vector<HomeTargetSocket> core;

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(HomeMessage& message, HomePhase& phase, sc_core::sc_time& delay) override {
    return core[message.to]->nb_transport_bw(message, phase, delay);
  }
};

}  // namespace heddle::hw
