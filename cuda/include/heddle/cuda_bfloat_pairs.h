// The second part of cuda_bfloat.h: functions of one bfloat16 and of two side by side; what device code has alone.
#pragma once

// ------------------------------------------------------------------------------------------------------------ pairs

HEDDLE_NUMBER_ __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
HEDDLE_NUMBER_ __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
HEDDLE_NUMBER_ __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) {
  return {x, x};
}
HEDDLE_NUMBER_ __nv_bfloat162 __float2bfloat162_rn(float x) {
  return {x, x};
}
HEDDLE_NUMBER_ __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {x, y};
}
HEDDLE_NUMBER_ __nv_bfloat162 __float22bfloat162_rn(float2 x) {
  return {x.x, x.y};
}
HEDDLE_NUMBER_ float2 __bfloat1622float2(__nv_bfloat162 x) {
  float2 result;
  result.x = x.x;
  result.y = x.y;
  return result;
}
HEDDLE_NUMBER_ __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) {
  return x.x;
}
HEDDLE_NUMBER_ __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) {
  return x.y;
}
HEDDLE_NUMBER_ float __low2float(__nv_bfloat162 x) {
  return x.x;
}
HEDDLE_NUMBER_ float __high2float(__nv_bfloat162 x) {
  return x.y;
}
HEDDLE_NUMBER_ __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x) {
  return {x.x, x.x};
}
HEDDLE_NUMBER_ __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x) {
  return {x.y, x.y};
}
HEDDLE_NUMBER_ __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x) {
  return {x.y, x.x};
}
HEDDLE_NUMBER_ __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 x, __nv_bfloat162 y) {
  return {x.x, y.x};
}
HEDDLE_NUMBER_ __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 x, __nv_bfloat162 y) {
  return {x.y, y.y};
}

#define HEDDLE_BFLOAT_PAIR_(name, one)                                     \
  HEDDLE_NUMBER_ __nv_bfloat162 name(__nv_bfloat162 a, __nv_bfloat162 b) { \
    return {one(a.x, b.x), one(a.y, b.y)};                                 \
  }
#ifdef __CUDA_ARCH__
#define HEDDLE_BFLOAT_PAIR_OPERATION_(name, one, ptx)                                          \
  HEDDLE_NUMBER_ __nv_bfloat162 name(__nv_bfloat162 a, __nv_bfloat162 b) {                     \
    unsigned int result;                                                                       \
    asm(ptx ".rn.bf16x2 %0, %1, %2;"                                                           \
        : "=r"(result)                                                                         \
        : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b))); \
    return __builtin_bit_cast(__nv_bfloat162, result);                                         \
  }
#else
#define HEDDLE_BFLOAT_PAIR_OPERATION_(name, one, ptx) HEDDLE_BFLOAT_PAIR_(name, one)
#endif
HEDDLE_BFLOAT_PAIR_OPERATION_(__hadd2, __hadd, "add")
HEDDLE_BFLOAT_PAIR_OPERATION_(__hsub2, __hsub, "sub")
HEDDLE_BFLOAT_PAIR_OPERATION_(__hmul2, __hmul, "mul")
HEDDLE_BFLOAT_PAIR_(__h2div, __hdiv)
HEDDLE_BFLOAT_PAIR_OPERATION_(__hadd2_rn, __hadd, "add")
HEDDLE_BFLOAT_PAIR_OPERATION_(__hsub2_rn, __hsub, "sub")
HEDDLE_BFLOAT_PAIR_OPERATION_(__hmul2_rn, __hmul, "mul")
#undef HEDDLE_BFLOAT_PAIR_OPERATION_
HEDDLE_BFLOAT_PAIR_(__hadd2_sat, __hadd_sat)
HEDDLE_BFLOAT_PAIR_(__hsub2_sat, __hsub_sat)
HEDDLE_BFLOAT_PAIR_(__hmul2_sat, __hmul_sat)
HEDDLE_BFLOAT_PAIR_(__hmax2, __hmax)
HEDDLE_BFLOAT_PAIR_(__hmin2, __hmin)
HEDDLE_BFLOAT_PAIR_(__hmax2_nan, __hmax_nan)
HEDDLE_BFLOAT_PAIR_(__hmin2_nan, __hmin_nan)
#undef HEDDLE_BFLOAT_PAIR_
HEDDLE_NUMBER_ __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
#ifdef __CUDA_ARCH__
  unsigned int result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;"
      : "=r"(result)
      : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)),
        "r"(__builtin_bit_cast(unsigned int, c)));
  return __builtin_bit_cast(__nv_bfloat162, result);
