/* What cuBLAS can do, as lists of functions for a type of numbers T, of indices I and the end of a name: cublas_api.h
   and cublas_v2.h include it within their extern "C". HEDDLE_CUBLAS_ declares one function of release 3,
   HEDDLE_CUBLAS_SINCE_ a later one. */

/* Vectors: functions of all four types. */
#define HEDDLE_CUBLAS_VECTORS_(prefix, T, I, end)                                                                 \
  HEDDLE_CUBLAS_(prefix, copy, end, cublasHandle_t handle, I n, const T* x, I incx, T* y, I incy)                 \
  HEDDLE_CUBLAS_(prefix, swap, end, cublasHandle_t handle, I n, T* x, I incx, T* y, I incy)                       \
  HEDDLE_CUBLAS_(prefix, axpy, end, cublasHandle_t handle, I n, const T* alpha, const T* x, I incx, T* y, I incy) \
  HEDDLE_CUBLAS_(prefix, scal, end, cublasHandle_t handle, I n, const T* alpha, T* x, I incx)
/* Sizes of vectors: `prefix` says where the letter stands (cublasSn is of cublasSnrm2). */
#define HEDDLE_CUBLAS_SIZES_(prefix, T, R, I, end)                                             \
  HEDDLE_CUBLAS_(prefix, nrm2, end, cublasHandle_t handle, I n, const T* x, I incx, R* result) \
  HEDDLE_CUBLAS_(prefix, asum, end, cublasHandle_t handle, I n, const T* x, I incx, R* result)
/* Which element is largest or smallest, counted from 1. */
#define HEDDLE_CUBLAS_EXTREMES_(prefix, T, I, end)                                             \
  HEDDLE_CUBLAS_(prefix, amax, end, cublasHandle_t handle, I n, const T* x, I incx, I* result) \
  HEDDLE_CUBLAS_(prefix, amin, end, cublasHandle_t handle, I n, const T* x, I incx, I* result)
/* Products of vectors. */
#define HEDDLE_CUBLAS_DOT_(prefix, name, T, I, end) \
  HEDDLE_CUBLAS_(prefix, name, end, cublasHandle_t handle, I n, const T* x, I incx, const T* y, I incy, T* result)
/* A factor of a type of its own. */
#define HEDDLE_CUBLAS_SCALE_(prefix, T, R, I, end) \
  HEDDLE_CUBLAS_(prefix, scal, end, cublasHandle_t handle, I n, const R* alpha, T* x, I incx)
/* Rotations, of which the cosine and the sine may be real. */
#define HEDDLE_CUBLAS_ROT_(prefix, T, R, S, I, end) \
  HEDDLE_CUBLAS_(prefix, rot, end, cublasHandle_t handle, I n, T* x, I incx, T* y, I incy, const R* c, const S* s)
/* Matrices and vectors: functions of all four types. */
#define HEDDLE_CUBLAS_MATRIX_VECTOR_(prefix, T, I, end)                                                                \
  HEDDLE_CUBLAS_(prefix, gemv, end, cublasHandle_t handle, cublasOperation_t op, I m, I n, const T* alpha, const T* a, \
                 I lda, const T* x, I incx, const T* beta, T* y, I incy)                                               \
  HEDDLE_CUBLAS_(prefix, gbmv, end, cublasHandle_t handle, cublasOperation_t op, I m, I n, I below, I above,           \
                 const T* alpha, const T* a, I lda, const T* x, I incx, const T* beta, T* y, I incy)                   \
  HEDDLE_CUBLAS_(prefix, symv, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* a,     \
                 I lda, const T* x, I incx, const T* beta, T* y, I incy)                                               \
  HEDDLE_CUBLAS_(prefix, trmv, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,                \
                 cublasDiagType_t diagonal, I n, const T* a, I lda, T* x, I incx)                                      \
  HEDDLE_CUBLAS_(prefix, tbmv, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,                \
                 cublasDiagType_t diagonal, I n, I k, const T* a, I lda, T* x, I incx)                                 \
  HEDDLE_CUBLAS_(prefix, tpmv, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,                \
                 cublasDiagType_t diagonal, I n, const T* a, T* x, I incx)                                             \
  HEDDLE_CUBLAS_(prefix, trsv, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,                \
                 cublasDiagType_t diagonal, I n, const T* a, I lda, T* x, I incx)                                      \
  HEDDLE_CUBLAS_(prefix, tbsv, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,                \
                 cublasDiagType_t diagonal, I n, I k, const T* a, I lda, T* x, I incx)                                 \
  HEDDLE_CUBLAS_(prefix, tpsv, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,                \
                 cublasDiagType_t diagonal, I n, const T* a, T* x, I incx)                                             \
  HEDDLE_CUBLAS_(prefix, syr, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* x,      \
                 I incx, T* a, I lda)                                                                                  \
  HEDDLE_CUBLAS_(prefix, syr2, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* x,     \
                 I incx, const T* y, I incy, T* a, I lda)                                                              \
  HEDDLE_CUBLAS_SINCE_(prefix, gemvBatched, end, cublasHandle_t handle, cublasOperation_t op, I m, I n,                \
                       const T* alpha, const T* const a[], I lda, const T* const x[], I incx, const T* beta,           \
                       T* const y[], I incy, I batch)                                                                  \
  HEDDLE_CUBLAS_SINCE_(prefix, gemvStridedBatched, end, cublasHandle_t handle, cublasOperation_t op, I m, I n,         \
                       const T* alpha, const T* a, I lda, long long int strideA, const T* x, I incx,                   \
                       long long int strideX, const T* beta, T* y, I incy, long long int strideY, I batch)
