// Functions of a matrix and vectors (level 2).
#include "cuda/cublas/library.hpp"

namespace heddle::cublas {
namespace {

using Index = std::int64_t;

// y = alpha op(A) x + beta y of a matrix as it is stored, with so many rows and columns.
template <class T>
void multiply_vector(Call& call, int rows, int columns, int batch, Factor<T> alpha, const Matrix<T>& a, Matrix<T> x,
                     Index incx, Factor<T> beta, Target<T> y, Index incy) {
  const bool turned = a.shape.op == kTransposed || a.shape.op == kAdjoint;
  const int m = turned ? columns : rows;
  const int n = turned ? rows : columns;
  if (m == 0 || n == 0 || batch == 0) return;
  // Of a batch by pointers the first elements are found by the kernel: negative increments need the arrays' own.
  if (x.bases == nullptr) x.base = first_of(x.base, n, incx);
  if (y.bases == nullptr) y.base = first_of(y.base, m, incy);
  require((x.bases == nullptr || incx > 0) && (y.bases == nullptr || incy > 0), CUBLAS_STATUS_NOT_SUPPORTED);
  call.launch("matrix_vector", "gemv", letter_of<T>(), dim3(blocks_of(m, turned ? 4 : 16), within_limit(batch)), m, n,
              batch, alpha, a, x, static_cast<long long>(incx), beta, y, static_cast<long long>(incy));
}
template <class T>
void multiply_vector(Call& call, int rows, int columns, Factor<T> alpha, const T* a, const Shape& shape, const T* x,
                     Index incx, Factor<T> beta, T* y, Index incy) {
  multiply_vector(call, rows, columns, 1, alpha, one(a, shape), one(x, Shape{}), incx, beta, into(y, 0), incy);
}

void require_increments(Index incx, Index incy = 1) {
  require(incx != 0 && incy != 0);
}

Shape band(int op, int structure, bool upper, Index below, Index above, Index ld, bool unit = false) {
  return {op, structure, upper ? 1 : 0, unit ? 1 : 0, kBand, index_of(below), index_of(above), ld};
}
// Of order n, one triangle of it, with k diagonals beside the main one.
Shape band_of_triangle(int op, int structure, bool upper, Index k, Index ld, bool unit = false) {
  return band(op, structure, upper, upper ? 0 : k, upper ? k : 0, ld, unit);
}
Shape packed(int op, int structure, bool upper, Index n, bool unit = false) {
  return {op, structure, upper ? 1 : 0, unit ? 1 : 0, upper ? kPackedUpper : kPackedLower, 0, 0, n};
}

template <class T>
void gemv(Call& call, cublasOperation_t op, Index m, Index n, const T* alpha, const T* a, Index lda, const T* x,
          Index incx, const T* beta, T* y, Index incy) {
  require(m >= 0 && n >= 0);
  require_increments(incx, incy);
  require_columns(lda, m);
  multiply_vector(call, index_of(m), index_of(n), call.factor(alpha), a, full(operation_of(op), lda), x, incx,
                  call.factor(beta), y, incy);
}

template <class T>
void gbmv(Call& call, cublasOperation_t op, Index m, Index n, Index below, Index above, const T* alpha, const T* a,
          Index lda, const T* x, Index incx, const T* beta, T* y, Index incy) {
  require(m >= 0 && n >= 0 && below >= 0 && above >= 0);
  require_increments(incx, incy);
  require(lda >= below + above + 1);
  multiply_vector(call, index_of(m), index_of(n), call.factor(alpha), a,
                  band(operation_of(op), kGeneral, false, below, above, lda), x, incx, call.factor(beta), y, incy);
}

template <class T>
void symmetric_vector(Call& call, Index n, const T* alpha, const T* a, const Shape& shape, const T* x, Index incx,
                      const T* beta, T* y, Index incy) {
  require(n >= 0);
  require_increments(incx, incy);
  multiply_vector(call, index_of(n), index_of(n), call.factor(alpha), a, shape, x, incx, call.factor(beta), y, incy);
}

// x = op(A) x of a triangle: from a copy of x.
template <class T>
void triangle_vector(Call& call, Index n, const T* a, const Shape& shape, T* x, Index incx) {
  require(n >= 0);
  require_increments(incx);
  if (n == 0) return;
  const Scratch scratch(call, static_cast<std::size_t>(n) * sizeof(T));
  T* const kept = static_cast<T*>(scratch.at());
  call.launch("vectors", "copy", letter_of<T>(), dim3(blocks_of(n, 256)), static_cast<unsigned>(index_of(n)),
              first_of(x, n, incx), static_cast<long long>(incx), kept, 1LL);
  const Factor<T> alpha{real_number<T>(1), nullptr, kAsItIs};
  multiply_vector<T>(call, index_of(n), index_of(n), alpha, a, shape, kept, 1, {T{}, nullptr, kAsItIs}, x, incx);
}

template <class T>
void solve_vector(Call& call, Index n, const T* a, const Shape& shape, T* x, Index incx) {
  require(n >= 0);
  require_increments(incx);
  if (n == 0) return;
  call.launch("matrix_vector", "trsv", letter_of<T>(), dim3(1), index_of(n), a, shape, first_of(x, n, incx),
              static_cast<long long>(incx));
}

// A += alpha x op(y), and + y op(x) where two.
struct Ranks {
  bool conjugated = false, two = false, hermitian = false;
};
template <class T>
void add_rank(Call& call, Index m, Index n, Factor<T> alpha, const T* x, Index incx, const T* y, Index incy,
              const Ranks& ranks, T* a, const Shape& shape, int part) {
  require(m >= 0 && n >= 0);
  require_increments(incx, incy);
  if (m == 0 || n == 0) return;
  call.launch("matrix_vector", "rank", letter_of<T>(), dim3(blocks_of(m, 16), within_limit(blocks_of(n, 4))),
              index_of(m), index_of(n), alpha, first_of(x, m, incx), static_cast<long long>(incx), first_of(y, n, incy),
              static_cast<long long>(incy), ranks.conjugated ? 1 : 0, ranks.two ? 1 : 0, a, shape, part,
              ranks.hermitian ? 1 : 0);
}

template <class T>
void ger(Call& call, Index m, Index n, const T* alpha, const T* x, Index incx, const T* y, Index incy, T* a, Index lda,
         bool conjugated) {
  require_columns(lda, m);
  add_rank(call, m, n, call.factor(alpha), x, incx, y, incy, {conjugated, false, false}, a, full(kPlain, lda), 0);
}

template <class T>
void add_ranks(Call& call, cublasFillMode_t fill, Index n, Factor<T> alpha, const T* x, Index incx, const T* y,
               Index incy, bool two, bool hermitian, T* a, const Shape& shape) {
  add_rank(call, n, n, alpha, x, incx, y, incy, {hermitian, two, hermitian}, a, shape, part_of(is_upper(fill)));
}

}  // namespace
}  // namespace heddle::cublas

