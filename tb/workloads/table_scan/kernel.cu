// Full table scan (thesis 6.2.2 and appendix 1.1): the numbers of the rows whose columns are all below a bound, in no
// particular order. The columns lie one behind the other, so that a warp reads 32 neighbours. Each warp gathers its
// hits in a buffer of 256 words in the scratchpad and flushes 224 of them as soon as it has more, with one atomic
// addition for their place in the output. Kernels scan_<columns> gather by ballot and popc, accumulate_<columns> by the
// conditional accumulate instruction (thesis 7.1).
constexpr unsigned kBlock = 256;
constexpr unsigned kLanes = 32;
constexpr unsigned kBuffer = 256;
constexpr unsigned kFlush = 224;  // a multiple of the lanes; what is left and 32 more hits fit the buffer

// Do rows of this number pass in the last kColumns columns?
template <unsigned kColumns>
__device__ __forceinline__ bool passes(const int* __restrict__ column, unsigned row, unsigned rows, int bound) {
  if constexpr (kColumns == 1) {
    return column[row] < bound;
  } else {
    const bool here = column[row] < bound;  // every column is read: no branch
    return passes<kColumns - 1>(column + rows, row, rows, bound) & here;
  }
}

// A place for `count` hits in the output, the same in all lanes.
__device__ __forceinline__ unsigned* allocate(unsigned* __restrict__ output, unsigned* __restrict__ used,
                                              unsigned count, unsigned lane) {
  unsigned place = 0;
  if (lane == 0) {
    place = atomicAdd(used, count);
  }
  return output + __shfl(place, 0);
}

template <unsigned kColumns, bool kAccumulate>
__device__ __forceinline__ void scan(const int* __restrict__ columns, unsigned rows, int bound,
                                     unsigned* __restrict__ output, unsigned* __restrict__ used) {
  __shared__ unsigned buffers[kBlock / kLanes * kBuffer];
  const unsigned lane = threadIdx.x % kLanes;
  unsigned* const buffer = buffers + threadIdx.x / kLanes * kBuffer;
  const unsigned before = (1U << lane) - 1;
  const unsigned stride = gridDim.x * kBlock;
  unsigned found = 0;
  for (unsigned row = blockIdx.x * kBlock + threadIdx.x; row < rows; row += stride) {
    const bool hit = passes<kColumns>(columns, row, rows, bound);
    if constexpr (kAccumulate) {
      found += heddle::cond_acc_shared(buffer + found, hit, row);
    } else {
      const unsigned bits = __ballot(hit);
      if (hit) {
        buffer[found + __popc(bits & before)] = row;
      }
      found += __popc(bits);
    }
    if (found > kFlush) {
      unsigned* const place = allocate(output, used, kFlush, lane);
      for (unsigned i = lane; i < kFlush; i += kLanes) {
        place[i] = buffer[i];
      }
      found -= kFlush;
      if (lane < found) {
        buffer[lane] = buffer[kFlush + lane];
      }
    }
  }
  // What is left, first in whole lines; the barrier keeps the others behind them.
  const unsigned whole = found / kLanes * kLanes;
  unsigned* place = allocate(output, used, whole, lane);
  for (unsigned i = lane; i < whole; i += kLanes) {
    place[i] = buffer[i];
  }
  __syncthreads();
  place = allocate(output, used, found - whole, lane);
  if (whole + lane < found) {
    place[lane] = buffer[whole + lane];
  }
}

// columns: `rows` values each, a multiple of 32. output: room for all rows. used: one word, zero.
#define SCAN(n)                                                                                                \
  extern "C" __global__ void __launch_bounds__(256)                                                            \
      scan_##n(const int* __restrict__ columns, unsigned rows, int bound, unsigned* __restrict__ output,       \
               unsigned* __restrict__ used) {                                                                  \
    scan<n, false>(columns, rows, bound, output, used);                                                        \
  }                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256)                                                            \
      accumulate_##n(const int* __restrict__ columns, unsigned rows, int bound, unsigned* __restrict__ output, \
                     unsigned* __restrict__ used) {                                                            \
    scan<n, true>(columns, rows, bound, output, used);                                                         \
  }
SCAN(1)
SCAN(2)
SCAN(3)
SCAN(4)
SCAN(5)
SCAN(6)
SCAN(7)
SCAN(8)
