// What several sub-cores share a cache by: a port for each, one after the other in a cycle in the order in which they
// have their turns, which goes round (Core::advance).
//
//   in[i]  target, LineProtocol     from sub-core i
//   out    initiator, LineProtocol  to the cache, which says how many lines may start in a cycle
// An answer goes back to the port that the request has come by, and is told to `answered`. A request that the cache has
// refused for want of room goes to it again when something has happened that could make some: until then its port
// refuses it, and counts that for the cache.
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
  // Before a launch: no request has been refused.
  void reset();

 private:
  struct Port final : link::NonBlockingTarget<link::LineProtocol>, link::LineRoom {
    Port(LinePorts& among, std::uint8_t number) : ports(among), number(number) {}
    ::tlm::tlm_sync_enum nb_transport_fw(link::LineRequest& request, link::LinePhase& phase,
                                         sc_core::sc_time& delay) override;
    [[nodiscard]] bool refuses_still() const override;
    [[nodiscard]] bool would_refuse(link::LineRequest&) override { return false; }
    void refused_again(std::uint64_t cycles) override;
    LinePorts& ports;
    std::uint8_t number;
    // The latest request, if there was no room in the cache for it: what it was for, why not, and what the cache had
    // told of room by then.
    bool refused = false;
    std::uint64_t address = 0;
    link::LineRequest::Kind kind = link::LineRequest::Kind::load;
    link::LineRequest::Busy why = link::LineRequest::Busy::ports;
    std::uint64_t room_changes = 0;
  };
  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  std::vector<std::unique_ptr<Port>> ports_;
  link::BehindSocket<Cache> cache_;
};

}  // namespace heddle::hw
