// Pthreads form of sort: a bucket sort of 32-bit keys by their highest bits. The keys go to large buckets, each of
// which is then dealt into a small bucket per thread; a thread sorts its small bucket in private memory, whose 128
// bytes (report table 1) hold 32 keys. Large buckets have some 8 keys per thread, so that a large bucket is worked on
// in the D-cache: the report says of the workload that it makes very good use of that and of private memory (6.1).
//
// Threads that put keys into the same bucket take their places by atomic additions, as C programs do; the order of the
// keys in a bucket, and so a thread's course, depends on the timing.
#include "workloads/pthreads.h"

constexpr unsigned kMostKeys = 32;  // of a small bucket

// A large bucket of `buckets`; small_bits: the number of threads is two to the power of it.
__device__ __forceinline__ unsigned large_bucket(unsigned key, unsigned buckets) {
  return static_cast<unsigned>((static_cast<unsigned long long>(key) * buckets) >> 32);
}
__device__ __forceinline__ unsigned small_bucket(unsigned key, unsigned buckets, unsigned small_bits) {
  return (key * buckets) >> (32 - small_bits);
}

// distributed: n words. counts: a word per large bucket; filled: one per thread; all zero. starts: a word per large
// bucket and one more. sums: a word per thread. slots: kMostKeys words per thread.
extern "C" __global__ void __launch_bounds__(1024)
    sort(const unsigned* keys, unsigned* distributed, unsigned* sorted, unsigned* counts, unsigned* starts,
         unsigned* filled, unsigned* sums, unsigned* slots, unsigned n, unsigned buckets, unsigned small_bits,
         unsigned threads) {
  __shared__ unsigned storage[kMostKeys * pthreads::kMostThreads];
  const unsigned id = threadIdx.x;
  const pthreads::Private<unsigned> mine(storage, id);
  for (unsigned i = id; i < n; i += threads) {
    atomicAdd(&counts[large_bucket(keys[i], buckets)], 1U);
  }
  __syncthreads();
  if (id == 0) {
    unsigned start = 0;
    for (unsigned bucket = 0; bucket < buckets; ++bucket) {
      starts[bucket] = start;
      const unsigned count = *static_cast<volatile unsigned*>(&counts[bucket]);
      counts[bucket] = start;  // from now on where the bucket's next key goes
      start += count;
    }
    starts[buckets] = start;
  }
  __syncthreads();
  for (unsigned i = id; i < n; i += threads) {
    const unsigned key = keys[i];
    distributed[atomicAdd(&counts[large_bucket(key, buckets)], 1U)] = key;
  }
  __syncthreads();
  for (unsigned bucket = 0; bucket < buckets; ++bucket) {
    const unsigned end = starts[bucket + 1];
    for (unsigned i = starts[bucket] + id; i < end; i += threads) {
      const unsigned key = distributed[i];
      const unsigned small = small_bucket(key, buckets, small_bits);
      slots[atomicAdd(&filled[small], 1U) * threads + small] = key;
    }
    __syncthreads();
    // The thread's small bucket, sorted as it is brought in.
    const unsigned count = *static_cast<volatile unsigned*>(&filled[id]);
    for (unsigned k = 0; k < count; ++k) {
      const unsigned key = slots[k * threads + id];
      unsigned hole = k;
      while (hole > 0 && mine[hole - 1] > key) {
        mine[hole] = mine[hole - 1];
        --hole;
      }
      mine[hole] = key;
    }
    // The keys of the threads up to this one say where this one's keys end.
    unsigned sum = count;
    sums[id] = sum;
    filled[id] = 0;
    for (unsigned distance = 1; distance < threads; distance *= 2) {
      __syncthreads();
      const unsigned before = id >= distance ? sums[id - distance] : 0;
      __syncthreads();
      sum += before;
      sums[id] = sum;
    }
    unsigned* const to = sorted + starts[bucket] + sum - count;
    for (unsigned k = 0; k < count; ++k) {
      to[k] = mine[k];
    }
    __syncthreads();
  }
}
