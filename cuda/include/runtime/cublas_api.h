/* cuBLAS: its types, its handle, copies, and the functions of every type, which heddle_cublas.h lists. */
#ifndef CUBLAS_API_H_
#define CUBLAS_API_H_

#include <stdint.h>
#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "driver_types.h"
#include "library_types.h"

#ifndef CUBLASWINAPI
#define CUBLASWINAPI
#endif
#ifndef CUBLASAPI
#define CUBLASAPI
#endif

#define CUBLAS_VER_MAJOR 11
#define CUBLAS_VER_MINOR 7
#define CUBLAS_VER_PATCH 3
#define CUBLAS_VER_BUILD 1
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;

typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_OP_C = 2,
  CUBLAS_OP_HERMITAN = 2,
  CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
/* Which of several ways the product takes: there is one here. */
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_ALGO0 = 0,
  CUBLAS_GEMM_ALGO1 = 1,
  CUBLAS_GEMM_ALGO2 = 2,
  CUBLAS_GEMM_ALGO3 = 3,
  CUBLAS_GEMM_ALGO4 = 4,
  CUBLAS_GEMM_ALGO5 = 5,
  CUBLAS_GEMM_ALGO6 = 6,
  CUBLAS_GEMM_ALGO7 = 7,
  CUBLAS_GEMM_ALGO8 = 8,
  CUBLAS_GEMM_ALGO9 = 9,
  CUBLAS_GEMM_ALGO10 = 10,
  CUBLAS_GEMM_ALGO11 = 11,
  CUBLAS_GEMM_ALGO12 = 12,
  CUBLAS_GEMM_ALGO13 = 13,
  CUBLAS_GEMM_ALGO14 = 14,
  CUBLAS_GEMM_ALGO15 = 15,
  CUBLAS_GEMM_ALGO16 = 16,
  CUBLAS_GEMM_ALGO17 = 17,
  CUBLAS_GEMM_ALGO18 = 18,
  CUBLAS_GEMM_ALGO19 = 19,
  CUBLAS_GEMM_ALGO20 = 20,
  CUBLAS_GEMM_ALGO21 = 21,
  CUBLAS_GEMM_ALGO22 = 22,
  CUBLAS_GEMM_ALGO23 = 23,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
  CUBLAS_GEMM_ALGO1_TENSOR_OP = 101,
  CUBLAS_GEMM_ALGO2_TENSOR_OP = 102,
  CUBLAS_GEMM_ALGO3_TENSOR_OP = 103,
  CUBLAS_GEMM_ALGO4_TENSOR_OP = 104,
  CUBLAS_GEMM_ALGO5_TENSOR_OP = 105,
  CUBLAS_GEMM_ALGO6_TENSOR_OP = 106,
  CUBLAS_GEMM_ALGO7_TENSOR_OP = 107,
  CUBLAS_GEMM_ALGO8_TENSOR_OP = 108,
  CUBLAS_GEMM_ALGO9_TENSOR_OP = 109,
  CUBLAS_GEMM_ALGO10_TENSOR_OP = 110,
  CUBLAS_GEMM_ALGO11_TENSOR_OP = 111,
  CUBLAS_GEMM_ALGO12_TENSOR_OP = 112,
  CUBLAS_GEMM_ALGO13_TENSOR_OP = 113,
  CUBLAS_GEMM_ALGO14_TENSOR_OP = 114,
  CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

typedef struct cublasContext* cublasHandle_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of release 3's names have "_v2" in the library: cublas_v2.h has them without it, cublas.h others. */
#define HEDDLE_CUBLAS_(prefix, name, end, ...) cublasStatus_t prefix##name##_v2##end(__VA_ARGS__);
#define HEDDLE_CUBLAS_SINCE_(prefix, name, end, ...) cublasStatus_t prefix##name##end(__VA_ARGS__);

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value);
size_t cublasGetCudartVersion(void);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count);
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