/* Matrices and vectors: functions of real and of complex numbers that have names of their own. */
#define HEDDLE_CUBLAS_SYMMETRIC_VECTOR_(prefix, T, I, end, sbmv, spmv)                                             \
  HEDDLE_CUBLAS_(prefix, sbmv, end, cublasHandle_t handle, cublasFillMode_t fill, I n, I k, const T* alpha,        \
                 const T* a, I lda, const T* x, I incx, const T* beta, T* y, I incy)                               \
  HEDDLE_CUBLAS_(prefix, spmv, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* a, \
                 const T* x, I incx, const T* beta, T* y, I incy)
/* Products that are added to a matrix. */
#define HEDDLE_CUBLAS_GER_(prefix, name, T, I, end)                                                                  \
  HEDDLE_CUBLAS_(prefix, name, end, cublasHandle_t handle, I m, I n, const T* alpha, const T* x, I incx, const T* y, \
                 I incy, T* a, I lda)
/* Such in a packed triangle: R is the factor's type. */
#define HEDDLE_CUBLAS_PACKED_(prefix, spr, spr2, T, R, I, end)                                                     \
  HEDDLE_CUBLAS_(prefix, spr, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const R* alpha, const T* x,  \
                 I incx, T* a)                                                                                     \
  HEDDLE_CUBLAS_(prefix, spr2, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* x, \
                 I incx, const T* y, I incy, T* a)
/* Hermitian matrices and vectors. */
#define HEDDLE_CUBLAS_HERMITIAN_VECTOR_(prefix, T, R, I, end)                                                      \
  HEDDLE_CUBLAS_(prefix, hemv, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* a, \
                 I lda, const T* x, I incx, const T* beta, T* y, I incy)                                           \
  HEDDLE_CUBLAS_(prefix, her, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const R* alpha, const T* x,  \
                 I incx, T* a, I lda)                                                                              \
  HEDDLE_CUBLAS_(prefix, her2, end, cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* x, \
                 I incx, const T* y, I incy, T* a, I lda)
/* Products of matrices. */
#define HEDDLE_CUBLAS_GEMM_(prefix, T, I, end)                                                                     \
  HEDDLE_CUBLAS_(prefix, gemm, end, cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, I m, I n, \
                 I k, const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)
/* Products of matrices in batches. */
#define HEDDLE_CUBLAS_GEMM_BATCHES_(prefix, T, I, end)                                                                 \
  HEDDLE_CUBLAS_SINCE_(prefix, gemmBatched, end, cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,  \
                       I m, I n, I k, const T* alpha, const T* const a[], I lda, const T* const b[], I ldb,            \
                       const T* beta, T* const c[], I ldc, I batch)                                                    \
  HEDDLE_CUBLAS_SINCE_(prefix, gemmStridedBatched, end, cublasHandle_t handle, cublasOperation_t opa,                  \
                       cublasOperation_t opb, I m, I n, I k, const T* alpha, const T* a, I lda, long long int strideA, \
                       const T* b, I ldb, long long int strideB, const T* beta, T* c, I ldc, long long int strideC,    \
                       I batch)
