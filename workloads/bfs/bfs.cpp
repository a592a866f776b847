// bfs: breadth-first search of a random graph of 1M nodes (thesis table 5.2, after Rodinia). Loads with no locality and
// branches that few threads take: the functional units are idle most of the time (LWM report, 6.1). With the variant
// `thread_per_node` the input and launches of the warp-size study (BFS of its table 2, from GPGPU-Sim's benchmarks):
// 65,536 nodes, blocks of 256 threads, a thread per node. The variant `large_blocks` has that in blocks of 512
// threads (ODGS paper, table 1).
#include <deque>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

struct Graph {
  std::vector<std::uint32_t> first_edge;  // nodes + 1 places into edges
  std::vector<std::uint32_t> edges;
};

// Every node has 2 to 10 edges, 6 on average, to nodes drawn evenly. `uneven`: 1 to 24 edges, 6 on average.
Graph random_graph(std::uint32_t nodes, std::uint64_t seed, bool uneven) {
  Random random(seed);
  Graph graph;
  graph.first_edge.reserve(nodes + std::size_t{1});
  graph.edges.reserve(std::size_t{nodes} * 6);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.edges.size()));
    std::uint32_t degree = 0;
    if (uneven) {
      degree = 1;
      for (unsigned chance = 0; chance < 23; ++chance) {  // each with 5 in 23: 5 more on average
        degree += random.below(23) < 5 ? 1 : 0;
      }
    } else {
      degree = 2 + random.below(9);
    }
    for (std::uint32_t left = degree; left > 0; --left) {
      graph.edges.push_back(random.below(nodes));
    }
  }
  graph.first_edge.push_back(static_cast<std::uint32_t>(graph.edges.size()));
  return graph;
}

// Distance of each node from node 0, with a queue; -1: not reached.
std::vector<std::int32_t> distances(const Graph& graph) {
  std::vector<std::int32_t> distance(graph.first_edge.size() - 1, -1);
  std::deque<std::uint32_t> queue{0};
  distance[0] = 0;
  while (!queue.empty()) {
    const std::uint32_t node = queue.front();
    queue.pop_front();
    for (std::uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1]; ++e) {
      const std::uint32_t neighbour = graph.edges[e];
      if (distance[neighbour] < 0) {
        distance[neighbour] = distance[node] + 1;
        queue.push_back(neighbour);
      }
    }
  }
  return distance;
}

