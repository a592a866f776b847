#include "ptx/backend/colouring.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>

namespace heddle::ptx::backend {

Colourer::Colourer(const MachineFunction& function, const InterferenceGraph& graph, std::vector<double> cost)
    : node_of_(function.registers.size(), 0), cost_(std::move(cost)) {
  for (const VReg root : graph.roots()) {
    node_of_[static_cast<std::size_t>(root)] = nodes_.size();
    nodes_.push_back({root, function.words(root), graph.edges(root), {}, {}});
  }
  for (Node& node : nodes_) {
    for (std::size_t i = 0; i < node.edges.size();) {
      const VReg other = node.edges[i].other;
      std::uint32_t words = 0;
      for (; i < node.edges.size() && node.edges[i].other == other; ++i) words |= 1U << node.edges[i].other_word;
      const unsigned width = function.words(other);
      const unsigned blocks =
          node.words == 1 ? static_cast<unsigned>(std::popcount(words)) : std::max(1U, width / node.words);
      node.blocked_by.emplace_back(node_of_[static_cast<std::size_t>(other)], blocks);
    }
  }
  for (const InterferenceGraph::CopyPair& copy : graph.copies()) {
    const auto to = graph.place(copy.dst), from = graph.place(copy.src);
    if (to.root == from.root) continue;
    const int distance = static_cast<int>(to.word + copy.dst_word) - static_cast<int>(from.word + copy.src_word);
    Node& a = nodes_[node_of_[static_cast<std::size_t>(to.root)]];
    a.wishes.emplace_back(from.root, -distance);
    Node& b = nodes_[node_of_[static_cast<std::size_t>(from.root)]];
    b.wishes.emplace_back(to.root, distance);
  }
}

std::vector<std::size_t> Colourer::elimination_order(unsigned limit) const {
  // blocked_by is not symmetric, so who is relieved when a node goes is looked up in the reverse lists.
  std::vector<std::vector<std::pair<std::size_t, unsigned>>> blocks(nodes_.size());
  std::vector<unsigned> degree(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const auto& [other, places] : nodes_[i].blocked_by) {
      degree[i] += places;
      blocks[other].emplace_back(i, places);
    }
  }
  const auto fits = [&](std::size_t i) { return degree[i] < limit / nodes_[i].words; };
  // Wide nodes are taken off last, so that they are placed while places are whole.
  using Ready = std::pair<unsigned, std::size_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<bool> queued(nodes_.size()), gone(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!fits(i)) continue;
    queued[i] = true;
    ready.emplace(nodes_[i].words, i);
  }
  std::vector<std::size_t> order;
  order.reserve(nodes_.size());
  const auto remove = [&](std::size_t i) {
    gone[i] = true;
    order.push_back(i);
    for (const auto& [other, places] : blocks[i]) {
      degree[other] -= places;
      if (gone[other] || queued[other] || !fits(other)) continue;
      queued[other] = true;
      ready.emplace(nodes_[other].words, other);
    }
  };
  while (order.size() < nodes_.size()) {
    if (!ready.empty()) {
      const std::size_t next = ready.top().second;
      ready.pop();
      if (!gone[next]) remove(next);
      continue;
    }
    std::size_t best = nodes_.size();
    double best_score = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (gone[i]) continue;
      const double cost = cost_[static_cast<std::size_t>(nodes_[i].root)];
      // Among nodes that cannot be spilled, narrow ones go first for the reason above.
      const double score = cost == std::numeric_limits<double>::infinity()
                               ? 1e200 * nodes_[i].words
                               : cost / (static_cast<double>(degree[i] + 1) * nodes_[i].words);
      if (best == nodes_.size() || score < best_score) {
        best = i;
        best_score = score;
      }
    }
    remove(best);
  }
  return order;
}

Colouring Colourer::colour(unsigned limit) const {
  Colouring result;
  result.place.assign(node_of_.size(), -1);
  const std::vector<std::size_t> order = elimination_order(limit);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = nodes_[*it];
    std::uint64_t forbidden = 0;  // first registers that conflict
    for (const InterferenceGraph::Edge& edge : node.edges) {
      const int other = result.place[static_cast<std::size_t>(edge.other)];
      if (other < 0) continue;
      const int first = other + edge.other_word - edge.word;
      if (first >= 0) forbidden |= std::uint64_t{1} << static_cast<unsigned>(first);
    }
    const auto free = [&](int first) {
      return first >= 0 && static_cast<unsigned>(first) % node.words == 0 &&
             static_cast<unsigned>(first) + node.words <= limit &&
             ((forbidden >> static_cast<unsigned>(first)) & 1U) == 0;
    };
    int chosen = -1;
    for (const auto& [root, distance] : node.wishes) {
      const int other = result.place[static_cast<std::size_t>(root)];
      if (other < 0 || !free(other + distance)) continue;
      chosen = other + distance;
      break;
    }
    for (unsigned first = 0; first + node.words <= limit && chosen < 0; first += node.words) {
      if (free(static_cast<int>(first))) chosen = static_cast<int>(first);
    }
    if (chosen < 0) {
      result.failed.push_back(node.root);
      continue;
    }
    result.place[static_cast<std::size_t>(node.root)] = chosen;
    result.used = std::max(result.used, static_cast<unsigned>(chosen) + node.words);
  }
  return result;
}

}  // namespace heddle::ptx::backend