#else
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
#endif
}
HEDDLE_NUMBER_ __nv_bfloat162 __hfma2_sat(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
HEDDLE_NUMBER_ __nv_bfloat162 __hfma2_relu(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
// a * b + c of complex numbers, real part first, in four steps of one rounding each.
HEDDLE_NUMBER_ __nv_bfloat162 __hcmadd(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}
HEDDLE_NUMBER_ __nv_bfloat162 __hneg2(__nv_bfloat162 a) {
  return {__hneg(a.x), __hneg(a.y)};
}
HEDDLE_NUMBER_ __nv_bfloat162 __habs2(__nv_bfloat162 a) {
  return {__habs(a.x), __habs(a.y)};
}
HEDDLE_NUMBER_ __nv_bfloat162 __hisnan2(__nv_bfloat162 a) {
  return {__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f};
}

#define HEDDLE_BFLOAT_OPERATOR_(op, name)                                              \
  HEDDLE_NUMBER_ __nv_bfloat162 operator op(__nv_bfloat162 a, __nv_bfloat162 b) {      \
    return name(a, b);                                                                 \
  }                                                                                    \
  HEDDLE_NUMBER_ __nv_bfloat162& operator op##=(__nv_bfloat162& a, __nv_bfloat162 b) { \
    return a = name(a, b);                                                             \
  }
HEDDLE_BFLOAT_OPERATOR_(+, __hadd2)
HEDDLE_BFLOAT_OPERATOR_(-, __hsub2)
HEDDLE_BFLOAT_OPERATOR_(*, __hmul2)
HEDDLE_BFLOAT_OPERATOR_(/, __h2div)
#undef HEDDLE_BFLOAT_OPERATOR_
HEDDLE_NUMBER_ __nv_bfloat162 operator-(__nv_bfloat162 a) {
  return __hneg2(a);
}

// 1 or 0 in each half; all bits of it or none; in the forms with b whether it is so in both.
#define HEDDLE_BFLOAT_COMPARISON_(name)                                                     \
  HEDDLE_NUMBER_ __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b) {          \
    return {__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f};          \
  }                                                                                         \
  HEDDLE_NUMBER_ unsigned int __h##name##2_mask(__nv_bfloat162 a, __nv_bfloat162 b) {       \
    return (__h##name(a.x, b.x) ? 0xffffU : 0U) | (__h##name(a.y, b.y) ? 0xffff0000U : 0U); \
  }                                                                                         \
  HEDDLE_NUMBER_ bool __hb##name##2(__nv_bfloat162 a, __nv_bfloat162 b) {                   \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                      \
  }
HEDDLE_BFLOAT_COMPARISON_(eq)
HEDDLE_BFLOAT_COMPARISON_(ne)
HEDDLE_BFLOAT_COMPARISON_(lt)
HEDDLE_BFLOAT_COMPARISON_(le)
HEDDLE_BFLOAT_COMPARISON_(gt)
HEDDLE_BFLOAT_COMPARISON_(ge)
HEDDLE_BFLOAT_COMPARISON_(equ)
HEDDLE_BFLOAT_COMPARISON_(neu)
HEDDLE_BFLOAT_COMPARISON_(ltu)
HEDDLE_BFLOAT_COMPARISON_(leu)
HEDDLE_BFLOAT_COMPARISON_(gtu)
HEDDLE_BFLOAT_COMPARISON_(geu)
#undef HEDDLE_BFLOAT_COMPARISON_
HEDDLE_NUMBER_ bool operator==(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __hbeq2(a, b);
}
HEDDLE_NUMBER_ bool operator!=(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __hbneu2(a, b);
}

// ------------------------------------------------------------------------------------------------------- functions

#define HEDDLE_BFLOAT_FUNCTION_(name, call)                      \
  HEDDLE_NUMBER_ __nv_bfloat16 h##name(__nv_bfloat16 value) {    \
    const float x = value;                                       \
    return call;                                                 \
  }                                                              \
  HEDDLE_NUMBER_ __nv_bfloat162 h2##name(__nv_bfloat162 value) { \
    return {h##name(value.x), h##name(value.y)};                 \
  }
