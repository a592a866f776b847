// What several sub-cores share a cache by: a port for each, one after the other in a cycle in the order in which they
// have their turns, which goes round (Core::advance).
//
//   in[i]  target, LineProtocol     from sub-core i
//   out    initiator, LineProtocol  to the cache, which says how many lines may start in a cycle
// An answer goes back to the port that the request has come by, and is told to `answered`.
#pragma once

#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "hw/cache/cache.hpp"
#include "tlm/behind_socket.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

class LinePorts final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
 public:
  LinePorts(const sc_core::sc_module_name& name, unsigned ports);

  sc_core::sc_vector<link::LineTargetSocket> in;
  link::LineInitiatorSocket out;
  std::function<void(unsigned port)> answered;  // before the answer is handed on

 private:
  struct Port final : link::NonBlockingTarget<link::LineProtocol> {
    Port(LinePorts& among, std::uint8_t number) : ports(among), number(number) {}
    ::tlm::tlm_sync_enum nb_transport_fw(link::LineRequest& request, link::LinePhase& phase,
                                         sc_core::sc_time& delay) override;
    LinePorts& ports;
    std::uint8_t number;
  };
  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  std::vector<std::unique_ptr<Port>> ports_;
  link::BehindSocket<Cache> cache_;
};

}  // namespace heddle::hw
