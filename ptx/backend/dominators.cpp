// Dominators and loops, by Boost.Graph's Lengauer-Tarjan.
#include "ptx/backend/dominator_tree.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

std::vector<int> immediate_dominators(const MachineFunction& function) {
  Graph graph(function.blocks.size());
  for (std::size_t i = 0; i < function.blocks.size(); ++i) {
    if (function.blocks[i].removed) continue;
    for (const int to : successors(function.blocks[i])) boost::add_edge(i, static_cast<Vertex>(to), graph);
  }
  const std::vector<Vertex> tree = dominator_tree(graph, 0);
  std::vector<int> result(function.blocks.size(), kNoBlock);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (tree[i] != boost::graph_traits<Graph>::null_vertex()) result[i] = static_cast<int>(tree[i]);
  }
  return result;
}

bool dominates(const std::vector<int>& immediate, int above, int below) {
  for (int at = below; at != kNoBlock; at = immediate[static_cast<std::size_t>(at)]) {
    if (at == above) return true;
  }
  return false;
}

void find_loop_depths(MachineFunction& function) {
  const std::vector<int> dominators = immediate_dominators(function);
  const std::vector<std::vector<int>> before = predecessors(function);
  for (Block& block : function.blocks) block.depth = 0;
  for (std::size_t header = 0; header < function.blocks.size(); ++header) {
    // The natural loop of a header: what reaches one of its back edges without passing the header.
    std::vector<bool> inside(function.blocks.size());
    std::vector<int> work;
    for (const int from : before[header]) {
      if (dominates(dominators, static_cast<int>(header), from) && !inside[static_cast<std::size_t>(from)]) {
        inside[static_cast<std::size_t>(from)] = true;
        work.push_back(from);
      }
    }
    if (work.empty()) continue;
    inside[header] = true;
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (at == static_cast<int>(header)) continue;
      for (const int from : before[static_cast<std::size_t>(at)]) {
        if (inside[static_cast<std::size_t>(from)]) continue;
        inside[static_cast<std::size_t>(from)] = true;
        work.push_back(from);
      }
    }
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (inside[i]) ++function.blocks[i].depth;
    }
  }
}

}  // namespace heddle::ptx::backend