class Bfs final : public KernelWorkload {
 public:
  explicit Bfs(const tb::WorkloadOptions& options)
      : KernelWorkload("bfs", options, {{"pthreads"}, {kThreadPerNode}, {kLargeBlocks}}) {
    for (const char* const shape : {kThreadPerNode, kLargeBlocks}) {
      if (pthreads() && this->variants().flag(shape)) {
        throw InputError({}, fmt::format("workload 'bfs' has no form that is both pthreads and {}", shape),
                         "give one of them");
      }
    }
  }
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? team() : std::uint64_t{grid()} * block(); }
  [[nodiscard]] double demo_scale() const override { return 0.03; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const Graph graph = random_graph(nodes(), options().seed, thread_per_node());
    return pthreads() ? run_team(executor, graph) : run_levels(executor, graph);
  }

 private:
  static constexpr const char* kThreadPerNode = "thread_per_node";
  static constexpr const char* kLargeBlocks = "large_blocks";  // implies thread_per_node
  [[nodiscard]] bool thread_per_node() const {
    return variants().flag(kThreadPerNode) || variants().flag(kLargeBlocks);
  }
  [[nodiscard]] std::uint32_t block() const { return variants().flag(kLargeBlocks) ? 2 * kBlock : kBlock; }
  [[nodiscard]] std::uint32_t nodes() const {
    return thread_per_node() ? scaled(65'536, 4 * kBlock, block()) : scaled(1'000'000, resident_threads());
  }
  // Blocks of a launch: of the threads that are resident, or of one for each node.
  [[nodiscard]] std::uint32_t grid() const { return thread_per_node() ? nodes() / block() : blocks(); }

  [[nodiscard]] tb::Verdict run_team(tb::Executor& executor, const Graph& graph) const {
    const auto nodes = static_cast<std::uint32_t>(graph.first_edge.size() - 1);
    std::vector<std::int32_t> cost(nodes, -1);
    std::vector<std::uint8_t> start(nodes, 0);
    cost[0] = 0;
    start[0] = 1;
    const std::uint64_t first_edge = upload(executor, "first_edge", graph.first_edge);
    const std::uint64_t edges = upload(executor, "edges", graph.edges);
    const std::uint64_t frontier = upload(executor, "frontier", start);
    const std::uint64_t visited = upload(executor, "visited", start);
    const std::uint64_t reached = upload(executor, "reached", std::vector<std::uint8_t>(nodes, 0));
    const std::uint64_t device_cost = upload(executor, "cost", cost);
    const std::uint64_t again = allocate(executor, "again", sizeof(std::uint32_t));
    executor.plan({1, 1});
    launch_team(executor, "bfs",
                tb::Arguments(executor.module(), "bfs")
                    .pointer(first_edge)
                    .pointer(edges)
                    .pointer(frontier)
                    .pointer(visited)
                    .pointer(reached)
                    .pointer(device_cost)
                    .pointer(again)
                    .value(nodes));
    return compare("distances", download<std::int32_t>(executor, device_cost, nodes), distances(graph));
  }

  [[nodiscard]] tb::Verdict run_levels(tb::Executor& executor, const Graph& graph) const {
    const auto nodes = static_cast<std::uint32_t>(graph.first_edge.size() - 1);
    std::vector<std::uint32_t> frontier(nodes, 0);
    std::vector<std::int32_t> cost(nodes, -1);
    frontier[0] = 1;
    cost[0] = 0;
    const std::uint64_t first_edge = upload(executor, "first_edge", graph.first_edge);
    const std::uint64_t edges = upload(executor, "edges", graph.edges);
    const std::uint64_t device_frontier = upload(executor, "frontier", frontier);
    const std::uint64_t device_cost = upload(executor, "cost", cost);
    const std::uint64_t reached = upload(executor, "reached", std::vector<std::uint32_t>(nodes, 0));
    const std::uint64_t changed = upload(executor, "changed", std::vector<std::uint32_t>{1});

    const isa::Module& module = executor.module();
    const std::vector<std::int32_t> expected = distances(graph);
    // A level for each distance, and one that finds nothing more.
    const auto passes = static_cast<std::uint64_t>(*std::max_element(expected.begin(), expected.end())) + 1;
    executor.plan({2 * passes, 2 * passes * grid()});
    std::uint32_t levels = 0;
    while (executor.memory().get<std::uint32_t>(changed) != 0) {
      if (++levels > nodes) {  // each level reaches at least one node
        return {false, fmt::format("the search still goes on after {} levels", nodes)};
      }
      executor.memory().put<std::uint32_t>(changed, 0);
      launch(executor, "expand", {grid()}, {block()},
             tb::Arguments(module, "expand")
                 .pointer(first_edge)
                 .pointer(edges)
                 .pointer(device_frontier)
                 .pointer(device_cost)
                 .pointer(reached)
                 .value(nodes));
      launch(executor, "commit", {grid()}, {block()},
             tb::Arguments(module, "commit")
                 .pointer(device_frontier)
                 .pointer(device_cost)
                 .pointer(reached)
                 .pointer(changed)
                 .value(nodes)
                 .value(levels));
    }
    tb::Verdict verdict = compare("distances", download<std::int32_t>(executor, device_cost, nodes), expected);
    verdict.detail += fmt::format(" ({} levels)", levels);
    return verdict;
  }
};

const Register<tb::Workload, Bfs> bfs_entry{
    "bfs", "breadth-first search of a random graph of 1M nodes; variants pthreads, thread_per_node, large_blocks"};

}  // namespace
}  // namespace heddle::workloads
