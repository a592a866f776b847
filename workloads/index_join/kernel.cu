// Join by key look-ups (thesis 9.2.3): every row of the outer table looks its key up in the inner table's index. A warp
// reads 32 rows at once, searches for one key at a time (thesis 6.2.3) and then gathers the rows that found a partner.
constexpr unsigned kBlock = 256;
constexpr unsigned kNone = 0xffffffff;
#include "workloads/index_search/descend.inc"
#include "workloads/table_scan/gather.inc"

template <bool kTraverse, bool kHints>
__device__ __forceinline__ void join(const unsigned* __restrict__ tree, unsigned levels,
                                     const unsigned* __restrict__ outer, unsigned rows, unsigned* __restrict__ output,
                                     unsigned room, unsigned* __restrict__ used) {
  __shared__ unsigned buffers[kBlock / kLanes * kBufferWords];
  const unsigned lane = threadIdx.x % kLanes;
  Gather<2, false> hits(lane, buffers + threadIdx.x / kLanes * kBufferWords, output, room, used);
  for (unsigned row = blockIdx.x * kBlock + threadIdx.x; row < rows; row += gridDim.x * kBlock) {
    const unsigned mine = outer[row];
    unsigned partner = kNone;
    for (unsigned turn = 0; turn < kLanes; ++turn) {
      const unsigned key = __shfl(mine, turn);
      unsigned place = kNone;
      unsigned node = 0;
      for (unsigned level = 0; level < levels; ++level) {
        node = descend<kTraverse, kHints>(tree, key, node, lane, [&place](unsigned at) { place = at; });
      }
      // One lane at most saw the key: keys are unique.
      const unsigned saw = __ballot(place != kNone);
      const unsigned there = __shfl(place, __ffs(static_cast<int>(saw | 1U << 31)) - 1);
      partner = lane == turn ? there : partner;
    }
    hits.add(partner != kNone, {row, partner});
  }
  hits.finish();
}

// outer: `rows` keys, a multiple of 32. output: two columns of `room` words: row of the outer table, place in the tree.
#define JOIN(suffix, traverse, hints)                                                                          \
  extern "C" __global__ void __launch_bounds__(kBlock)                                                         \
      join##suffix(const unsigned* __restrict__ tree, unsigned levels, const unsigned* __restrict__ outer,     \
                   unsigned rows, unsigned* __restrict__ output, unsigned room, unsigned* __restrict__ used) { \
    join<traverse, hints>(tree, levels, outer, rows, output, room, used);                                      \
  }
EVERY_SEARCH(JOIN)
