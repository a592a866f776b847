/* The functions of cublas.h, cuBLAS's first interface, as lists for a type of numbers T: those of cublas_v2.h without
   their handle, with letters in place of enumerations, factors by value and results returned.
   HEDDLE_LEGACY_DO_(prefix, name, parameters, arguments) is one function, HEDDLE_LEGACY_GET_ one that returns a result;
   `arguments` are those of the function that does its work (cuda/cublas/legacy.cpp). */

/* Vectors. */
#define HEDDLE_LEGACY_VECTORS_(prefix, T)                                                                       \
  HEDDLE_LEGACY_DO_(prefix, copy, (int n, const T* x, int incx, T* y, int incy), (handle, n, x, incx, y, incy)) \
  HEDDLE_LEGACY_DO_(prefix, swap, (int n, T* x, int incx, T* y, int incy), (handle, n, x, incx, y, incy))       \
  HEDDLE_LEGACY_DO_(prefix, axpy, (int n, T alpha, const T* x, int incx, T* y, int incy),                       \
                    (handle, n, &alpha, x, incx, y, incy))                                                      \
  HEDDLE_LEGACY_SCALE_(prefix, T, T)
#define HEDDLE_LEGACY_SCALE_(prefix, T, R) \
  HEDDLE_LEGACY_DO_(prefix, scal, (int n, R alpha, T* x, int incx), (handle, n, &alpha, x, incx))
#define HEDDLE_LEGACY_SIZES_(prefix, T, R)                                                          \
  HEDDLE_LEGACY_GET_(R, prefix, nrm2, (int n, const T* x, int incx), (handle, n, x, incx, &result)) \
  HEDDLE_LEGACY_GET_(R, prefix, asum, (int n, const T* x, int incx), (handle, n, x, incx, &result))
#define HEDDLE_LEGACY_EXTREMES_(prefix, T)                                                            \
  HEDDLE_LEGACY_GET_(int, prefix, amax, (int n, const T* x, int incx), (handle, n, x, incx, &result)) \
  HEDDLE_LEGACY_GET_(int, prefix, amin, (int n, const T* x, int incx), (handle, n, x, incx, &result))
#define HEDDLE_LEGACY_DOT_(prefix, name, T)                                                \
  HEDDLE_LEGACY_GET_(T, prefix, name, (int n, const T* x, int incx, const T* y, int incy), \
                     (handle, n, x, incx, y, incy, &result))
#define HEDDLE_LEGACY_ROT_(prefix, T, R, S)                                         \
  HEDDLE_LEGACY_DO_(prefix, rot, (int n, T* x, int incx, T* y, int incy, R c, S s), \
                    (handle, n, x, incx, y, incy, &c, &s))

/* Matrices and vectors. */
#define HEDDLE_LEGACY_MATRIX_VECTOR_(prefix, T)                                                                       \
  HEDDLE_LEGACY_DO_(                                                                                                  \
      prefix, gemv,                                                                                                   \
      (char op, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y, int incy),            \
      (handle, operation(op), m, n, &alpha, a, lda, x, incx, &beta, y, incy))                                         \
  HEDDLE_LEGACY_DO_(prefix, gbmv,                                                                                     \
                    (char op, int m, int n, int below, int above, T alpha, const T* a, int lda, const T* x, int incx, \
                     T beta, T* y, int incy),                                                                         \
                    (handle, operation(op), m, n, below, above, &alpha, a, lda, x, incx, &beta, y, incy))             \
  HEDDLE_LEGACY_TRIANGULAR_VECTOR_(prefix, trmv, tbmv, tpmv, T)                                                       \
  HEDDLE_LEGACY_TRIANGULAR_VECTOR_(prefix, trsv, tbsv, tpsv, T)
