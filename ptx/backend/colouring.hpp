// Graph colouring with classes of different widths.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ptx/backend/interference.hpp"

namespace heddle::ptx::backend {

struct Colouring {
  std::vector<int> place;    // by root register: its first word's physical register; -1: none
  std::vector<VReg> failed;  // roots without a place, in the order in which they were tried
  unsigned used = 0;         // highest physical register + 1
};

// Simplify and select after Chaitin and Briggs: nodes that always find a place are taken off first; when none is left,
// the cheapest per place it blocks (cost / degree; infinite: never spilled) is taken off in the hope that it fits.
// Roots of n words are placed at multiples of n.
class Colourer {
 public:
  Colourer(const MachineFunction& function, const InterferenceGraph& graph, std::vector<double> cost);
  [[nodiscard]] Colouring colour(unsigned limit) const;

 private:
  [[nodiscard]] std::vector<std::size_t> elimination_order(unsigned limit) const;

  struct Node {
    VReg root = kNone;
    unsigned words = 1;
    std::vector<std::pair<VReg, int>> wishes;  // roots to or from which it is copied, and how far from their place
  };
  // What stands in a node's way, and in whose it stands.
  struct Edge {
    std::uint32_t node = 0;
    std::uint16_t distances = 0;  // InterferenceGraph::Edge
    std::uint8_t taken = 0;       // aligned places that the other node can take away from this node
    std::uint8_t takes = 0;       // and this node from the other
  };
  class Candidates;
  [[nodiscard]] std::span<const Edge> edges(std::size_t node) const {
    return {edges_.data() + first_edge_[node], first_edge_[node + 1] - first_edge_[node]};
  }

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;              // node by node
  std::vector<std::size_t> first_edge_;  // by node, and one more
  std::vector<std::size_t> node_of_;     // by root register
  std::vector<double> cost_;             // by root register
};

}  // namespace heddle::ptx::backend