#define HEDDLE_CUBLAS_COPIES_(I, end)                                                                            \
  cublasStatus_t cublasSetVector##end(I n, I size, const void* x, I incx, void* device, I incy);                 \
  cublasStatus_t cublasGetVector##end(I n, I size, const void* device, I incx, void* y, I incy);                 \
  cublasStatus_t cublasSetMatrix##end(I rows, I columns, I size, const void* a, I lda, void* device, I ldb);     \
  cublasStatus_t cublasGetMatrix##end(I rows, I columns, I size, const void* device, I lda, void* b, I ldb);     \
  cublasStatus_t cublasSetVectorAsync##end(I n, I size, const void* x, I incx, void* device, I incy,             \
                                           cudaStream_t stream);                                                 \
  cublasStatus_t cublasGetVectorAsync##end(I n, I size, const void* device, I incx, void* y, I incy,             \
                                           cudaStream_t stream);                                                 \
  cublasStatus_t cublasSetMatrixAsync##end(I rows, I columns, I size, const void* a, I lda, void* device, I ldb, \
                                           cudaStream_t stream);                                                 \
  cublasStatus_t cublasGetMatrixAsync##end(I rows, I columns, I size, const void* device, I lda, void* b, I ldb, \
                                           cudaStream_t stream);
HEDDLE_CUBLAS_COPIES_(int, )
HEDDLE_CUBLAS_COPIES_(int64_t, _64)
#undef HEDDLE_CUBLAS_COPIES_

#include "heddle_cublas.h"
#undef HEDDLE_CUBLAS_
#undef HEDDLE_CUBLAS_SINCE_

#ifdef __cplusplus
}

/* The type of the sums as releases before 11 have it. */
static inline cublasComputeType_t heddle_cublas_compute_(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
      return CUBLAS_COMPUTE_16F;
    case CUDA_R_64F:
    case CUDA_C_64F:
      return CUBLAS_COMPUTE_64F;
    case CUDA_R_32I:
      return CUBLAS_COMPUTE_32I;
    case CUDA_R_32F:
    case CUDA_C_32F:
      return CUBLAS_COMPUTE_32F;
    default:
      return (cublasComputeType_t)0;
  }
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType ta, int lda,
                                          const void* b, cudaDataType tb, int ldb, const void* beta, void* c,
                                          cudaDataType tc, int ldc, cudaDataType sums, cublasGemmAlgo_t way) {
  return cublasGemmEx(handle, opa, opb, m, n, k, alpha, a, ta, lda, b, tb, ldb, beta, c, tc, ldc,
                      heddle_cublas_compute_(sums), way);
}
static inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                                                 int m, int n, int k, const void* alpha, const void* const a[],
                                                 cudaDataType ta, int lda, const void* const b[], cudaDataType tb,
                                                 int ldb, const void* beta, void* const c[], cudaDataType tc, int ldc,
                                                 int batch, cudaDataType sums, cublasGemmAlgo_t way) {
  return cublasGemmBatchedEx(handle, opa, opb, m, n, k, alpha, a, ta, lda, b, tb, ldb, beta, c, tc, ldc, batch,
                             heddle_cublas_compute_(sums), way);
}
static inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                                        cublasOperation_t opb, int m, int n, int k, const void* alpha,
                                                        const void* a, cudaDataType ta, int lda, long long int strideA,
                                                        const void* b, cudaDataType tb, int ldb, long long int strideB,
                                                        const void* beta, void* c, cudaDataType tc, int ldc,
                                                        long long int strideC, int batch, cudaDataType sums,
                                                        cublasGemmAlgo_t way) {
  return cublasGemmStridedBatchedEx(handle, opa, opb, m, n, k, alpha, a, ta, lda, strideA, b, tb, ldb, strideB, beta, c,
                                    tc, ldc, strideC, batch, heddle_cublas_compute_(sums), way);
}
#endif

#endif
