// Functions of matrices (level 3).
#include "cuda/cublas/library.hpp"

namespace heddle::cublas {
namespace {

using Index = std::int64_t;

// The dimensions of a product, checked with those of its operands.
struct Product {
  int m, n, k;
  Shape a, b;
};
Product product(cublasOperation_t opa, cublasOperation_t opb, Index m, Index n, Index k, Index lda, Index ldb,
                Index ldc) {
  require(m >= 0 && n >= 0 && k >= 0);
  const int a = operation_of(opa);
  const int b = operation_of(opb);
  require_columns(lda, a == kPlain ? m : k);
  require_columns(ldb, b == kPlain ? k : n);
  require_columns(ldc, m);
  return {index_of(m), index_of(n), index_of(k), full(a, lda), full(b, ldb)};
}

// A batch: of pointers or so far apart.
template <class T>
Matrix<T> each(const T* base, long long stride, const Shape& shape) {
  return {base, nullptr, stride, shape};
}
template <class T>
Matrix<T> each(const T* const* bases, long long, const Shape& shape) {
  return {nullptr, bases, 0, shape};
}
template <class T>
Target<T> each_into(T* base, long long stride, Index ld) {
  return {base, nullptr, stride, ld, 0, 0};
}
template <class T>
Target<T> each_into(T* const* bases, long long, Index ld) {
  return {nullptr, bases, 0, ld, 0, 0};
}

// Halves are multiplied and added in single precision.
template <class T>
auto product_factor(Call& call, const T* from) {
  if constexpr (std::is_same_v<T, __half>) {
    return call.half_factor(from);
  } else {
    return call.factor(from);
  }
}

template <class T, class A, class C>
void gemm(Call& call, cublasOperation_t opa, cublasOperation_t opb, Index m, Index n, Index k, const T* alpha, A a,
          Index lda, long long stride_a, A b, Index ldb, long long stride_b, const T* beta, C c, Index ldc,
          long long stride_c, Index batch) {
  require(batch >= 0);
  const Product of = product(opa, opb, m, n, k, lda, ldb, ldc);
  multiply(call, letter_of<T>(), of.m, of.n, of.k, index_of(batch), product_factor(call, alpha),
           each(a, stride_a, of.a), each(b, stride_b, of.b), product_factor(call, beta), each_into(c, stride_c, ldc));
}

// C = alpha A B + beta C, or B A, of a symmetric or Hermitian A.
template <class T>
void symm(Call& call, cublasSideMode_t side, cublasFillMode_t fill, Index m, Index n, const T* alpha, const T* a,
          Index lda, const T* b, Index ldb, const T* beta, T* c, Index ldc, int structure) {
  require(m >= 0 && n >= 0);
  const bool right = is_right(side);
  require_columns(lda, right ? n : m);
  require_columns(ldb, m);
  require_columns(ldc, m);
  const Matrix<T> symmetric = one(a, triangle(structure, is_upper(fill), lda));
  const Matrix<T> general = one(b, full(kPlain, ldb));
  multiply(call, index_of(m), index_of(n), index_of(right ? n : m), 1, call.factor(alpha), right ? general : symmetric,
           right ? symmetric : general, call.factor(beta), into(c, ldc));
}

// One triangle of C = alpha op(A) op(B)' + beta C, and + factor op(B) op(A)' where `both`; ' is the transpose, or the
// adjoint of Hermitian ones. B is A in a product of one matrix.
template <class T>
void syrk(Call& call, cublasFillMode_t fill, cublasOperation_t op, Index n, Index k, Factor<T> alpha, const T* a,
          Index lda, const T* b, Index ldb, Factor<T> beta, T* c, Index ldc, bool both, bool hermitian) {
  require(n >= 0 && k >= 0);
  // Real matrices take either word for the transpose; of complex ones only their own.
  const bool plain = op == CUBLAS_OP_N;
  require(plain ||
          (kIsComplex<T> ? op == (hermitian ? CUBLAS_OP_C : CUBLAS_OP_T) : op == CUBLAS_OP_T || op == CUBLAS_OP_C));
  const Index rows = plain ? n : k;
  require_columns(lda, rows);
  require_columns(ldb, rows);
  require_columns(ldc, n);
  const int turned = hermitian ? kAdjoint : kTransposed;
  const auto left = [&](const T* x, Index ld) { return one(x, full(plain ? kPlain : turned, ld)); };
  const auto right = [&](const T* x, Index ld) { return one(x, full(plain ? turned : kPlain, ld)); };
  const Target<T> target = into(c, ldc, part_of(is_upper(fill)), hermitian);
  const auto product_of = [&](Factor<T> factor, const T* x, Index ldx, const T* y, Index ldy, Factor<T> kept) {
    multiply(call, index_of(n), index_of(n), index_of(k), 1, factor, left(x, ldx), right(y, ldy), kept, target);
  };
  if (!both) {
    product_of(alpha, a, lda, b, ldb, beta);
    return;
  }
  product_of(alpha, a, lda, b, ldb, beta);
  Factor<T> second = alpha;
  if (hermitian) second.form = kConjugate;
  product_of(second, b, ldb, a, lda, {real_number<T>(1), nullptr, kAsItIs});
}

// C = alpha op(A) B or B op(A) of a triangle A; C may be B.
template <class T>
void trmm(Call& call, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal,
          Index m, Index n, const T* alpha, const T* a, Index lda, const T* b, Index ldb, T* c, Index ldc) {
  require(m >= 0 && n >= 0);
  const bool right = is_right(side);
  require_columns(lda, right ? n : m);
  require_columns(ldb, m);
  require_columns(ldc, m);
  const Shape shape = triangle(kTriangular, is_upper(fill), lda, operation_of(op), is_unit(diagonal));
  const Factor<T> factor = call.factor(alpha);
  if (m == 0 || n == 0) return;
  const Scratch scratch(call, b == c ? static_cast<std::size_t>(m) * static_cast<std::size_t>(n) * sizeof(T) : 0);
  if (b == c) {
    T* const kept = static_cast<T*>(scratch.at());
    const Factor<T> whole{real_number<T>(1), nullptr, kAsItIs};
    const Factor<T> none{T{}, nullptr, kAsItIs};
    call.launch("matrices", "geam", letter_of<T>(), dim3(blocks_of(m, 16), within_limit(blocks_of(n, 4))), index_of(m),
                index_of(n), whole, one(b, full(kPlain, ldb)), none, one(b, full(kPlain, ldb)), kept,
                static_cast<long long>(m));
    b = kept;
    ldb = m;
  }
  const Matrix<T> triangular = one(a, shape);
  const Matrix<T> general = one(b, full(kPlain, ldb));
  multiply(call, index_of(m), index_of(n), index_of(right ? n : m), 1, factor, right ? general : triangular,
           right ? triangular : general, Factor<T>{T{}, nullptr, kAsItIs}, into(c, ldc));
}

// op(A) X = alpha B, or X op(A) = alpha B, for X in the place of B. X op(A) is op(A)' X', by rows.
template <class T>
void solve(Call& call, bool right, int m, int n, int batch, Factor<T> alpha, Matrix<T> a, Target<T> b) {
  if (m == 0 || n == 0 || batch == 0) return;
  if (right) {
    static constexpr int kAcross[] = {kTransposed, kPlain, kConjugated, kAdjoint};  // by Operation
    a.shape.op = kAcross[a.shape.op];
  }
  const int count = right ? m : n;
  call.launch("matrices", "trsm", letter_of<T>(), dim3(blocks_of(count, 64), within_limit(batch)), right ? n : m, count,
              batch, alpha, a, b, static_cast<long long>(right ? 1 : b.ld), static_cast<long long>(right ? b.ld : 1));
}

template <class T, class A, class B>
void trsm(Call& call, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal,
          Index m, Index n, const T* alpha, A a, Index lda, B b, Index ldb, Index batch) {
  require(m >= 0 && n >= 0 && batch >= 0);
  const bool right = is_right(side);
  require_columns(lda, right ? n : m);
  require_columns(ldb, m);
  solve(call, right, index_of(m), index_of(n), index_of(batch), call.factor(alpha),
        each(a, 0, triangle(kTriangular, is_upper(fill), lda, operation_of(op), is_unit(diagonal))),
        each_into(b, 0, ldb));
}

template <class T>
void geam(Call& call, cublasOperation_t opa, cublasOperation_t opb, Index m, Index n, const T* alpha, const T* a,
          Index lda, const T* beta, const T* b, Index ldb, T* c, Index ldc) {
  require(m >= 0 && n >= 0);
  const int op_a = operation_of(opa);
  const int op_b = operation_of(opb);
  require_columns(lda, op_a == kPlain ? m : n);
  require_columns(ldb, op_b == kPlain ? m : n);
  require_columns(ldc, m);
  // In place only element by element.
  require(a != c || (op_a == kPlain && lda == ldc));
  require(b != c || (op_b == kPlain && ldb == ldc));
  const Factor<T> of_a = call.factor(alpha);
  const Factor<T> of_b = call.factor(beta);
  if (m == 0 || n == 0) return;
  call.launch("matrices", "geam", letter_of<T>(), dim3(blocks_of(m, 16), within_limit(blocks_of(n, 4))), index_of(m),
              index_of(n), of_a, one(a, full(op_a, lda)), of_b, one(b, full(op_b, ldb)), c,
              static_cast<long long>(ldc));
}

template <class T>
void dgmm(Call& call, cublasSideMode_t side, Index m, Index n, const T* a, Index lda, const T* x, Index incx, T* c,
          Index ldc) {
  require(m >= 0 && n >= 0);
  const bool right = is_right(side);
  require_columns(lda, m);
  require_columns(ldc, m);
  if (m == 0 || n == 0) return;
  call.launch("matrices", "dgmm", letter_of<T>(), dim3(blocks_of(m, 16), within_limit(blocks_of(n, 4))), index_of(m),
              index_of(n), right ? 1 : 0, a, static_cast<long long>(lda), first_of(x, right ? n : m, incx),
              static_cast<long long>(incx), c, static_cast<long long>(ldc));
}

}  // namespace
}  // namespace heddle::cublas