using namespace heddle::cublas;

#define HEDDLE_GUARDED(name, ...) return guarded(handle, #name, [&](Call& call) { __VA_ARGS__; });
#define HEDDLE_TRIANGLE(prefix, name, T, I, end, extra, needs, shape, does)                                 \
  cublasStatus_t prefix##name##_v2##end(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, \
                                        cublasDiagType_t diagonal, I n, extra T* x, I incx) {               \
    HEDDLE_GUARDED(prefix##name, needs; does(call, n, a, shape, x, incx))                                   \
  }
// The parameters between n and x.
#define HEDDLE_FULL_(T, I) const T *a, I lda,
#define HEDDLE_BAND_(T, I) I k, const T *a, I lda,
#define HEDDLE_PACKED_(T) const T *a,
#define HEDDLE_TRIANGLES(prefix, T, I, end)                                                                         \
  HEDDLE_TRIANGLE(prefix, trmv, T, I, end, HEDDLE_FULL_(T, I), require_columns(lda, n),                             \
                  triangle(kTriangular, is_upper(fill), lda, operation_of(op), is_unit(diagonal)), triangle_vector) \
  HEDDLE_TRIANGLE(prefix, trsv, T, I, end, HEDDLE_FULL_(T, I), require_columns(lda, n),                             \
                  triangle(kTriangular, is_upper(fill), lda, operation_of(op), is_unit(diagonal)), solve_vector)    \
  HEDDLE_TRIANGLE(prefix, tbmv, T, I, end, HEDDLE_BAND_(T, I), require(k >= 0 && lda >= 1 + k),                     \
                  band_of_triangle(operation_of(op), kTriangular, is_upper(fill), k, lda, is_unit(diagonal)),       \
                  triangle_vector)                                                                                  \
  HEDDLE_TRIANGLE(prefix, tbsv, T, I, end, HEDDLE_BAND_(T, I), require(k >= 0 && lda >= 1 + k),                     \
                  band_of_triangle(operation_of(op), kTriangular, is_upper(fill), k, lda, is_unit(diagonal)),       \
                  solve_vector)                                                                                     \
  HEDDLE_TRIANGLE(prefix, tpmv, T, I, end, HEDDLE_PACKED_(T), require(n >= 0),                                      \
                  packed(operation_of(op), kTriangular, is_upper(fill), n, is_unit(diagonal)), triangle_vector)     \
  HEDDLE_TRIANGLE(prefix, tpsv, T, I, end, HEDDLE_PACKED_(T), require(n >= 0),                                      \
                  packed(operation_of(op), kTriangular, is_upper(fill), n, is_unit(diagonal)), solve_vector)

#define HEDDLE_SYMMETRIC(prefix, T, I, end, structure, symv, sbmv, spmv)                                               \
  cublasStatus_t prefix##symv##_v2##end(cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* a, \
                                        I lda, const T* x, I incx, const T* beta, T* y, I incy) {                      \
    HEDDLE_GUARDED(prefix##symv, require_columns(lda, n); symmetric_vector(                                            \
                       call, n, alpha, a, triangle(structure, is_upper(fill), lda), x, incx, beta, y, incy))           \
  }                                                                                                                    \
  cublasStatus_t prefix##sbmv##_v2##end(cublasHandle_t handle, cublasFillMode_t fill, I n, I k, const T* alpha,        \
                                        const T* a, I lda, const T* x, I incx, const T* beta, T* y, I incy) {          \
    HEDDLE_GUARDED(prefix##sbmv, require(k >= 0 && lda >= 1 + k);                                                      \
                   symmetric_vector(call, n, alpha, a, band_of_triangle(kPlain, structure, is_upper(fill), k, lda), x, \
                                    incx, beta, y, incy))                                                              \
  }                                                                                                                    \
  cublasStatus_t prefix##spmv##_v2##end(cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* a, \
                                        const T* x, I incx, const T* beta, T* y, I incy) {                             \
    HEDDLE_GUARDED(prefix##spmv, symmetric_vector(call, n, alpha, a, packed(kPlain, structure, is_upper(fill), n), x,  \
                                                  incx, beta, y, incy))                                                \
  }

