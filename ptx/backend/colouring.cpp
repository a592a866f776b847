#include "ptx/backend/colouring.hpp"

#include <algorithm>
#include <bit>
#include <bitset>
#include <functional>
#include <limits>
#include <optional>
#include <queue>

namespace heddle::ptx::backend {

Colourer::Colourer(const MachineFunction& function, const InterferenceGraph& graph, std::vector<double> cost)
    : node_of_(function.registers.size(), 0), cost_(std::move(cost)) {
  for (const VReg root : graph.roots()) {
    node_of_[static_cast<std::size_t>(root)] = nodes_.size();
    nodes_.push_back({root, function.words(root), {}});
  }
  const auto takes = [](unsigned distances, unsigned words, unsigned others) {
    return static_cast<std::uint8_t>(words == 1 ? static_cast<unsigned>(std::popcount(distances))
                                                : std::max(1U, others / words));
  };
  first_edge_.reserve(nodes_.size() + 1);
  for (const Node& node : nodes_) {
    first_edge_.push_back(edges_.size());
    for (const InterferenceGraph::Edge& edge : graph.edges(node.root)) {
      const std::size_t other = node_of_[static_cast<std::size_t>(edge.other)];
      const unsigned words = nodes_[other].words;
      edges_.push_back({static_cast<std::uint32_t>(other), edge.distances, takes(edge.distances, node.words, words),
                        takes(edge.distances, words, node.words)});
    }
  }
  first_edge_.push_back(edges_.size());
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

// What may be spilled, the cheapest per place that it blocks first; the lowest of equals. A node's score only changes
// when a neighbour is taken off, which makes it block fewer places: it mostly rises, so that a node is looked at anew
// when it comes first with a score that has become too low.
class Colourer::Candidates {
 public:
  Candidates(const Colourer& colourer, const std::vector<unsigned>& degree) : colourer_(colourer), degree_(degree) {
    std::vector<Entry> entries;
    entries.reserve(degree.size());
    for (std::size_t i = 0; i < degree.size(); ++i) entries.push_back({score(i), i});
    queue_ = Queue(std::greater<>(), std::move(entries));
  }

  // Of a score below 0, blocking fewer places lowers it.
  void relieved(std::size_t node) {
    if (cost(node) < 0) queue_.emplace(score(node), node);
  }

  std::size_t take(const std::vector<bool>& gone) {
    for (;;) {
      const auto [known, node] = queue_.top();
      queue_.pop();
      if (gone[node]) continue;
      const double now = score(node);
      if (now == known) return node;
      if (now > known) queue_.emplace(now, node);
    }
  }

 private:
  using Entry = std::pair<double, std::size_t>;
  using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

  [[nodiscard]] double cost(std::size_t node) const {
    return colourer_.cost_[static_cast<std::size_t>(colourer_.nodes_[node].root)];
  }
  // Among nodes that cannot be spilled, narrow ones go first, so that wide ones are placed while places are whole.
  [[nodiscard]] double score(std::size_t node) const {
    const unsigned words = colourer_.nodes_[node].words;
    return cost(node) == std::numeric_limits<double>::infinity()
               ? 1e200 * words
               : cost(node) / (static_cast<double>(degree_[node] + 1) * words);
  }

  const Colourer& colourer_;
  const std::vector<unsigned>& degree_;
  Queue queue_;
};

std::vector<std::size_t> Colourer::elimination_order(unsigned limit) const {
  std::vector<unsigned> degree(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const Edge& edge : edges(i)) degree[i] += edge.taken;
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
  std::optional<Candidates> candidates;  // where it is not enough to take off what fits
  std::vector<std::size_t> order;
  order.reserve(nodes_.size());
  const auto remove = [&](std::size_t i) {
    gone[i] = true;
    order.push_back(i);
    for (const Edge& edge : edges(i)) {
      const std::size_t other = edge.node;
      degree[other] -= edge.takes;
      if (gone[other] || queued[other]) continue;
      if (candidates) candidates->relieved(other);
      if (!fits(other)) continue;
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
    if (!candidates) candidates.emplace(*this, degree);
    remove(candidates->take(gone));
  }
  return order;
}

Colouring Colourer::colour(unsigned limit) const {
  Colouring result;
  result.place.assign(node_of_.size(), -1);
  std::vector<int> place(nodes_.size(), -1);
  const std::vector<std::size_t> order = elimination_order(limit);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = nodes_[*it];
    std::bitset<isa::kRegisters + 1> forbidden;  // first registers that conflict
    for (const Edge& edge : edges(*it)) {
      const int other = place[edge.node];
      if (other < 0) continue;
      const std::bitset<isa::kRegisters + 1> distances(edge.distances);
      const int shift = other - static_cast<int>(InterferenceGraph::kNoDistance);
      forbidden |= shift < 0 ? distances >> static_cast<unsigned>(-shift) : distances << static_cast<unsigned>(shift);
    }
    const auto free = [&](int first) {
      return first >= 0 && static_cast<unsigned>(first) % node.words == 0 &&
             static_cast<unsigned>(first) + node.words <= limit && !forbidden[static_cast<unsigned>(first)];
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
    place[*it] = chosen;
    result.place[static_cast<std::size_t>(node.root)] = chosen;
    result.used = std::max(result.used, static_cast<unsigned>(chosen) + node.words);
  }
  return result;
}

}  // namespace heddle::ptx::backend
