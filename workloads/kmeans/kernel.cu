// Lloyd's k-means clustering of one-dimensional 8-bit points; two launches per iteration. A word of `points` or
// `members` is four points, so that a warp's access is one line.
//
// A thread's sums lie in the scratchpad, its cluster's word at cluster * 256 + thread: the points' number in the high
// half, their sum in the low half, which is enough for 256 points of a thread. No atomics are needed.
#ifndef HEDDLE_PROGRESS  // progress.cu has one that counts
#define HEDDLE_PROGRESS()
#endif

constexpr unsigned kBlock = 256;
constexpr unsigned kMostClusters = 16;

// Gives every point the nearest centre (the first of equally near ones), sets *changed when a point's cluster is
// another than before, and adds up the points of each cluster: partial_sums and partial_counts hold `clusters` words
// per block.
extern "C" __global__ void __launch_bounds__(256)
    assign(const unsigned* __restrict__ points, unsigned* __restrict__ members, const float* __restrict__ centres,
           unsigned* __restrict__ partial_sums, unsigned* __restrict__ partial_counts, volatile unsigned* changed,
           unsigned words, unsigned clusters) {
  __shared__ unsigned sums[kMostClusters * kBlock];
  __shared__ float centre[kMostClusters];
  const unsigned thread = threadIdx.x;
  if (thread < clusters) {
    centre[thread] = centres[thread];
  }
  for (unsigned c = 0; c < clusters; ++c) {
    sums[c * kBlock + thread] = 0;
  }
  __syncthreads();

  const unsigned stride = gridDim.x * kBlock;
  for (unsigned word = blockIdx.x * kBlock + thread; word < words; word += stride) {
    const unsigned four = points[word];
    unsigned nearest_four = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const unsigned point = (four >> shift) & 0xffU;
      const float place = static_cast<float>(point);
      unsigned nearest = 0;
      float least = fabsf(place - centre[0]);
      for (unsigned c = 1; c < clusters; ++c) {
        const float distance = fabsf(place - centre[c]);
        if (distance < least) {
          least = distance;
          nearest = c;
        }
      }
      nearest_four |= nearest << shift;
      sums[nearest * kBlock + thread] += 0x10000U | point;
    }
    if (members[word] != nearest_four) {
      members[word] = nearest_four;
      *changed = 1;
    }
    HEDDLE_PROGRESS();
  }
  __syncthreads();

  // Eight threads add up a cluster's 256 words, then one of them the eight sums.
  __shared__ unsigned eighth_sums[kMostClusters * 8];
  __shared__ unsigned eighth_counts[kMostClusters * 8];
  const unsigned cluster = thread / 8;
  if (cluster < clusters) {
    unsigned sum = 0;
    unsigned count = 0;
    for (unsigned i = thread % 8; i < kBlock; i += 8) {
      const unsigned word = sums[cluster * kBlock + i];
      sum += word & 0xffffU;
      count += word >> 16;
    }
    eighth_sums[thread] = sum;
    eighth_counts[thread] = count;
  }
  __syncthreads();
  if (thread < clusters) {
    unsigned sum = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < 8; ++i) {
      sum += eighth_sums[thread * 8 + i];
      count += eighth_counts[thread * 8 + i];
    }
    partial_sums[blockIdx.x * clusters + thread] = sum;
    partial_counts[blockIdx.x * clusters + thread] = count;
  }
}

// The new centres: the means of the clusters' points; a cluster without points keeps its centre. One block.
extern "C" __global__ void __launch_bounds__(256)
    update(float* __restrict__ centres, const unsigned* __restrict__ partial_sums,
           const unsigned* __restrict__ partial_counts, unsigned blocks, unsigned clusters) {
  const unsigned cluster = threadIdx.x;
  if (cluster < clusters) {
    unsigned sum = 0;
    unsigned count = 0;
    for (unsigned block = 0; block < blocks; ++block) {
      sum += partial_sums[block * clusters + cluster];
      count += partial_counts[block * clusters + cluster];
    }
    if (count != 0) {
      centres[cluster] = static_cast<float>(sum) / static_cast<float>(count);
    }
  }
}