#define HEDDLE_LEGACY_TRIANGULAR_VECTOR_(prefix, whole, band, packed, T)                                              \
  HEDDLE_LEGACY_DO_(prefix, whole, (char fill, char op, char diag, int n, const T* a, int lda, T* x, int incx),       \
                    (handle, triangle(fill), operation(op), diagonal(diag), n, a, lda, x, incx))                      \
  HEDDLE_LEGACY_DO_(prefix, band, (char fill, char op, char diag, int n, int k, const T* a, int lda, T* x, int incx), \
                    (handle, triangle(fill), operation(op), diagonal(diag), n, k, a, lda, x, incx))                   \
  HEDDLE_LEGACY_DO_(prefix, packed, (char fill, char op, char diag, int n, const T* a, T* x, int incx),               \
                    (handle, triangle(fill), operation(op), diagonal(diag), n, a, x, incx))
/* Symmetric or Hermitian: the factor of a product with itself, R, may be real. */
#define HEDDLE_LEGACY_SYMMETRIC_VECTOR_(prefix, whole, band, packed, T)                                             \
  HEDDLE_LEGACY_DO_(prefix, whole,                                                                                  \
                    (char fill, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y, int incy), \
                    (handle, triangle(fill), n, &alpha, a, lda, x, incx, &beta, y, incy))                           \
  HEDDLE_LEGACY_DO_(                                                                                                \
      prefix, band,                                                                                                 \
      (char fill, int n, int k, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y, int incy),        \
      (handle, triangle(fill), n, k, &alpha, a, lda, x, incx, &beta, y, incy))                                      \
  HEDDLE_LEGACY_DO_(prefix, packed,                                                                                 \
                    (char fill, int n, T alpha, const T* a, const T* x, int incx, T beta, T* y, int incy),          \
                    (handle, triangle(fill), n, &alpha, a, x, incx, &beta, y, incy))
#define HEDDLE_LEGACY_RANKS_(prefix, one, two, one_packed, two_packed, T, R)                                           \
  HEDDLE_LEGACY_DO_(prefix, one, (char fill, int n, R alpha, const T* x, int incx, T* a, int lda),                     \
                    (handle, triangle(fill), n, &alpha, x, incx, a, lda))                                              \
  HEDDLE_LEGACY_DO_(prefix, two,                                                                                       \
                    (char fill, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda),            \
                    (handle, triangle(fill), n, &alpha, x, incx, y, incy, a, lda))                                     \
  HEDDLE_LEGACY_DO_(prefix, one_packed, (char fill, int n, R alpha, const T* x, int incx, T* a),                       \
                    (handle, triangle(fill), n, &alpha, x, incx, a))                                                   \
  HEDDLE_LEGACY_DO_(prefix, two_packed, (char fill, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a), \
                    (handle, triangle(fill), n, &alpha, x, incx, y, incy, a))
#define HEDDLE_LEGACY_GER_(prefix, name, T)                                                                           \
  HEDDLE_LEGACY_DO_(prefix, name, (int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda), \
                    (handle, m, n, &alpha, x, incx, y, incy, a, lda))

