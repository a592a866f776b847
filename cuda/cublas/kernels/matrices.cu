// Functions of whole matrices besides the product.
#include "cuda/cublas/kernels/numbers.h"

using namespace heddle::cublas;
using T = HEDDLE_NUMBER;
using Real = Numbers<T>::Real;

namespace {

constexpr int kThreads = 64;
constexpr int kLanes = 16;
constexpr int kGroups = kThreads / kLanes;

template <class R>
__device__ R above_zero(R x) {
  return x > R(0) ? x : R(0);
}
template <class R>
__device__ Complex<R> above_zero(Complex<R> x) {
  return x;
}

}  // namespace

// C = alpha op(A) + beta op(B)
KERNEL(geam)(int m, int n, Factor<T> alpha, Matrix<T> a, Factor<T> beta, Matrix<T> b, T* c, long long ldc) {
  const T of_a = value_of(alpha);
  const T of_b = value_of(beta);
  const int row = static_cast<int>(blockIdx.x * kLanes + threadIdx.x % kLanes);
  if (row >= m) return;
  for (int column = static_cast<int>(blockIdx.y * kGroups + threadIdx.x / kLanes); column < n;
       column += static_cast<int>(gridDim.y) * kGroups) {
    T sum = number<T>(0);
    if (!is_zero(of_a)) sum = of_a * element<false>(a.base, a.shape, row, column);
    if (!is_zero(of_b)) sum = multiply_add(of_b, element<false>(b.base, b.shape, row, column), sum);
    c[row + column * ldc] = sum;
  }
}

// C = diag(x) A, or A diag(x)
KERNEL(dgmm)(int m, int n, int right, const T* a, long long lda, const T* x, long long incx, T* c, long long ldc) {
  const int row = static_cast<int>(blockIdx.x * kLanes + threadIdx.x % kLanes);
  if (row >= m) return;
  for (int column = static_cast<int>(blockIdx.y * kGroups + threadIdx.x / kLanes); column < n;
       column += static_cast<int>(gridDim.y) * kGroups) {
    c[row + column * ldc] = x[(right != 0 ? column : row) * incx] * a[row + column * lda];
  }
}

// What follows a product of cuBLASLt, in each of `batch` matrices: x, if there is one, is added to every column, and
// what is not above 0 then becomes 0 where `bounded` says so (of real numbers).
KERNEL(finish)(int m, int n, int batch, const T* x, int bounded, T* c, long long ldc, long long stride) {
  const int row = static_cast<int>(blockIdx.x * kLanes + threadIdx.x % kLanes);
  if (row >= m) return;
  const T added = x != nullptr ? x[row] : number<T>(0);
  for (int which = static_cast<int>(blockIdx.z); which < batch; which += static_cast<int>(gridDim.z)) {
    for (int column = static_cast<int>(blockIdx.y * kGroups + threadIdx.x / kLanes); column < n;
         column += static_cast<int>(gridDim.y) * kGroups) {
      T& place = c[which * stride + row + column * ldc];
      const T value = x != nullptr ? place + added : place;
      place = bounded != 0 ? above_zero(value) : value;
    }
  }
}

// X = alpha op(A)^-1 B in the place of B, of a triangular A of order n: a thread for each of the `count` right-hand
// sides, which lie `side` apart, with elements `step` apart.
KERNEL(trsm)(int n, int count, int batch, Factor<T> alpha, Matrix<T> a, Target<T> b, long long side, long long step) {
  const T factor = value_of(alpha);
  const int mine = static_cast<int>(thread_number());
  if (mine >= count) return;
  const bool turned = a.shape.op == kTransposed || a.shape.op == kAdjoint;
  const bool forward = (a.shape.upper != 0) == turned;
  for (int which = static_cast<int>(blockIdx.y); which < batch; which += static_cast<int>(gridDim.y)) {
    T* const x = matrix_of(b, which) + mine * side;
    if (is_zero(factor)) {
      for (int i = 0; i < n; ++i) x[i * step] = number<T>(0);
      continue;
    }
    const T* const base = matrix_of(a, which);
    for (int at = 0; at < n; ++at) {
      const int i = forward ? at : n - 1 - at;
      T sum = factor * x[i * step];
      for (int before = 0; before < at; ++before) {
        const int j = forward ? before : n - 1 - before;
        sum = multiply_add(-element<false>(base, a.shape, i, j), x[j * step], sum);
      }
      x[i * step] = a.shape.unit != 0 ? sum : sum / element<false>(base, a.shape, i, i);
    }
  }
}

