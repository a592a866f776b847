// Dominators of a graph, by Boost.Graph's Lengauer-Tarjan.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <vector>

namespace heddle::ptx::backend {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

// Immediate dominators by vertex; null_vertex() for the entry and for what cannot be reached from it.
inline std::vector<Vertex> dominator_tree(const Graph& graph, Vertex entry) {
  std::vector<Vertex> result(boost::num_vertices(graph), boost::graph_traits<Graph>::null_vertex());
  boost::lengauer_tarjan_dominator_tree(
      graph, entry, boost::make_iterator_property_map(result.begin(), boost::get(boost::vertex_index, graph)));
  return result;
}

}  // namespace heddle::ptx::backend
