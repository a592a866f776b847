// What the functions of cuBLAS share: handles, the kernels that do the work on the device, and what a function ends
// with when it cannot do what it was asked for. Every result is computed by kernels; host code checks and launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>

#pragma GCC visibility push(default)
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#pragma GCC visibility pop

#include "cuda/cublas/kernels/arguments.h"

struct cublasContext {
  std::recursive_mutex lock;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t mathematics = CUBLAS_DEFAULT_MATH;
  int cores = 0;
  std::map<cudaStream_t, void*> spaces;  // of each stream that the handle has had: kSpace bytes of device memory
};

namespace heddle::cublas {

struct Refusal {
  cublasStatus_t status;
};
inline void require(bool holds, cublasStatus_t otherwise = CUBLAS_STATUS_INVALID_VALUE) {
  if (!holds) throw Refusal{otherwise};
}
void require_done(cudaError_t error, cublasStatus_t otherwise = CUBLAS_STATUS_EXECUTION_FAILED);

// For parts of sums: a stream's work is in order, so that one space for each is enough. A result follows them.
inline constexpr std::size_t kMostParts = 64;
inline constexpr std::size_t kResult = kMostParts * 3 * sizeof(double);
inline constexpr std::size_t kSpace = kResult + 2 * sizeof(double);

// The letter of a type in its kernels' names.
template <class T>
constexpr const char* letter_of() {
  if constexpr (std::is_same_v<T, float>) return "s";
  if constexpr (std::is_same_v<T, double>) return "d";
  if constexpr (std::is_same_v<T, cuComplex>) return "c";
  if constexpr (std::is_same_v<T, cuDoubleComplex>) return "z";
  if constexpr (std::is_same_v<T, __half>) return "h";
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return "b";
}
template <class T>
struct RealOf {
  using Type = T;
};
template <>
struct RealOf<cuComplex> {
  using Type = float;
};
template <>
struct RealOf<cuDoubleComplex> {
  using Type = double;
};
template <class T>
using Real = typename RealOf<T>::Type;
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;
template <class T>
T real_number(double x) {
  if constexpr (kIsComplex<T>) {
    T value{};
    value.x = static_cast<Real<T>>(x);
    return value;
  } else {
    return static_cast<T>(x);
  }
}

// One function of the API at work.
class Call {
 public:
  Call(cublasContext& context, const char* function) : context_(context), function_(function) {}
  [[nodiscard]] cublasContext& context() { return context_; }

  // A factor that the program gives as the handle's pointer mode says.
  template <class T>
  Factor<T> factor(const T* from, int form = kAsItIs) {
    Factor<T> out{{}, nullptr, form};
    require(from != nullptr);
    if (context_.pointers == CUBLAS_POINTER_MODE_DEVICE) {
      out.place = from;
    } else {
      read(&out.value, from, sizeof(T));
    }
    return out;
  }
  // Of a complex factor that may be given as a real number.
  template <class T, class Given>
  Factor<T> factor_for(const Given* from) {
    if constexpr (std::is_same_v<T, Given>) {
      return factor(from);
    } else {
      static_assert(std::is_same_v<Given, Real<T>>);
      require(from != nullptr);
      if (context_.pointers == CUBLAS_POINTER_MODE_DEVICE) return {{}, from, kReal};
      Factor<T> out{{}, nullptr, kAsItIs};
      read(&out.value.x, from, sizeof(Given));
      return out;
    }
  }
  Factor<float> half_factor(const void* from);
  void read(void* into, const void* from, std::size_t bytes) const;  // of the program's memory

  // Launches a kernel of 64 threads a block: of a file of kernels/, for a type's letter.
  template <class... Arguments>
  void launch(const char* file, const char* kernel, const char* letter, dim3 grid, Arguments... arguments) {
    void* pointers[] = {static_cast<void*>(&arguments)...};
    start(file, kernel, letter, grid, pointers);
  }

  // Where the parts of a sum and its result have room on the device.
  [[nodiscard]] void* space();
  // Where a kernel is to leave a result for `result`, and afterwards what brings it there.
  [[nodiscard]] void* place_of(void* result);
  void bring(void* result, std::size_t bytes);

