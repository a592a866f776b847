// A winning path by dynamic programming (the DWS report's Short, table 2: "winning path search for chess",
// "neighborhood calculation based on the previous row"): of the choices of a step, each can follow the same choice of
// the step before or one of its two neighbours, and takes the best.
#include "workloads/branches.h"
#include "workloads/parallel_for.h"

// With step_padded each thread's run of choices is followed by a gap of `gap` choices in every array, so that runs lie
// where the workload wants them; the choices of the threads beside are beyond a gap.

// One step. previous: the best scores of paths to each choice of the step before. gains: what each choice of this step
// gains. scores, moves: the best score to each of them, and from which side: -1, 0 or 1. A task is a choice. at(i):
// where choice i lies.
//
// Whether a neighbour is better is a comparison before two assignments; it stays a branch, as the report's share of
// divergent branches (table 1: 22 %, the highest) says.
template <class At>
__device__ __forceinline__ void take_step(const int* __restrict__ previous, const int* __restrict__ gains,
                                          int* __restrict__ scores, int* __restrict__ moves, unsigned tasks,
                                          const parallel::Tasks& mine, At at) {
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    int best = previous[at(i)];
    int move = 0;
    if (i > 0) {
      const int left = previous[at(i - 1)];
      if (left > best) {
        branches::keep();
        best = left;
        move = -1;
      }
    }
    if (i + 1 < tasks) {
      const int right = previous[at(i + 1)];
      if (right > best) {
        branches::keep();
        best = right;
        move = 1;
      }
    }
    scores[at(i)] = best + gains[at(i)];
    moves[at(i)] = move;
  }
  parallel::end_loop();
}

extern "C" __global__ void __launch_bounds__(64)
    step(const int* __restrict__ previous, const int* __restrict__ gains, int* __restrict__ scores,
         int* __restrict__ moves, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  take_step(previous, gains, scores, moves, tasks, mine, [](unsigned i) { return i; });
}

// busy: threads of a block that have choices; tasks are dealt in runs.
extern "C" __global__ void __launch_bounds__(64)
    step_padded(const int* __restrict__ previous, const int* __restrict__ gains, int* __restrict__ scores,
                int* __restrict__ moves, unsigned busy, unsigned gap, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  const unsigned before = (blockIdx.x * busy + threadIdx.x) * gap;
  take_step(previous, gains, scores, moves, tasks, mine, [=](unsigned i) {
    return i + before + (i < mine.first ? 0 - gap : i >= mine.end ? gap : 0);
  });
}
