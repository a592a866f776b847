// Pthreads form of reduction: the sum of n booleans, a byte each (thesis table 5.2). A thread adds every
// (number of threads)-th one; the threads' sums, which they share, are added as a tree, as programs optimised for GPUs
// do (report section 5).
#include "workloads/pthreads.h"

// sums: a word per thread. total: one word.
extern "C" __global__ void __launch_bounds__(1024)
    reduction(const unsigned char* values, unsigned* sums, unsigned* total, unsigned n, unsigned threads) {
  const unsigned id = threadIdx.x;
  unsigned sum = 0;
  for (unsigned i = id; i < n; i += threads) {
    sum += values[i];
  }
  sums[id] = sum;
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (id < half) {
      sums[id] += sums[id + half];
    }
    __syncthreads();
  }
  if (id == 0) {
    *total = sums[0];
  }
}
