#include "hw/core/share/line_ports.hpp"

namespace heddle::hw {

LinePorts::LinePorts(const sc_core::sc_module_name& name, unsigned ports)
    : sc_core::sc_module(name), in("in", ports), out("out") {
  for (unsigned port = 0; port != ports; ++port) {
    ports_.push_back(std::make_unique<Port>(*this, static_cast<std::uint8_t>(port)));
    in[port].bind(*ports_.back());
  }
  out.bind(*this);
}

::tlm::tlm_sync_enum LinePorts::Port::nb_transport_fw(link::LineRequest& request, link::LinePhase& phase,
                                                      sc_core::sc_time& delay) {
  request.port = number;
  Cache* const direct = ports.cache_.of(ports.out);
  return direct != nullptr ? direct->offer(request) : ports.out->nb_transport_fw(request, phase, delay);
}

::tlm::tlm_sync_enum LinePorts::nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                                sc_core::sc_time& delay) {
  answered(request.port);
  return in[request.port]->nb_transport_bw(request, phase, delay);
}

}  // namespace heddle::hw
