// Parallel bucket sort of 32-bit keys. Scaled to a fraction of 2^32, a key's place among `buckets` large buckets of
// some thousand keys is known at once, and likewise its place among the 256 small buckets of its large one:
//
//   count       keys of each large bucket in each tile of the input; a block per tile
//   scan        turns the counts into places in the output; one block
//   distribute  brings the tiles' keys to their large buckets; a block per tile
//   sort        deals a large bucket's keys into its small ones, each of which one thread sorts; a block per large
//               bucket
//
// Tiles and large buckets lie in the scratchpad while they are worked on, so that the accesses to memory are coalesced.
// Two threads that want to put a key into the same bucket agree on who may by an atomic maximum, whose outcome does not
// depend on the order of the threads: the keys' order, and with it the course of every thread, is always the same.
constexpr unsigned kBlock = 256;
constexpr unsigned kMostKeys = 28 * kBlock;  // of a tile or large bucket

// A bucket among `buckets` (at most 256) large ones, and one of 256 in a large one.
__device__ __forceinline__ unsigned large_bucket(unsigned key, unsigned buckets) {
  return __umulhi(key, buckets);
}
__device__ __forceinline__ unsigned small_bucket(unsigned key, unsigned buckets) {
  return (key * buckets) >> 24;
}

// Turns the threads' values into the sums of the values of lower threads. All threads of the block call it.
__device__ __forceinline__ unsigned exclusive_sum(unsigned value, unsigned* sums) {
  const unsigned thread = threadIdx.x;
  unsigned sum = value;
  sums[thread] = sum;
  for (unsigned distance = 1; distance < kBlock; distance *= 2) {
    __syncthreads();
    const unsigned left = thread >= distance ? sums[thread - distance] : 0;
    __syncthreads();
    sum += left;
    sums[thread] = sum;
  }
  __syncthreads();
  return sum - value;
}

// Puts the block's keys into `dealt`, bucket by bucket; next[b] is bucket b's place there and is moved on. The threads
// take a row of 256 keys at a time. In each round threads whose key is not in yet bid for its bucket; the highest bid
// of the round puts its key in, the others bid again.
template <class Bucket>
__device__ __forceinline__ void deal(const unsigned* from, unsigned keys, Bucket bucket_of, unsigned* dealt,
                                     unsigned* next, unsigned* bids) {
  bids[threadIdx.x] = 0;
  unsigned bid = kBlock + threadIdx.x;  // number of the round (from 1) and thread
  __syncthreads();
  for (unsigned row = 0; row < keys; row += kBlock) {
    bool waiting = row + threadIdx.x < keys;
    const unsigned key = waiting ? from[row + threadIdx.x] : 0;
    const unsigned bucket = bucket_of(key);
    do {
      if (waiting) {
        atomicMax(&bids[bucket], bid);
      }
      __syncthreads();
      if (waiting && bids[bucket] == bid) {
        dealt[next[bucket]++] = key;
        waiting = false;
      }
      bid += kBlock;
    } while (__syncthreads_or(waiting));
  }
}

// counts[tile * 256 + b]: keys of the tile that go to large bucket b.
extern "C" __global__ void __launch_bounds__(256)
    count(const unsigned* __restrict__ keys, unsigned* __restrict__ counts, unsigned n, unsigned tile_keys,
          unsigned buckets) {
  __shared__ unsigned counters[kBlock];
  counters[threadIdx.x] = 0;
  __syncthreads();
  const unsigned begin = blockIdx.x * tile_keys;
  const unsigned end = min(begin + tile_keys, n);
  for (unsigned i = begin + threadIdx.x; i < end; i += kBlock) {
    atomicAdd(&counters[large_bucket(keys[i], buckets)], 1U);
  }
  __syncthreads();
  counts[blockIdx.x * kBlock + threadIdx.x] = counters[threadIdx.x];
}

// places[tile * 256 + b]: where the tile's keys of large bucket b begin in the output; starts[b]: where the bucket
// does. Thread b looks after bucket b.
extern "C" __global__ void __launch_bounds__(256)
    scan(const unsigned* __restrict__ counts, unsigned* __restrict__ places, unsigned* __restrict__ starts,
         unsigned tiles) {
  __shared__ unsigned sums[kBlock];
  const unsigned bucket = threadIdx.x;
  unsigned keys = 0;
#pragma unroll 4
  for (unsigned tile = 0; tile < tiles; ++tile) {
    keys += counts[tile * kBlock + bucket];
  }
  unsigned place = exclusive_sum(keys, sums);
  starts[bucket] = place;
#pragma unroll 4
  for (unsigned tile = 0; tile < tiles; ++tile) {
    places[tile * kBlock + bucket] = place;
    place += counts[tile * kBlock + bucket];
  }
  if (bucket == kBlock - 1) {
    starts[kBlock] = place;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    distribute(const unsigned* __restrict__ keys, const unsigned* __restrict__ counts,
               const unsigned* __restrict__ places, unsigned* __restrict__ distributed, unsigned n, unsigned tile_keys,
               unsigned buckets) {
  __shared__ unsigned dealt[kMostKeys];
  __shared__ unsigned next[kBlock];
  __shared__ unsigned shift[kBlock];  // from a key's place in the tile to its place in the output
  __shared__ unsigned bids[kBlock];
  const unsigned thread = threadIdx.x;
  const unsigned begin = blockIdx.x * tile_keys;
  const unsigned length = min(tile_keys, n - begin);
  const unsigned entry = blockIdx.x * kBlock + thread;
  const unsigned first = exclusive_sum(counts[entry], bids);
  next[thread] = first;
  shift[thread] = places[entry] - first;
  deal(
      keys + begin, length, [buckets](unsigned key) { return large_bucket(key, buckets); }, dealt, next, bids);
  for (unsigned i = thread; i < length; i += kBlock) {
    const unsigned key = dealt[i];
    distributed[i + shift[large_bucket(key, buckets)]] = key;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    sort(const unsigned* __restrict__ distributed, const unsigned* __restrict__ starts, unsigned* __restrict__ sorted,
         unsigned buckets) {
  __shared__ unsigned dealt[kMostKeys];
  __shared__ unsigned next[kBlock];
  __shared__ unsigned bids[kBlock];
  const unsigned thread = threadIdx.x;
  const unsigned begin = starts[blockIdx.x];
  const unsigned length = starts[blockIdx.x + 1] - begin;
  next[thread] = 0;
  __syncthreads();
  for (unsigned i = thread; i < length; i += kBlock) {
    atomicAdd(&next[small_bucket(distributed[begin + i], buckets)], 1U);
  }
  __syncthreads();
  const unsigned first = exclusive_sum(next[thread], bids);
  next[thread] = first;
  deal(
      distributed + begin, length, [buckets](unsigned key) { return small_bucket(key, buckets); }, dealt, next, bids);

  // Insertion sort of the thread's small bucket.
  const unsigned end = next[thread];
  for (unsigned i = first + 1; i < end; ++i) {
    const unsigned key = dealt[i];
    unsigned hole = i;
    while (hole > first && dealt[hole - 1] > key) {
      dealt[hole] = dealt[hole - 1];
      --hole;
    }
    dealt[hole] = key;
  }
  __syncthreads();
  for (unsigned i = thread; i < length; i += kBlock) {
    sorted[begin + i] = dealt[i];
  }
}