namespace {

// The first row from `from` on with the largest element of column `column`, found by the block.
__device__ int pivot_of(const T* a, long long lda, int n, int column, Real* sizes, int* rows) {
  Real size = Real(-1);
  int row = column;
  for (int i = column + static_cast<int>(threadIdx.x); i < n; i += kThreads) {
    const Real mine = size_of(a[i + column * lda]);
    if (mine > size) {
      size = mine;
      row = i;
    }
  }
  sizes[threadIdx.x] = size;
  rows[threadIdx.x] = row;
  for (unsigned half = kThreads / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const unsigned other = threadIdx.x + half;
      if (sizes[other] > sizes[threadIdx.x] ||
          (sizes[other] == sizes[threadIdx.x] && rows[other] < rows[threadIdx.x])) {
        sizes[threadIdx.x] = sizes[other];
        rows[threadIdx.x] = rows[other];
      }
    }
  }
  __syncthreads();
  return rows[0];
}

__device__ void swap(T& a, T& b) {
  const T kept = a;
  a = b;
  b = kept;
}

}  // namespace

// P A = L U in the place of A, by one block for each matrix; without `pivots` no rows are exchanged.
KERNEL(getrf)(int n, int batch, Target<T> matrices, int* pivots, int* infos) {
  __shared__ Real sizes[kThreads];
  __shared__ int rows[kThreads];
  for (int which = static_cast<int>(blockIdx.x); which < batch; which += static_cast<int>(gridDim.x)) {
    T* const a = matrix_of(matrices, which);
    const long long lda = matrices.ld;
    int info = 0;
    for (int column = 0; column < n; ++column) {
      if (pivots != nullptr) {
        const int row = pivot_of(a, lda, n, column, sizes, rows);
        if (threadIdx.x == 0) pivots[column + which * n] = row + 1;
        for (int j = static_cast<int>(threadIdx.x); row != column && j < n; j += kThreads) {
          swap(a[row + j * lda], a[column + j * lda]);
        }
        __syncthreads();
      }
      const T pivot = a[column + column * lda];
      if (is_zero(pivot)) {
        if (info == 0) info = column + 1;
        __syncthreads();
        continue;
      }
      for (int i = column + 1 + static_cast<int>(threadIdx.x); i < n; i += kThreads) {
        a[i + column * lda] = a[i + column * lda] / pivot;
      }
      __syncthreads();
      const int left = n - 1 - column;
      for (int at = static_cast<int>(threadIdx.x); at < left * left; at += kThreads) {
        const int i = column + 1 + at % left;
        const int j = column + 1 + at / left;
        a[i + j * lda] = multiply_add(-a[i + column * lda], a[column + j * lda], a[i + j * lda]);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) infos[which] = info;
  }
}

// Rows of the right-hand sides are exchanged as getrf has exchanged those of the matrix, or back.
KERNEL(exchange)(int n, int count, int batch, Target<T> b, const int* pivots, int back) {
  const int mine = static_cast<int>(thread_number());
  if (mine >= count) return;
  for (int which = static_cast<int>(blockIdx.y); which < batch; which += static_cast<int>(gridDim.y)) {
    T* const x = matrix_of(b, which) + mine * b.ld;
    for (int at = 0; at < n; ++at) {
      const int i = back != 0 ? n - 1 - at : at;
      const int j = pivots[i + which * n] - 1;
      if (i != j) swap(x[i], x[j]);
    }
  }
}

// C = the unit matrix, and infos tell of a zero on the diagonal of U.
KERNEL(unit)(int n, int batch, Matrix<T> a, Target<T> c, int* infos) {
  for (int which = static_cast<int>(blockIdx.y); which < batch; which += static_cast<int>(gridDim.y)) {
    T* const place = matrix_of(c, which);
    const int column = static_cast<int>(thread_number());
    if (column < n) {
      for (int row = 0; row < n; ++row) place[row + column * c.ld] = number<T>(row == column ? 1 : 0);
    }
    if (column != 0) continue;
    const T* const base = matrix_of(a, which);
    int info = 0;
    for (int i = n; i > 0; --i) {
      if (is_zero(base[(i - 1) + (i - 1) * a.shape.ld])) info = i;
    }
    infos[which] = info;
  }
}
