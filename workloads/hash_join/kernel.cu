// Hash join (thesis 9.2.3) without partitions: a table of chained buckets in global memory. A bucket is the number of
// its last row; a word beside each row has the row before it. One atomic exchange puts a row in front, without a loop,
// however many rows share a bucket or a key.
constexpr unsigned kBlock = 256;
constexpr unsigned kNone = 0xffffffff;
#include "workloads/table_scan/gather.inc"

// Multiplicative hashing by the golden ratio (Knuth, The Art of Computer Programming, volume 3, 6.4): the upper bits.
__device__ __forceinline__ unsigned bucket_of(unsigned key, unsigned shift) {
  return key * 2654435769U >> shift;
}

extern "C" __global__ void __launch_bounds__(256) clear(unsigned* __restrict__ heads, unsigned buckets) {
  for (unsigned i = blockIdx.x * kBlock + threadIdx.x; i < buckets; i += gridDim.x * kBlock) {
    heads[i] = kNone;
  }
}

// heads: 1 << (32 - shift) buckets. before: a word per row.
extern "C" __global__ void __launch_bounds__(256)
    build(const unsigned* __restrict__ keys, unsigned rows, unsigned* __restrict__ heads, unsigned* __restrict__ before,
          unsigned shift) {
  for (unsigned row = blockIdx.x * kBlock + threadIdx.x; row < rows; row += gridDim.x * kBlock) {
    before[row] = atomicExch(heads + bucket_of(keys[row], shift), row);
  }
}

template <bool kAccumulate>
__device__ __forceinline__ void probe(const unsigned* __restrict__ outer, unsigned rows,
                                      const unsigned* __restrict__ keys, const unsigned* __restrict__ heads,
                                      const unsigned* __restrict__ before, unsigned shift,
                                      unsigned* __restrict__ output, unsigned room, unsigned* __restrict__ used) {
  __shared__ unsigned buffers[kBlock / kLanes * kBufferWords];
  Gather<2, kAccumulate> hits(threadIdx.x % kLanes, buffers + threadIdx.x / kLanes * kBufferWords, output, room, used);
  for (unsigned row = blockIdx.x * kBlock + threadIdx.x; row < rows; row += gridDim.x * kBlock) {
    const unsigned key = outer[row];
    unsigned candidate = heads[bucket_of(key, shift)];
    // A warp goes on while any of its lanes has a chain left: they gather their hits together.
    while (__ballot(candidate != kNone) != 0) {
      const unsigned inner = candidate;
      bool hit = false;
      if (inner != kNone) {
        hit = keys[inner] == key;
        candidate = before[inner];
      }
      hits.add(hit, {row, inner});
    }
  }
  hits.finish();
}

// outer: `rows` keys, a multiple of 32. output: two columns of `room` words, row of the outer and of the inner table.
#define PROBE(name, accumulate)                                                                     \
  extern "C" __global__ void __launch_bounds__(kBlock)                                              \
      name(const unsigned* __restrict__ outer, unsigned rows, const unsigned* __restrict__ keys,    \
           const unsigned* __restrict__ heads, const unsigned* __restrict__ before, unsigned shift, \
           unsigned* __restrict__ output, unsigned room, unsigned* __restrict__ used) {             \
    probe<accumulate>(outer, rows, keys, heads, before, shift, output, room, used);                 \
  }
PROBE(probe_scan, false)
PROBE(probe_accumulate, true)
