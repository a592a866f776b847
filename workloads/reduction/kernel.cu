// The sum of n integers. Each thread adds every (number of threads)-th one, a block adds its threads' sums in the
// scratchpad as a tree, and thread 0 writes the block's sum; a launch of one block adds these sums.
#ifndef HEDDLE_PROGRESS  // progress.cu has one that counts
#define HEDDLE_PROGRESS()
#endif

extern "C" __global__ void __launch_bounds__(256)
    reduce(const unsigned* __restrict__ values, unsigned* __restrict__ sums, unsigned n) {
  __shared__ unsigned partial[256];
  const unsigned stride = gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    sum += values[i];
    HEDDLE_PROGRESS();
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = partial[0];
  }
}
