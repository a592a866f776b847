// The DWS report's HotSpot, after Rodinia: a step of the whole grid per launch, from one array into another. A cell at
// the chip's edge lacks a neighbour, and no heat flows there.
#include "workloads/parallel_for.h"

// side: cells of a row and of a column. by_power, by_neighbour, by_ambient and ambient as of the usual form
// (kernel.cu). A task is a cell.
extern "C" __global__ void __launch_bounds__(64)
    hotspot(const float* __restrict__ power, const float* __restrict__ source, float* __restrict__ target,
            unsigned side, float by_power, float by_neighbour, float by_ambient, float ambient, unsigned tasks,
            unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    const unsigned x = i % side;
    const unsigned y = i / side;
    const float now = source[i];
    float change = power[i] * by_power + (ambient - now) * by_ambient;
    if (x > 0) {
      change += (source[i - 1] - now) * by_neighbour;
    }
    if (x < side - 1) {
      change += (source[i + 1] - now) * by_neighbour;
    }
    if (y > 0) {
      change += (source[i - side] - now) * by_neighbour;
    }
    if (y < side - 1) {
      change += (source[i + side] - now) * by_neighbour;
    }
    target[i] = now + change;
  }
  parallel::end_loop();
}
