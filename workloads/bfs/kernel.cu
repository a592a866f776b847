// Breadth-first search of a graph in compressed-row form, level by level; two launches per level.
//
// No thread reads what another writes in the same launch: expand reads `frontier` and `cost` and writes `reached`;
// commit reads `reached` and writes `frontier` and `cost` of the thread's own nodes. Several threads may mark the same
// node or set `changed`: they all store 1, through volatile accesses, which PTX treats as relaxed atomic stores.

// Marks the unvisited neighbours of the frontier. cost: level of a visited node, else -1.
extern "C" __global__ void __launch_bounds__(512)
    expand(const unsigned* __restrict__ first_edge, const unsigned* __restrict__ edges,
           const unsigned* __restrict__ frontier, const int* __restrict__ cost, volatile unsigned* reached,
           unsigned nodes) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned node = blockIdx.x * blockDim.x + threadIdx.x; node < nodes; node += stride) {
    if (frontier[node] != 0) {
      const unsigned end = first_edge[node + 1];
      for (unsigned edge = first_edge[node]; edge < end; ++edge) {
        const unsigned neighbour = edges[edge];
        if (cost[neighbour] < 0) {
          reached[neighbour] = 1;
        }
      }
    }
  }
}

// Makes the marked nodes the next frontier, at distance `level`; sets *changed when there is one.
extern "C" __global__ void __launch_bounds__(512)
    commit(unsigned* __restrict__ frontier, int* __restrict__ cost, unsigned* __restrict__ reached,
           volatile unsigned* changed, unsigned nodes, int level) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned node = blockIdx.x * blockDim.x + threadIdx.x; node < nodes; node += stride) {
    const unsigned marked = reached[node];
    frontier[node] = marked;
    if (marked != 0) {
      reached[node] = 0;
      cost[node] = level;
      *changed = 1;
    }
  }
}