/* Matrices: functions of all four types. */
#define HEDDLE_CUBLAS_MATRICES_(prefix, T, I, end)                                                                    \
  HEDDLE_CUBLAS_(prefix, symm, end, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, I m, I n,    \
                 const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)                    \
  HEDDLE_CUBLAS_(prefix, syrk, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, I n, I k,     \
                 const T* alpha, const T* a, I lda, const T* beta, T* c, I ldc)                                       \
  HEDDLE_CUBLAS_(prefix, syr2k, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, I n, I k,    \
                 const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)                    \
  HEDDLE_CUBLAS_(prefix, trmm, end, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,              \
                 cublasOperation_t op, cublasDiagType_t diagonal, I m, I n, const T* alpha, const T* a, I lda,        \
                 const T* b, I ldb, T* c, I ldc)                                                                      \
  HEDDLE_CUBLAS_(prefix, trsm, end, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,              \
                 cublasOperation_t op, cublasDiagType_t diagonal, I m, I n, const T* alpha, const T* a, I lda, T* b,  \
                 I ldb)                                                                                               \
  HEDDLE_CUBLAS_SINCE_(prefix, syrkx, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, I n,   \
                       I k, const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)         \
  HEDDLE_CUBLAS_SINCE_(prefix, trsmBatched, end, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, \
                       cublasOperation_t op, cublasDiagType_t diagonal, I m, I n, const T* alpha, const T* const a[], \
                       I lda, T* const b[], I ldb, I batch)                                                           \
  HEDDLE_CUBLAS_SINCE_(prefix, geam, end, cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, I m,   \
                       I n, const T* alpha, const T* a, I lda, const T* beta, const T* b, I ldb, T* c, I ldc)         \
  HEDDLE_CUBLAS_SINCE_(prefix, dgmm, end, cublasHandle_t handle, cublasSideMode_t side, I m, I n, const T* a, I lda,  \
                       const T* x, I incx, T* c, I ldc)
/* Hermitian matrices. */
#define HEDDLE_CUBLAS_HERMITIAN_(prefix, T, R, I, end)                                                              \
  HEDDLE_CUBLAS_(prefix, hemm, end, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, I m, I n,  \
                 const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)                  \
  HEDDLE_CUBLAS_(prefix, herk, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, I n, I k,   \
                 const R* alpha, const T* a, I lda, const R* beta, T* c, I ldc)                                     \
  HEDDLE_CUBLAS_(prefix, her2k, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, I n, I k,  \
                 const T* alpha, const T* a, I lda, const T* b, I ldb, const R* beta, T* c, I ldc)                  \
  HEDDLE_CUBLAS_SINCE_(prefix, herkx, end, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, I n, \
                       I k, const T* alpha, const T* a, I lda, const T* b, I ldb, const R* beta, T* c, I ldc)
