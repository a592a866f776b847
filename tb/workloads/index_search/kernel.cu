// Search in an index tree (thesis 6.2.3 and appendix 1.2). A warp looks one key up at a time: 30 of its lanes compare
// it with the 30 keys of a line, so that each step has 31 ways out. A row node is 32 such lines, one DRAM row: its
// first line leads to one of the 31 others, and that one to one of the 961 row nodes of the next level. Nodes lie
// breadth first, without pointers. Lanes 30 and 31 see the largest number, which is no key.
//
// search compares, counts by ballot and popc and shifts; search_tree does that by one tree traverse instruction
// (7.2.1); the _hints kernels mark the load that opens a row (7.2).
constexpr unsigned kBlock = 256;
constexpr unsigned kLanes = 32;
constexpr unsigned kLineShift = 5;  // words of a line
constexpr unsigned kRowShift = 10;  // words of a row node
constexpr unsigned kWays = 31;      // out of a line
constexpr unsigned kRowWays = 961;  // out of a row node

template <bool kTraverse, bool kHints>
__device__ __forceinline__ void search(const unsigned* __restrict__ tree, const unsigned* __restrict__ keys,
                                       unsigned* __restrict__ places, unsigned searches, unsigned levels) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warps = gridDim.x * (kBlock / kLanes);
  for (unsigned i = (blockIdx.x * kBlock + threadIdx.x) / kLanes; i < searches; i += warps) {
    const unsigned key = keys[i];
    unsigned node = 0;
    for (unsigned level = 0; level < levels; ++level) {
      const unsigned first = (node << kRowShift) + lane;
      const unsigned value = kHints ? heddle::row_hint_load(tree + first) : tree[first];
      // The child line within the row: its row is open now.
      unsigned second;
      unsigned skipped;
      if constexpr (kTraverse) {
        second = heddle::tree_traverse(first + kLanes, key > value, kLineShift);
      } else {
        skipped = __popc(__ballot(key > value));
        second = first + kLanes + (skipped << kLineShift);
      }
      const unsigned next = tree[second];
      if (key == value) {
        places[i] = first;
      }
      if (key == next) {
        places[i] = second;
      }
      if constexpr (kTraverse) {
        skipped = heddle::tree_traverse(0, key > value, 0);
        node = heddle::tree_traverse(node * kRowWays + 1 + skipped * kWays, key > next, 0);
      } else {
        node = node * kRowWays + 1 + skipped * kWays + __popc(__ballot(key > next));
      }
    }
  }
}

// places[i]: the index of keys[i] in the tree; left alone where it is not there.
#define SEARCH(name, traverse, hints)                                                                           \
  extern "C" __global__ void __launch_bounds__(256)                                                             \
      name(const unsigned* __restrict__ tree, const unsigned* __restrict__ keys, unsigned* __restrict__ places, \
           unsigned searches, unsigned levels) {                                                                \
    search<traverse, hints>(tree, keys, places, searches, levels);                                              \
  }
SEARCH(search, false, false)
SEARCH(search_tree, true, false)
SEARCH(search_hints, false, true)
SEARCH(search_tree_hints, true, true)
