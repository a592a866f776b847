// cuBLAS's first interface (cublas.h): a handle of the whole program, and functions that call those with a handle.
#include <mutex>

#pragma GCC visibility push(default)
#include <cublas.h>
#include <cuda_runtime.h>
#pragma GCC visibility pop

namespace {

// They stay until the process ends, which may end while a thread is in a call.
struct Program {
  std::mutex lock;
  cublasHandle_t handle = nullptr;  // null: before cublasInit, after cublasShutdown
  cublasStatus_t error = CUBLAS_STATUS_SUCCESS;
};
Program& program() {
  static Program* const all = new Program;
  return *all;
}

// A letter that means nothing.
struct NoSuchLetter {};

cublasOperation_t operation(char letter) {
  switch (letter) {
    case 'N':
    case 'n':
      return CUBLAS_OP_N;
    case 'T':
    case 't':
      return CUBLAS_OP_T;
    case 'C':
    case 'c':
      return CUBLAS_OP_C;
    default:
      throw NoSuchLetter{};
  }
}
// Of two letters, whichever their case: the second one.
bool is_second(char letter, char first, char second) {
  const char small = static_cast<char>(letter | 0x20);
  if (small != first && small != second) {
    throw NoSuchLetter{};
  }
  return small == second;
}
cublasFillMode_t triangle(char letter) {
  return is_second(letter, 'l', 'u') ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
cublasDiagType_t diagonal(char letter) {
  return is_second(letter, 'n', 'u') ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}
cublasSideMode_t side(char letter) {
  return is_second(letter, 'l', 'r') ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
}

// What `body` comes to with the program's handle; an error stays until cublasGetError asks.
template <class Body>
cublasStatus_t call(Body&& body) noexcept {
  const std::lock_guard<std::mutex> held(program().lock);
  cublasStatus_t status = CUBLAS_STATUS_NOT_INITIALIZED;
  if (program().handle != nullptr) {
    try {
      status = body(program().handle);
    } catch (const NoSuchLetter&) {
      status = CUBLAS_STATUS_INVALID_VALUE;
    }
  }
  if (status != CUBLAS_STATUS_SUCCESS) {
    program().error = status;
  }
  return status;
}

}  // namespace

extern "C" {

cublasStatus cublasInit() {
  const std::lock_guard<std::mutex> held(program().lock);
  return program().handle != nullptr ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&program().handle);
}

cublasStatus cublasShutdown() {
  return call([](cublasHandle_t handle) {
    program().handle = nullptr;
    return cublasDestroy_v2(handle);
  });
}

cublasStatus cublasGetError() {
  const std::lock_guard<std::mutex> held(program().lock);
  const cublasStatus_t error = program().error;
  program().error = CUBLAS_STATUS_SUCCESS;
  return error;
}

cublasStatus cublasGetVersion(int* version) {
  return call([version](cublasHandle_t handle) { return cublasGetVersion_v2(handle, version); });
}

cublasStatus cublasAlloc(int n, int size, void** device) {
  return call([&](cublasHandle_t) {
    if (n <= 0 || size <= 0 || device == nullptr) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    const bool done = cudaMalloc(device, static_cast<std::size_t>(n) * static_cast<std::size_t>(size)) == cudaSuccess;
    return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
  });
}

cublasStatus cublasFree(void* device) {
  return call([device](cublasHandle_t) {
    return cudaFree(device) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
  });
}

cublasStatus cublasSetKernelStream(cudaStream_t stream) {
  return call([stream](cublasHandle_t handle) { return cublasSetStream_v2(handle, stream); });
}

#define HEDDLE_LEGACY_DO_(prefix, name, parameters, arguments)                \
  void prefix##name parameters {                                              \
    call([&](cublasHandle_t handle) { return prefix##name##_v2 arguments; }); \
  }
#define HEDDLE_LEGACY_GET_(R, prefix, name, parameters, arguments)            \
  R prefix##name parameters {                                                 \
    R result{};                                                               \
    call([&](cublasHandle_t handle) { return prefix##name##_v2 arguments; }); \
    return result;                                                            \
  }
HEDDLE_LEGACY_FUNCTIONS_

}  // extern "C"