#define HEDDLE_GER(prefix, name, T, I, end, conjugated)                                                      \
  cublasStatus_t prefix##name##_v2##end(cublasHandle_t handle, I m, I n, const T* alpha, const T* x, I incx, \
                                        const T* y, I incy, T* a, I lda) {                                   \
    HEDDLE_GUARDED(prefix##name, ger(call, m, n, alpha, x, incx, y, incy, a, lda, conjugated))               \
  }
#define HEDDLE_RANKS(prefix, T, R, I, end, hermitian, syr, syr2)                                                       \
  cublasStatus_t prefix##syr##_v2##end(cublasHandle_t handle, cublasFillMode_t fill, I n, const R* alpha, const T* x,  \
                                       I incx, T* a, I lda) {                                                          \
    HEDDLE_GUARDED(prefix##syr, require_columns(lda, n); add_ranks(call, fill, n, call.factor_for<T>(alpha), x, incx,  \
                                                                   x, incx, false, hermitian, a, full(kPlain, lda)))   \
  }                                                                                                                    \
  cublasStatus_t prefix##syr2##_v2##end(cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* x, \
                                        I incx, const T* y, I incy, T* a, I lda) {                                     \
    HEDDLE_GUARDED(prefix##syr2, require_columns(lda, n); add_ranks(call, fill, n, call.factor(alpha), x, incx, y,     \
                                                                    incy, true, hermitian, a, full(kPlain, lda)))      \
  }
#define HEDDLE_PACKED_RANKS(prefix, T, R, I, end, hermitian, spr, spr2)                                               \
  cublasStatus_t prefix##spr##_v2##end(cublasHandle_t handle, cublasFillMode_t fill, I n, const R* alpha, const T* x, \
                                       I incx, T* a){HEDDLE_GUARDED(                                                  \
      prefix##spr, add_ranks(call, fill, n, call.factor_for<T>(alpha), x, incx, x, incx, false, hermitian, a,         \
                             packed(kPlain, kGeneral, is_upper(fill),                                                 \
                                    n)))} cublasStatus_t prefix##spr2##_v2##end(cublasHandle_t handle,                \
                                                                                cublasFillMode_t fill, I n,           \
                                                                                const T* alpha, const T* x, I incx,   \
                                                                                const T* y, I incy, T* a) {           \
    HEDDLE_GUARDED(prefix##spr2, add_ranks(call, fill, n, call.factor(alpha), x, incx, y, incy, true, hermitian, a,   \
                                           packed(kPlain, kGeneral, is_upper(fill), n)))                              \
  }

