// The Fourier transform of n complex numbers, n a power of two, by radix-2 butterflies (Cooley and Tukey): the numbers
// are put into the order of their places' bits read backwards, and log2 n passes of n / 2 butterflies follow, each pass
// a parallel loop. That is the DWS report's "butterfly computation" (FFT, table 2), whose loop has "a large section of
// code in each iteration" (section 5.7) and 59 instructions from branch to branch (table 1). Splash-2's FFT, which the
// report names as source, has the same butterflies in the rows of a matrix, and double precision.
//
// A number is two doubles, the real part first.
//
// reverse_padded and butterflies_padded: behind each run of 2^log_run numbers, as many as a thread's butterflies take,
// is a gap of `gap` numbers, and so it is with the roots, so that runs do not lie powers of two apart.
//
// transpose, row_transforms, turned_row_transforms: the six steps of Splash-2's FFT (Woo and others, ISCA 1995, section
// 3, after Bailey), with the numbers as a matrix whose rows are dealt out to threads: transpose, transform each row,
// turn each number by its power of the n-th root of unity, transpose, transform each row, transpose. The butterflies of
// a row are one thread's.
#include "workloads/parallel_for.h"

struct Padding {
  unsigned log_run, gap;
  __device__ __forceinline__ unsigned operator()(unsigned number) const { return number + (number >> log_run) * gap; }
};

__device__ __forceinline__ void exchange(double* numbers, unsigned from, unsigned to) {
  const double real = numbers[2 * from];
  const double imaginary = numbers[2 * from + 1];
  numbers[2 * from] = numbers[2 * to];
  numbers[2 * from + 1] = numbers[2 * to + 1];
  numbers[2 * to] = real;
  numbers[2 * to + 1] = imaginary;
}

// A task is a number.
extern "C" __global__ void __launch_bounds__(64)
    reverse(double* numbers, unsigned bits, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned from = mine.first; from < mine.end; from += mine.step) {
    const unsigned to = __brev(from) >> (32 - bits);
    if (from < to) {
      exchange(numbers, from, to);
    }
  }
  parallel::end_loop();
}
extern "C" __global__ void __launch_bounds__(64) reverse_padded(double* numbers, unsigned bits, unsigned log_run,
                                                                unsigned gap, unsigned tasks, unsigned interleaved) {
  const Padding at{log_run, gap};
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned from = mine.first; from < mine.end; from += mine.step) {
    const unsigned to = __brev(from) >> (32 - bits);
    if (from < to) {
      exchange(numbers, at(from), at(to));
    }
  }
  parallel::end_loop();
}

__device__ __forceinline__ void butterfly(double* upper, double* lower, const double* root) {
  const double root_real = root[0];
  const double root_imaginary = root[1];
  const double lower_real = lower[0];
  const double lower_imaginary = lower[1];
  const double turned_real = root_real * lower_real - root_imaginary * lower_imaginary;
  const double turned_imaginary = root_real * lower_imaginary + root_imaginary * lower_real;
  const double real = upper[0];
  const double imaginary = upper[1];
  upper[0] = real + turned_real;
  upper[1] = imaginary + turned_imaginary;
  lower[0] = real - turned_real;
  lower[1] = imaginary - turned_imaginary;
}

// One pass: transforms of 2^log_half numbers side by side become transforms of twice as many. roots: powers 0 .. n / 2
// - 1 of the n-th root of unity, n = 2^bits. A task is a butterfly.
extern "C" __global__ void __launch_bounds__(64)
    butterflies(double* numbers, const double* __restrict__ roots, unsigned bits, unsigned log_half, unsigned tasks,
                unsigned interleaved) {
  const unsigned half = 1U << log_half;
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    const unsigned within = i & (half - 1);
    double* const upper = numbers + 2 * (2 * (i - within) + within);
    butterfly(upper, upper + 2 * half, roots + 2 * (within << (bits - 1 - log_half)));
  }
  parallel::end_loop();
}
extern "C" __global__ void __launch_bounds__(64)
    butterflies_padded(double* numbers, const double* __restrict__ roots, unsigned bits, unsigned log_half,
                       unsigned log_run, unsigned gap, unsigned tasks, unsigned interleaved) {
  const Padding at{log_run, gap};
  const unsigned half = 1U << log_half;
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    const unsigned within = i & (half - 1);
    const unsigned first = 2 * (i - within) + within;
    butterfly(numbers + 2 * at(first), numbers + 2 * at(first + half), roots + 2 * at(within << (bits - 1 - log_half)));
  }
  parallel::end_loop();
}

// to[row][column] = from[column][row], for 2^log_rows rows of 2^log_columns numbers. Rows of `to` begin to_stride
// numbers apart, rows of `from` from_stride. A task is a row of `to`.
extern "C" __global__ void __launch_bounds__(64)
    transpose(double* to, const double* __restrict__ from, unsigned log_columns, unsigned to_stride,
              unsigned from_stride, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned row = mine.first; row < mine.end; row += mine.step) {
    for (unsigned column = 0; column < 1U << log_columns; ++column) {
      const double* const number = from + 2 * (column * from_stride + row);
      double* const place = to + 2 * (row * to_stride + column);
      place[0] = number[0];
      place[1] = number[1];
    }
  }
  parallel::end_loop();
}

// The transform of a row of 2^log_columns numbers in place. row_roots: for each pass, which makes transforms of twice
// `half` numbers, the powers 0 .. half - 1 of the (2 half)-th root of unity, from place half - 1 on.
__device__ __forceinline__ void transform_row(double* row, const double* row_roots, unsigned log_columns) {
  for (unsigned from = 1; from < 1U << log_columns; ++from) {
    const unsigned to = __brev(from) >> (32 - log_columns);
    if (from < to) {
      exchange(row, from, to);
    }
  }
  for (unsigned half = 1; half < 1U << log_columns; half *= 2) {
    for (unsigned first = 0; first < 1U << log_columns; first += 2 * half) {
      for (unsigned within = 0; within < half; ++within) {
        double* const upper = row + 2 * (first + within);
        butterfly(upper, upper + 2 * half, row_roots + 2 * (half - 1 + within));
      }
    }
  }
}

// A task is a row.
extern "C" __global__ void __launch_bounds__(64)
    row_transforms(double* numbers, const double* __restrict__ row_roots, unsigned log_columns, unsigned stride,
                   unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned row = mine.first; row < mine.end; row += mine.step) {
    transform_row(numbers + 2 * row * stride, row_roots, log_columns);
  }
  parallel::end_loop();
}

// roots: what the number at the same place is turned by. A task is a row.
extern "C" __global__ void __launch_bounds__(64)
    turned_row_transforms(double* numbers, const double* __restrict__ row_roots, const double* __restrict__ roots,
                          unsigned log_columns, unsigned stride, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned row = mine.first; row < mine.end; row += mine.step) {
    double* const first = numbers + 2 * row * stride;
    transform_row(first, row_roots, log_columns);
    const double* const turns = roots + 2 * row * stride;
    for (unsigned i = 0; i < 1U << log_columns; ++i) {
      const double real = first[2 * i];
      const double imaginary = first[2 * i + 1];
      first[2 * i] = turns[2 * i] * real - turns[2 * i + 1] * imaginary;
      first[2 * i + 1] = turns[2 * i] * imaginary + turns[2 * i + 1] * real;
    }
  }
  parallel::end_loop();
}
