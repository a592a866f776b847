// Half precision, included by <cuda_fp16.h>: conversion, arithmetic, comparison, for host and device. Device code has
// instructions for + - * and fma. What else there is, and host code, is computed in single precision and rounded once,
// which for + - * / and sqrt gives the correctly rounded half (24 bits are more than twice 11 and 2); fma of host code
// in double, where what rounds is no tie between two halves.
#pragma once

#include "heddle/cuda_numbers.h"

#define HEDDLE_HALF_ HEDDLE_NUMBER_

// Device code has instructions for what host code does by hand.
#ifdef __CUDA_ARCH__
HEDDLE_HALF_ unsigned short __heddle_half_bits(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
HEDDLE_HALF_ float __heddle_half_value(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
HEDDLE_HALF_ float __heddle_half_odd(double x) {
  const float down = __double2float_rz(x);
  return static_cast<double>(down) == x || x != x ? down : __uint_as_float(__float_as_uint(down) | 1U);
}
#else
HEDDLE_HALF_ unsigned short __heddle_half_bits(float x) {
  const unsigned int all = __heddle_bits_of(x);
  const unsigned int sign = (all >> 16) & 0x8000U;
  const unsigned int size = all & 0x7fffffffU;
  if (size > 0x7f800000U) return 0x7fff;
  if (size >= 0x47800000U) return static_cast<unsigned short>(sign | 0x7c00U);  // 65536
  // Subnormal below 2^-14: the sum with 0.5 has the last bit of a half where single precision rounds.
  if (size < 0x38800000U) {
    return static_cast<unsigned short>(sign | (__heddle_bits_of(__heddle_float_of(size) + 0.5f) - 0x3f000000U));
  }
  return static_cast<unsigned short>(sign | ((size - 0x38000000U + 0xfffU + ((size >> 13) & 1U)) >> 13));
}
HEDDLE_HALF_ float __heddle_half_value(unsigned short bits) {
  const unsigned int sign = (bits & 0x8000U) << 16;
  const unsigned int size = bits & 0x7fffU;
  if (size >= 0x7c00U) return __heddle_float_of(sign | 0x7f800000U | (size << 13));
  // The exponent of a half in the place of a float's is 112 too low.
  return __heddle_float_of(sign | __heddle_bits_of(__heddle_float_of(size << 13) * 0x1p112f));
}
HEDDLE_HALF_ float __heddle_half_odd(double x) {
  return __heddle_odd_float(x);
}
#endif

struct __half_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __half2_raw {
  unsigned short x;
  unsigned short y;
};
struct __attribute__((aligned(2))) __half {
  unsigned short __x;
  __half() = default;
  HEDDLE_NUMBER_MEMBER_ __half(float value) : __x(__heddle_half_bits(value)) {}
  HEDDLE_NUMBER_MEMBER_ __half(double value) : __x(__heddle_half_bits(__heddle_half_odd(value))) {}
  HEDDLE_NUMBER_MEMBER_ __half(int value) : __x(__heddle_half_bits(static_cast<float>(value))) {}
  HEDDLE_NUMBER_MEMBER_ __half(unsigned int value) : __x(__heddle_half_bits(static_cast<float>(value))) {}
  HEDDLE_NUMBER_MEMBER_ __half(const __half_raw& raw) : __x(raw.x) {}
  HEDDLE_NUMBER_MEMBER_ operator float() const { return __heddle_half_value(__x); }
  HEDDLE_NUMBER_MEMBER_ operator __half_raw() const { return {__x}; }
};
typedef __half half;
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  HEDDLE_NUMBER_MEMBER_ __half2(const __half& low, const __half& high) : x(low), y(high) {}
};
typedef __half2 half2;

HEDDLE_HALF_ __half __float2half(float x) {
  return __half(x);
}
HEDDLE_HALF_ __half __float2half_rn(float x) {
  return __half(x);
}
HEDDLE_HALF_ __half __double2half(double x) {
  return __half(x);
}
HEDDLE_HALF_ float __half2float(__half x) {
  return __heddle_half_value(x.__x);
}
HEDDLE_HALF_ __half __int2half_rn(int x) {
  return __half(x);
}
HEDDLE_HALF_ int __half2int_rn(__half x) {
#ifdef __CUDA_ARCH__
  return __float2int_rn(__half2float(x));
#else
  return __heddle_integer<int>(__half2float(x), __heddle_round_nearest);
#endif
}
HEDDLE_HALF_ int __half2int_rz(__half x) {
#ifdef __CUDA_ARCH__
  return __float2int_rz(__half2float(x));
#else
  return __heddle_integer<int>(__half2float(x), __heddle_round_to_zero);
#endif
}
HEDDLE_HALF_ unsigned short __half_as_ushort(__half x) {
  return x.__x;
}
HEDDLE_HALF_ short __half_as_short(__half x) {
  return static_cast<short>(x.__x);
}
HEDDLE_HALF_ __half __ushort_as_half(unsigned short bits) {
  return __half(__half_raw{bits});
}
HEDDLE_HALF_ __half __short_as_half(short bits) {
  return __half(__half_raw{static_cast<unsigned short>(bits)});
}

#ifdef __CUDA_ARCH__
#define HEDDLE_HALF_OPERATION_(name, op, ptx)                                                  \
  HEDDLE_HALF_ __half name(__half a, __half b) {                                               \
    unsigned short result;                                                                     \
    asm(ptx ".rn.f16 %0, %1, %2;" : "=h"(result) : "h"(a.__x), "h"(b.__x));                    \
    return __half(__half_raw{result});                                                         \
  }                                                                                            \
  HEDDLE_HALF_ __half2 name##2(__half2 a, __half2 b) {                                         \
    unsigned int result;                                                                       \
    asm(ptx ".rn.f16x2 %0, %1, %2;"                                                            \
        : "=r"(result)                                                                         \
        : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b))); \
    return __builtin_bit_cast(__half2, result);                                                \
  }
