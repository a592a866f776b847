// The factors L and U of a dense matrix without pivoting, by blocks, as Splash-2's LU with contiguous blocks does (Woo
// et al., "The SPLASH-2 Programs", ISCA 1995, section 3): for each block of the diagonal three parallel loops, over the
// block itself, over blocks below it and to its right, and over all blocks that are neither. L and U overwrite the
// matrix; the ones on L's diagonal are not kept.
//
// Blocks lie row by row, each with its 16 x 16 doubles row by row; of the last ones a part is used, where 16 does not
// divide the side.
#include "workloads/parallel_for.h"

constexpr unsigned kSide = 16;  // of a block: Splash-2's

__device__ __forceinline__ double* block_of(double* matrix, unsigned side, unsigned row, unsigned column) {
  const unsigned blocks = (side + kSide - 1) / kSide;
  return matrix + (row * blocks + column) * kSide * kSide;
}

__device__ __forceinline__ unsigned extent(unsigned side, unsigned block) {
  return min(kSide, side - block * kSide);
}

// target[0 .. length) -= factor * source[0 .. length)
__device__ __forceinline__ void subtract(double* target, const double* source, double factor, unsigned length) {
#pragma nounroll
  for (unsigned i = 0; i < length; ++i) {
    target[i] -= factor * source[i];
  }
}

// Block `step` of the diagonal into its own factors. One task.
extern "C" __global__ void __launch_bounds__(64)
    diagonal(double* matrix, unsigned side, unsigned step, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned task = mine.first; task < mine.end; task += mine.step) {
    double* const block = block_of(matrix, side, step, step);
    const unsigned size = extent(side, step);
    for (unsigned k = 0; k < size; ++k) {
      for (unsigned row = k + 1; row < size; ++row) {
        const double factor = block[row * kSide + k] / block[k * kSide + k];
        block[row * kSide + k] = factor;
        subtract(block + row * kSide + k + 1, block + k * kSide + k + 1, factor, size - k - 1);
      }
    }
  }
  parallel::end_loop();
}

// The blocks below the diagonal's, column by column: B := B * inverse(U); and blocks to its right, row by row:
// B := inverse(L) * B. A task is a block; the first half of them lies below.
extern "C" __global__ void __launch_bounds__(64)
    perimeter(double* matrix, unsigned side, unsigned step, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned task = mine.first; task < mine.end; task += mine.step) {
    const double* const diagonal = block_of(matrix, side, step, step);
    const unsigned size = extent(side, step);
    const unsigned half = tasks / 2;
    if (task < half) {
      double* const block = block_of(matrix, side, step + 1 + task, step);
      const unsigned rows = extent(side, step + 1 + task);
      for (unsigned k = 0; k < size; ++k) {
        for (unsigned row = 0; row < rows; ++row) {
          const double factor = block[row * kSide + k] / diagonal[k * kSide + k];
          block[row * kSide + k] = factor;
          subtract(block + row * kSide + k + 1, diagonal + k * kSide + k + 1, factor, size - k - 1);
        }
      }
    } else {
      double* const block = block_of(matrix, side, step, step + 1 + task - half);
      const unsigned columns = extent(side, step + 1 + task - half);
      for (unsigned k = 0; k < size; ++k) {
        for (unsigned row = k + 1; row < size; ++row) {
          subtract(block + row * kSide, block + k * kSide, diagonal[row * kSide + k], columns);
        }
      }
    }
  }
  parallel::end_loop();
}

// Every block below and to the right of the diagonal's: less the product of the one to its left in the diagonal's
// column and the one above it in the diagonal's row. A task is a block; `width` of them are in a row.
extern "C" __global__ void __launch_bounds__(64)
    interior(double* matrix, unsigned side, unsigned step, unsigned width, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned task = mine.first; task < mine.end; task += mine.step) {
    const unsigned row = step + 1 + task / width;
    const unsigned column = step + 1 + task % width;
    double* const block = block_of(matrix, side, row, column);
    const double* const left = block_of(matrix, side, row, step);
    const double* const above = block_of(matrix, side, step, column);
    const unsigned rows = extent(side, row);
    const unsigned columns = extent(side, column);
    const unsigned size = extent(side, step);
    for (unsigned k = 0; k < size; ++k) {
      for (unsigned i = 0; i < rows; ++i) {
        subtract(block + i * kSide, above + k * kSide, left[i * kSide + k], columns);
      }
    }
  }
  parallel::end_loop();
}
