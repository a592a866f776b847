// Products of matrices that are told the types of their operands (cublasGemmEx and its kin).
#include <initializer_list>

#include "cuda/cublas/library.hpp"

namespace heddle::cublas {
namespace {

using Index = std::int64_t;

// What the program gives, whatever the types: addresses, or arrays of such in device memory.
struct Operand {
  const void* base;
  const void* const* bases;
  long long stride;
  cudaDataType type;
  Index ld;
};
struct Product {
  cublasOperation_t opa, opb;
  Index m, n, k, batch;
  const void* alpha;
  const void* beta;
  Operand a, b, c;
  cublasComputeType_t sums;
};

template <class In, class Out, class Sum>
void run(Call& call, const char* letter, const Product& of, Factor<Sum> alpha, Factor<Sum> beta) {
  const auto matrix = [](const Operand& operand, int op) {
    return Matrix<In>{static_cast<const In*>(operand.base), reinterpret_cast<const In* const*>(operand.bases),
                      operand.stride, full(op, operand.ld)};
  };
  const Target<Out> target{
      const_cast<Out*>(static_cast<const Out*>(of.c.base)),
      reinterpret_cast<Out* const*>(const_cast<void* const*>(reinterpret_cast<const void* const*>(of.c.bases))),
      of.c.stride,
      of.c.ld,
      0,
      0};
  multiply(call, letter, index_of(of.m), index_of(of.n), index_of(of.k), index_of(of.batch), alpha,
           matrix(of.a, of.opa), matrix(of.b, of.opb), beta, target);
}
template <class In, class Out, class Sum>
void run(Call& call, const char* letter, const Product& of) {
  run<In, Out, Sum>(call, letter, of, call.factor(static_cast<const Sum*>(of.alpha)),
                    call.factor(static_cast<const Sum*>(of.beta)));
}

bool is_one_of(int value, std::initializer_list<int> values) {
  for (const int one : values) {
    if (one == value) return true;
  }
  return false;
}

void gemm_of_types(Call& call, const Product& of) {
  require(of.m >= 0 && of.n >= 0 && of.k >= 0 && of.batch >= 0);
  require_columns(of.a.ld, operation_of(of.opa) == kPlain ? of.m : of.k);
  require_columns(of.b.ld, operation_of(of.opb) == kPlain ? of.k : of.n);
  require_columns(of.c.ld, of.m);
  require(of.a.type == of.b.type, CUBLAS_STATUS_NOT_SUPPORTED);
  const bool single = is_one_of(of.sums, {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_COMPUTE_32F_FAST_16F,
                                          CUBLAS_COMPUTE_32F_FAST_16BF, CUBLAS_COMPUTE_32F_FAST_TF32});
  const bool wide = is_one_of(of.sums, {CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC});
  const bool integer = is_one_of(of.sums, {CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC});
  const bool half = is_one_of(of.sums, {CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F_PEDANTIC});
  const cudaDataType in = of.a.type;
  const cudaDataType out = of.c.type;
  if (single && in == CUDA_R_32F && out == in) return run<float, float, float>(call, "s", of);
  if (single && in == CUDA_C_32F && out == in) return run<cuComplex, cuComplex, cuComplex>(call, "c", of);
  if (wide && in == CUDA_R_64F && out == in) return run<double, double, double>(call, "d", of);
  if (wide && in == CUDA_C_64F && out == in) {
    return run<cuDoubleComplex, cuDoubleComplex, cuDoubleComplex>(call, "z", of);
  }
  if (single && in == CUDA_R_16F && out == in) return run<__half, __half, float>(call, "h", of);
  if (single && in == CUDA_R_16F && out == CUDA_R_32F) return run<__half, float, float>(call, "hs", of);
  if (single && in == CUDA_R_16BF && out == in) return run<__nv_bfloat16, __nv_bfloat16, float>(call, "b", of);
  if (single && in == CUDA_R_16BF && out == CUDA_R_32F) return run<__nv_bfloat16, float, float>(call, "bs", of);
  if (single && in == CUDA_R_8I && out == CUDA_R_32F) return run<signed char, float, float>(call, "is", of);
  if (integer && in == CUDA_R_8I && out == CUDA_R_32I) return run<signed char, int, int>(call, "i", of);
  if (half && in == CUDA_R_16F && out == in) {
    return run<__half, __half, float>(call, "h", of, call.half_factor(of.alpha), call.half_factor(of.beta));
  }
  throw Refusal{CUBLAS_STATUS_NOT_SUPPORTED};
}

}  // namespace
}  // namespace heddle::cublas

