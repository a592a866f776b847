// What a link of the interconnect carries, and until when. No SystemC.
//
// A link carries so many bytes per cycle of the interconnect's clock: NocParameters::link_bytes, slice_bytes on the
// memory's side. A transfer over links that are taken
// in whole cycles has them for as many as its data needs; one over packed links takes as many bytes as it has, and the
// next begins in the cycle in which it ends. Either is at the other end in the cycle of its last byte. What has no data
// takes a whole cycle, or no bytes of packed links.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/parameters/machine.hpp"
#include "tlm/clock_edges.hpp"

namespace heddle::hw {

// Of one end of the link. Written by LinkClock alone.
struct Link {
  std::uint64_t bytes = 0;  // that it carries in a cycle of its clock; 0: any number
  // Whole cycles: the GPU's cycle from which on it carries nothing. Packed: that many bytes would have passed if it had
  // carried all that it can, since its clock's first edge.
  std::uint64_t taken = 0;
};

class LinkClock {
 public:
  LinkClock(const NocParameters& parameters, link::ClockEdges edges)
      : edges_(edges), packed_(parameters.packed && parameters.link_bytes != 0) {}

  // The GPU's cycle from which on a transfer over both links can begin, if it could in `cycle` but for them.
  [[nodiscard]] link::Cycle from(link::Cycle cycle, const Link& input, const Link& output) const {
    return packed_ ? std::max({cycle, free_from(input), free_from(output)})
                   : edges_.from(std::max({cycle, input.taken, output.taken}));
  }
  // The first after `now` in which another could begin, as far as the clock is concerned.
  [[nodiscard]] link::Cycle next(link::Cycle now) const { return packed_ ? now + 1 : edges_.from(now + 1); }

  // A transfer of so many bytes of data begins in `now`: each link is taken by it as long as that needs. Returns the
  // cycle of its last byte.
  link::Cycle carry(Link& input, Link& output, std::uint64_t data, link::Cycle now) const {
    if (!packed_) {
      return std::max(carry_whole(input, data, now), carry_whole(output, data, now));
    }
    const std::uint64_t edge = edges_.edge_from(now + 1) - 1;  // the cycle's last
    const std::uint64_t in = std::max({edge * input.bytes, input.taken, same_time(output, input)});
    const std::uint64_t out = std::max({edge * output.bytes, output.taken, same_time(input, output)});
    input.taken = in + data;
    output.taken = out + data;
    return data == 0 ? now
                     : std::max({now, edges_.cycle_of((in + data - 1) / input.bytes),
                                 edges_.cycle_of((out + data - 1) / output.bytes)});
  }

 private:
  [[nodiscard]] link::Cycle free_from(const Link& link) const { return edges_.cycle_of(link.taken / link.bytes); }
  // Until when one link is taken, in bytes of another.
  [[nodiscard]] static std::uint64_t same_time(const Link& taken, const Link& of) {
    return taken.bytes == of.bytes ? taken.taken : (taken.taken * of.bytes + taken.bytes - 1) / taken.bytes;
  }
  [[nodiscard]] link::Cycle carry_whole(Link& link, std::uint64_t data, link::Cycle now) const {
    const std::uint64_t cycles = link.bytes == 0 || data == 0 ? 1 : (data + link.bytes - 1) / link.bytes;
    link.taken = edges_.from(now, cycles);
    return cycles == 1 ? now : edges_.from(now, cycles - 1);
  }

  const link::ClockEdges edges_;
  const bool packed_;
};

}  // namespace heddle::hw
