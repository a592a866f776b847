// bfloat16, included by <cuda_bf16.h>: sign, 8 bits of exponent, 7 of fraction; the upper half of a float. For host and
// device alike. Conversions and the arithmetic operations are correctly rounded (to nearest, even in a tie, where the
// name says nothing else), with subnormal numbers; the other functions are computed in single precision and rounded.
#pragma once

#include "heddle/cuda_numbers.h"

HEDDLE_NUMBER_ unsigned short __heddle_bfloat_bits(float x, __heddle_rounding rounding) {
  const unsigned int bits = __heddle_bits_of(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fff;
  const bool negative = bits >> 31 != 0;
  const unsigned int more = rounding == __heddle_round_nearest            ? 0x7fffU + ((bits >> 16) & 1U)
                            : rounding == __heddle_round_down && negative ? 0xffffU
                            : rounding == __heddle_round_up && !negative  ? 0xffffU
                                                                          : 0U;
  return static_cast<unsigned short>((bits + more) >> 16);
}
HEDDLE_NUMBER_ unsigned short __heddle_bfloat_bits(double x, __heddle_rounding rounding) {
  return __heddle_bfloat_bits(__heddle_odd_float(x), rounding);
}

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __nv_bfloat162_raw {
  unsigned short x;
  unsigned short y;
};

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  HEDDLE_NUMBER_MEMBER_ __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  HEDDLE_NUMBER_MEMBER_ __nv_bfloat16(float value) : __x(__heddle_bfloat_bits(value, __heddle_round_nearest)) {}
  HEDDLE_NUMBER_MEMBER_ __nv_bfloat16(double value) : __x(__heddle_bfloat_bits(value, __heddle_round_nearest)) {}
#define HEDDLE_BFLOAT_FROM_(type, wide) \
  HEDDLE_NUMBER_MEMBER_ __nv_bfloat16(type value) : __nv_bfloat16(__heddle_odd_double(static_cast<wide>(value))) {}
  HEDDLE_BFLOAT_FROM_(short, long long)
  HEDDLE_BFLOAT_FROM_(unsigned short, unsigned long long)
  HEDDLE_BFLOAT_FROM_(int, long long)
  HEDDLE_BFLOAT_FROM_(unsigned int, unsigned long long)
  HEDDLE_BFLOAT_FROM_(long, long long)
  HEDDLE_BFLOAT_FROM_(unsigned long, unsigned long long)
  HEDDLE_BFLOAT_FROM_(long long, long long)
  HEDDLE_BFLOAT_FROM_(unsigned long long, unsigned long long)
#undef HEDDLE_BFLOAT_FROM_
  HEDDLE_NUMBER_MEMBER_ operator float() const {
    return __heddle_float_of(static_cast<unsigned int>(__x) << 16);
  }
  HEDDLE_NUMBER_MEMBER_ operator __nv_bfloat16_raw() const {
    return {__x};
  }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  HEDDLE_NUMBER_MEMBER_ __nv_bfloat162(__nv_bfloat16 first, __nv_bfloat16 second) : x(first), y(second) {}
  HEDDLE_NUMBER_MEMBER_ __nv_bfloat162(const __nv_bfloat162_raw& raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  HEDDLE_NUMBER_MEMBER_ operator __nv_bfloat162_raw() const { return {x.__x, y.__x}; }
};
typedef __nv_bfloat162 nv_bfloat162;

// ----------------------------------------------------------------------------------------------------- conversions

HEDDLE_NUMBER_ float __bfloat162float(__nv_bfloat16 x) {
  return x;
}
HEDDLE_NUMBER_ unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
  return x.__x;
}
HEDDLE_NUMBER_ short __bfloat16_as_short(__nv_bfloat16 x) {
  return static_cast<short>(x.__x);
}
HEDDLE_NUMBER_ __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __nv_bfloat16_raw{bits};
}
HEDDLE_NUMBER_ __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __nv_bfloat16_raw{static_cast<unsigned short>(bits)};
}
HEDDLE_NUMBER_ __nv_bfloat16 __double2bfloat16(double x) {
  return x;
}
HEDDLE_NUMBER_ __nv_bfloat16 __float2bfloat16(float x) {
  return x;
}
#define HEDDLE_BFLOAT_ROUNDED_(suffix, rounding)                                       \
  HEDDLE_NUMBER_ __nv_bfloat16 __float2bfloat16_##suffix(float x) {                    \
    return __nv_bfloat16_raw{__heddle_bfloat_bits(x, rounding)};                       \
  }                                                                                    \
  HEDDLE_BFLOAT_INTEGER_(int, int, suffix, rounding, long long)                        \
  HEDDLE_BFLOAT_INTEGER_(uint, unsigned int, suffix, rounding, unsigned long long)     \
  HEDDLE_BFLOAT_INTEGER_(short, short, suffix, rounding, long long)                    \
  HEDDLE_BFLOAT_INTEGER_(ushort, unsigned short, suffix, rounding, unsigned long long) \
  HEDDLE_BFLOAT_INTEGER_(ll, long long, suffix, rounding, long long)                   \
  HEDDLE_BFLOAT_INTEGER_(ull, unsigned long long, suffix, rounding, unsigned long long)
