// Merge sort (the DWS report's Merge, table 2: "element aggregation and reordering"), a pass per launch: pairs of
// sorted runs become runs of twice the length. Late passes have fewer pairs than the machine has threads, so that a
// task is a segment of a pair's result, as long as a pair at most: it finds by bisection how much of each run lies
// before it (the co-ranks of Akl and Santoro, "Optimal Parallel Merging and Sorting Without Memory Conflicts", IEEE
// Trans. Comput. C-36(11), 1987), and merges from there.
#include "workloads/branches.h"
#include "workloads/parallel_for.h"

// source: n keys in sorted runs of `run` keys, the last ones shorter; run is a power of two. segment: keys of a task, a
// power of two that divides 2 * run. Which of the two next keys is less is a branch, as in the report (table 1: 13.1 %
// of all branches diverge).
extern "C" __global__ void __launch_bounds__(64)
    merge(const unsigned* __restrict__ source, unsigned* __restrict__ target, unsigned n, unsigned run,
          unsigned segment, unsigned tasks, unsigned runs) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, runs);
  for (unsigned task = mine.first; task < mine.end; task += mine.step) {
    const unsigned begin = task * segment;
    const unsigned end = min(begin + segment, n);
    const unsigned pair = begin & ~(2 * run - 1);
    const unsigned middle = min(pair + run, n);
    const unsigned last = min(middle + run, n);
    // How many of the first `before` keys of the result are the left run's: the least number that is not too small.
    const unsigned before = begin - pair;
    unsigned low = before - min(before, last - middle);
    unsigned high = min(before, middle - pair);
    while (low < high) {
      const unsigned left = (low + high) / 2;
      if (source[pair + left] <= source[middle + before - left - 1]) {
        branches::keep();
        low = left + 1;
      } else {
        high = left;
      }
    }
    unsigned i = pair + low;
    unsigned j = middle + before - low;
    for (unsigned k = begin; k < end; ++k) {
      if (j == last || (i < middle && source[i] <= source[j])) {
        branches::keep();
        target[k] = source[i++];
      } else {
        target[k] = source[j++];
      }
    }
  }
}
