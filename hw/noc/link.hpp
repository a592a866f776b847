// What a link of the interconnect carries, and until when. No SystemC.
//
// A link carries NocParameters::link_bytes per cycle of the interconnect's clock. A transfer over links that are taken
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
  // Whole cycles: the GPU's cycle from which on it carries nothing. Packed: that many bytes would have passed if it had
  // carried all that it can, since its clock's first edge.
  std::uint64_t taken = 0;
};

class LinkClock {
 public:
  LinkClock(const NocParameters& parameters, link::ClockEdges edges)
      : edges_(edges), bytes_(parameters.link_bytes), packed_(parameters.packed && parameters.link_bytes != 0) {}

  // The GPU's cycle from which on a transfer over both links can begin, if it could in `cycle` but for them.
  [[nodiscard]] link::Cycle from(link::Cycle cycle, const Link& input, const Link& output) const {
    const std::uint64_t taken = std::max(input.taken, output.taken);
    return packed_ ? std::max(cycle, edges_.cycle_of(taken / bytes_)) : edges_.from(std::max(cycle, taken));
  }
  // The first after `now` in which another could begin, as far as the clock is concerned.
  [[nodiscard]] link::Cycle next(link::Cycle now) const { return packed_ ? now + 1 : edges_.from(now + 1); }

  // A transfer of so many bytes of data begins in `now`: both links are taken by it. Returns the cycle of its last
  // byte.
  link::Cycle carry(Link& input, Link& output, std::uint64_t data, link::Cycle now) const {
    if (!packed_) {
      const std::uint64_t cycles = bytes_ == 0 || data == 0 ? 1 : (data + bytes_ - 1) / bytes_;
      input.taken = output.taken = edges_.from(now, cycles);
      return cycles == 1 ? now : edges_.from(now, cycles - 1);
    }
    const std::uint64_t begun = (edges_.edge_from(now + 1) - 1) * bytes_;  // with the cycle's edge
    const std::uint64_t begin = std::max({begun, input.taken, output.taken});
    input.taken = output.taken = begin + data;
    return data == 0 ? now : std::max(now, edges_.cycle_of((begin + data - 1) / bytes_));
  }

 private:
  const link::ClockEdges edges_;
  const std::uint64_t bytes_;
  const bool packed_;
};

}  // namespace heddle::hw
