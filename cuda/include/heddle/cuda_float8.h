// The formats of 8 bits, included by <cuda_fp8.h>: e4m3 (4 bits of exponent, 3 of fraction, up to 448, no infinity) and
// e5m2 (5 and 2, up to 57344, with infinity). For host and device alike. They are stored and converted; there is no
// arithmetic in them, as in CUDA.
//
// Conversions round to the nearest, to even in a tie. What lies beyond the range becomes the largest number with
// __NV_SATFINITE, infinity too; with __NV_NOSAT infinity in e5m2, no number in e4m3.
#pragma once

#include "heddle/cuda_bfloat.h"
#include "heddle/cuda_half.h"
#include "heddle/cuda_numbers.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// ------------------------------------------------------------------------------------------------------- functions

HEDDLE_NUMBER_ __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t kind) {
  const bool fine = kind == __NV_E4M3;
  const int fraction = fine ? 3 : 2;
  const auto all = __builtin_bit_cast(unsigned long long, x);
  const auto sign = static_cast<unsigned int>(all >> 63) << 7;
  const unsigned long long size = all & ~(1ULL << 63);
  if (size > 0x7ffULL << 52) {  // no number: the upper bits of the fraction stay
    return static_cast<__nv_fp8_storage_t>(sign |
                                           (fine ? 0x7fU : 0x7eU | (static_cast<unsigned int>(size >> 50) & 3U)));
  }
  // The exponent as the format would have it; below 1 the fraction loses further bits.
  const int exponent = static_cast<int>(size >> 52) - 1023 + (fine ? 7 : 15);
  const int dropped = 52 - fraction + (exponent < 1 ? 1 - exponent : 0);
  unsigned int code = 0;
  if (dropped <= 53) {
    const unsigned long long significand = (size & ((1ULL << 52) - 1)) | (1ULL << 52);
    const unsigned long long rest = significand & ((1ULL << dropped) - 1);
    const unsigned long long half = 1ULL << (dropped - 1);
    code = static_cast<unsigned int>(significand >> dropped);
    code += rest > half || (rest == half && (code & 1U) != 0) ? 1U : 0U;
    code += exponent < 1 ? 0U : static_cast<unsigned int>(exponent - 1) << fraction;
  }
  const unsigned int largest = fine ? 0x7eU : 0x7bU;
  if (code > largest) code = saturate == __NV_SATFINITE ? largest : fine ? 0x7fU : 0x7cU;
  return static_cast<__nv_fp8_storage_t>(sign | code);
}
HEDDLE_NUMBER_ __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t kind) {
  return x != x ? 0x7f : __nv_cvt_double_to_fp8(static_cast<double>(x), saturate, kind);
}
HEDDLE_NUMBER_ __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__heddle_half_value(x.x), saturate, kind);
}
HEDDLE_NUMBER_ __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__nv_bfloat16(x), saturate, kind);
}
// Two: the first in the lower byte.
HEDDLE_NUMBER_ __nv_fp8x2_storage_t __heddle_fp8x2(__nv_fp8_storage_t low, __nv_fp8_storage_t high) {
  return static_cast<__nv_fp8x2_storage_t>(low | (high << 8));
}
HEDDLE_NUMBER_ __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t kind) {
  return __heddle_fp8x2(__nv_cvt_double_to_fp8(x.x, saturate, kind), __nv_cvt_double_to_fp8(x.y, saturate, kind));
}
HEDDLE_NUMBER_ __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                             __nv_fp8_interpretation_t kind) {
  return __heddle_fp8x2(__nv_cvt_float_to_fp8(x.x, saturate, kind), __nv_cvt_float_to_fp8(x.y, saturate, kind));
}
HEDDLE_NUMBER_ __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturate,
                                                               __nv_fp8_interpretation_t kind) {
  return __heddle_fp8x2(__nv_cvt_halfraw_to_fp8(__half_raw{x.x}, saturate, kind),
                        __nv_cvt_halfraw_to_fp8(__half_raw{x.y}, saturate, kind));
}
HEDDLE_NUMBER_ __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x, __nv_saturation_t saturate,
                                                                   __nv_fp8_interpretation_t kind) {
  return __heddle_fp8x2(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.x}, saturate, kind),
                        __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.y}, saturate, kind));
}

