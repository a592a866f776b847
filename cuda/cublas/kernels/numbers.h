// Arithmetic of the kernels on real and complex numbers and on those of 16 and 8 bits, which are computed with in
// single precision. A file of kernels is compiled once for each type, HEDDLE_NUMBER, whose letter its kernels' names
// have: cublas_saxpy.
#pragma once

#include "cuda/cublas/kernels/arguments.h"
#include "heddle/cuda_bfloat.h"
#include "heddle/cuda_half.h"

#define HEDDLE_JOINED_(a, b, c) a##b##c
#define HEDDLE_NAMED_(letter, name) HEDDLE_JOINED_(cublas_, letter, name)
#define KERNEL(name) extern "C" __global__ void HEDDLE_NAMED_(HEDDLE_LETTER, name)

namespace heddle::cublas {

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};
using Complex32 = Complex<float>;
using Complex64 = Complex<double>;

// What values of a type in memory are computed as.
template <class T>
struct Numbers {
  using Value = T;
  using Real = T;
};
template <class R>
struct Numbers<Complex<R>> {
  using Value = Complex<R>;
  using Real = R;
};
template <>
struct Numbers<__half> {
  using Value = float;
  using Real = float;
};
template <>
struct Numbers<__nv_bfloat16> {
  using Value = float;
  using Real = float;
};
template <>
struct Numbers<signed char> {
  using Value = int;
  using Real = int;
};

template <class To, class From>
struct Conversion {
  static __device__ To of(From x) { return static_cast<To>(x); }
};
template <class T>
struct Conversion<T, T> {
  static __device__ T of(T x) { return x; }
};
template <class R>
struct Conversion<Complex<R>, R> {
  static __device__ Complex<R> of(R x) { return {x, R(0)}; }
};
template <class From>
struct Conversion<__half, From> {
  static __device__ __half of(From x) { return __float2half(x); }
};
template <>
struct Conversion<__half, __half> {
  static __device__ __half of(__half x) { return x; }
};
template <class From>
struct Conversion<__nv_bfloat16, From> {
  static __device__ __nv_bfloat16 of(From x) { return __float2bfloat16(x); }
};
template <>
struct Conversion<__nv_bfloat16, __nv_bfloat16> {
  static __device__ __nv_bfloat16 of(__nv_bfloat16 x) { return x; }
};
template <>
struct Conversion<float, __half> {
  static __device__ float of(__half x) { return __half2float(x); }
};
template <>
struct Conversion<float, __nv_bfloat16> {
  static __device__ float of(__nv_bfloat16 x) { return __bfloat162float(x); }
};
template <class To, class From>
__device__ __forceinline__ To as(From x) {
  return Conversion<To, From>::of(x);
}