#else
#define HEDDLE_HALF_OPERATION_(name, op, ptx)          \
  HEDDLE_HALF_ __half name(__half a, __half b) {       \
    return __half(__half2float(a) op __half2float(b)); \
  }                                                    \
  HEDDLE_HALF_ __half2 name##2(__half2 a, __half2 b) { \
    return {name(a.x, b.x), name(a.y, b.y)};           \
  }
#endif
#define HEDDLE_HALF_OPERATOR_(name, op, ptx)                 \
  HEDDLE_HALF_OPERATION_(name, op, ptx)                      \
  HEDDLE_HALF_ __half operator op(__half a, __half b) {      \
    return name(a, b);                                       \
  }                                                          \
  HEDDLE_HALF_ __half& operator op##=(__half& a, __half b) { \
    return a = name(a, b);                                   \
  }                                                          \
  HEDDLE_HALF_ __half2 operator op(__half2 a, __half2 b) {   \
    return name##2(a, b);                                    \
  }
HEDDLE_HALF_OPERATOR_(__hadd, +, "add")
HEDDLE_HALF_OPERATOR_(__hsub, -, "sub")
HEDDLE_HALF_OPERATOR_(__hmul, *, "mul")
HEDDLE_HALF_ __half __hdiv(__half a, __half b) {
  return __half(__half2float(a) / __half2float(b));
}
HEDDLE_HALF_ __half operator/(__half a, __half b) {
  return __hdiv(a, b);
}
HEDDLE_HALF_ __half& operator/=(__half& a, __half b) {
  return a = __hdiv(a, b);
}
#undef HEDDLE_HALF_OPERATOR_
#define HEDDLE_HALF_COMPARISON_(name, op)             \
  HEDDLE_HALF_ bool name(__half a, __half b) {        \
    return __half2float(a) op __half2float(b);        \
  }                                                   \
  HEDDLE_HALF_ bool operator op(__half a, __half b) { \
    return name(a, b);                                \
  }
