// The DWS report's KMeans (table 2: "distance aggregation using Map-Reduce"), after MineBench's: a thread gives its
// points the nearest centre and adds their features up in sums of its own, in memory; then the threads' sums become the
// new centres.
#include "workloads/branches.h"
#include "workloads/parallel_for.h"

// features: `dimensions` of each point, one point after the other. members: each point's cluster, in and out.
// centres: `dimensions` of each cluster. sums, counts: of each thread of the launch, clusters * dimensions and clusters
// words. moved: how many points have another cluster than before is added. A task is a point.
extern "C" __global__ void __launch_bounds__(64)
    assign(const float* __restrict__ features, unsigned* __restrict__ members, const float* __restrict__ centres,
           float* __restrict__ sums, unsigned* __restrict__ counts, unsigned* moved, unsigned dimensions,
           unsigned clusters, unsigned tasks, unsigned interleaved) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float* const my_sums = sums + thread * clusters * dimensions;
  unsigned* const my_counts = counts + thread * clusters;
  for (unsigned i = 0; i < clusters * dimensions; ++i) {
    my_sums[i] = 0;
  }
  for (unsigned i = 0; i < clusters; ++i) {
    my_counts[i] = 0;
  }
  unsigned my_moved = 0;
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    const float* const point = features + i * dimensions;
    float least = 3e38f;
    unsigned nearest = 0;
    for (unsigned c = 0; c < clusters; ++c) {
      const float* const centre = centres + c * dimensions;
      float distance = 0;
#pragma nounroll
      for (unsigned d = 0; d < dimensions; ++d) {
        const float difference = point[d] - centre[d];
        distance += difference * difference;
      }
      if (distance < least) {
        branches::keep();
        least = distance;
        nearest = c;
      }
    }
    if (members[i] != nearest) {
      members[i] = nearest;
      ++my_moved;
    }
    ++my_counts[nearest];
    float* const sum = my_sums + nearest * dimensions;
#pragma nounroll
    for (unsigned d = 0; d < dimensions; ++d) {
      sum[d] += point[d];
    }
  }
  if (my_moved != 0) {
    atomicAdd(moved, my_moved);
  }
  parallel::end_loop();
}

// The new centres; a cluster without points keeps its own. threads: of the launch of `assign`. A task is a feature of
// a centre.
extern "C" __global__ void __launch_bounds__(64)
    reduce(float* __restrict__ centres, const float* __restrict__ sums, const unsigned* __restrict__ counts,
           unsigned dimensions, unsigned clusters, unsigned threads, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    const unsigned cluster = i / dimensions;
    float sum = 0;
    unsigned count = 0;
    for (unsigned thread = 0; thread < threads; ++thread) {
      sum += sums[thread * clusters * dimensions + i];
      count += counts[thread * clusters + cluster];
    }
    if (count != 0) {
      centres[i] = sum / static_cast<float>(count);
    }
  }
  parallel::end_loop();
}
