// Functions of vectors (level 1).
#include "cuda/cublas/library.hpp"

namespace heddle::cublas {
namespace {

// A kernel that goes over n elements: four for each thread where there are many.
template <class... Arguments>
void each(Call& call, const char* kernel, const char* letter, int n, Arguments... arguments) {
  if (n <= 0) return;
  call.launch("vectors", kernel, letter, dim3(blocks_of(n, 256)), static_cast<unsigned>(n), arguments...);
}

template <class T>
void copy(Call& call, int n, const T* x, std::int64_t incx, T* y, std::int64_t incy) {
  each(call, "copy", letter_of<T>(), n, first_of(x, n, incx), static_cast<long long>(incx), first_of(y, n, incy),
       static_cast<long long>(incy));
}

template <class T>
void swap(Call& call, int n, T* x, std::int64_t incx, T* y, std::int64_t incy) {
  each(call, "swap", letter_of<T>(), n, first_of(x, n, incx), static_cast<long long>(incx), first_of(y, n, incy),
       static_cast<long long>(incy));
}

template <class T, class Value>
void axpy(Call& call, int n, Factor<Value> alpha, const T* x, std::int64_t incx, T* y, std::int64_t incy) {
  each(call, "axpy", letter_of<T>(), n, alpha, first_of(x, n, incx), static_cast<long long>(incx), first_of(y, n, incy),
       static_cast<long long>(incy));
}

template <class T, class Value>
void scal(Call& call, int n, Factor<Value> alpha, T* x, std::int64_t incx) {
  if (incx > 0) each(call, "scal", letter_of<T>(), n, alpha, x, static_cast<long long>(incx));
}

template <class T>
void rotate(Call& call, int n, T* x, std::int64_t incx, T* y, std::int64_t incy, Factor<T> c, Factor<T> s) {
  each(call, "rot", letter_of<T>(), n, first_of(x, n, incx), static_cast<long long>(incx), first_of(y, n, incy),
       static_cast<long long>(incy), c, s);
}

// A sum over n elements: parts of up to kMostParts blocks, and their sum, which is a Result. The second kernel alone
// makes the result of nothing.
template <class Result, class... Arguments>
void sum_up(Call& call, const std::string& kernel, const char* letter, int n, Result* result, Arguments... arguments) {
  void* const place = call.place_of(result);
  void* const parts = call.space();
  unsigned blocks = n <= 0 ? 0 : blocks_of(n, 64);
  if (blocks > kMostParts) blocks = kMostParts;
  if (blocks != 0) {
    call.launch("reductions", kernel.c_str(), letter, dim3(blocks), static_cast<unsigned>(n), arguments..., parts);
  }
  call.launch("reductions", (kernel + "_end").c_str(), letter, dim3(1), parts, blocks, place);
  call.bring(result, sizeof *result);
}

template <class T>
void dot(Call& call, int n, const T* x, std::int64_t incx, const T* y, std::int64_t incy, T* result, bool conjugated) {
  sum_up(call, "dot", letter_of<T>(), n, result, first_of(x, n, incx), static_cast<long long>(incx),
         first_of(y, n, incy), static_cast<long long>(incy), conjugated ? 1 : 0);
}

template <class T, class Result>
void size(Call& call, const char* kernel, int n, const T* x, std::int64_t incx, Result* result) {
  sum_up(call, kernel, letter_of<T>(), incx > 0 ? n : 0, result, x, static_cast<long long>(incx));
}

template <class T>
void extreme(Call& call, const char* kernel, int n, const T* x, std::int64_t incx, int* result) {
  size(call, kernel, n, x, incx, result);
}
// Counted in 64 bits: the kernel leaves the lower half, the upper one is 0.
template <class T>
void extreme(Call& call, const char* kernel, int n, const T* x, std::int64_t incx, std::int64_t* result) {
  void* const place = call.place_of(result);
  require_done(cudaMemsetAsync(place, 0, sizeof *result, call.context().stream));
  void* const parts = call.space();
  unsigned blocks = n <= 0 || incx <= 0 ? 0 : blocks_of(n, 64);
  if (blocks > kMostParts) blocks = kMostParts;
  if (blocks != 0) {
    call.launch("reductions", kernel, letter_of<T>(), dim3(blocks), static_cast<unsigned>(n), x,
                static_cast<long long>(incx), parts);
  }
  call.launch("reductions", (std::string(kernel) + "_end").c_str(), letter_of<T>(), dim3(1), parts, blocks, place);
  call.bring(result, sizeof *result);
}

// ---- functions that are told the types of their operands

// Calls the body with a null pointer of the type, and with one of what it is computed as.
template <class Body>
void with_type(cudaDataType type, Body&& body) {
  switch (type) {
    case CUDA_R_16F:
      return body(static_cast<__half*>(nullptr), static_cast<float*>(nullptr), CUDA_R_32F);
    case CUDA_R_16BF:
      return body(static_cast<__nv_bfloat16*>(nullptr), static_cast<float*>(nullptr), CUDA_R_32F);
    case CUDA_R_32F:
      return body(static_cast<float*>(nullptr), static_cast<float*>(nullptr), CUDA_R_32F);
    case CUDA_R_64F:
      return body(static_cast<double*>(nullptr), static_cast<double*>(nullptr), CUDA_R_64F);
    case CUDA_C_32F:
      return body(static_cast<cuComplex*>(nullptr), static_cast<cuComplex*>(nullptr), CUDA_C_32F);
    case CUDA_C_64F:
      return body(static_cast<cuDoubleComplex*>(nullptr), static_cast<cuDoubleComplex*>(nullptr), CUDA_C_64F);
    default:
      throw Refusal{CUBLAS_STATUS_NOT_SUPPORTED};
  }
}

// Of one type for all operands, and of the usual one for sums.
void require_types(bool holds) {
  require(holds, CUBLAS_STATUS_NOT_SUPPORTED);
}

void dot_of_type(Call& call, int n, const void* x, cudaDataType tx, std::int64_t incx, const void* y, cudaDataType ty,
                 std::int64_t incy, void* result, cudaDataType tr, cudaDataType sums, bool conjugated) {
  with_type(tx, [&](auto* type, auto*, cudaDataType usual) {
    using T = std::remove_pointer_t<decltype(type)>;
    require_types(ty == tx && tr == tx && sums == usual);
    dot(call, n, static_cast<const T*>(x), incx, static_cast<const T*>(y), incy, static_cast<T*>(result), conjugated);
  });
}

void norm_of_type(Call& call, int n, const void* x, cudaDataType tx, std::int64_t incx, void* result, cudaDataType tr,
                  cudaDataType sums) {
  with_type(tx, [&](auto* type, auto*, cudaDataType) {
    using T = std::remove_pointer_t<decltype(type)>;
    const cudaDataType real = tx == CUDA_C_32F ? CUDA_R_32F : tx == CUDA_C_64F ? CUDA_R_64F : tx;
    require_types(tr == real && sums == (tx == CUDA_R_64F || tx == CUDA_C_64F ? CUDA_R_64F : CUDA_R_32F));
    size(call, "nrm2", n, static_cast<const T*>(x), incx, static_cast<Real<T>*>(result));
  });
}

void axpy_of_type(Call& call, int n, const void* alpha, cudaDataType tf, const void* x, cudaDataType tx,
                  std::int64_t incx, void* y, cudaDataType ty, std::int64_t incy, cudaDataType sums) {
  with_type(tx, [&](auto* type, auto* value, cudaDataType usual) {
    using T = std::remove_pointer_t<decltype(type)>;
    using Value = std::remove_pointer_t<decltype(value)>;
    require_types(ty == tx && tf == usual && sums == usual);
    axpy(call, n, call.factor(static_cast<const Value*>(alpha)), static_cast<const T*>(x), incx, static_cast<T*>(y),
         incy);
  });
}

void scal_of_type(Call& call, int n, const void* alpha, cudaDataType tf, void* x, cudaDataType tx, std::int64_t incx,
                  cudaDataType sums) {
  with_type(tx, [&](auto* type, auto* value, cudaDataType usual) {
    using T = std::remove_pointer_t<decltype(type)>;
    using Value = std::remove_pointer_t<decltype(value)>;
    require_types(tf == usual && sums == usual);
    scal(call, n, call.factor(static_cast<const Value*>(alpha)), static_cast<T*>(x), incx);
  });
}

}  // namespace
}  // namespace heddle::cublas