using namespace heddle::cublas;

#define HEDDLE_GUARDED(name, ...) return guarded(handle, #name, [&](Call& call) { __VA_ARGS__; });

#define HEDDLE_PRODUCT(prefix, T, I, end, version)                                                                    \
  cublasStatus_t prefix##gemm##version##end(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, I m, \
                                            I n, I k, const T* alpha, const T* a, I lda, const T* b, I ldb,           \
                                            const T* beta, T* c, I ldc){HEDDLE_GUARDED(                               \
      prefix##gemm, gemm(call, opa, opb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0,                       \
                         1))} cublasStatus_t prefix##gemmBatched##end(cublasHandle_t handle, cublasOperation_t opa,   \
                                                                      cublasOperation_t opb, I m, I n, I k,           \
                                                                      const T* alpha, const T* const a[], I lda,      \
                                                                      const T* const b[], I ldb, const T* beta,       \
                                                                      T* const c[], I ldc, I batch){HEDDLE_GUARDED(   \
      prefix##gemmBatched,                                                                                            \
      gemm(call, opa, opb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0,                                     \
           batch))} cublasStatus_t prefix##gemmStridedBatched##end(cublasHandle_t handle, cublasOperation_t opa,      \
                                                                   cublasOperation_t opb, I m, I n, I k,              \
                                                                   const T* alpha, const T* a, I lda,                 \
                                                                   long long strideA, const T* b, I ldb,              \
                                                                   long long strideB, const T* beta, T* c, I ldc,     \
                                                                   long long strideC, I batch) {                      \
    HEDDLE_GUARDED(prefix##gemmStridedBatched, gemm(call, opa, opb, m, n, k, alpha, a, lda, strideA, b, ldb, strideB, \
                                                    beta, c, ldc, strideC, batch))                                    \
  }