/* Matrices. trmm is in place. */
#define HEDDLE_LEGACY_MATRICES_(prefix, T)                                                                        \
  HEDDLE_LEGACY_DO_(prefix, gemm,                                                                                 \
                    (char opa, char opb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,  \
                     T beta, T* c, int ldc),                                                                      \
                    (handle, operation(opa), operation(opb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc))     \
  HEDDLE_LEGACY_DO_(                                                                                              \
      prefix, trmm,                                                                                               \
      (char where, char fill, char op, char diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb),     \
      (handle, side(where), triangle(fill), operation(op), diagonal(diag), m, n, &alpha, a, lda, b, ldb, b, ldb)) \
  HEDDLE_LEGACY_DO_(                                                                                              \
      prefix, trsm,                                                                                               \
      (char where, char fill, char op, char diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb),     \
      (handle, side(where), triangle(fill), operation(op), diagonal(diag), m, n, &alpha, a, lda, b, ldb))         \
  HEDDLE_LEGACY_SYMMETRIC_(prefix, symm, syrk, syr2k, T, T, T)
#define HEDDLE_LEGACY_SYMMETRIC_(prefix, times, one, two, T, R, S)                                                     \
  HEDDLE_LEGACY_DO_(                                                                                                   \
      prefix, times,                                                                                                   \
      (char where, char fill, int m, int n, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc), \
      (handle, side(where), triangle(fill), m, n, &alpha, a, lda, b, ldb, &beta, c, ldc))                              \
  HEDDLE_LEGACY_DO_(prefix, one,                                                                                       \
                    (char fill, char op, int n, int k, R alpha, const T* a, int lda, R beta, T* c, int ldc),           \
                    (handle, triangle(fill), operation(op), n, k, &alpha, a, lda, &beta, c, ldc))                      \
  HEDDLE_LEGACY_DO_(                                                                                                   \
      prefix, two,                                                                                                     \
      (char fill, char op, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, S beta, T* c, int ldc),    \
      (handle, triangle(fill), operation(op), n, k, &alpha, a, lda, b, ldb, &beta, c, ldc))

#define HEDDLE_LEGACY_REAL_(prefix, T)                         \
  HEDDLE_LEGACY_VECTORS_(prefix, T)                            \
  HEDDLE_LEGACY_SIZES_(prefix, T, T)                           \
  HEDDLE_LEGACY_DOT_(prefix, dot, T)                           \
  HEDDLE_LEGACY_ROT_(prefix, T, T, T)                          \
  HEDDLE_LEGACY_MATRIX_VECTOR_(prefix, T)                      \
  HEDDLE_LEGACY_SYMMETRIC_VECTOR_(prefix, symv, sbmv, spmv, T) \
  HEDDLE_LEGACY_RANKS_(prefix, syr, syr2, spr, spr2, T, T)     \
  HEDDLE_LEGACY_GER_(prefix, ger, T)                           \
  HEDDLE_LEGACY_MATRICES_(prefix, T)
#define HEDDLE_LEGACY_COMPLEX_(prefix, T, R)                   \
  HEDDLE_LEGACY_VECTORS_(prefix, T)                            \
  HEDDLE_LEGACY_DOT_(prefix, dotu, T)                          \
  HEDDLE_LEGACY_DOT_(prefix, dotc, T)                          \
  HEDDLE_LEGACY_ROT_(prefix, T, R, T)                          \
  HEDDLE_LEGACY_MATRIX_VECTOR_(prefix, T)                      \
  HEDDLE_LEGACY_SYMMETRIC_VECTOR_(prefix, hemv, hbmv, hpmv, T) \
  HEDDLE_LEGACY_RANKS_(prefix, her, her2, hpr, hpr2, T, R)     \
  HEDDLE_LEGACY_GER_(prefix, geru, T)                          \
  HEDDLE_LEGACY_GER_(prefix, gerc, T)                          \
  HEDDLE_LEGACY_MATRICES_(prefix, T)                           \
  HEDDLE_LEGACY_SYMMETRIC_(prefix, hemm, herk, her2k, T, R, R)
#define HEDDLE_LEGACY_FUNCTIONS_                                \
  HEDDLE_LEGACY_REAL_(cublasS, float)                           \
  HEDDLE_LEGACY_REAL_(cublasD, double)                          \
  HEDDLE_LEGACY_COMPLEX_(cublasC, cuComplex, float)             \
  HEDDLE_LEGACY_COMPLEX_(cublasZ, cuDoubleComplex, double)      \
  HEDDLE_LEGACY_SIZES_(cublasSc, cuComplex, float)              \
  HEDDLE_LEGACY_SIZES_(cublasDz, cuDoubleComplex, double)       \
  HEDDLE_LEGACY_SCALE_(cublasCs, cuComplex, float)              \
  HEDDLE_LEGACY_SCALE_(cublasZd, cuDoubleComplex, double)       \
  HEDDLE_LEGACY_ROT_(cublasCs, cuComplex, float, float)         \
  HEDDLE_LEGACY_ROT_(cublasZd, cuDoubleComplex, double, double) \
  HEDDLE_LEGACY_EXTREMES_(cublasIs, float)                      \
  HEDDLE_LEGACY_EXTREMES_(cublasId, double)                     \
  HEDDLE_LEGACY_EXTREMES_(cublasIc, cuComplex)                  \
  HEDDLE_LEGACY_EXTREMES_(cublasIz, cuDoubleComplex)
