// Copies of vectors and matrices between the host and the device (cublasSetVector and its kin).
#include "cuda/cublas/library.hpp"

namespace {

using heddle::cublas::Refusal;
using heddle::cublas::require;
using heddle::cublas::require_done;

// Rows of `width` bytes, so many bytes apart.
struct Side {
  std::int64_t pitch;
};

void move(void* to, Side to_side, const void* from, Side from_side, std::int64_t width, std::int64_t rows,
          cudaMemcpyKind kind, const cudaStream_t* stream) {
  if (width == 0 || rows == 0) return;
  require(to != nullptr && from != nullptr);
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  if (rows == 1 || (to_side.pitch == width && from_side.pitch == width)) {
    const std::size_t bytes = size(width) * size(rows);
    require_done(
        stream != nullptr ? cudaMemcpyAsync(to, from, bytes, kind, *stream) : cudaMemcpy(to, from, bytes, kind),
        CUBLAS_STATUS_MAPPING_ERROR);
    return;
  }
  require_done(stream != nullptr
                   ? cudaMemcpy2DAsync(to, size(to_side.pitch), from, size(from_side.pitch), size(width), size(rows),
                                       kind, *stream)
                   : cudaMemcpy2D(to, size(to_side.pitch), from, size(from_side.pitch), size(width), size(rows), kind),
               CUBLAS_STATUS_MAPPING_ERROR);
}

template <class Body>
cublasStatus_t told(Body&& body) noexcept {
  try {
    body();
    return CUBLAS_STATUS_SUCCESS;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

cublasStatus_t move_vector(std::int64_t n, std::int64_t size, const void* x, std::int64_t incx, void* y,
                           std::int64_t incy, cudaMemcpyKind kind, const cudaStream_t* stream) {
  return told([&] {
    require(n >= 0 && size > 0 && incx > 0 && incy > 0);
    move(y, {incy * size}, x, {incx * size}, size, n, kind, stream);
  });
}

cublasStatus_t move_matrix(std::int64_t rows, std::int64_t columns, std::int64_t size, const void* a, std::int64_t lda,
                           void* b, std::int64_t ldb, cudaMemcpyKind kind, const cudaStream_t* stream) {
  return told([&] {
    require(rows >= 0 && columns >= 0 && size > 0 && lda > 0 && ldb > 0);
    move(b, {ldb * size}, a, {lda * size}, rows * size, columns, kind, stream);
  });
}

}  // namespace

extern "C" {

#define HEDDLE_COPIES(I, end)                                                                                    \
  cublasStatus_t cublasSetVector##end(I n, I size, const void* x, I incx, void* device, I incy) {                \
    return move_vector(n, size, x, incx, device, incy, cudaMemcpyHostToDevice, nullptr);                         \
  }                                                                                                              \
  cublasStatus_t cublasGetVector##end(I n, I size, const void* device, I incx, void* y, I incy) {                \
    return move_vector(n, size, device, incx, y, incy, cudaMemcpyDeviceToHost, nullptr);                         \
  }                                                                                                              \
  cublasStatus_t cublasSetMatrix##end(I rows, I columns, I size, const void* a, I lda, void* device, I ldb) {    \
    return move_matrix(rows, columns, size, a, lda, device, ldb, cudaMemcpyHostToDevice, nullptr);               \
  }                                                                                                              \
  cublasStatus_t cublasGetMatrix##end(I rows, I columns, I size, const void* device, I lda, void* b, I ldb) {    \
    return move_matrix(rows, columns, size, device, lda, b, ldb, cudaMemcpyDeviceToHost, nullptr);               \
  }                                                                                                              \
  cublasStatus_t cublasSetVectorAsync##end(I n, I size, const void* x, I incx, void* device, I incy,             \
                                           cudaStream_t stream) {                                                \
    return move_vector(n, size, x, incx, device, incy, cudaMemcpyHostToDevice, &stream);                         \
  }                                                                                                              \
  cublasStatus_t cublasGetVectorAsync##end(I n, I size, const void* device, I incx, void* y, I incy,             \
                                           cudaStream_t stream) {                                                \
    return move_vector(n, size, device, incx, y, incy, cudaMemcpyDeviceToHost, &stream);                         \
  }                                                                                                              \
  cublasStatus_t cublasSetMatrixAsync##end(I rows, I columns, I size, const void* a, I lda, void* device, I ldb, \
                                           cudaStream_t stream) {                                                \
    return move_matrix(rows, columns, size, a, lda, device, ldb, cudaMemcpyHostToDevice, &stream);               \
  }                                                                                                              \
  cublasStatus_t cublasGetMatrixAsync##end(I rows, I columns, I size, const void* device, I lda, void* b, I ldb, \
                                           cudaStream_t stream) {                                                \
    return move_matrix(rows, columns, size, device, lda, b, ldb, cudaMemcpyDeviceToHost, &stream);               \
  }
HEDDLE_COPIES(int, )
HEDDLE_COPIES(std::int64_t, _64)

}  // extern "C"
