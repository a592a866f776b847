#include "hw/core/share/scratchpad_ports.hpp"

#include <algorithm>

namespace heddle::hw {

ScratchpadPorts::ScratchpadPorts(const sc_core::sc_module_name& name, unsigned ports, link::Clock clock)
    : sc_core::sc_module(name), in("in", ports), out("out"), clock_(clock) {
  for (unsigned port = 0; port != ports; ++port) {
    ports_.push_back(std::make_unique<Port>(*this));
    in[port].bind(*ports_.back());
  }
  out.bind(*this);
}

void ScratchpadPorts::serve(ScratchpadAccess& access, sc_core::sc_time& delay) {
  const link::Cycle now = clock_.now();
  const link::Cycle begins = std::max(now, free_at_);
  sc_core::sc_time taken = sc_core::SC_ZERO_TIME;
  out->b_transport(access, taken);
  free_at_ = begins + clock_.cycles_of(taken);
  delay += clock_.cycles(begins - now) + taken;
}

}  // namespace heddle::hw