#define HEDDLE_SYMMETRIC(prefix, T, R, I, end, structure, symm_, syrk_, syr2k_, syrkx_)                                \
  cublasStatus_t prefix##symm_##_v2##end(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, I m,     \
                                         I n, const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta,     \
                                         T* c, I ldc){HEDDLE_GUARDED(                                                  \
      prefix##symm_,                                                                                                   \
      symm(call, side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc,                                                \
           structure))} cublasStatus_t prefix##syrk_##_v2##end(cublasHandle_t handle, cublasFillMode_t fill,           \
                                                               cublasOperation_t op, I n, I k, const R* alpha,         \
                                                               const T* a, I lda, const R* beta, T* c,                 \
                                                               I ldc){HEDDLE_GUARDED(                                  \
      prefix##syrk_,                                                                                                   \
      syrk(call, fill, op, n, k, call.factor_for<T>(alpha), a, lda, a, lda, call.factor_for<T>(beta), c, ldc, false,   \
           structure == kHermitian))} cublasStatus_t prefix##syr2k_##_v2##end(cublasHandle_t handle,                   \
                                                                              cublasFillMode_t fill,                   \
                                                                              cublasOperation_t op, I n, I k,          \
                                                                              const T* alpha, const T* a, I lda,       \
                                                                              const T* b, I ldb, const R* beta, T* c,  \
                                                                              I ldc){HEDDLE_GUARDED(                   \
      prefix##syr2k_,                                                                                                  \
      syrk(call, fill, op, n, k, call.factor(alpha), a, lda, b, ldb, call.factor_for<T>(beta), c, ldc, true,           \
           structure == kHermitian))} cublasStatus_t prefix##syrkx_##end(cublasHandle_t handle, cublasFillMode_t fill, \
                                                                         cublasOperation_t op, I n, I k,               \
                                                                         const T* alpha, const T* a, I lda,            \
                                                                         const T* b, I ldb, const R* beta, T* c,       \
                                                                         I ldc) {                                      \
    HEDDLE_GUARDED(prefix##syrkx_, syrk(call, fill, op, n, k, call.factor(alpha), a, lda, b, ldb,                      \
                                        call.factor_for<T>(beta), c, ldc, false, structure == kHermitian))             \
  }
