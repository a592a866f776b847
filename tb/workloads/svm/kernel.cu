// Training of a support vector machine with a linear kernel by MinOver (Krauth and Mezard, "Learning Algorithms with
// Optimal Stability in Neural Networks", J. Phys. A 20(11), 1987; as a support vector method Martinetz, "MaxMinOver",
// ICANN 2004): the vector of least margin becomes a support vector, and the margins of all vectors change by their
// kernel with it. The kernel of one vector with all is what the DWS report's SVM is about (table 2: "support vector
// machine's kernel computation"), and the linear one is that of its source, MineBench's SVM-RFE.
#include "workloads/branches.h"
#include "workloads/parallel_for.h"

// vectors: `dimensions` features each, one vector after the other. labels: 1 or -1. *support: the number of the new
// support vector. margins: in and out. least, place: of each thread of the launch, the least margin among its tasks and
// the first vector that has it. A task is a vector.
extern "C" __global__ void __launch_bounds__(64)
    update_margins(const float* __restrict__ vectors, const float* __restrict__ labels, const unsigned* support,
                   float* __restrict__ margins, float* __restrict__ least, unsigned* __restrict__ place,
                   unsigned dimensions, unsigned tasks, unsigned runs) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, runs);
  const unsigned chosen = *support;
  const float* const other = vectors + chosen * dimensions;
  const float other_label = labels[chosen];
  float my_least = 3e38f;
  unsigned my_place = 0;
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    const float* const one = vectors + i * dimensions;
    float product = 0;
#pragma unroll 1
    for (unsigned d = 0; d < dimensions; ++d) {
      product += one[d] * other[d];
    }
    const float margin = margins[i] + labels[i] * other_label * product;
    margins[i] = margin;
    if (margin < my_least) {
      branches::keep();
      my_least = margin;
      my_place = i;
    }
  }
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  least[thread] = my_least;
  place[thread] = my_place;
}

// The first vector of least margin, of those that the threads have found. One task.
extern "C" __global__ void __launch_bounds__(64)
    choose(const float* __restrict__ least, const unsigned* __restrict__ place, unsigned* __restrict__ support,
           unsigned threads, unsigned tasks, unsigned runs) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, runs);
  for (unsigned task = mine.first; task < mine.end; task += mine.step) {
    float best = least[0];
    unsigned where = place[0];
    for (unsigned i = 1; i < threads; ++i) {
      if (least[i] < best || (least[i] == best && place[i] < where)) {
        branches::keep();
        best = least[i];
        where = place[i];
      }
    }
    *support = where;
  }
}
