// Dominators and loops, by Boost.Graph's Lengauer-Tarjan.
#include "ptx/backend/dominator_tree.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

Dominators::Dominators(const MachineFunction& function) : spans_(function.blocks.size()) {
  const std::size_t count = function.blocks.size();
  Graph graph(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (function.blocks[i].removed) continue;
    for (const int to : successors(function.blocks[i])) boost::add_edge(i, static_cast<Vertex>(to), graph);
  }
  const std::vector<Vertex> tree = dominator_tree(graph, 0);
  // Siblings as a list: each block's first child, and its next sibling.
  std::vector<Vertex> child(count, count), sibling(count, count);
  for (std::size_t i = count; i-- > 0;) {
    if (tree[i] >= count) continue;
    sibling[i] = child[tree[i]];
    child[tree[i]] = i;
  }
  std::uint32_t number = 0;
  for (Vertex at = 0; at < count;) {
    spans_[at].first = ++number;
    if (child[at] < count) {
      at = child[at];
      continue;
    }
    while (at < count) {  // up until there is a sibling
      spans_[at].last = number;
      if (sibling[at] < count) {
        at = sibling[at];
        break;
      }
      at = tree[at];
    }
  }
}

void find_loop_depths(MachineFunction& function) {
  const std::size_t count = function.blocks.size();
  const Dominators dominators(function);
  const std::vector<std::vector<int>> before = predecessors(function);
  for (Block& block : function.blocks) block.depth = 0;
  std::vector<std::size_t> inside(count, count);  // the header of the loop that the block was last found in
  for (std::size_t header = 0; header < count; ++header) {
    // The natural loop of a header: what reaches one of its back edges without passing the header.
    std::vector<int> work;
    const auto add = [&](int block) {
      if (inside[static_cast<std::size_t>(block)] == header) return;
      inside[static_cast<std::size_t>(block)] = header;
      ++function.blocks[static_cast<std::size_t>(block)].depth;
      work.push_back(block);
    };
    for (const int from : before[header]) {
      if (dominators.dominates(static_cast<int>(header), from)) add(from);
    }
    if (work.empty()) continue;
    if (inside[header] != header) {
      inside[header] = header;
      ++function.blocks[header].depth;
    }
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (at == static_cast<int>(header)) continue;
      for (const int from : before[static_cast<std::size_t>(at)]) add(from);
    }
  }
}

}  // namespace heddle::ptx::backend
