// Functions of a matrix and vectors (level 2), for all the ways in which a matrix may be stored.
#include "cuda/cublas/kernels/numbers.h"

using namespace heddle::cublas;
using T = HEDDLE_NUMBER;

namespace {

constexpr int kThreads = 64;
constexpr int kLanes = 16;  // threads side by side along what is contiguous in memory
constexpr int kGroups = kThreads / kLanes;

// The columns of row `row` of op(A) that are not zero.
struct Extent {
  int from, to;
};
__device__ Extent extent_of(const Shape& shape, int row, int columns) {
  if (shape.storage != kBand || shape.structure == kSymmetric || shape.structure == kHermitian) {
    if (shape.storage != kBand) return {0, columns};
    const int wide = shape.below > shape.above ? shape.below : shape.above;
    return {row > wide ? row - wide : 0, columns - row > wide + 1 ? row + wide + 1 : columns};
  }
  const bool turned = shape.op == kTransposed || shape.op == kAdjoint;
  const int before = turned ? shape.above : shape.below;
  const int after = turned ? shape.below : shape.above;
  return {row > before ? row - before : 0, columns - row > after + 1 ? row + after + 1 : columns};
}

}  // namespace

// y = alpha op(A) x + beta y; op(A) has so many rows and columns. A block makes kLanes rows where the matrix lies along
// its rows, else kGroups.
KERNEL(gemv)
(int rows, int columns, int batch, Factor<T> alpha, Matrix<T> a, Matrix<T> x, long long incx, Factor<T> beta,
 Target<T> y, long long incy) {
  __shared__ T parts[kThreads];
  const T factor = value_of(alpha);
  const T kept = value_of(beta);
  const bool along_columns = a.shape.op == kTransposed || a.shape.op == kAdjoint;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int row =
      along_columns ? static_cast<int>(blockIdx.x) * kGroups + group : static_cast<int>(blockIdx.x) * kLanes + lane;
  const int first = along_columns ? lane : group;
  const int step = along_columns ? kLanes : kGroups;
  for (int which = static_cast<int>(blockIdx.y); which < batch; which += static_cast<int>(gridDim.y)) {
    T sum = number<T>(0);
    if (row < rows && !is_zero(factor)) {
      const T* const base = matrix_of(a, which);
      const T* const vector = matrix_of(x, which);
      const Extent extent = extent_of(a.shape, row, columns);
      for (int column = extent.from + first; column < extent.to; column += step) {
        sum = multiply_add(element<true>(base, a.shape, row, column), vector[column * incx], sum);
      }
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (row < rows && first == 0) {
      const int stride = along_columns ? 1 : kLanes;
      for (int i = 1; i < step; ++i) sum = sum + parts[static_cast<int>(threadIdx.x) + i * stride];
      T* const place = matrix_of(y, which) + row * incy;
      sum = factor * sum;
      *place = is_zero(kept) ? sum : multiply_add(kept, *place, sum);
    }
    __syncthreads();
  }
}

// A += alpha x op(y), and, of two, + conj(alpha) y op(x); op is conj where the second vector is to be conjugated.
KERNEL(rank)
(int m, int n, Factor<T> alpha, const T* x, long long incx, const T* y, long long incy, int conjugated, int two,
 T* base, Shape shape, int part, int hermitian) {
  const T factor = value_of(alpha);
  if (is_zero(factor)) return;
  const int row = static_cast<int>(blockIdx.x * kLanes + threadIdx.x % kLanes);
  const T back = hermitian != 0 ? conjugate(factor) : factor;
  for (int column = static_cast<int>(blockIdx.y * kGroups + threadIdx.x / kLanes); column < n;
       column += static_cast<int>(gridDim.y) * kGroups) {
    if (row >= m || (part == 1 ? row < column : part == 2 && row > column)) continue;
    const long long at = column;
    T* const place = shape.storage == kPackedUpper   ? base + row + at * (at + 1) / 2
                     : shape.storage == kPackedLower ? base + row - at + at * (2 * shape.ld + 1 - at) / 2
                                                     : base + row + at * shape.ld;
    T sum = *place;
    if (hermitian != 0 && row == column) sum = as<T>(real_part(sum));
    const T second = y[column * incy];
    sum = multiply_add(factor * x[row * incx], conjugated != 0 ? conjugate(second) : second, sum);
    if (two != 0) {
      const T other = x[column * incx];
      sum = multiply_add(back * y[row * incy], conjugated != 0 ? conjugate(other) : other, sum);
    }
    if (hermitian != 0 && row == column) sum = as<T>(real_part(sum));
    *place = sum;
  }
}

// x = op(A)^-1 x of a triangular A, by one block.
KERNEL(trsv)(int n, const T* base, Shape shape, T* x, long long incx) {
  const bool turned = shape.op == kTransposed || shape.op == kAdjoint;
  const bool forward = (shape.upper != 0) == turned;
  for (int step = 0; step < n; ++step) {
    const int i = forward ? step : n - 1 - step;
    if (threadIdx.x == 0 && shape.unit == 0) x[i * incx] = x[i * incx] / element<true>(base, shape, i, i);
    __syncthreads();
    const T known = -x[i * incx];
    const int reach = shape.storage == kBand ? shape.below + shape.above : n;
    const int most = n - 1 - step < reach ? n - 1 - step : reach;
    for (int next = 1 + static_cast<int>(threadIdx.x); next <= most; next += kThreads) {
      const int row = forward ? i + next : i - next;
      x[row * incx] = multiply_add(element<true>(base, shape, row, i), known, x[row * incx]);
    }
    __syncthreads();
  }
}