using namespace heddle::cublas;

#define HEDDLE_OF_TYPES(name, ...) return guarded(handle, name, [&](Call& call) { gemm_of_types(call, __VA_ARGS__); });

#define HEDDLE_PRODUCTS(I, end)                                                                                        \
  cublasStatus_t cublasGemmEx##end(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, I m, I n, I k, \
                                   const void* alpha, const void* a, cudaDataType ta, I lda, const void* b,            \
                                   cudaDataType tb, I ldb, const void* beta, void* c, cudaDataType tc, I ldc,          \
                                   cublasComputeType_t sums, cublasGemmAlgo_t){HEDDLE_OF_TYPES(                        \
      "cublasGemmEx", {opa,                                                                                            \
                       opb,                                                                                            \
                       m,                                                                                              \
                       n,                                                                                              \
                       k,                                                                                              \
                       1,                                                                                              \
                       alpha,                                                                                          \
                       beta,                                                                                           \
                       {a, nullptr, 0, ta, lda},                                                                       \
                       {b, nullptr, 0, tb, ldb},                                                                       \
                       {c, nullptr, 0, tc, ldc},                                                                       \
                       sums})} cublasStatus_t cublasGemmBatchedEx##end(cublasHandle_t handle, cublasOperation_t opa,   \
                                                                       cublasOperation_t opb, I m, I n, I k,           \
                                                                       const void* alpha, const void* const a[],       \
                                                                       cudaDataType ta, I lda, const void* const b[],  \
                                                                       cudaDataType tb, I ldb, const void* beta,       \
                                                                       void* const c[], cudaDataType tc, I ldc,        \
                                                                       I batch, cublasComputeType_t sums,              \
                                                                       cublasGemmAlgo_t){HEDDLE_OF_TYPES(              \
      "cublasGemmBatchedEx",                                                                                           \
      {opa,                                                                                                            \
       opb,                                                                                                            \
       m,                                                                                                              \
       n,                                                                                                              \
       k,                                                                                                              \
       batch,                                                                                                          \
       alpha,                                                                                                          \
       beta,                                                                                                           \
       {nullptr, a, 0, ta, lda},                                                                                       \
       {nullptr, b, 0, tb, ldb},                                                                                       \
       {nullptr, c, 0, tc, ldc},                                                                                       \
       sums})} cublasStatus_t cublasGemmStridedBatchedEx##end(cublasHandle_t handle, cublasOperation_t opa,            \
                                                              cublasOperation_t opb, I m, I n, I k, const void* alpha, \
                                                              const void* a, cudaDataType ta, I lda,                   \
                                                              long long strideA, const void* b, cudaDataType tb,       \
                                                              I ldb, long long strideB, const void* beta, void* c,     \
                                                              cudaDataType tc, I ldc, long long strideC, I batch,      \
                                                              cublasComputeType_t sums, cublasGemmAlgo_t){             \
      HEDDLE_OF_TYPES("cublasGemmStridedBatchedEx",                                                                    \
                      {opa,                                                                                            \
                       opb,                                                                                            \
                       m,                                                                                              \
                       n,                                                                                              \
                       k,                                                                                              \
                       batch,                                                                                          \
                       alpha,                                                                                          \
                       beta,                                                                                           \
                       {a, nullptr, strideA, ta, lda},                                                                 \
                       {b, nullptr, strideB, tb, ldb},                                                                 \
                       {c, nullptr, strideC, tc, ldc},                                                                 \
                       sums})} cublasStatus_t cublasSgemmEx##end(cublasHandle_t handle, cublasOperation_t opa,         \
                                                                 cublasOperation_t opb, I m, I n, I k,                 \
                                                                 const float* alpha, const void* a, cudaDataType ta,   \
                                                                 I lda, const void* b, cudaDataType tb, I ldb,         \
                                                                 const float* beta, void* c, cudaDataType tc, I ldc) { \
    HEDDLE_OF_TYPES("cublasSgemmEx", {opa,                                                                             \
                                      opb,                                                                             \
                                      m,                                                                               \
                                      n,                                                                               \
                                      k,                                                                               \
                                      1,                                                                               \
                                      alpha,                                                                           \
                                      beta,                                                                            \
                                      {a, nullptr, 0, ta, lda},                                                        \
                                      {b, nullptr, 0, tb, ldb},                                                        \
                                      {c, nullptr, 0, tc, ldc},                                                        \
                                      CUBLAS_COMPUTE_32F})                                                             \
  }

extern "C" {
HEDDLE_PRODUCTS(int, )
HEDDLE_PRODUCTS(std::int64_t, _64)
}
