// Merge sort (the DWS report's Merge, table 2: "element aggregation and reordering"), a pass per launch: pairs of
// sorted runs become runs of twice the length. Late passes have fewer pairs than the machine has threads, so that a
// task is a segment of the result, wherever pairs begin: it finds by bisection how much of each run lies before it (the
// co-ranks of Akl and Santoro, "Optimal Parallel Merging and Sorting Without Memory Conflicts", IEEE Trans. Comput.
// C-36(11), 1987), and merges from there.
#include "workloads/branches.h"
#include "workloads/parallel_for.h"

// How many of the first `before` keys of two merged runs are the left run's, equal keys of which go first: the least
// number that is not too small.
__device__ __forceinline__ unsigned co_rank(const unsigned* left_run, unsigned left_length, const unsigned* right_run,
                                            unsigned right_length, unsigned before) {
  unsigned low = before - min(before, right_length);
  unsigned high = min(before, left_length);
  while (low < high) {
    const unsigned left = (low + high) / 2;
    if (left_run[left] <= right_run[before - left - 1]) {
      branches::keep();
      low = left + 1;
    } else {
      high = left;
    }
  }
  return low;
}

// source: n keys in sorted runs of `run` keys, the last ones shorter; run is a power of two. segment: keys of a task.
// Which of the two next keys is less is a branch, as in the report (table 1: 13.1 % of all branches diverge).
extern "C" __global__ void __launch_bounds__(64)
    merge(const unsigned* __restrict__ source, unsigned* __restrict__ target, unsigned n, unsigned run,
          unsigned segment, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned task = mine.first; task < mine.end; task += mine.step) {
    unsigned k = task * segment;
    const unsigned end = min(k + segment, n);
    while (k < end) {
      const unsigned pair = k & ~(2 * run - 1);
      const unsigned middle = min(pair + run, n);
      const unsigned last = min(middle + run, n);
      const unsigned low = co_rank(source + pair, middle - pair, source + middle, last - middle, k - pair);
      unsigned i = pair + low;
      unsigned j = middle + (k - pair) - low;
      for (const unsigned stop = min(end, last); k < stop; ++k) {
        if (j == last || (i < middle && source[i] <= source[j])) {
          branches::keep();
          target[k] = source[i++];
        } else {
          target[k] = source[j++];
        }
      }
    }
  }
  parallel::end_loop();
}