__device__ __forceinline__ float multiply_add(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
__device__ __forceinline__ double multiply_add(double a, double b, double c) {
  return __fma_rn(a, b, c);
}
__device__ __forceinline__ int multiply_add(int a, int b, int c) {
  return a * b + c;
}
template <class R>
__device__ __forceinline__ Complex<R> multiply_add(Complex<R> a, Complex<R> b, Complex<R> c) {
  return {multiply_add(-a.im, b.im, multiply_add(a.re, b.re, c.re)),
          multiply_add(a.im, b.re, multiply_add(a.re, b.im, c.im))};
}

__device__ __forceinline__ float conjugate(float x) {
  return x;
}
__device__ __forceinline__ double conjugate(double x) {
  return x;
}
__device__ __forceinline__ int conjugate(int x) {
  return x;
}
template <class R>
__device__ __forceinline__ Complex<R> conjugate(Complex<R> x) {
  return {x.re, -x.im};
}
__device__ __forceinline__ float real_part(float x) {
  return x;
}
__device__ __forceinline__ double real_part(double x) {
  return x;
}
__device__ __forceinline__ int real_part(int x) {
  return x;
}
template <class R>
__device__ __forceinline__ R real_part(Complex<R> x) {
  return x.re;
}
// The measure by which BLAS compares and adds up sizes: of complex numbers the sum of both parts'.
__device__ __forceinline__ float size_of(float x) {
  return fabsf(x);
}
__device__ __forceinline__ double size_of(double x) {
  return fabs(x);
}
template <class R>
__device__ __forceinline__ R size_of(Complex<R> x) {
  return size_of(x.re) + size_of(x.im);
}
template <class R>
__device__ __forceinline__ Complex<R> operator+(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
__device__ __forceinline__ Complex<R> operator-(Complex<R> a) {
  return {-a.re, -a.im};
}
template <class R>
__device__ __forceinline__ Complex<R> operator*(Complex<R> a, Complex<R> b) {
  return multiply_add(a, b, Complex<R>{R(0), R(0)});
}
// Both parts are scaled by the divisor's larger one, so that no square leaves the range.
template <class R>
__device__ Complex<R> operator/(Complex<R> a, Complex<R> b) {
  if (size_of(b.re) >= size_of(b.im)) {
    const R ratio = b.im / b.re;
    const R under = multiply_add(b.im, ratio, b.re);
    return {multiply_add(a.im, ratio, a.re) / under, multiply_add(-a.re, ratio, a.im) / under};
  }
  const R ratio = b.re / b.im;
  const R under = multiply_add(b.re, ratio, b.im);
  return {multiply_add(a.re, ratio, a.im) / under, multiply_add(a.im, ratio, -a.re) / under};
}
template <class T>
__device__ __forceinline__ T difference(T a, T b) {
  return a + -b;
}
template <class T>
__device__ __forceinline__ bool is_zero(T x) {
  return x == T(0);
}
template <class R>
__device__ __forceinline__ bool is_zero(Complex<R> x) {
  return x.re == R(0) && x.im == R(0);
}
template <class T>
__device__ __forceinline__ T number(double x) {
  return as<T>(static_cast<typename Numbers<T>::Real>(x));
}

template <class T>
__device__ __forceinline__ T value_of(const Factor<T>& factor) {
  T value = factor.value;
  if (factor.place != nullptr) {
    if (factor.form == kReal) {
      value = as<T>(*static_cast<const typename Numbers<T>::Real*>(factor.place));
    } else if (sizeof(T) == sizeof(float) && factor.form == kHalf) {
      value = number<T>(__half2float(*static_cast<const __half*>(factor.place)));
    } else {
      value = *static_cast<const T*>(factor.place);
    }
  }
  return factor.form == kConjugate ? conjugate(value) : value;
}

// The element of a matrix's memory; `row` and `column` are those of the stored form.
template <bool kAnyStorage, class T>
__device__ __forceinline__ typename Numbers<T>::Value stored(const T* base, const Shape& shape, int row, int column) {
  using Value = typename Numbers<T>::Value;
  if (kAnyStorage && shape.storage != kFull) {
    if (shape.storage == kBand) {
      if (row - column > shape.below || column - row > shape.above) return number<Value>(0);
      return as<Value>(base[shape.above + row - column + column * shape.ld]);
    }
    const long long at = column;
    if (shape.storage == kPackedUpper) return as<Value>(base[row + at * (at + 1) / 2]);
    return as<Value>(base[row - at + at * (2 * shape.ld + 1 - at) / 2]);  // ld: the order of the matrix
  }
  return as<Value>(base[row + column * shape.ld]);
}

// The element of the matrix that this stands for, before the operation.
template <bool kAnyStorage, class T>
__device__ __forceinline__ typename Numbers<T>::Value whole(const T* base, const Shape& shape, int row, int column) {
  using Value = typename Numbers<T>::Value;
  if (shape.structure == kGeneral) return stored<kAnyStorage>(base, shape, row, column);
  const bool beside = shape.upper != 0 ? row > column : row < column;
  if (shape.structure == kTriangular) {
    if (beside) return number<Value>(0);
    if (row == column && shape.unit != 0) return number<Value>(1);
    return stored<kAnyStorage>(base, shape, row, column);
  }
  const Value x =
      beside ? stored<kAnyStorage>(base, shape, column, row) : stored<kAnyStorage>(base, shape, row, column);
  if (shape.structure == kSymmetric) return x;
  return row == column ? as<Value>(real_part(x)) : beside ? conjugate(x) : x;
}

template <bool kAnyStorage, class T>
__device__ __forceinline__ typename Numbers<T>::Value element(const T* base, const Shape& shape, int row, int column) {
  switch (shape.op) {
    case kPlain:
      return whole<kAnyStorage>(base, shape, row, column);
    case kTransposed:
      return whole<kAnyStorage>(base, shape, column, row);
    case kAdjoint:
      return conjugate(whole<kAnyStorage>(base, shape, column, row));
    default:
      return conjugate(whole<kAnyStorage>(base, shape, row, column));
  }
}

template <class T>
__device__ __forceinline__ const T* matrix_of(const Matrix<T>& matrix, int which) {
  return matrix.bases != nullptr ? matrix.bases[which] : matrix.base + which * matrix.stride;
}
template <class T>
__device__ __forceinline__ T* matrix_of(const Target<T>& target, int which) {
  return target.bases != nullptr ? target.bases[which] : target.base + which * target.stride;
}

// This thread's number in the grid, and how many there are, of one dimension.
__device__ __forceinline__ unsigned thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ unsigned thread_count() {
  return gridDim.x * blockDim.x;
}

}  // namespace heddle::cublas