#define HEDDLE_GENERAL(prefix, T, I, end)                                                                              \
  cublasStatus_t prefix##gemv_v2##end(cublasHandle_t handle, cublasOperation_t op, I m, I n, const T* alpha,           \
                                      const T* a, I lda, const T* x, I incx, const T* beta, T* y,                      \
                                      I incy){HEDDLE_GUARDED(                                                          \
      prefix##gemv, gemv(call, op, m, n, alpha, a, lda, x, incx, beta, y,                                              \
                         incy))} cublasStatus_t prefix##gbmv_v2##end(cublasHandle_t handle, cublasOperation_t op, I m, \
                                                                     I n, I below, I above, const T* alpha,            \
                                                                     const T* a, I lda, const T* x, I incx,            \
                                                                     const T* beta, T* y, I incy){HEDDLE_GUARDED(      \
      prefix##gbmv, gbmv(call, op, m, n, below, above, alpha, a, lda, x, incx, beta, y,                                \
                         incy))} cublasStatus_t prefix##gemvBatched##end(cublasHandle_t handle, cublasOperation_t op,  \
                                                                         I m, I n, const T* alpha, const T* const a[], \
                                                                         I lda, const T* const x[], I incx,            \
                                                                         const T* beta, T* const y[], I incy,          \
                                                                         I batch) {                                    \
    HEDDLE_GUARDED(prefix##gemvBatched, require(m >= 0 && n >= 0 && batch >= 0); require_increments(incx, incy);       \
                   require_columns(lda, m); const Shape shape = full(operation_of(op), lda);                           \
                   multiply_vector(call, index_of(m), index_of(n), index_of(batch), call.factor(alpha),                \
                                   Matrix<T>{nullptr, a, 0, shape}, Matrix<T>{nullptr, x, 0, Shape{}}, incx,           \
                                   call.factor(beta), Target<T>{nullptr, y, 0, 0, 0, 0}, incy))                        \
  }                                                                                                                    \
  cublasStatus_t prefix##gemvStridedBatched##end(                                                                      \
      cublasHandle_t handle, cublasOperation_t op, I m, I n, const T* alpha, const T* a, I lda, long long strideA,     \
      const T* x, I incx, long long strideX, const T* beta, T* y, I incy, long long strideY, I batch) {                \
    HEDDLE_GUARDED(prefix##gemvStridedBatched, require(m >= 0 && n >= 0 && batch >= 0);                                \
                   require_increments(incx, incy); require_columns(lda, m);                                            \
                   const Shape shape = full(operation_of(op), lda);                                                    \
                   multiply_vector(call, index_of(m), index_of(n), index_of(batch), call.factor(alpha),                \
                                   Matrix<T>{a, nullptr, strideA, shape}, Matrix<T>{x, nullptr, strideX, Shape{}},     \
                                   incx, call.factor(beta), Target<T>{y, nullptr, strideY, 0, 0, 0}, incy))            \
  }

#define HEDDLE_REAL(prefix, T, I, end)                              \
  HEDDLE_GENERAL(prefix, T, I, end)                                 \
  HEDDLE_TRIANGLES(prefix, T, I, end)                               \
  HEDDLE_SYMMETRIC(prefix, T, I, end, kSymmetric, symv, sbmv, spmv) \
  HEDDLE_GER(prefix, ger, T, I, end, false)                         \
  HEDDLE_RANKS(prefix, T, T, I, end, false, syr, syr2)              \
  HEDDLE_PACKED_RANKS(prefix, T, T, I, end, false, spr, spr2)
#define HEDDLE_COMPLEX(prefix, T, R, I, end)                                                                         \
  HEDDLE_GENERAL(prefix, T, I, end)                                                                                  \
  HEDDLE_TRIANGLES(prefix, T, I, end)                                                                                \
  cublasStatus_t prefix##symv_v2##end(cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* a, \
                                      I lda, const T* x, I incx, const T* beta, T* y, I incy) {                      \
    HEDDLE_GUARDED(prefix##symv, require_columns(lda, n); symmetric_vector(                                          \
                       call, n, alpha, a, triangle(kSymmetric, is_upper(fill), lda), x, incx, beta, y, incy))        \
  }                                                                                                                  \
  HEDDLE_SYMMETRIC(prefix, T, I, end, kHermitian, hemv, hbmv, hpmv)                                                  \
  HEDDLE_GER(prefix, geru, T, I, end, false)                                                                         \
  HEDDLE_GER(prefix, gerc, T, I, end, true)                                                                          \
  HEDDLE_RANKS(prefix, T, T, I, end, false, syr, syr2)                                                               \
  HEDDLE_RANKS(prefix, T, R, I, end, true, her, her2)                                                                \
  HEDDLE_PACKED_RANKS(prefix, T, R, I, end, true, hpr, hpr2)

extern "C" {
HEDDLE_REAL(cublasS, float, int, )
HEDDLE_REAL(cublasD, double, int, )
HEDDLE_COMPLEX(cublasC, cuComplex, float, int, )
HEDDLE_COMPLEX(cublasZ, cuDoubleComplex, double, int, )
HEDDLE_REAL(cublasS, float, std::int64_t, _64)
HEDDLE_REAL(cublasD, double, std::int64_t, _64)
HEDDLE_COMPLEX(cublasC, cuComplex, float, std::int64_t, _64)
HEDDLE_COMPLEX(cublasZ, cuDoubleComplex, double, std::int64_t, _64)
}
