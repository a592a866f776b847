// C = alpha op(A) op(B) + beta C, for batches and for matrices of which one triangle is stored (level 3). A block of 64
// threads makes a tile of C, kMicro x kMicro elements a thread; tiles of op(A) and op(B) pass through the scratchpad.
#include "cuda/cublas/kernels/numbers.h"

using namespace heddle::cublas;
using In = HEDDLE_NUMBER;
using Out = HEDDLE_RESULT;
using Value = HEDDLE_SUM;

namespace {

constexpr int kSide = 8;  // threads
constexpr int kMicro = sizeof(Numbers<In>::Real) == sizeof(Numbers<In>::Value) ? 4 : 2;
constexpr int kTile = kSide * kMicro;
constexpr int kDepth = 16;

// One tile of an operand: rows from `first` on of kTile, `depth` of the sum from `from` on. Neighbouring threads read
// what lies side by side in memory.
template <bool kIsB>
__device__ void fetch(Value (&tile)[kDepth][kTile + 1], const In* base, const Shape& shape, int first, int rows,
                      int from, int depth) {
  const bool turned = shape.op == kTransposed || shape.op == kAdjoint;
  const bool along_depth = kIsB ? !turned : turned;
  for (int at = static_cast<int>(threadIdx.x); at < kTile * kDepth; at += kSide * kSide) {
    const int k = along_depth ? at % kDepth : at / kTile;
    const int i = along_depth ? at / kDepth : at % kTile;
    Value x = number<Value>(0);
    if (first + i < rows && from + k < depth) {
      x = as<Value>(kIsB ? element<false>(base, shape, from + k, first + i)
                         : element<false>(base, shape, first + i, from + k));
    }
    tile[k][i] = x;
  }
}

}  // namespace

KERNEL(gemm)
(int m, int n, int k, int batch, Factor<Value> alpha, Matrix<In> a, Matrix<In> b, Factor<Value> beta, Target<Out> c) {
  __shared__ Value of_a[kDepth][kTile + 1];
  __shared__ Value of_b[kDepth][kTile + 1];
  const Value factor = value_of(alpha);
  const Value kept = value_of(beta);
  const int depth = is_zero(factor) ? 0 : k;
  const int x = static_cast<int>(threadIdx.x) % kSide;
  const int y = static_cast<int>(threadIdx.x) / kSide;
  const int row = static_cast<int>(blockIdx.x) * kTile;
  for (int which = static_cast<int>(blockIdx.z); which < batch; which += static_cast<int>(gridDim.z)) {
    const In* const base_a = depth == 0 ? nullptr : matrix_of(a, which);
    const In* const base_b = depth == 0 ? nullptr : matrix_of(b, which);
    Out* const base_c = matrix_of(c, which);
    for (int column = static_cast<int>(blockIdx.y) * kTile; column < n; column += static_cast<int>(gridDim.y) * kTile) {
      if (c.part == 1 ? row + kTile <= column : c.part == 2 && column + kTile <= row) continue;
      Value sums[kMicro][kMicro];
#pragma unroll
      for (int i = 0; i < kMicro; ++i) {
#pragma unroll
        for (int j = 0; j < kMicro; ++j) sums[i][j] = number<Value>(0);
      }
      for (int from = 0; from < depth; from += kDepth) {
        fetch<false>(of_a, base_a, a.shape, row, m, from, depth);
        fetch<true>(of_b, base_b, b.shape, column, n, from, depth);
        __syncthreads();
        const int end = depth - from < kDepth ? depth - from : kDepth;
        for (int d = 0; d < end; ++d) {
          Value left[kMicro];
          Value right[kMicro];
#pragma unroll
          for (int i = 0; i < kMicro; ++i) left[i] = of_a[d][x + i * kSide];
#pragma unroll
          for (int j = 0; j < kMicro; ++j) right[j] = of_b[d][y + j * kSide];
#pragma unroll
          for (int i = 0; i < kMicro; ++i) {
#pragma unroll
            for (int j = 0; j < kMicro; ++j) sums[i][j] = multiply_add(left[i], right[j], sums[i][j]);
          }
        }
        __syncthreads();
      }
#pragma unroll
      for (int i = 0; i < kMicro; ++i) {
#pragma unroll
        for (int j = 0; j < kMicro; ++j) {
          const int r = row + x + i * kSide;
          const int s = column + y + j * kSide;
          if (r >= m || s >= n || (c.part == 1 ? r < s : c.part == 2 && r > s)) continue;
          Out* const place = base_c + r + s * c.ld;
          Value sum = factor * sums[i][j];
          if (!is_zero(kept)) {
            Value old = as<Value>(*place);
            if (c.hermitian != 0 && r == s) old = as<Value>(real_part(old));
            sum = multiply_add(kept, old, sum);
          }
          if (c.hermitian != 0 && r == s) sum = as<Value>(real_part(sum));
          *place = as<Out>(sum);
        }
      }
    }
  }
}