using namespace heddle::cublas;

#define HEDDLE_GUARDED(name, ...) return guarded(handle, #name, [&](Call& call) { __VA_ARGS__; });

#define HEDDLE_VECTORS(prefix, T, I, end)                                                                            \
  cublasStatus_t prefix##copy_v2##end(cublasHandle_t handle, I n, const T* x, I incx, T* y, I incy){HEDDLE_GUARDED(  \
      prefix##copy, copy(call, index_of(n), x, incx, y,                                                              \
                         incy))} cublasStatus_t prefix##swap_v2##end(cublasHandle_t handle, I n, T* x, I incx, T* y, \
                                                                     I incy){HEDDLE_GUARDED(                         \
      prefix##swap, heddle::cublas::swap(call, index_of(n), x, incx, y,                                              \
                                         incy))} cublasStatus_t prefix##axpy_v2##end(cublasHandle_t handle, I n,     \
                                                                                     const T* alpha, const T* x,     \
                                                                                     I incx, T* y, I incy){          \
      HEDDLE_GUARDED(prefix##axpy, axpy(call, index_of(n), call.factor(alpha), x, incx, y,                           \
                                        incy))} cublasStatus_t prefix##scal_v2##end(cublasHandle_t handle, I n,      \
                                                                                    const T* alpha, T* x, I incx) {  \
    HEDDLE_GUARDED(prefix##scal, scal(call, index_of(n), call.factor(alpha), x, incx))                               \
  }
#define HEDDLE_SCALE(prefix, T, R, I, end)                                                        \
  cublasStatus_t prefix##scal_v2##end(cublasHandle_t handle, I n, const R* alpha, T* x, I incx) { \
    HEDDLE_GUARDED(prefix##scal, scal(call, index_of(n), call.factor_for<T>(alpha), x, incx))     \
  }
#define HEDDLE_SIZES(prefix, T, R, I, end)                                                                         \
  cublasStatus_t prefix##nrm2_v2##end(cublasHandle_t handle, I n, const T* x, I incx, R* result){HEDDLE_GUARDED(   \
      prefix##nrm2, heddle::cublas::size(call, "nrm2", index_of(n), x, incx,                                       \
                                         result))} cublasStatus_t prefix##asum_v2##end(cublasHandle_t handle, I n, \
                                                                                       const T* x, I incx,         \
                                                                                       R* result) {                \
    HEDDLE_GUARDED(prefix##asum, heddle::cublas::size(call, "asum", index_of(n), x, incx, result))                 \
  }
#define HEDDLE_EXTREMES(prefix, T, I, end)                                                                        \
  cublasStatus_t prefix##amax_v2##end(cublasHandle_t handle, I n, const T* x, I incx, I* result){HEDDLE_GUARDED(  \
      prefix##amax, extreme(call, "amax", index_of(n), x, incx,                                                   \
                            result))} cublasStatus_t prefix##amin_v2##end(cublasHandle_t handle, I n, const T* x, \
                                                                          I incx, I* result) {                    \
    HEDDLE_GUARDED(prefix##amin, extreme(call, "amin", index_of(n), x, incx, result))                             \
  }
#define HEDDLE_DOT(prefix, name, T, I, end, conjugated)                                                     \
  cublasStatus_t prefix##name##_v2##end(cublasHandle_t handle, I n, const T* x, I incx, const T* y, I incy, \
                                        T* result) {                                                        \
    HEDDLE_GUARDED(prefix##name, dot(call, index_of(n), x, incx, y, incy, result, conjugated))              \
  }
#define HEDDLE_ROT(prefix, T, R, S, I, end, sine)                                                                      \
  cublasStatus_t prefix##rot_v2##end(cublasHandle_t handle, I n, T* x, I incx, T* y, I incy, const R* c, const S* s) { \
    HEDDLE_GUARDED(prefix##rot, rotate(call, index_of(n), x, incx, y, incy, call.factor_for<T>(c), call.sine))         \
  }

#define HEDDLE_LEVEL_1(I, end)                                                                                        \
  HEDDLE_VECTORS(cublasS, float, I, end)                                                                              \
  HEDDLE_VECTORS(cublasD, double, I, end)                                                                             \
  HEDDLE_VECTORS(cublasC, cuComplex, I, end)                                                                          \
  HEDDLE_VECTORS(cublasZ, cuDoubleComplex, I, end)                                                                    \
  HEDDLE_SCALE(cublasCs, cuComplex, float, I, end)                                                                    \
  HEDDLE_SCALE(cublasZd, cuDoubleComplex, double, I, end)                                                             \
  HEDDLE_SIZES(cublasS, float, float, I, end)                                                                         \
  HEDDLE_SIZES(cublasD, double, double, I, end)                                                                       \
  HEDDLE_SIZES(cublasSc, cuComplex, float, I, end)                                                                    \
  HEDDLE_SIZES(cublasDz, cuDoubleComplex, double, I, end)                                                             \
  HEDDLE_EXTREMES(cublasIs, float, I, end)                                                                            \
  HEDDLE_EXTREMES(cublasId, double, I, end)                                                                           \
  HEDDLE_EXTREMES(cublasIc, cuComplex, I, end)                                                                        \
  HEDDLE_EXTREMES(cublasIz, cuDoubleComplex, I, end)                                                                  \
  HEDDLE_DOT(cublasS, dot, float, I, end, false)                                                                      \
  HEDDLE_DOT(cublasD, dot, double, I, end, false)                                                                     \
  HEDDLE_DOT(cublasC, dotu, cuComplex, I, end, false)                                                                 \
  HEDDLE_DOT(cublasC, dotc, cuComplex, I, end, true)                                                                  \
  HEDDLE_DOT(cublasZ, dotu, cuDoubleComplex, I, end, false)                                                           \
  HEDDLE_DOT(cublasZ, dotc, cuDoubleComplex, I, end, true)                                                            \
  HEDDLE_ROT(cublasS, float, float, float, I, end, factor(s))                                                         \
  HEDDLE_ROT(cublasD, double, double, double, I, end, factor(s))                                                      \
  HEDDLE_ROT(cublasC, cuComplex, float, cuComplex, I, end, factor(s))                                                 \
  HEDDLE_ROT(cublasZ, cuDoubleComplex, double, cuDoubleComplex, I, end, factor(s))                                    \
  HEDDLE_ROT(cublasCs, cuComplex, float, float, I, end, factor_for<cuComplex>(s))                                     \
  HEDDLE_ROT(cublasZd, cuDoubleComplex, double, double, I, end, factor_for<cuDoubleComplex>(s))                       \
  cublasStatus_t cublasDotEx##end(cublasHandle_t handle, I n, const void* x, cudaDataType tx, I incx, const void* y,  \
                                  cudaDataType ty, I incy, void* result, cudaDataType tr,                             \
                                  cudaDataType sums){HEDDLE_GUARDED(                                                  \
      cublasDotEx, dot_of_type(call, index_of(n), x, tx, incx, y, ty, incy, result, tr, sums,                         \
                               false))} cublasStatus_t cublasDotcEx##end(cublasHandle_t handle, I n, const void* x,   \
                                                                         cudaDataType tx, I incx, const void* y,      \
                                                                         cudaDataType ty, I incy, void* result,       \
                                                                         cudaDataType tr,                             \
                                                                         cudaDataType sums){HEDDLE_GUARDED(           \
      cublasDotcEx, dot_of_type(call, index_of(n), x, tx, incx, y, ty, incy, result, tr, sums,                        \
                                true))} cublasStatus_t cublasNrm2Ex##end(cublasHandle_t handle, I n, const void* x,   \
                                                                         cudaDataType tx, I incx, void* result,       \
                                                                         cudaDataType tr, cudaDataType sums){         \
      HEDDLE_GUARDED(cublasNrm2Ex, norm_of_type(call, index_of(n), x, tx, incx, result, tr, sums))} cublasStatus_t    \
      cublasAxpyEx##end(cublasHandle_t handle, I n, const void* alpha, cudaDataType tf, const void* x,                \
                        cudaDataType tx, I incx, void* y, cudaDataType ty, I incy, cudaDataType sums){HEDDLE_GUARDED( \
          cublasAxpyEx, axpy_of_type(call, index_of(n), alpha, tf, x, tx, incx, y, ty, incy,                          \
                                     sums))} cublasStatus_t cublasScalEx##end(cublasHandle_t handle, I n,             \
                                                                              const void* alpha, cudaDataType tf,     \
                                                                              void* x, cudaDataType tx, I incx,       \
                                                                              cudaDataType sums) {                    \
    HEDDLE_GUARDED(cublasScalEx, scal_of_type(call, index_of(n), alpha, tf, x, tx, incx, sums))                       \
  }

extern "C" {
HEDDLE_LEVEL_1(int, )
HEDDLE_LEVEL_1(std::int64_t, _64)
}