#define HEDDLE_MATRICES(prefix, T, I, end)                                                                             \
  HEDDLE_PRODUCT(prefix, T, I, end, _v2)                                                                               \
  HEDDLE_SYMMETRIC(prefix, T, T, I, end, kSymmetric, symm, syrk, syr2k, syrkx)                                         \
  cublasStatus_t prefix##trmm_v2##end(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,             \
                                      cublasOperation_t op, cublasDiagType_t diagonal, I m, I n, const T* alpha,       \
                                      const T* a, I lda, const T* b, I ldb, T* c, I ldc){HEDDLE_GUARDED(               \
      prefix##trmm, trmm(call, side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb, c,                               \
                         ldc))} cublasStatus_t prefix##trsm_v2##end(cublasHandle_t handle, cublasSideMode_t side,      \
                                                                    cublasFillMode_t fill, cublasOperation_t op,       \
                                                                    cublasDiagType_t diagonal, I m, I n,               \
                                                                    const T* alpha, const T* a, I lda, T* b,           \
                                                                    I ldb){HEDDLE_GUARDED(                             \
      prefix##trsm, trsm(call, side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb,                                  \
                         1))} cublasStatus_t prefix##trsmBatched##end(cublasHandle_t handle, cublasSideMode_t side,    \
                                                                      cublasFillMode_t fill, cublasOperation_t op,     \
                                                                      cublasDiagType_t diagonal, I m, I n,             \
                                                                      const T* alpha, const T* const a[], I lda,       \
                                                                      T* const b[], I ldb, I batch){HEDDLE_GUARDED(    \
      prefix##trsmBatched, trsm(call, side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb, batch))} cublasStatus_t   \
      prefix##geam##end(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, I m, I n, const T* alpha, \
                        const T* a, I lda, const T* beta, const T* b, I ldb, T* c, I ldc){HEDDLE_GUARDED(              \
          prefix##geam, geam(call, opa, opb, m, n, alpha, a, lda, beta, b, ldb, c,                                     \
                             ldc))} cublasStatus_t prefix##dgmm##end(cublasHandle_t handle, cublasSideMode_t side,     \
                                                                     I m, I n, const T* a, I lda, const T* x, I incx,  \
                                                                     T* c, I ldc) {                                    \
    HEDDLE_GUARDED(prefix##dgmm, dgmm(call, side, m, n, a, lda, x, incx, c, ldc))                                      \
  }

#define HEDDLE_LEVEL_3(I, end)                                                                     \
  HEDDLE_MATRICES(cublasS, float, I, end)                                                          \
  HEDDLE_MATRICES(cublasD, double, I, end)                                                         \
  HEDDLE_MATRICES(cublasC, cuComplex, I, end)                                                      \
  HEDDLE_MATRICES(cublasZ, cuDoubleComplex, I, end)                                                \
  HEDDLE_SYMMETRIC(cublasC, cuComplex, float, I, end, kHermitian, hemm, herk, her2k, herkx)        \
  HEDDLE_SYMMETRIC(cublasZ, cuDoubleComplex, double, I, end, kHermitian, hemm, herk, her2k, herkx) \
  HEDDLE_PRODUCT(cublasH, __half, I, end, )

extern "C" {
HEDDLE_LEVEL_3(int, )
HEDDLE_LEVEL_3(std::int64_t, _64)
}
