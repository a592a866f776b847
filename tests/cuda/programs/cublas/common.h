// What the programs of this folder share: numbers of four types and their functions of cuBLAS, matrices by columns on
// the device and, in double precision, on the host, and checks that say which line has failed.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <vector>

using Exact = std::complex<double>;

inline int failures = 0;
inline void fail(int line, const char* what) {
  if (++failures < 20) std::printf("line %d: %s\n", line, what);
}
#define CHECK(holds) ((holds) ? (void)0 : fail(__LINE__, #holds))
#define OK(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)
#define IS(status, call) CHECK((call) == CUBLAS_STATUS_##status)

inline cublasHandle_t handle;

inline Exact exact(float x) {
  return x;
}
inline Exact exact(double x) {
  return x;
}
inline Exact exact(cuComplex x) {
  return {x.x, x.y};
}
inline Exact exact(cuDoubleComplex x) {
  return {x.x, x.y};
}
template <class T>
struct Of;
template <>
struct Of<float> {
  using Real = float;
  static float from(Exact x) { return static_cast<float>(x.real()); }
};
template <>
struct Of<double> {
  using Real = double;
  static double from(Exact x) { return x.real(); }
};
template <>
struct Of<cuComplex> {
  using Real = float;
  static cuComplex from(Exact x) { return make_cuComplex(static_cast<float>(x.real()), static_cast<float>(x.imag())); }
};
template <>
struct Of<cuDoubleComplex> {
  using Real = double;
  static cuDoubleComplex from(Exact x) { return make_cuDoubleComplex(x.real(), x.imag()); }
};
template <class T>
constexpr bool is_complex = sizeof(T) != sizeof(typename Of<T>::Real);
template <class T>
constexpr double tolerance = sizeof(typename Of<T>::Real) == 4 ? 2e-5 : 1e-13;

inline std::mt19937 numbers(7);
template <class T>
T number() {
  std::uniform_real_distribution<double> range(-1, 1);
  const double re = range(numbers);
  return Of<T>::from({re, range(numbers)});
}

// Numbers on the device, and what they should be. Those of no meaning are NaN, so that what is not to be read shows.
template <class T>
struct Numbers {
  explicit Numbers(size_t count) : host(count), should(count) {
    for (size_t i = 0; i < count; ++i) {
      host[i] = number<T>();
      should[i] = exact(host[i]);
    }
    cudaMalloc(&device, count * sizeof(T) + 1);
    send();
  }
  Numbers(const Numbers&) = delete;
  ~Numbers() { cudaFree(device); }
  void set(size_t i, Exact x) {
    host[i] = Of<T>::from(x);
    should[i] = exact(host[i]);
  }
  void send() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  // Whether the device's are the host's, and unchanged where the host's are.
  bool right(double scale = 1) {
    std::vector<T> found(host.size());
    if (cudaMemcpy(found.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) return false;
    for (size_t i = 0; i < host.size(); ++i) {
      const Exact x = exact(found[i]);
      const double bound = should[i] == exact(host[i]) ? 0 : tolerance<T> * scale;
      const bool both_nan = std::isnan(x.real()) && std::isnan(should[i].real());
      if (!both_nan && !(std::abs(x - should[i]) <= bound * std::max(1.0, std::abs(should[i])))) {
        std::printf("number %zu of %zu: %g %g instead of %g %g\n", i, host.size(), x.real(), x.imag(), should[i].real(),
                    should[i].imag());
        return false;
      }
    }
    return true;
  }
  std::vector<T> host;
  std::vector<Exact> should;
  T* device = nullptr;
};

inline Exact turned(Exact x, cublasOperation_t op) {
  return op == CUBLAS_OP_C ? std::conj(x) : x;
}
// The element of op(A).
template <class T>
Exact at(const Numbers<T>& a, int ld, cublasOperation_t op, int row, int column) {
  return op == CUBLAS_OP_N ? exact(a.host[row + column * ld]) : turned(exact(a.host[column + row * ld]), op);
}
// That of the whole matrix of which one triangle is stored: 's' symmetric, 'h' Hermitian, 't' triangular, 'u' such with
// a diagonal of ones.
template <class T>
Exact whole(const Numbers<T>& a, int ld, char kind, bool upper, int row, int column) {
  const bool beside = upper ? row > column : row < column;
  if (kind == 't' || kind == 'u') {
    if (beside) return 0;
    return row == column && kind == 'u' ? 1 : exact(a.host[row + column * ld]);
  }
  const Exact x = beside ? exact(a.host[column + row * ld]) : exact(a.host[row + column * ld]);
  if (kind == 's') return x;
  return row == column ? Exact(x.real()) : beside ? std::conj(x) : x;
}
template <class T>
Exact whole(const Numbers<T>& a, int ld, char kind, bool upper, cublasOperation_t op, int row, int column) {
  return op == CUBLAS_OP_N ? whole(a, ld, kind, upper, row, column)
                           : turned(whole(a, ld, kind, upper, column, row), op);
}

// cublas<letter><name> by the type of the numbers.
#define OF_TYPE(T, name)                                                                  \
  [](auto... arguments) {                                                                 \
    if constexpr (std::is_same_v<T, float>) return cublasS##name(arguments...);           \
    if constexpr (std::is_same_v<T, double>) return cublasD##name(arguments...);          \
    if constexpr (std::is_same_v<T, cuComplex>) return cublasC##name(arguments...);       \
    if constexpr (std::is_same_v<T, cuDoubleComplex>) return cublasZ##name(arguments...); \
  }
#define OF_COMPLEX(T, name)                                                               \
  [](auto... arguments) {                                                                 \
    if constexpr (std::is_same_v<T, cuComplex>) return cublasC##name(arguments...);       \
    if constexpr (std::is_same_v<T, cuDoubleComplex>) return cublasZ##name(arguments...); \
  }
#define OF_REAL(T, name)                                                         \
  [](auto... arguments) {                                                        \
    if constexpr (std::is_same_v<T, float>) return cublasS##name(arguments...);  \
    if constexpr (std::is_same_v<T, double>) return cublasD##name(arguments...); \
  }

inline int ended() {
  OK(cublasDestroy(handle));
  std::puts(failures == 0 ? "PASSED" : "FAILED");
  return failures != 0;
}
