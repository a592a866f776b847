// Aggregates of a column by group (thesis 9.2.3): SELECT group, SUM(value), AVG(value), MIN(value), MAX(value),
// COUNT(*) GROUP BY group, for few groups. Every thread aggregates the rows it reads in a table of its own in the
// scratchpad; a block adds its threads' tables, and a second kernel the blocks' tables.
#ifndef HEDDLE_PROGRESS  // progress.cu has one that counts
#define HEDDLE_PROGRESS()
#endif

constexpr unsigned kBlock = 256;
constexpr unsigned kLanes = 32;
constexpr unsigned kFields = 3;  // of a thread's entry: sum, count, and maximum above inverted minimum

// What a warp's lane has of one group.
struct Partial {
  unsigned long long sum;
  unsigned count;
  unsigned extremes;  // maximum << 16 | ~minimum
};

__device__ __forceinline__ unsigned widened(unsigned extremes, unsigned other) {
  return max(extremes & 0xffff0000U, other & 0xffff0000U) | max(extremes & 0xffffU, other & 0xffffU);
}

// values: below 65536; groups: below `count`. partial: for each block and group one Partial per lane. A thread reads at
// most 65536 rows, so that its sums stay within a word.
extern "C" __global__ void __launch_bounds__(256)
    aggregate(const unsigned* __restrict__ values, const unsigned* __restrict__ groups, Partial* __restrict__ partial,
              unsigned rows, unsigned count) {
  extern __shared__ unsigned table[];  // group by group, field by field, a word per thread
  unsigned* const mine = table + threadIdx.x;
  for (unsigned i = 0; i < count * kFields; ++i) {
    mine[i * kBlock] = 0;
  }
  const unsigned stride = gridDim.x * kBlock;
  for (unsigned row = blockIdx.x * kBlock + threadIdx.x; row < rows; row += stride) {
    const unsigned value = values[row];
    unsigned* const entry = mine + groups[row] * (kFields * kBlock);
    entry[0] += value;
    entry[kBlock] += 1;
    entry[2 * kBlock] = widened(entry[2 * kBlock], value << 16 | (value ^ 0xffffU));
    HEDDLE_PROGRESS();
  }
  __syncthreads();
  // A warp per group; a lane adds the tables of every 32nd thread.
  const unsigned lane = threadIdx.x % kLanes;
  for (unsigned group = threadIdx.x / kLanes; group < count; group += kBlock / kLanes) {
    Partial all = {0, 0, 0};
    for (unsigned thread = lane; thread < kBlock; thread += kLanes) {
      const unsigned* const entry = table + group * (kFields * kBlock) + thread;
      all.sum += entry[0];
      all.count += entry[kBlock];
      all.extremes = widened(all.extremes, entry[2 * kBlock]);
    }
    partial[(blockIdx.x * count + group) * kLanes + lane] = all;
  }
}

// One block per group, one warp. Averages of no rows are zero, as are their extremes.
extern "C" __global__ void __launch_bounds__(32)
    combine(const Partial* __restrict__ partial, unsigned long long* __restrict__ sums, double* __restrict__ averages,
            unsigned* __restrict__ minima, unsigned* __restrict__ maxima, unsigned* __restrict__ counts,
            unsigned blocks) {
  __shared__ Partial of_lane[kLanes];
  const unsigned lane = threadIdx.x;
  const unsigned group = blockIdx.x;
  Partial all = {0, 0, 0};
  for (unsigned block = 0; block < blocks; ++block) {
    const Partial one = partial[(block * gridDim.x + group) * kLanes + lane];
    all.sum += one.sum;
    all.count += one.count;
    all.extremes = widened(all.extremes, one.extremes);
  }
  of_lane[lane] = all;
  __syncthreads();
  for (unsigned half = kLanes / 2; half > 0; half /= 2) {
    if (lane < half) {
      all.sum += of_lane[lane + half].sum;
      all.count += of_lane[lane + half].count;
      all.extremes = widened(all.extremes, of_lane[lane + half].extremes);
      of_lane[lane] = all;
    }
    __syncthreads();
  }
  if (lane == 0) {
    const bool any = all.count != 0;
    sums[group] = all.sum;
    averages[group] = any ? static_cast<double>(all.sum) / all.count : 0.0;
    minima[group] = any ? (all.extremes & 0xffffU) ^ 0xffffU : 0;
    maxima[group] = all.extremes >> 16;
    counts[group] = all.count;
  }
}
