// Inserts into the index tree (thesis 9.2.3), in batches. The row nodes of the last level, its leaves, have room: their
// keys come first in the order of a walk, and behind them stands the largest number, which is no key, so that searches
// (6.2.3) need not know. locate finds each new key's leaf and leaves it there as pending; merge, a block per leaf, puts
// a leaf's pending keys into place. Nothing above the leaves changes. A leaf whose pending keys may not fit refuses
// them all, whatever their order.
constexpr unsigned kBlock = 256;
constexpr unsigned kNoKey = 0xffffffff;
constexpr unsigned kRowKeys = 960;
constexpr unsigned kMostPending = 480;  // of a leaf in a batch
#include "workloads/index_search/descend.inc"

template <bool kTraverse, bool kHints>
__device__ __forceinline__ void locate(const unsigned* __restrict__ tree, unsigned levels,
                                       const unsigned* __restrict__ keys, unsigned inserts, unsigned first_leaf,
                                       unsigned* __restrict__ counts, unsigned* __restrict__ pending) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warps = gridDim.x * (kBlock / kLanes);
  for (unsigned i = (blockIdx.x * kBlock + threadIdx.x) / kLanes; i < inserts; i += warps) {
    const unsigned key = keys[i];
    bool there = false;
    unsigned node = 0;
    for (unsigned level = 0; level < levels; ++level) {
      node = descend<kTraverse, kHints>(tree, key, node, lane, [&there](unsigned) { there = true; });
    }
    if (__ballot(there) == 0 && lane == 0) {
      const unsigned leaf = (node - 1) / kRowWays - first_leaf;
      const unsigned slot = atomicAdd(counts + leaf, 1);
      if (slot < kMostPending) {
        pending[leaf * kMostPending + slot] = key;
      }
    }
  }
}

// counts: pending keys of each leaf. pending: room for kMostPending of each.
#define LOCATE(suffix, traverse, hints)                                                                        \
  extern "C" __global__ void __launch_bounds__(kBlock) locate##suffix(                                         \
      const unsigned* __restrict__ tree, unsigned levels, const unsigned* __restrict__ keys, unsigned inserts, \
      unsigned first_leaf, unsigned* __restrict__ counts, unsigned* __restrict__ pending) {                    \
    locate<traverse, hints>(tree, levels, keys, inserts, first_leaf, counts, pending);                         \
  }
EVERY_SEARCH(LOCATE)

// Where key number `rank` of a row node stands in it: line 1, key 0 of line 0, line 2, key 1 of line 0...
__device__ __forceinline__ unsigned word_of(unsigned rank) {
  const unsigned line = rank / kWays;
  const unsigned slot = rank % kWays;
  return slot < kWays - 1 ? (line + 1) * kLanes + slot : line;
}

__device__ __forceinline__ unsigned below(const unsigned* __restrict__ keys, unsigned count, unsigned key) {
  unsigned smaller = 0;
  for (unsigned i = 0; i < count; ++i) {
    smaller += keys[i] < key ? 1 : 0;
  }
  return smaller;
}

// leaves: the first leaf. sizes: keys of each leaf. refused: pending keys that each leaf had no room for, added up. A
// block per leaf; counts are zero afterwards.
extern "C" __global__ void __launch_bounds__(256)
    merge(unsigned* __restrict__ leaves, unsigned* __restrict__ sizes, unsigned* __restrict__ counts,
          const unsigned* __restrict__ pending, unsigned* __restrict__ refused) {
  __shared__ unsigned old[kRowKeys];
  __shared__ unsigned fresh[kMostPending];
  __shared__ unsigned once[kMostPending];  // the pending ones, without repetitions
  const unsigned leaf = blockIdx.x;
  const unsigned count = counts[leaf];
  const unsigned size = sizes[leaf];
  unsigned* const node = leaves + (leaf << kRowShift);
  if (count == 0) {
    return;
  }
  const bool fits = count <= kMostPending && count <= kRowKeys - size;
  if (fits) {
    for (unsigned i = threadIdx.x; i < size; i += kBlock) {
      old[i] = node[word_of(i)];
    }
    for (unsigned i = threadIdx.x; i < count; i += kBlock) {
      fresh[i] = pending[leaf * kMostPending + i];
    }
  }
  __syncthreads();  // everything is read
  if (!fits) {
    if (threadIdx.x == 0) {
      refused[leaf] += count;
      counts[leaf] = 0;
    }
    return;
  }
  for (unsigned i = threadIdx.x; i < count; i += kBlock) {
    bool repeated = false;
    for (unsigned j = 0; j < i; ++j) {
      repeated |= fresh[j] == fresh[i];
    }
    once[i] = repeated ? kNoKey : fresh[i];
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += kBlock) {
    const unsigned smaller = below(once, count, old[i]);
    if (smaller != 0) {
      node[word_of(i + smaller)] = old[i];
    }
  }
  for (unsigned i = threadIdx.x; i < count; i += kBlock) {
    const unsigned key = once[i];
    if (key != kNoKey) {
      unsigned from = 0;  // the old keys that are smaller, by halving
      for (unsigned to = size; from < to;) {
        const unsigned middle = (from + to) / 2;
        if (old[middle] < key) {
          from = middle + 1;
        } else {
          to = middle;
        }
      }
      node[word_of(from + below(once, count, key))] = key;
      atomicAdd(sizes + leaf, 1);
    }
  }
  if (threadIdx.x == 0) {
    counts[leaf] = 0;
  }
}
