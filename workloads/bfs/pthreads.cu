// Pthreads form of bfs, after Rodinia, which report section 5 names as a source: level by level, a thread looks after
// every (number of threads)-th node. The marks of the nodes are booleans, a byte each. Barriers part the two halves of
// a level, and the flag that ends the search from the next level's.
//
// No thread reads between two barriers what another one writes there. Several may mark one node or set *again: they
// all store the same, by volatile stores, which PTX treats as relaxed atomic ones.
#include "workloads/pthreads.h"

template <class T>
__device__ __forceinline__ void store_same(T* place, T value) {
  *static_cast<volatile T*>(place) = value;
}

// frontier, visited, reached: a byte per node, 0 or 1; node 0 stands in the frontier and is visited. cost: 0 for node
// 0, otherwise -1. again: one word.
extern "C" __global__ void __launch_bounds__(1024)
    bfs(const unsigned* first_edge, const unsigned* edges, unsigned char* frontier, unsigned char* visited,
        unsigned char* reached, int* cost, unsigned* again, unsigned nodes, unsigned threads) {
  const unsigned id = threadIdx.x;
  int level = 0;
  do {
    ++level;
    __syncthreads();
    if (id == 0) {
      *again = 0;
    }
    for (unsigned node = id; node < nodes; node += threads) {
      if (frontier[node] != 0) {
        frontier[node] = 0;
        const unsigned end = first_edge[node + 1];
        for (unsigned edge = first_edge[node]; edge < end; ++edge) {
          const unsigned neighbour = edges[edge];
          if (visited[neighbour] == 0) {
            store_same(&cost[neighbour], level);
            store_same(&reached[neighbour], static_cast<unsigned char>(1));
          }
        }
      }
    }
    __syncthreads();
    for (unsigned node = id; node < nodes; node += threads) {
      if (reached[node] != 0) {
        frontier[node] = 1;
        visited[node] = 1;
        reached[node] = 0;
        store_same(again, 1U);
      }
    }
    __syncthreads();
  } while (*again != 0);
}
