// Functions of vectors (level 1) with one number as their result. Each block adds up what its threads have, always in
// one order, and leaves a part; a second kernel of one block adds up the parts. So no result depends on time, and no
// block reads what another one of its launch has written.
#include "cuda/cublas/kernels/numbers.h"

using namespace heddle::cublas;
using T = HEDDLE_NUMBER;
using Value = Numbers<T>::Value;
using Real = Numbers<T>::Real;

namespace {

constexpr unsigned kThreads = 64;  // of a block: as many as any machine has room for

struct Sum {
  Value sum;
  __device__ void join(const Sum& other) { sum = sum + other.sum; }
};

struct Sizes {
  Real sum;
  __device__ void join(const Sizes& other) { sum = sum + other.sum; }
};

// Squares are added up in three sums, of numbers that are small, usual and large, each scaled so that no square leaves
// the range (J. L. Blue, "A Portable Fortran Program to Find the Euclidean Norm of a Vector").
template <class R>
struct Ranges {
  static constexpr bool kWide = sizeof(R) == 8;
  static constexpr R kSmall = kWide ? R(0x1p-511) : R(0x1p-63);
  static constexpr R kLarge = kWide ? R(0x1p486) : R(0x1p52);
  static constexpr R kGrow = kWide ? R(0x1p537) : R(0x1p75);
  static constexpr R kShrink = kWide ? R(0x1p-538) : R(0x1p-76);
};
struct Squares {
  Real small, usual, large;
  __device__ void add(Real x) {
    using R = Ranges<Real>;
    const Real size = size_of(x);
    if (size > R::kLarge) {
      const Real scaled = size * R::kShrink;
      large = multiply_add(scaled, scaled, large);
    } else if (size < R::kSmall) {
      const Real scaled = size * R::kGrow;
      small = multiply_add(scaled, scaled, small);
    } else {
      usual = multiply_add(size, size, usual);
    }
  }
  template <class R>
  __device__ void add(Complex<R> x) {
    add(x.re);
    add(x.im);
  }
  __device__ void join(const Squares& other) {
    small = small + other.small;
    usual = usual + other.usual;
    large = large + other.large;
  }
  __device__ Real root() const {
    using R = Ranges<Real>;
    // A sum that is not a number stays so, in whichever range it was found.
    if (large > Real(0) || large != large) {
      return sqrt(large + (usual * R::kShrink) * R::kShrink) / R::kShrink;
    }
    if (small > Real(0)) {
      const Real middle = sqrt(usual);
      const Real low = sqrt(small) / R::kGrow;
      const Real more = middle > low || middle != middle ? middle : low;
      const Real less = middle > low || middle != middle ? low : middle;
      return more * sqrt(Real(1) + (less / more) * (less / more));
    }
    return sqrt(usual);
  }
};

// The first element of the largest or smallest size; `at` counts from 1, and 0 is none.
struct Extreme {
  Real size;
  unsigned at;
};
struct Largest : Extreme {
  __device__ void join(const Largest& other) {
    if (other.at != 0 && (at == 0 || other.size > size || (other.size == size && other.at < at))) *this = other;
  }
};
struct Smallest : Extreme {
  __device__ void join(const Smallest& other) {
    if (other.at != 0 && (at == 0 || other.size < size || (other.size == size && other.at < at))) *this = other;
  }
};

// What the block's threads have, in its first thread.
template <class Part>
__device__ Part joined(Part mine) {
  __shared__ Part parts[kThreads];
  parts[threadIdx.x] = mine;
  for (unsigned half = kThreads / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      mine.join(parts[threadIdx.x + half]);
      parts[threadIdx.x] = mine;
    }
  }
  return mine;
}

template <class Part>
__device__ void leave(const Part& mine, Part* parts) {
  const Part block = joined(mine);
  if (threadIdx.x == 0) parts[blockIdx.x] = block;
}

template <class Part>
__device__ Part all_of(const Part* parts, unsigned count) {
  Part mine{};
  for (unsigned i = threadIdx.x; i < count; i += kThreads) mine.join(parts[i]);
  return joined(mine);
}

}  // namespace

KERNEL(dot)(unsigned n, const T* x, long long incx, const T* y, long long incy, int conjugated, Sum* parts) {
  Sum mine{};
  for (unsigned i = thread_number(); i < n; i += thread_count()) {
    const Value a = as<Value>(x[i * incx]);
    mine.sum = multiply_add(conjugated != 0 ? conjugate(a) : a, as<Value>(y[i * incy]), mine.sum);
  }
  leave(mine, parts);
}
KERNEL(dot_end)(const Sum* parts, unsigned count, T* result) {
  const Sum all = all_of(parts, count);
  if (threadIdx.x == 0) *result = as<T>(all.sum);
}

KERNEL(nrm2)(unsigned n, const T* x, long long incx, Squares* parts) {
  Squares mine{};
  for (unsigned i = thread_number(); i < n; i += thread_count()) mine.add(as<Value>(x[i * incx]));
  leave(mine, parts);
}

#ifdef HEDDLE_EXACT_NUMBER
KERNEL(nrm2_end)(const Squares* parts, unsigned count, Real* result) {
  const Squares all = all_of(parts, count);
  if (threadIdx.x == 0) *result = all.root();
}

KERNEL(asum)(unsigned n, const T* x, long long incx, Sizes* parts) {
  Sizes mine{};
  for (unsigned i = thread_number(); i < n; i += thread_count()) mine.sum = mine.sum + size_of(x[i * incx]);
  leave(mine, parts);
}
KERNEL(asum_end)(const Sizes* parts, unsigned count, Real* result) {
  const Sizes all = all_of(parts, count);
  if (threadIdx.x == 0) *result = all.sum;
}

template <class Part>
__device__ void find_extreme(unsigned n, const T* x, long long incx, Part* parts) {
  Part mine{};
  for (unsigned i = thread_number(); i < n; i += thread_count()) {
    Part one{};
    one.size = size_of(x[i * incx]);
    one.at = i + 1;
    mine.join(one);
  }
  leave(mine, parts);
}
KERNEL(amax)(unsigned n, const T* x, long long incx, Largest* parts) {
  find_extreme(n, x, incx, parts);
}
KERNEL(amax_end)(const Largest* parts, unsigned count, int* result) {
  const Largest all = all_of(parts, count);
  if (threadIdx.x == 0) *result = static_cast<int>(all.at);
}
KERNEL(amin)(unsigned n, const T* x, long long incx, Smallest* parts) {
  find_extreme(n, x, incx, parts);
}
KERNEL(amin_end)(const Smallest* parts, unsigned count, int* result) {
  const Smallest all = all_of(parts, count);
  if (threadIdx.x == 0) *result = static_cast<int>(all.at);
}
#else
KERNEL(nrm2_end)(const Squares* parts, unsigned count, T* result) {
  const Squares all = all_of(parts, count);
  if (threadIdx.x == 0) *result = as<T>(all.root());
}
#endif