#define HEDDLE_BFLOAT_INTEGER_(name, type, suffix, rounding, wide)                                       \
  HEDDLE_NUMBER_ __nv_bfloat16 __##name##2bfloat16_##suffix(type x) {                                    \
    return __nv_bfloat16_raw{__heddle_bfloat_bits(__heddle_odd_double(static_cast<wide>(x)), rounding)}; \
  }                                                                                                      \
  HEDDLE_NUMBER_ type __bfloat162##name##_##suffix(__nv_bfloat16 x) {                                    \
    return __heddle_integer<type>(x, rounding);                                                          \
  }
HEDDLE_BFLOAT_ROUNDED_(rn, __heddle_round_nearest)
HEDDLE_BFLOAT_ROUNDED_(rz, __heddle_round_to_zero)
HEDDLE_BFLOAT_ROUNDED_(rd, __heddle_round_down)
HEDDLE_BFLOAT_ROUNDED_(ru, __heddle_round_up)
#undef HEDDLE_BFLOAT_INTEGER_
#undef HEDDLE_BFLOAT_ROUNDED_
HEDDLE_NUMBER_ signed char __bfloat162char_rz(__nv_bfloat16 x) {
  return __heddle_integer<signed char>(x, __heddle_round_to_zero);
}
HEDDLE_NUMBER_ unsigned char __bfloat162uchar_rz(__nv_bfloat16 x) {
  return __heddle_integer<unsigned char>(x, __heddle_round_to_zero);
}

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)

// ------------------------------------------------------------------------------------------------------ arithmetic

// Device code has instructions for + - * and fma.
#ifdef __CUDA_ARCH__
#define HEDDLE_BFLOAT_INSTRUCTION_(name, ptx)                                \
  HEDDLE_NUMBER_ __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b) {      \
    unsigned short result;                                                   \
    asm(ptx ".rn.bf16 %0, %1, %2;" : "=h"(result) : "h"(a.__x), "h"(b.__x)); \
    return __ushort_as_bfloat16(result);                                     \
  }
HEDDLE_BFLOAT_INSTRUCTION_(__hadd, "add")
HEDDLE_BFLOAT_INSTRUCTION_(__hsub, "sub")
HEDDLE_BFLOAT_INSTRUCTION_(__hmul, "mul")
#undef HEDDLE_BFLOAT_INSTRUCTION_
HEDDLE_NUMBER_ __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  unsigned short result;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(result) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
  return __ushort_as_bfloat16(result);
}
#else
// A sum that is subnormal is exact in single precision, a product or quotient need not be.
HEDDLE_NUMBER_ __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<float>(a) + static_cast<float>(b);
}
HEDDLE_NUMBER_ __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<float>(a) - static_cast<float>(b);
}
HEDDLE_NUMBER_ __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<double>(static_cast<float>(a)) * static_cast<double>(static_cast<float>(b));
}
HEDDLE_NUMBER_ __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  // The product is exact.
  return __heddle_odd_sum(static_cast<double>(static_cast<float>(a)) * static_cast<double>(static_cast<float>(b)),
                          static_cast<double>(static_cast<float>(c)));
}
#endif
HEDDLE_NUMBER_ __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<double>(static_cast<float>(a)) / static_cast<double>(static_cast<float>(b));
}
HEDDLE_NUMBER_ __nv_bfloat16 __hneg(__nv_bfloat16 a) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(a.__x ^ 0x8000U));
}
HEDDLE_NUMBER_ __nv_bfloat16 __habs(__nv_bfloat16 a) {
  return __ushort_as_bfloat16(a.__x & 0x7fffU);
}
HEDDLE_NUMBER_ bool __hisnan(__nv_bfloat16 a) {
  return (a.__x & 0x7fffU) > 0x7f80U;
}
HEDDLE_NUMBER_ int __hisinf(__nv_bfloat16 a) {
  return a.__x == 0x7f80U ? 1 : a.__x == 0xff80U ? -1 : 0;
}
// Within 0 and 1; what is no number becomes 0.
HEDDLE_NUMBER_ __nv_bfloat16 __heddle_saturated(__nv_bfloat16 a) {
  const float x = a;
  return x > 1.0f ? CUDART_ONE_BF16 : x > 0.0f ? a : CUDART_ZERO_BF16;
}
HEDDLE_NUMBER_ __nv_bfloat16 __hadd_sat(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __heddle_saturated(__hadd(a, b));
}
HEDDLE_NUMBER_ __nv_bfloat16 __hsub_sat(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __heddle_saturated(__hsub(a, b));
}
HEDDLE_NUMBER_ __nv_bfloat16 __hmul_sat(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __heddle_saturated(__hmul(a, b));
}
HEDDLE_NUMBER_ __nv_bfloat16 __hfma_sat(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __heddle_saturated(__hfma(a, b, c));
}
// No less than 0; what is no number stays none.
HEDDLE_NUMBER_ __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  const __nv_bfloat16 result = __hfma(a, b, c);
  return __hisnan(result) ? CUDART_NAN_BF16 : static_cast<float>(result) > 0.0f ? result : CUDART_ZERO_BF16;
}
HEDDLE_NUMBER_ __nv_bfloat16 __hadd_rn(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hadd(a, b);
}
HEDDLE_NUMBER_ __nv_bfloat16 __hsub_rn(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hsub(a, b);
}
HEDDLE_NUMBER_ __nv_bfloat16 __hmul_rn(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hmul(a, b);
}