HEDDLE_BFLOAT_FUNCTION_(sqrt, sqrtf(x))
HEDDLE_BFLOAT_FUNCTION_(rsqrt, 1.0 / sqrt(static_cast<double>(x)))
HEDDLE_BFLOAT_FUNCTION_(rcp, 1.0 / static_cast<double>(x))
HEDDLE_BFLOAT_FUNCTION_(exp, expf(x))
HEDDLE_BFLOAT_FUNCTION_(exp2, exp2f(x))
HEDDLE_BFLOAT_FUNCTION_(exp10, exp10f(x))
HEDDLE_BFLOAT_FUNCTION_(log, logf(x))
HEDDLE_BFLOAT_FUNCTION_(log2, log2f(x))
HEDDLE_BFLOAT_FUNCTION_(log10, log10f(x))
HEDDLE_BFLOAT_FUNCTION_(sin, sinf(x))
HEDDLE_BFLOAT_FUNCTION_(cos, cosf(x))
HEDDLE_BFLOAT_FUNCTION_(floor, floorf(x))
HEDDLE_BFLOAT_FUNCTION_(ceil, ceilf(x))
HEDDLE_BFLOAT_FUNCTION_(trunc, truncf(x))
HEDDLE_BFLOAT_FUNCTION_(rint, rintf(x))
HEDDLE_BFLOAT_FUNCTION_(tanh, tanhf(x))
#undef HEDDLE_BFLOAT_FUNCTION_

// --------------------------------------------------------------------------------------------------- device code

#ifdef __CUDA__
#define HEDDLE_BFLOAT_DEVICE_ static __device__ __inline__ __attribute__((always_inline, nodebug, unused))

// Loads and stores with a cache hint are cuda_memory.h's, which are templates: programs for releases before 12, where
// bfloat16 has them for compute capability 8.0 and later alone, bring functions of their own.

#define HEDDLE_BFLOAT_SHUFFLE_(name, type, word, operand)                                                   \
  HEDDLE_BFLOAT_DEVICE_ type __##name##_sync(unsigned int mask, type value, operand lane, int width = 32) { \
    const unsigned int bits = __builtin_bit_cast(word, value);                                              \
    return __builtin_bit_cast(type, static_cast<word>(__##name##_sync(mask, bits, lane, width)));           \
  }
HEDDLE_BFLOAT_SHUFFLE_(shfl, __nv_bfloat16, unsigned short, int)
HEDDLE_BFLOAT_SHUFFLE_(shfl_up, __nv_bfloat16, unsigned short, unsigned int)
HEDDLE_BFLOAT_SHUFFLE_(shfl_down, __nv_bfloat16, unsigned short, unsigned int)
HEDDLE_BFLOAT_SHUFFLE_(shfl_xor, __nv_bfloat16, unsigned short, int)
HEDDLE_BFLOAT_SHUFFLE_(shfl, __nv_bfloat162, unsigned int, int)
HEDDLE_BFLOAT_SHUFFLE_(shfl_up, __nv_bfloat162, unsigned int, unsigned int)
HEDDLE_BFLOAT_SHUFFLE_(shfl_down, __nv_bfloat162, unsigned int, unsigned int)
HEDDLE_BFLOAT_SHUFFLE_(shfl_xor, __nv_bfloat162, unsigned int, int)
#undef HEDDLE_BFLOAT_SHUFFLE_

// By compare and swap of the word that holds it.
HEDDLE_BFLOAT_DEVICE_ __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 value) {
  auto* const bits = reinterpret_cast<unsigned short*>(address);
  unsigned short old = *reinterpret_cast<volatile unsigned short*>(bits);
  for (;;) {
    const unsigned short seen = atomicCAS(bits, old, __hadd(__ushort_as_bfloat16(old), value).__x);
    if (seen == old) return __ushort_as_bfloat16(old);
    old = seen;
  }
}
HEDDLE_BFLOAT_DEVICE_ __nv_bfloat162 atomicAdd(__nv_bfloat162* address, __nv_bfloat162 value) {
  auto* const bits = reinterpret_cast<unsigned int*>(address);
  unsigned int old = *reinterpret_cast<volatile unsigned int*>(bits);
  for (;;) {
    const __nv_bfloat162 sum = __hadd2(__builtin_bit_cast(__nv_bfloat162, old), value);
    const unsigned int seen = atomicCAS(bits, old, __builtin_bit_cast(unsigned int, sum));
    if (seen == old) return __builtin_bit_cast(__nv_bfloat162, old);
    old = seen;
  }
}
#undef HEDDLE_BFLOAT_DEVICE_
#endif
