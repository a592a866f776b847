// Another clock, slower or faster than the GPU's or equal to it, seen from the GPU's cycles. No SystemC.
//
//   ClockEdges(own, gpu)   frequencies in GHz, above 0, taken as whole kHz so that edges never drift
//
// Edge n is at time n / own, and is seen in GPU cycle ceil(n * gpu / own): the first that begins at it or after. Edges
// 0, 1, 2... of a clock that is not faster are seen in different cycles, of a faster one several in a cycle; with equal
// clocks edge n is cycle n.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/error.hpp"
#include "tlm/cycle.hpp"

namespace heddle::link {

class ClockEdges {
 public:
  ClockEdges(double own_ghz, double gpu_ghz) : own_(khz(own_ghz)), gpu_(khz(gpu_ghz)) {
    if (own_ == 0 || gpu_ == 0) {
      throw InternalError("a clock whose edges are seen stands still");
    }
    const std::uint64_t common = std::gcd(own_, gpu_);
    own_ /= common;
    gpu_ /= common;
  }

  // Every cycle is one edge.
  [[nodiscard]] bool every_cycle() const { return own_ == gpu_; }
  // The cycle in which an edge is seen. `edge` times the GPU's frequency in kHz must fit into 64 bits: 10^12 edges do.
  [[nodiscard]] Cycle cycle_of(std::uint64_t edge) const {
    return every_cycle() ? edge : (edge * gpu_ + own_ - 1) / own_;
  }
  // The first edge that is seen in `cycle` or later.
  [[nodiscard]] std::uint64_t edge_from(Cycle cycle) const {
    return every_cycle() ? cycle : cycle == 0 ? 0 : (cycle - 1) * own_ / gpu_ + 1;
  }
  // The cycle that lies `more` edges after the first edge from `cycle` on.
  [[nodiscard]] Cycle from(Cycle cycle, std::uint64_t more = 0) const {
    return every_cycle() ? cycle + more : cycle_of(edge_from(cycle) + more);
  }
  // What lies so many edges after an edge lies at least so many cycles after that edge's cycle.
  [[nodiscard]] Cycle least_cycles(std::uint64_t edges) const { return every_cycle() ? edges : edges * gpu_ / own_; }

 private:
  static std::uint64_t khz(double ghz) { return static_cast<std::uint64_t>(std::llround(ghz * 1e6)); }
  std::uint64_t own_, gpu_;  // as a ratio without common factors
};

}  // namespace heddle::link
