// The Fourier transform of side * side complex numbers by the six-step method of Splash-2's FFT (Woo et al., "The
// SPLASH-2 Programs", ISCA 1995, section 3, after Bailey, "FFTs in External or Hierarchical Memory", J. Supercomputing
// 4(1), 1990): the numbers are a square matrix, which is transposed, each row is transformed, its elements are turned
// by their twiddle factors, and again transposed, transformed and transposed. Loops over rows are parallel.
//
// A number is two doubles, the real part first.
#include "workloads/parallel_for.h"

// target = source transposed. A task is a row of the target.
extern "C" __global__ void __launch_bounds__(64)
    transpose(const double* __restrict__ source, double* __restrict__ target, unsigned side, unsigned tasks,
              unsigned runs) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, runs);
  for (unsigned row = mine.first; row < mine.end; row += mine.step) {
    for (unsigned column = 0; column < side; ++column) {
      target[2 * (row * side + column)] = source[2 * (column * side + row)];
      target[2 * (row * side + column) + 1] = source[2 * (column * side + row) + 1];
    }
  }
}

// The elements of a row in the order of their numbers' bits read backwards.
__device__ __forceinline__ void reverse(double* row, unsigned side, unsigned bits) {
  for (unsigned from = 0; from < side; ++from) {
    const unsigned to = __brev(from) >> (32 - bits);
    if (from < to) {
      const double real = row[2 * from];
      const double imaginary = row[2 * from + 1];
      row[2 * from] = row[2 * to];
      row[2 * from + 1] = row[2 * to + 1];
      row[2 * to] = real;
      row[2 * to + 1] = imaginary;
    }
  }
}

// Each row transformed by radix-2 butterflies in place. roots: of each pass with butterflies of 2 * half elements, the
// `half` powers of the root of unity that it needs, from number half - 1 on. twists: side * side factors that the
// results are multiplied by, or null. A task is a row.
extern "C" __global__ void __launch_bounds__(64)
    transform_rows(double* matrix, const double* __restrict__ roots, const double* __restrict__ twists, unsigned side,
                   unsigned bits, unsigned tasks, unsigned runs) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, runs);
  for (unsigned number = mine.first; number < mine.end; number += mine.step) {
    double* const row = matrix + 2 * number * side;
    reverse(row, side, bits);
    for (unsigned half = 1; half < side; half *= 2) {
      const double* const root = roots + 2 * (half - 1);
      for (unsigned first = 0; first < side; first += 2 * half) {
        for (unsigned i = 0; i < half; ++i) {
          double* const upper = row + 2 * (first + i);
          double* const lower = upper + 2 * half;
          const double root_real = root[2 * i];
          const double root_imaginary = root[2 * i + 1];
          const double turned_real = root_real * lower[0] - root_imaginary * lower[1];
          const double turned_imaginary = root_real * lower[1] + root_imaginary * lower[0];
          const double real = upper[0];
          const double imaginary = upper[1];
          upper[0] = real + turned_real;
          upper[1] = imaginary + turned_imaginary;
          lower[0] = real - turned_real;
          lower[1] = imaginary - turned_imaginary;
        }
      }
    }
    if (twists != nullptr) {
      const double* const twist = twists + 2 * number * side;
      for (unsigned i = 0; i < 2 * side; i += 2) {
        const double real = row[i];
        const double imaginary = row[i + 1];
        row[i] = twist[i] * real - twist[i + 1] * imaginary;
        row[i + 1] = twist[i] * imaginary + twist[i + 1] * real;
      }
    }
  }
}