// Exact: a half has every value of both.
HEDDLE_NUMBER_ __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  const unsigned int sign = (x & 0x80U) << 8;
  const unsigned int size = x & 0x7fU;
  if (size > (kind == __NV_E4M3 ? 0x7eU : 0x7cU)) return {0x7fff};
  if (kind == __NV_E5M2) return {static_cast<unsigned short>(sign | (size << 8))};
  if (size >= 8) return {static_cast<unsigned short>(sign | ((size << 7) + (8U << 10)))};
  if (size == 0) return {static_cast<unsigned short>(sign)};
  // Subnormal, in units of 2^-9: a half has an exponent for the leading bit.
  const unsigned int lead = size >= 4 ? 2U : size >= 2 ? 1U : 0U;
  return {static_cast<unsigned short>(sign | ((6U + lead) << 10) | ((size << (10U - lead)) & 0x3ffU))};
}
HEDDLE_NUMBER_ __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x & 0xffU), kind).x,
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), kind).x};
}
HEDDLE_NUMBER_ float __heddle_fp8_value(unsigned int bits, __nv_fp8_interpretation_t kind) {
  return __heddle_half_value(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits & 0xffU), kind).x);
}

// ----------------------------------------------------------------------------------------------------------- types

#define HEDDLE_FP8_INTEGERS_(per)                                                                       \
  per(short) per(unsigned short) per(int) per(unsigned int) per(long) per(unsigned long) per(long long) \
      per(unsigned long long)
