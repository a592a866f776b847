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

void LinePorts::reset() {
  for (const std::unique_ptr<Port>& port : ports_) {
    port->refused = false;
  }
}

bool LinePorts::Port::refuses_still() const {
  return refused && ports.cache_.of(ports.out)->room_changes() == room_changes;
}

void LinePorts::Port::refused_again(std::uint64_t cycles) {
  ports.cache_.of(ports.out)->refused_again(why, cycles);
}

::tlm::tlm_sync_enum LinePorts::Port::nb_transport_fw(link::LineRequest& request, link::LinePhase& phase,
                                                      sc_core::sc_time& delay) {
  if (refuses_still() && request.address == address && request.kind == kind) {
    request.answer = link::LineRequest::Answer::busy;
    request.busy = why;
    refused_again(1);
    return ::tlm::TLM_UPDATED;
  }
  request.port = number;
  refused = false;
  Cache* const direct = ports.cache_.of(ports.out);
  if (direct == nullptr) {
    return ports.out->nb_transport_fw(request, phase, delay);
  }
  const ::tlm::tlm_sync_enum answer = direct->offer(request);
  if (answer == ::tlm::TLM_UPDATED && direct->refuses_still()) {
    refused = true;
    address = request.address;
    kind = request.kind;
    why = request.busy;
    room_changes = direct->room_changes();
  }
  return answer;
}

::tlm::tlm_sync_enum LinePorts::nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                                sc_core::sc_time& delay) {
  answered(request.port);
  return in[request.port]->nb_transport_bw(request, phase, delay);
}

}  // namespace heddle::hw