HEDDLE_HALF_COMPARISON_(__heq, ==)
HEDDLE_HALF_COMPARISON_(__hne, !=)
HEDDLE_HALF_COMPARISON_(__hlt, <)
HEDDLE_HALF_COMPARISON_(__hle, <=)
HEDDLE_HALF_COMPARISON_(__hgt, >)
HEDDLE_HALF_COMPARISON_(__hge, >=)
#undef HEDDLE_HALF_COMPARISON_
HEDDLE_HALF_ __half __hneg(__half a) {
  return __ushort_as_half(a.__x ^ 0x8000);
}
HEDDLE_HALF_ __half operator-(__half a) {
  return __hneg(a);
}
HEDDLE_HALF_ __half __habs(__half a) {
  return __ushort_as_half(a.__x & 0x7fff);
}
HEDDLE_HALF_ bool __hisnan(__half a) {
  return (a.__x & 0x7fff) > 0x7c00;
}
HEDDLE_HALF_ __half __hmax(__half a, __half b) {
  return __half(fmaxf(__half2float(a), __half2float(b)));
}
HEDDLE_HALF_ __half __hmin(__half a, __half b) {
  return __half(fminf(__half2float(a), __half2float(b)));
}
#ifdef __CUDA_ARCH__
HEDDLE_HALF_ __half __hfma(__half a, __half b, __half c) {
  unsigned short result;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
  return __half(__half_raw{result});
}
HEDDLE_HALF_ __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  unsigned int result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;"
      : "=r"(result)
      : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)),
        "r"(__builtin_bit_cast(unsigned int, c)));
  return __builtin_bit_cast(__half2, result);
}
#else
HEDDLE_HALF_ __half __hfma(__half a, __half b, __half c) {  // the product is exact in single precision
  return __half(static_cast<double>(__half2float(a) * __half2float(b)) + static_cast<double>(__half2float(c)));
}
HEDDLE_HALF_ __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
#endif
#define HEDDLE_HALF_FUNCTION_(name, of) \
  HEDDLE_HALF_ __half name(__half x) {  \
    return __half(of(__half2float(x))); \
  }
HEDDLE_HALF_FUNCTION_(hsqrt, sqrtf)
HEDDLE_HALF_FUNCTION_(hexp, expf)
HEDDLE_HALF_FUNCTION_(hexp2, exp2f)
HEDDLE_HALF_FUNCTION_(hlog, logf)
HEDDLE_HALF_FUNCTION_(hlog2, log2f)
HEDDLE_HALF_FUNCTION_(hsin, sinf)
HEDDLE_HALF_FUNCTION_(hcos, cosf)
HEDDLE_HALF_FUNCTION_(hfloor, floorf)
HEDDLE_HALF_FUNCTION_(hceil, ceilf)
HEDDLE_HALF_FUNCTION_(htrunc, truncf)
HEDDLE_HALF_FUNCTION_(hrint, rintf)
#undef HEDDLE_HALF_FUNCTION_
HEDDLE_HALF_ __half hrsqrt(__half x) {
  return __half(1.0 / sqrt(static_cast<double>(__half2float(x))));
}
HEDDLE_HALF_ __half hrcp(__half x) {
  return __half(1.0f / __half2float(x));
}
HEDDLE_HALF_ __half2 __halves2half2(__half x, __half y) {
  return {x, y};
}
HEDDLE_HALF_ __half2 make_half2(__half x, __half y) {
  return {x, y};
}
HEDDLE_HALF_ __half2 __half2half2(__half x) {
  return {x, x};
}
HEDDLE_HALF_ __half2 __float2half2_rn(float x) {
  return {__half(x), __half(x)};
}
HEDDLE_HALF_ __half2 __floats2half2_rn(float x, float y) {
  return {__half(x), __half(y)};
}
HEDDLE_HALF_ __half2 __float22half2_rn(float2 x) {
  return {__half(x.x), __half(x.y)};
}
HEDDLE_HALF_ float2 __half22float2(__half2 x) {
  return {__half2float(x.x), __half2float(x.y)};
}
HEDDLE_HALF_ __half __low2half(__half2 x) {
  return x.x;
}
HEDDLE_HALF_ __half __high2half(__half2 x) {
  return x.y;
}
HEDDLE_HALF_ float __low2float(__half2 x) {
  return __half2float(x.x);
}
HEDDLE_HALF_ float __high2float(__half2 x) {
  return __half2float(x.y);
}
#ifdef __CUDA__
static __device__ __inline__ __attribute__((always_inline, nodebug, unused)) __half __ldg(const __half* address) {
  return *address;
}
#endif
#include "heddle/cuda_half_pairs.h"
#undef HEDDLE_HALF_
#include "heddle/cuda_numbers_end.h"