#define HEDDLE_FP8_TYPES_(name, kind)                                                                                  \
  struct __nv_fp8_##name {                                                                                             \
    __nv_fp8_storage_t __x;                                                                                            \
    __nv_fp8_##name() = default;                                                                                       \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8_##name(__half x)                                                           \
        : __x(__nv_cvt_halfraw_to_fp8(__half_raw{x.__x}, __NV_SATFINITE, kind)) {}                                     \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8_##name(__nv_bfloat16 x)                                                    \
        : __x(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.__x}, __NV_SATFINITE, kind)) {}                          \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8_##name(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind)) {}   \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8_##name(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, kind)) {} \
    HEDDLE_FP8_INTEGERS_(HEDDLE_FP8_FROM_##name##_)                                                                    \
    explicit HEDDLE_NUMBER_MEMBER_ operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, kind); }              \
    explicit HEDDLE_NUMBER_MEMBER_ operator __nv_bfloat16() const { return __heddle_fp8_value(__x, kind); }            \
    explicit HEDDLE_NUMBER_MEMBER_ operator float() const { return __heddle_fp8_value(__x, kind); }                    \
    explicit HEDDLE_NUMBER_MEMBER_ operator double() const { return __heddle_fp8_value(__x, kind); }                   \
    explicit HEDDLE_NUMBER_MEMBER_ operator bool() const { return (__x & 0x7fU) != 0; }                                \
    explicit HEDDLE_NUMBER_MEMBER_ operator char() const {                                                             \
      return static_cast<char>(__heddle_integer<signed char>(static_cast<float>(*this), __heddle_round_to_zero));      \
    }                                                                                                                  \
    explicit HEDDLE_NUMBER_MEMBER_ operator signed char() const {                                                      \
      return __heddle_integer<signed char>(static_cast<float>(*this), __heddle_round_to_zero);                         \
    }                                                                                                                  \
    explicit HEDDLE_NUMBER_MEMBER_ operator unsigned char() const {                                                    \
      return __heddle_integer<unsigned char>(static_cast<float>(*this), __heddle_round_to_zero);                       \
    }                                                                                                                  \
    HEDDLE_FP8_INTEGERS_(HEDDLE_FP8_TO_)                                                                               \
  };                                                                                                                   \
  struct __attribute__((aligned(2))) __nv_fp8x2_##name {                                                               \
    __nv_fp8x2_storage_t __x;                                                                                          \
    __nv_fp8x2_##name() = default;                                                                                     \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8x2_##name(__half2 x)                                                        \
        : __x(__nv_cvt_halfraw2_to_fp8x2(__half2_raw{x.x.__x, x.y.__x}, __NV_SATFINITE, kind)) {}                      \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8x2_##name(__nv_bfloat162 x)                                                 \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(x, __NV_SATFINITE, kind)) {}                                              \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8x2_##name(float2 x)                                                         \
        : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, kind)) {}                                                    \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8x2_##name(double2 x)                                                        \
        : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, kind)) {}                                                   \
    explicit HEDDLE_NUMBER_MEMBER_ operator __half2() const {                                                          \
      const __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(__x, kind);                                                   \
      return __halves2half2(__half_raw{raw.x}, __half_raw{raw.y});                                                     \
    }                                                                                                                  \
    explicit HEDDLE_NUMBER_MEMBER_ operator float2() const {                                                           \
      float2 result;                                                                                                   \
      result.x = __heddle_fp8_value(__x, kind);                                                                        \
      result.y = __heddle_fp8_value(static_cast<unsigned int>(__x) >> 8, kind);                                        \
      return result;                                                                                                   \
    }                                                                                                                  \
  };                                                                                                                   \
  struct __attribute__((aligned(4))) __nv_fp8x4_##name {                                                               \
    __nv_fp8x4_storage_t __x;                                                                                          \
    __nv_fp8x4_##name() = default;                                                                                     \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8x4_##name(__half2 low, __half2 high)                                        \
        : __x(__nv_fp8x2_##name(low).__x | static_cast<unsigned int>(__nv_fp8x2_##name(high).__x) << 16) {}            \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8x4_##name(__nv_bfloat162 low, __nv_bfloat162 high)                          \
        : __x(__nv_fp8x2_##name(low).__x | static_cast<unsigned int>(__nv_fp8x2_##name(high).__x) << 16) {}            \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8x4_##name(float4 x)                                                         \
        : __x(__nv_fp8_##name(x.x).__x | static_cast<unsigned int>(__nv_fp8_##name(x.y).__x) << 8 |                    \
              static_cast<unsigned int>(__nv_fp8_##name(x.z).__x) << 16 |                                              \
              static_cast<unsigned int>(__nv_fp8_##name(x.w).__x) << 24) {}                                            \
    explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8x4_##name(double4 x)                                                        \
        : __x(__nv_fp8_##name(x.x).__x | static_cast<unsigned int>(__nv_fp8_##name(x.y).__x) << 8 |                    \
              static_cast<unsigned int>(__nv_fp8_##name(x.z).__x) << 16 |                                              \
              static_cast<unsigned int>(__nv_fp8_##name(x.w).__x) << 24) {}                                            \
    explicit HEDDLE_NUMBER_MEMBER_ operator float4() const {                                                           \
      float4 result;                                                                                                   \
      result.x = __heddle_fp8_value(__x, kind);                                                                        \
      result.y = __heddle_fp8_value(__x >> 8, kind);                                                                   \
      result.z = __heddle_fp8_value(__x >> 16, kind);                                                                  \
      result.w = __heddle_fp8_value(__x >> 24, kind);                                                                  \
      return result;                                                                                                   \
    }                                                                                                                  \
  };
#define HEDDLE_FP8_FROM_e4m3_(type)                    \
  explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8_e4m3(type x) \
      : __x(__nv_cvt_double_to_fp8(static_cast<double>(x), __NV_SATFINITE, __NV_E4M3)) {}
#define HEDDLE_FP8_FROM_e5m2_(type)                    \
  explicit HEDDLE_NUMBER_MEMBER_ __nv_fp8_e5m2(type x) \
      : __x(__nv_cvt_double_to_fp8(static_cast<double>(x), __NV_SATFINITE, __NV_E5M2)) {}
#define HEDDLE_FP8_TO_(type)                                                          \
  explicit HEDDLE_NUMBER_MEMBER_ operator type() const {                              \
    return __heddle_integer<type>(static_cast<float>(*this), __heddle_round_to_zero); \
  }
HEDDLE_FP8_TYPES_(e4m3, __NV_E4M3)
HEDDLE_FP8_TYPES_(e5m2, __NV_E5M2)
#undef HEDDLE_FP8_TO_
#undef HEDDLE_FP8_FROM_e5m2_
#undef HEDDLE_FP8_FROM_e4m3_
#undef HEDDLE_FP8_TYPES_
#undef HEDDLE_FP8_INTEGERS_

#include "heddle/cuda_numbers_end.h"
