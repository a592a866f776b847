// Training of a support vector machine with a linear kernel by MinOver (Krauth and Mezard, "Learning Algorithms with
// Optimal Stability in Neural Networks", J. Phys. A 20(11), 1987; as a support vector method Martinetz, "MaxMinOver",
// ICANN 2004): the vector of least margin becomes a support vector, and the margins of all vectors change by their
// kernel with it. The kernel of one vector with all is what the DWS report's SVM is about (table 2: "support vector
// machine's kernel computation"), and the linear one is that of its source, MineBench's SVM-RFE, in which a feature is
// its number and a double, 16 bytes, and one with number -1 ends a vector.
#include "workloads/branches.h"
#include "workloads/parallel_for.h"

struct Feature {
  int number;
  double value;
};
static_assert(sizeof(Feature) == 16, "MineBench's");

// vectors: `dimensions` features each, one vector after the other. labels: 1 or -1. *support: the number of the new
// support vector. margins: in and out. least, place: of each thread of the launch, the least margin among its tasks and
// the first vector that has it. A task is a vector.
extern "C" __global__ void __launch_bounds__(64)
    update_margins(const Feature* __restrict__ vectors, const double* __restrict__ labels, const unsigned* support,
                   double* __restrict__ margins, double* __restrict__ least, unsigned* __restrict__ place,
                   unsigned dimensions, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  const unsigned chosen = *support;
  const Feature* const other = vectors + chosen * (dimensions + 1);
  const double other_label = labels[chosen];
  double my_least = 1e300;
  unsigned my_place = 0;
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    const Feature* const one = vectors + i * (dimensions + 1);
    double product = 0;
#pragma nounroll
    for (unsigned d = 0; d < dimensions; ++d) {
      product += one[d].value * other[d].value;
    }
    const double margin = margins[i] + labels[i] * other_label * product;
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
  parallel::end_loop();
}

// The first vector of least margin, of the vectors that the threads have found. One task.
extern "C" __global__ void __launch_bounds__(64)
    choose(const double* __restrict__ least, const unsigned* __restrict__ place, unsigned* __restrict__ support,
           unsigned threads, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned task = mine.first; task < mine.end; task += mine.step) {
    double best = least[0];
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
  parallel::end_loop();
}