#define HEDDLE_BFLOAT_OPERATOR_(op, name)                                           \
  HEDDLE_NUMBER_ __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) {      \
    return name(a, b);                                                              \
  }                                                                                 \
  HEDDLE_NUMBER_ __nv_bfloat16& operator op##=(__nv_bfloat16& a, __nv_bfloat16 b) { \
    return a = name(a, b);                                                          \
  }
HEDDLE_BFLOAT_OPERATOR_(+, __hadd)
HEDDLE_BFLOAT_OPERATOR_(-, __hsub)
HEDDLE_BFLOAT_OPERATOR_(*, __hmul)
HEDDLE_BFLOAT_OPERATOR_(/, __hdiv)
#undef HEDDLE_BFLOAT_OPERATOR_
HEDDLE_NUMBER_ __nv_bfloat16 operator-(__nv_bfloat16 a) {
  return __hneg(a);
}
HEDDLE_NUMBER_ __nv_bfloat16 operator+(__nv_bfloat16 a) {
  return a;
}
HEDDLE_NUMBER_ __nv_bfloat16& operator++(__nv_bfloat16& a) {
  return a = __hadd(a, CUDART_ONE_BF16);
}
HEDDLE_NUMBER_ __nv_bfloat16& operator--(__nv_bfloat16& a) {
  return a = __hsub(a, CUDART_ONE_BF16);
}
HEDDLE_NUMBER_ __nv_bfloat16 operator++(__nv_bfloat16& a, int) {
  const __nv_bfloat16 before = a;
  ++a;
  return before;
}
HEDDLE_NUMBER_ __nv_bfloat16 operator--(__nv_bfloat16& a, int) {
  const __nv_bfloat16 before = a;
  --a;
  return before;
}

// ------------------------------------------------------------------------------------------------------ comparison

// The forms with u are true if an operand is no number.
#define HEDDLE_BFLOAT_COMPARISON_(name, op, opposite)                  \
  HEDDLE_NUMBER_ bool __h##name(__nv_bfloat16 a, __nv_bfloat16 b) {    \
    return static_cast<float>(a) op static_cast<float>(b);             \
  }                                                                    \
  HEDDLE_NUMBER_ bool __h##name##u(__nv_bfloat16 a, __nv_bfloat16 b) { \
    return !(static_cast<float>(a) opposite static_cast<float>(b));    \
  }                                                                    \
  HEDDLE_NUMBER_ bool operator op(__nv_bfloat16 a, __nv_bfloat16 b) {  \
    return __h##name(a, b);                                            \
  }
HEDDLE_BFLOAT_COMPARISON_(eq, ==, !=)
HEDDLE_BFLOAT_COMPARISON_(lt, <, >=)
HEDDLE_BFLOAT_COMPARISON_(le, <=, >)
HEDDLE_BFLOAT_COMPARISON_(gt, >, <=)
HEDDLE_BFLOAT_COMPARISON_(ge, >=, <)
#undef HEDDLE_BFLOAT_COMPARISON_
HEDDLE_NUMBER_ bool __hneu(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<float>(a) != static_cast<float>(b);
}
HEDDLE_NUMBER_ bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hneu(a, b) && !__hisnan(a) && !__hisnan(b);
}
HEDDLE_NUMBER_ bool operator!=(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hneu(a, b);
}

// Of -0 and +0 the maximum is +0, the minimum -0. Where one operand is no number, the other is the result; in the forms
// with nan the result is none then.
HEDDLE_NUMBER_ __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
  if (__hisnan(a)) return __hisnan(b) ? CUDART_NAN_BF16 : b;
  if (__hisnan(b)) return a;
  return __heq(a, b) ? __ushort_as_bfloat16(a.__x & b.__x) : __hgt(a, b) ? a : b;
}
HEDDLE_NUMBER_ __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
  if (__hisnan(a)) return __hisnan(b) ? CUDART_NAN_BF16 : b;
  if (__hisnan(b)) return a;
  return __heq(a, b) ? __ushort_as_bfloat16(a.__x | b.__x) : __hlt(a, b) ? a : b;
}
HEDDLE_NUMBER_ __nv_bfloat16 __hmax_nan(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hisnan(a) || __hisnan(b) ? CUDART_NAN_BF16 : __hmax(a, b);
}
HEDDLE_NUMBER_ __nv_bfloat16 __hmin_nan(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hisnan(a) || __hisnan(b) ? CUDART_NAN_BF16 : __hmin(a, b);
}

#include "heddle/cuda_bfloat_pairs.h"

#include "heddle/cuda_numbers_end.h"
