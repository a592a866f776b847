// Pthreads form of kmeans, after MineBench and Rodinia, which report section 5 names as sources: a thread takes every
// (number of threads)-th point, a byte (thesis table 5.2), and keeps sums and numbers of its points by cluster. Sixteen
// clusters fill the 128 bytes of private memory per thread (report table 1). At the end of a pass the threads add what
// they found to the clusters' sums by atomic additions, as C programs do; these commute, so that nothing depends on
// their order.
//
// Whether a centre is nearer than the nearest so far is a comparison of floating-point numbers before two assignments,
// which x86 code has no conditional moves for: it stays a branch. It is the only one that depends on data, and table 2
// has kmeans among the workloads with divergence.
#include "workloads/pthreads.h"

constexpr unsigned kMostClusters = 16;

// members: a word per point. sums, counts: a word per cluster, zero. changed: one word, in the end the number of
// iterations.
extern "C" __global__ void __launch_bounds__(1024)
    kmeans(const unsigned char* points, unsigned* members, float* centres, unsigned* sums, unsigned* counts,
           unsigned* changed, unsigned n, unsigned clusters, unsigned most_iterations, unsigned threads) {
  __shared__ unsigned sum_storage[kMostClusters * pthreads::kMostThreads];
  __shared__ unsigned count_storage[kMostClusters * pthreads::kMostThreads];
  const unsigned id = threadIdx.x;
  const pthreads::Private<unsigned> my_sums(sum_storage, id);
  const pthreads::Private<unsigned> my_counts(count_storage, id);
  unsigned iteration = 0;
  do {
    for (unsigned c = 0; c < clusters; ++c) {
      my_sums[c] = 0;
      my_counts[c] = 0;
    }
    if (id == 0) {
      *changed = 0;
    }
    __syncthreads();
    for (unsigned i = id; i < n; i += threads) {
      const unsigned point = points[i];
      const float place = static_cast<float>(point);
      unsigned nearest = 0;
      float least = fabsf(place - centres[0]);
      for (unsigned c = 1; c < clusters; ++c) {
        const float distance = fabsf(place - centres[c]);
        if (distance < least) {
          branches::keep();
          least = distance;
          nearest = c;
        }
      }
      if (members[i] != nearest) {
        members[i] = nearest;
        *static_cast<volatile unsigned*>(changed) = 1;  // by several threads
      }
      my_sums[nearest] += point;
      ++my_counts[nearest];
    }
    for (unsigned c = 0; c < clusters; ++c) {
      atomicAdd(&sums[c], my_sums[c]);
      atomicAdd(&counts[c], my_counts[c]);
    }
    __syncthreads();
    if (id < clusters) {
      const unsigned sum = static_cast<volatile unsigned*>(sums)[id];
      const unsigned count = static_cast<volatile unsigned*>(counts)[id];
      if (count != 0) {  // a cluster without points keeps its centre
        centres[id] = static_cast<float>(sum) / static_cast<float>(count);
      }
      sums[id] = 0;
      counts[id] = 0;
    }
    ++iteration;
    const bool again = *changed != 0;
    __syncthreads();
    if (!again) {
      break;
    }
  } while (iteration < most_iterations);
  if (id == 0) {
    *changed = iteration;
  }
}