 private:
  void start(const char* file, const char* kernel, const char* letter, dim3 grid, void** arguments);
  cublasContext& context_;
  const char* function_;
};

// Device memory for the time of a call's kernels; of no bytes, none.
class Scratch {
 public:
  Scratch(Call& call, std::size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] void* at() const { return at_; }

 private:
  cudaStream_t stream_;
  void* at_ = nullptr;
};

[[nodiscard]] bool is_handle(cublasHandle_t handle);

template <class Body>
cublasStatus_t guarded(cublasHandle_t handle, const char* function, Body&& body) noexcept {
  try {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    const std::lock_guard<std::recursive_mutex> held(handle->lock);
    Call call(*handle, function);
    body(call);
    return CUBLAS_STATUS_SUCCESS;
  } catch (const Refusal& refusal) {
    return refusal.status;
  } catch (...) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
}

// Indices of 64 bits: kernels count in 32, and no device's memory holds more.
inline int index_of(std::int64_t value) {
  require(value <= std::numeric_limits<int>::max() && value >= std::numeric_limits<int>::min(),
          CUBLAS_STATUS_NOT_SUPPORTED);
  return static_cast<int>(value);
}

inline unsigned blocks_of(std::int64_t count, std::int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}
inline constexpr unsigned kMostBlocks = 65535;  // of a grid's second and third dimension
inline unsigned within_limit(unsigned blocks) {
  return blocks < kMostBlocks ? blocks : kMostBlocks;
}

// The element with which a vector of negative increment begins.
template <class T>
T* first_of(T* x, std::int64_t n, std::int64_t increment) {
  return increment < 0 ? x + (1 - n) * increment : x;
}

inline int operation_of(cublasOperation_t op) {
  require(op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C);
  return op;
}
inline bool is_upper(cublasFillMode_t fill) {
  require(fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER);
  return fill == CUBLAS_FILL_MODE_UPPER;
}
inline bool is_unit(cublasDiagType_t diagonal) {
  require(diagonal == CUBLAS_DIAG_NON_UNIT || diagonal == CUBLAS_DIAG_UNIT);
  return diagonal == CUBLAS_DIAG_UNIT;
}
inline bool is_right(cublasSideMode_t side) {
  require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT);
  return side == CUBLAS_SIDE_RIGHT;
}
inline void require_columns(std::int64_t ld, std::int64_t rows) {
  require(ld >= (rows > 1 ? rows : 1));
}

inline Shape full(int op, std::int64_t ld) {
  return {op, kGeneral, 0, 0, kFull, 0, 0, ld};
}
inline Shape triangle(int structure, bool upper, std::int64_t ld, int op = kPlain, bool unit = false) {
  return {op, structure, upper ? 1 : 0, unit ? 1 : 0, kFull, 0, 0, ld};
}
template <class T>
Matrix<T> one(const T* base, const Shape& shape) {
  return {base, nullptr, 0, shape};
}
template <class T>
Target<T> into(T* base, std::int64_t ld, int part = 0, bool hermitian = false) {
  return {base, nullptr, 0, ld, part, hermitian ? 1 : 0};
}
inline int part_of(bool upper) {
  return upper ? 2 : 1;
}

// gemm.cu; the kernel's letter says which types it multiplies.
template <class In, class Out, class Sum>
void multiply(Call& call, const char* letter, int m, int n, int k, int batch, Factor<Sum> alpha, Matrix<In> a,
              Matrix<In> b, Factor<Sum> beta, Target<Out> c) {
  if (m == 0 || n == 0 || batch == 0) return;
  const int tile = kIsComplex<Sum> ? 16 : 32;
  call.launch("gemm", "gemm", letter, dim3(blocks_of(m, tile), within_limit(blocks_of(n, tile)), within_limit(batch)),
              m, n, k, batch, alpha, a, b, beta, c);
}
template <class T>
void multiply(Call& call, int m, int n, int k, int batch, Factor<T> alpha, Matrix<T> a, Matrix<T> b, Factor<T> beta,
              Target<T> c) {
  multiply(call, letter_of<T>(), m, n, k, batch, alpha, a, b, beta, c);
}

}  // namespace heddle::cublas
