// Factors of batches of small matrices, and what is solved by them: getrf, getrs, getri.
#include "cuda/cublas/library.hpp"

namespace heddle::cublas {
namespace {

template <class T>
Target<T> batch_into(T* const* bases, int ld) {
  return {nullptr, bases, 0, ld, 0, 0};
}
template <class T>
Matrix<T> batch_of(const T* const* bases, int ld, int structure, bool upper, int op, bool unit) {
  return {nullptr, bases, 0, triangle(structure, upper, ld, op, unit)};
}

template <class T>
void getrf(Call& call, int n, T* const a[], int lda, int* pivots, int* info, int batch) {
  require(n >= 0 && batch >= 0);
  require_columns(lda, n);
  if (batch == 0) return;
  require(a != nullptr && info != nullptr);
  call.launch("matrices", "getrf", letter_of<T>(), dim3(static_cast<unsigned>(batch)), n, batch, batch_into(a, lda),
              pivots, info);
}

// op(A)^-1 of the factors of A, for the columns of B.
template <class T>
void substitute(Call& call, int op, bool upper, int n, int count, int batch, const T* const a[], int lda, Target<T> b) {
  const Factor<T> whole{real_number<T>(1), nullptr, kAsItIs};
  call.launch("matrices", "trsm", letter_of<T>(), dim3(blocks_of(count, 64), within_limit(batch)), n, count, batch,
              whole, batch_of(a, lda, kTriangular, upper, op, !upper), b, b.ld, 1LL);
}

template <class T>
void exchange(Call& call, int n, int count, int batch, Target<T> b, const int* pivots, bool back) {
  if (pivots == nullptr) return;
  call.launch("matrices", "exchange", letter_of<T>(), dim3(blocks_of(count, 64), within_limit(batch)), n, count, batch,
              b, pivots, back ? 1 : 0);
}

// `info` is the host's: which parameter is wrong, counted from 1 with the handle left out and as a negative number.
template <class T>
void getrs(Call& call, cublasOperation_t trans, int n, int count, const T* const a[], int lda, const int* pivots,
           T* const b[], int ldb, int* info, int batch) {
  require(info != nullptr);
  const int wrong = trans != CUBLAS_OP_N && trans != CUBLAS_OP_T && trans != CUBLAS_OP_C ? 1
                    : n < 0                                                              ? 2
                    : count < 0                                                          ? 3
                    : lda < (n > 1 ? n : 1)                                              ? 5
                    : ldb < (n > 1 ? n : 1)                                              ? 8
                    : batch < 0                                                          ? 10
                                                                                         : 0;
  *info = -wrong;
  require(wrong == 0);
  if (n == 0 || count == 0 || batch == 0) return;
  require(a != nullptr && b != nullptr);
  const Target<T> target = batch_into(b, ldb);
  if (trans == CUBLAS_OP_N) {
    exchange(call, n, count, batch, target, pivots, false);
    substitute(call, trans, false, n, count, batch, a, lda, target);
    substitute(call, trans, true, n, count, batch, a, lda, target);
  } else {
    substitute(call, trans, true, n, count, batch, a, lda, target);
    substitute(call, trans, false, n, count, batch, a, lda, target);
    exchange(call, n, count, batch, target, pivots, true);
  }
}

template <class T>
void getri(Call& call, int n, const T* const a[], int lda, const int* pivots, T* const c[], int ldc, int* info,
           int batch) {
  require(n >= 0 && batch >= 0);
  require_columns(lda, n);
  require_columns(ldc, n);
  if (batch == 0) return;
  require(a != nullptr && c != nullptr && info != nullptr);
  const Target<T> target = batch_into(c, ldc);
  call.launch("matrices", "unit", letter_of<T>(), dim3(n == 0 ? 1 : blocks_of(n, 64), within_limit(batch)), n, batch,
              batch_of(a, lda, kGeneral, false, kPlain, false), target, info);
  if (n == 0) return;
  exchange(call, n, n, batch, target, pivots, false);
  substitute(call, kPlain, false, n, n, batch, a, lda, target);
  substitute(call, kPlain, true, n, n, batch, a, lda, target);
}

}  // namespace
}  // namespace heddle::cublas

using namespace heddle::cublas;

#define HEDDLE_FACTORS(prefix, T)                                                                                     \
  cublasStatus_t prefix##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots, int* info,    \
                                      int batch) {                                                                    \
    return guarded(handle, #prefix "getrfBatched", [&](Call& call) { getrf(call, n, a, lda, pivots, info, batch); }); \
  }                                                                                                                   \
  cublasStatus_t prefix##getrsBatched(cublasHandle_t handle, cublasOperation_t op, int n, int count,                  \
                                      const T* const a[], int lda, const int* pivots, T* const b[], int ldb,          \
                                      int* info, int batch) {                                                         \
    return guarded(handle, #prefix "getrsBatched",                                                                    \
                   [&](Call& call) { getrs(call, op, n, count, a, lda, pivots, b, ldb, info, batch); });              \
  }                                                                                                                   \
  cublasStatus_t prefix##getriBatched(cublasHandle_t handle, int n, const T* const a[], int lda, const int* pivots,   \
                                      T* const c[], int ldc, int* info, int batch) {                                  \
    return guarded(handle, #prefix "getriBatched",                                                                    \
                   [&](Call& call) { getri(call, n, a, lda, pivots, c, ldc, info, batch); });                         \
  }

extern "C" {
HEDDLE_FACTORS(cublasS, float)
HEDDLE_FACTORS(cublasD, double)
HEDDLE_FACTORS(cublasC, cuComplex)
HEDDLE_FACTORS(cublasZ, cuDoubleComplex)
}
