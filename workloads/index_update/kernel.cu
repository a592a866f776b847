// Update of an un-indexed attribute (thesis 9.2.3): a row is looked up by its key in the index (6.2.3), then its
// attribute is stored. The attribute's column has the rows in the order of the tree's places.
constexpr unsigned kBlock = 256;
#include "workloads/index_search/descend.inc"

template <bool kTraverse, bool kHints>
__device__ __forceinline__ void update(const unsigned* __restrict__ tree, unsigned levels,
                                       const unsigned* __restrict__ keys, const unsigned* __restrict__ values,
                                       unsigned updates, unsigned* __restrict__ attributes) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warps = gridDim.x * (kBlock / kLanes);
  for (unsigned i = (blockIdx.x * kBlock + threadIdx.x) / kLanes; i < updates; i += warps) {
    const unsigned key = keys[i];
    unsigned node = 0;
    for (unsigned level = 0; level < levels; ++level) {
      node = descend<kTraverse, kHints>(tree, key, node, lane, [=](unsigned place) { attributes[place] = values[i]; });
    }
  }
}

// keys: no two alike. attributes: a word for every word of the tree.
#define UPDATE(suffix, traverse, hints)                                                                          \
  extern "C" __global__ void __launch_bounds__(kBlock)                                                           \
      update##suffix(const unsigned* __restrict__ tree, unsigned levels, const unsigned* __restrict__ keys,      \
                     const unsigned* __restrict__ values, unsigned updates, unsigned* __restrict__ attributes) { \
    update<traverse, hints>(tree, levels, keys, values, updates, attributes);                                    \
  }
EVERY_SEARCH(UPDATE)
