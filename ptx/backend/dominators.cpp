// Dominators and loops, by Boost.Graph's Lengauer-Tarjan.
#include "ptx/backend/dominator_tree.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

namespace {

std::vector<std::size_t> tree_of(const MachineFunction& function) {
  const std::size_t count = function.blocks.size();
  Graph graph(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (function.blocks[i].removed) continue;
    for (const int to : successors(function.blocks[i])) boost::add_edge(i, static_cast<Vertex>(to), graph);
  }
  return dominator_tree(graph, 0);
}

}  // namespace

DominatorSpans::DominatorSpans(const std::vector<std::size_t>& tree) : spans_(tree.size()) {
  const std::size_t count = tree.size();
  // Siblings as a list: each vertex's first child, and its next sibling.
  std::vector<std::size_t> child(count, count), sibling(count, count);
  for (std::size_t i = count; i-- > 0;) {
    if (tree[i] >= count) continue;
    sibling[i] = child[tree[i]];
    child[tree[i]] = i;
  }
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < count;) {
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

Dominators::Dominators(const MachineFunction& function) : spans_(tree_of(function)) {}

std::vector<NaturalLoop> natural_loops(const MachineFunction& function, const Dominators& dominators) {
  const std::size_t count = function.blocks.size();
  const std::vector<std::vector<int>> before = predecessors(function);
  std::vector<NaturalLoop> loops;
  std::vector<std::size_t> inside(count, count);  // the header of the loop that the block was last found in
  for (std::size_t header = 0; header < count; ++header) {
    NaturalLoop loop{static_cast<int>(header), {}, {}};
    const auto add = [&](int block) {
      if (inside[static_cast<std::size_t>(block)] == header) return;
      inside[static_cast<std::size_t>(block)] = header;
      loop.blocks.push_back(block);
    };
    for (const int from : before[header]) {
      if (dominators.dominates(loop.header, from)) loop.latches.push_back(from);
    }
    if (loop.latches.empty()) continue;
    add(loop.header);
    for (const int latch : loop.latches) add(latch);
    // The header is the first one; what leads to it comes from elsewhere.
    for (std::size_t i = 1; i < loop.blocks.size(); ++i) {
      for (const int from : before[static_cast<std::size_t>(loop.blocks[i])]) add(from);
    }
    loops.push_back(std::move(loop));
  }
  return loops;
}

void find_loop_depths(MachineFunction& function) {
  for (Block& block : function.blocks) block.depth = 0;
  for (const NaturalLoop& loop : natural_loops(function, Dominators(function))) {
    for (const int block : loop.blocks) ++function.blocks[static_cast<std::size_t>(block)].depth;
  }
}

}  // namespace heddle::ptx::backend