/* Functions that are told the types of their operands. */
#define HEDDLE_CUBLAS_EX_(prefix, I, end)                                                                              \
  HEDDLE_CUBLAS_SINCE_(prefix, GemmEx, end, cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, I m,  \
                       I n, I k, const void* alpha, const void* a, cudaDataType ta, I lda, const void* b,              \
                       cudaDataType tb, I ldb, const void* beta, void* c, cudaDataType tc, I ldc,                      \
                       cublasComputeType_t sums, cublasGemmAlgo_t way)                                                 \
  HEDDLE_CUBLAS_SINCE_(prefix, GemmBatchedEx, end, cublasHandle_t handle, cublasOperation_t opa,                       \
                       cublasOperation_t opb, I m, I n, I k, const void* alpha, const void* const a[],                 \
                       cudaDataType ta, I lda, const void* const b[], cudaDataType tb, I ldb, const void* beta,        \
                       void* const c[], cudaDataType tc, I ldc, I batch, cublasComputeType_t sums,                     \
                       cublasGemmAlgo_t way)                                                                           \
  HEDDLE_CUBLAS_SINCE_(prefix, GemmStridedBatchedEx, end, cublasHandle_t handle, cublasOperation_t opa,                \
                       cublasOperation_t opb, I m, I n, I k, const void* alpha, const void* a, cudaDataType ta, I lda, \
                       long long int strideA, const void* b, cudaDataType tb, I ldb, long long int strideB,            \
                       const void* beta, void* c, cudaDataType tc, I ldc, long long int strideC, I batch,              \
                       cublasComputeType_t sums, cublasGemmAlgo_t way)                                                 \
  HEDDLE_CUBLAS_SINCE_(prefix, SgemmEx, end, cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, I m, \
                       I n, I k, const float* alpha, const void* a, cudaDataType ta, I lda, const void* b,             \
                       cudaDataType tb, I ldb, const float* beta, void* c, cudaDataType tc, I ldc)                     \
  HEDDLE_CUBLAS_SINCE_(prefix, DotEx, end, cublasHandle_t handle, I n, const void* x, cudaDataType tx, I incx,         \
                       const void* y, cudaDataType ty, I incy, void* result, cudaDataType tr, cudaDataType sums)       \
  HEDDLE_CUBLAS_SINCE_(prefix, DotcEx, end, cublasHandle_t handle, I n, const void* x, cudaDataType tx, I incx,        \
                       const void* y, cudaDataType ty, I incy, void* result, cudaDataType tr, cudaDataType sums)       \
  HEDDLE_CUBLAS_SINCE_(prefix, Nrm2Ex, end, cublasHandle_t handle, I n, const void* x, cudaDataType tx, I incx,        \
                       void* result, cudaDataType tr, cudaDataType sums)                                               \
  HEDDLE_CUBLAS_SINCE_(prefix, AxpyEx, end, cublasHandle_t handle, I n, const void* alpha, cudaDataType tf,            \
                       const void* x, cudaDataType tx, I incx, void* y, cudaDataType ty, I incy, cudaDataType sums)    \
  HEDDLE_CUBLAS_SINCE_(prefix, ScalEx, end, cublasHandle_t handle, I n, const void* alpha, cudaDataType tf, void* x,   \
                       cudaDataType tx, I incx, cudaDataType sums)
/* Factors of batches of matrices. */
#define HEDDLE_CUBLAS_FACTORS_(prefix, T)                                                                           \
  HEDDLE_CUBLAS_SINCE_(prefix, getrfBatched, , cublasHandle_t handle, int n, T* const a[], int lda, int* pivots,    \
                       int* info, int batch)                                                                        \
  HEDDLE_CUBLAS_SINCE_(prefix, getrsBatched, , cublasHandle_t handle, cublasOperation_t op, int n, int count,       \
                       const T* const a[], int lda, const int* pivots, T* const b[], int ldb, int* info, int batch) \
  HEDDLE_CUBLAS_SINCE_(prefix, getriBatched, , cublasHandle_t handle, int n, const T* const a[], int lda,           \
                       const int* pivots, T* const c[], int ldc, int* info, int batch)

#define HEDDLE_CUBLAS_ALL_(prefix, T, I, end)     \
  HEDDLE_CUBLAS_VECTORS_(prefix, T, I, end)       \
  HEDDLE_CUBLAS_MATRIX_VECTOR_(prefix, T, I, end) \
  HEDDLE_CUBLAS_GEMM_(prefix, T, I, end)          \
  HEDDLE_CUBLAS_GEMM_BATCHES_(prefix, T, I, end)  \
  HEDDLE_CUBLAS_MATRICES_(prefix, T, I, end)
#define HEDDLE_CUBLAS_REAL_(prefix, T, I, end)                   \
  HEDDLE_CUBLAS_ALL_(prefix, T, I, end)                          \
  HEDDLE_CUBLAS_SIZES_(prefix, T, T, I, end)                     \
  HEDDLE_CUBLAS_DOT_(prefix, dot, T, I, end)                     \
  HEDDLE_CUBLAS_ROT_(prefix, T, T, T, I, end)                    \
  HEDDLE_CUBLAS_SYMMETRIC_VECTOR_(prefix, T, I, end, sbmv, spmv) \
  HEDDLE_CUBLAS_GER_(prefix, ger, T, I, end)                     \
  HEDDLE_CUBLAS_PACKED_(prefix, spr, spr2, T, T, I, end)
