// Pthreads form of hotspot, after Rodinia, which report section 5 names as a source: every step runs over the whole
// grid, from one array into another, and ends at a barrier. A thread takes every (number of threads)-th cell, row by
// row; a cell at the chip's edge lacks a neighbour, and no heat flows there.
#include "workloads/pthreads.h"

// source: side x side temperatures (K); they are in `target` after an odd number of steps. power, by_power,
// by_neighbour, by_ambient and ambient as of the usual form (kernel.cu).
extern "C" __global__ void __launch_bounds__(1024)
    hotspot(const float* power, float* source, float* target, unsigned side, float by_power, float by_neighbour,
            float by_ambient, float ambient, unsigned steps, unsigned threads) {
  for (; steps > 0; --steps) {
    for (unsigned i = threadIdx.x; i < side * side; i += threads) {
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
    __syncthreads();
    float* const other = source;
    source = target;
    target = other;
  }
}
