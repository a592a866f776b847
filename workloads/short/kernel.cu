// A winning path by dynamic programming (the DWS report's Short, table 2: "winning path search for chess",
// "neighborhood calculation based on the previous row"): of the choices of a step, each can follow the same choice of
// the step before or one of its two neighbours, and takes the best.
#include "workloads/branches.h"
#include "workloads/parallel_for.h"

// One step. previous: the best scores of paths to each choice of the step before. gains: what each choice of this step
// gains. scores, moves: the best score to each of them, and from which side: -1, 0 or 1. A task is a choice.
//
// Whether a neighbour is better is a comparison before two assignments; it stays a branch, as the report's share of
// divergent branches (table 1: 22 %, the highest) says.
extern "C" __global__ void __launch_bounds__(64)
    step(const int* __restrict__ previous, const int* __restrict__ gains, int* __restrict__ scores,
         int* __restrict__ moves, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    int best = previous[i];
    int move = 0;
    if (i > 0) {
      const int left = previous[i - 1];
      if (left > best) {
        branches::keep();
        best = left;
        move = -1;
      }
    }
    if (i + 1 < tasks) {
      const int right = previous[i + 1];
      if (right > best) {
        branches::keep();
        best = right;
        move = 1;
      }
    }
    scores[i] = best + gains[i];
    moves[i] = move;
  }
  parallel::end_loop();
}