#define HEDDLE_CUBLAS_COMPLEX_(prefix, T, R, I, end)             \
  HEDDLE_CUBLAS_ALL_(prefix, T, I, end)                          \
  HEDDLE_CUBLAS_DOT_(prefix, dotu, T, I, end)                    \
  HEDDLE_CUBLAS_DOT_(prefix, dotc, T, I, end)                    \
  HEDDLE_CUBLAS_ROT_(prefix, T, R, T, I, end)                    \
  HEDDLE_CUBLAS_SYMMETRIC_VECTOR_(prefix, T, I, end, hbmv, hpmv) \
  HEDDLE_CUBLAS_GER_(prefix, geru, T, I, end)                    \
  HEDDLE_CUBLAS_GER_(prefix, gerc, T, I, end)                    \
  HEDDLE_CUBLAS_PACKED_(prefix, hpr, hpr2, T, R, I, end)         \
  HEDDLE_CUBLAS_HERMITIAN_VECTOR_(prefix, T, R, I, end)          \
  HEDDLE_CUBLAS_HERMITIAN_(prefix, T, R, I, end)
#define HEDDLE_CUBLAS_FUNCTIONS_(I, end)                                \
  HEDDLE_CUBLAS_REAL_(cublasS, float, I, end)                           \
  HEDDLE_CUBLAS_REAL_(cublasD, double, I, end)                          \
  HEDDLE_CUBLAS_COMPLEX_(cublasC, cuComplex, float, I, end)             \
  HEDDLE_CUBLAS_COMPLEX_(cublasZ, cuDoubleComplex, double, I, end)      \
  HEDDLE_CUBLAS_SIZES_(cublasSc, cuComplex, float, I, end)              \
  HEDDLE_CUBLAS_SIZES_(cublasDz, cuDoubleComplex, double, I, end)       \
  HEDDLE_CUBLAS_EXTREMES_(cublasIs, float, I, end)                      \
  HEDDLE_CUBLAS_EXTREMES_(cublasId, double, I, end)                     \
  HEDDLE_CUBLAS_EXTREMES_(cublasIc, cuComplex, I, end)                  \
  HEDDLE_CUBLAS_EXTREMES_(cublasIz, cuDoubleComplex, I, end)            \
  HEDDLE_CUBLAS_SCALE_(cublasCs, cuComplex, float, I, end)              \
  HEDDLE_CUBLAS_SCALE_(cublasZd, cuDoubleComplex, double, I, end)       \
  HEDDLE_CUBLAS_ROT_(cublasCs, cuComplex, float, float, I, end)         \
  HEDDLE_CUBLAS_ROT_(cublasZd, cuDoubleComplex, double, double, I, end) \
  HEDDLE_CUBLAS_EX_(cublas, I, end)
#define HEDDLE_CUBLAS_HALVES_(I, end)                \
  HEDDLE_CUBLAS_SINCE_GEMM_(cublasH, __half, I, end) \
  HEDDLE_CUBLAS_GEMM_BATCHES_(cublasH, __half, I, end)
#define HEDDLE_CUBLAS_SINCE_GEMM_(prefix, T, I, end)                                                                \
  HEDDLE_CUBLAS_SINCE_(prefix, gemm, end, cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, I m, \
                       I n, I k, const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)

HEDDLE_CUBLAS_(cublas, Create, , cublasHandle_t* handle)
HEDDLE_CUBLAS_(cublas, Destroy, , cublasHandle_t handle)
HEDDLE_CUBLAS_(cublas, GetVersion, , cublasHandle_t handle, int* version)
HEDDLE_CUBLAS_(cublas, SetWorkspace, , cublasHandle_t handle, void* workspace, size_t size)
HEDDLE_CUBLAS_(cublas, SetStream, , cublasHandle_t handle, cudaStream_t stream)
HEDDLE_CUBLAS_(cublas, GetStream, , cublasHandle_t handle, cudaStream_t* stream)
HEDDLE_CUBLAS_(cublas, GetPointerMode, , cublasHandle_t handle, cublasPointerMode_t* mode)
HEDDLE_CUBLAS_(cublas, SetPointerMode, , cublasHandle_t handle, cublasPointerMode_t mode)
HEDDLE_CUBLAS_FUNCTIONS_(int, )
HEDDLE_CUBLAS_FUNCTIONS_(int64_t, _64)
HEDDLE_CUBLAS_FACTORS_(cublasS, float)
HEDDLE_CUBLAS_FACTORS_(cublasD, double)
HEDDLE_CUBLAS_FACTORS_(cublasC, cuComplex)
HEDDLE_CUBLAS_FACTORS_(cublasZ, cuDoubleComplex)
#ifdef __cplusplus /* C has no half */
HEDDLE_CUBLAS_HALVES_(int, )
HEDDLE_CUBLAS_HALVES_(int64_t, _64)
#endif
