// Dominators, post-dominators and loops, by Boost.Graph's Lengauer-Tarjan.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>

#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

std::vector<Vertex> dominator_tree(const Graph& graph, Vertex entry) {
  std::vector<Vertex> result(boost::num_vertices(graph), boost::graph_traits<Graph>::null_vertex());
  boost::lengauer_tarjan_dominator_tree(
      graph, entry, boost::make_iterator_property_map(result.begin(), boost::get(boost::vertex_index, graph)));
  return result;
}

bool may_exit(const Block& block) {
  if (block.next == kNoBlock && block.taken == kNoBlock) return true;
  for (const MachineInstruction& instruction : block.code) {
    if (!instruction.copy && instruction.in.op == isa::Op::EXIT) return true;
  }
  return false;
}

// Blocks from which some exit cannot be reached get an edge to the virtual exit, the last one of the loop first, until
// every block has a post-dominator.
void connect_endless_loops(const MachineFunction& function, std::vector<bool>& exits) {
  const std::vector<std::vector<int>> before = predecessors(function);
  std::vector<bool> reaches(function.blocks.size());
  std::vector<int> work;
  const auto start_at = [&](std::size_t block) {
    reaches[block] = true;
    work.push_back(static_cast<int>(block));
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      for (const int from : before[static_cast<std::size_t>(at)]) {
        if (reaches[static_cast<std::size_t>(from)]) continue;
        reaches[static_cast<std::size_t>(from)] = true;
        work.push_back(from);
      }
    }
  };
  for (std::size_t i = 0; i < function.blocks.size(); ++i) {
    if (exits[i] && !reaches[i]) start_at(i);
  }
  for (std::size_t i = function.blocks.size(); i-- > 0;) {
    if (function.blocks[i].removed || reaches[i]) continue;
    exits[i] = true;
    start_at(i);
  }
}

}  // namespace

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

std::vector<int> immediate_post_dominators(const MachineFunction& function) {
  const std::size_t count = function.blocks.size();
  std::vector<bool> exits(count);
  for (std::size_t i = 0; i < count; ++i) exits[i] = !function.blocks[i].removed && may_exit(function.blocks[i]);
  connect_endless_loops(function, exits);
  Graph graph(count + 1);  // reversed; the last vertex is the virtual exit
  for (std::size_t i = 0; i < count; ++i) {
    if (function.blocks[i].removed) continue;
    for (const int to : successors(function.blocks[i])) boost::add_edge(static_cast<Vertex>(to), i, graph);
    if (exits[i]) boost::add_edge(count, i, graph);
  }
  const std::vector<Vertex> tree = dominator_tree(graph, count);
  std::vector<int> result(count, kNoBlock);
  for (std::size_t i = 0; i < count; ++i) {
    if (tree[i] != boost::graph_traits<Graph>::null_vertex() && tree[i] != count) result[i] = static_cast<int>(tree[i]);
  }
  return result;
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
