// The prefix sums of n integers, n a multiple of 1024: each block of 256 threads sums up 1024 of them, four a thread,
// in log2(256) steps over the scratchpad with barriers between; one block sums up the blocks' totals; and the totals
// before a block are added to its sums. As the scan of the CUDA SDK has it.
constexpr unsigned kBlock = 256;

// This thread's number becomes the sum of the threads' numbers before it; returns the sum of all.
static __device__ unsigned scan_block(unsigned* sums, unsigned& value) {
  const unsigned thread = threadIdx.x;
  unsigned* const mine = sums + kBlock + thread;
  sums[thread] = 0;  // what the steps find before the first thread's
  *mine = value;
  __syncthreads();
  for (unsigned step = 1; step < kBlock; step *= 2) {
    const unsigned sum = *mine + *(mine - step);
    __syncthreads();
    *mine = sum;
    __syncthreads();
  }
  value = *(mine - 1);
  const unsigned all = sums[2 * kBlock - 1];
  __syncthreads();
  return all;
}

static __device__ uint4 before_each(uint4 four, unsigned before) {
  return {before, before + four.x, before + four.x + four.y, before + four.x + four.y + four.z};
}

// totals[b]: of block b.
extern "C" __global__ void __launch_bounds__(256)
    scan_blocks(const uint4* __restrict__ values, uint4* __restrict__ prefixes, unsigned* __restrict__ totals) {
  __shared__ unsigned sums[2 * kBlock];
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  const uint4 four = values[i];
  unsigned before = four.x + four.y + four.z + four.w;
  const unsigned all = scan_block(sums, before);
  prefixes[i] = before_each(four, before);
  if (threadIdx.x == 0) {
    totals[blockIdx.x] = all;
  }
}

// One block: of each total, in its place, the sum of the totals before.
extern "C" __global__ void __launch_bounds__(256) scan_totals(unsigned* __restrict__ totals, unsigned count) {
  __shared__ unsigned sums[2 * kBlock];
  unsigned carried = 0;
  for (unsigned first = 0; first < count; first += kBlock) {
    const unsigned i = first + threadIdx.x;
    unsigned value = i < count ? totals[i] : 0;
    const unsigned all = scan_block(sums, value);
    if (i < count) {
      totals[i] = carried + value;
    }
    carried += all;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    add_totals(uint4* __restrict__ prefixes, const unsigned* __restrict__ totals) {
  __shared__ unsigned before;
  if (threadIdx.x == 0) {
    before = totals[blockIdx.x];
  }
  __syncthreads();
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  uint4 four = prefixes[i];
  four.x += before;
  four.y += before;
  four.z += before;
  four.w += before;
  prefixes[i] = four;
}
