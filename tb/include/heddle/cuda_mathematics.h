// Floating-point functions of heddle/cuda.h; which are exact and which approximate is said there.
#pragma once

#define HEDDLE_APPROXIMATION_(name, instruction)                   \
  HEDDLE_DEVICE_ float name(float x) {                             \
    float value;                                                   \
    asm(instruction ".approx.f32 %0, %1;" : "=f"(value) : "f"(x)); \
    return value;                                                  \
  }
HEDDLE_APPROXIMATION_(__exp2f, "ex2")
HEDDLE_APPROXIMATION_(__log2f, "lg2")
HEDDLE_APPROXIMATION_(__sinf, "sin")
HEDDLE_APPROXIMATION_(__cosf, "cos")
HEDDLE_APPROXIMATION_(rsqrtf, "rsqrt")
#undef HEDDLE_APPROXIMATION_

HEDDLE_DEVICE_ float __fdividef(float a, float b) {
  float value;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
  return value;
}
HEDDLE_DEVICE_ float __expf(float x) {
  return __exp2f(x * 1.4426950408889634f);
}
HEDDLE_DEVICE_ float __logf(float x) {
  return __log2f(x) * 0.69314718055994531f;
}
HEDDLE_DEVICE_ float __log10f(float x) {
  return __log2f(x) * 0.30102999566398120f;
}
HEDDLE_DEVICE_ float __powf(float x, float y) {
  return __exp2f(y * __log2f(x));
}
HEDDLE_DEVICE_ float __tanf(float x) {
  return __fdividef(__sinf(x), __cosf(x));
}
HEDDLE_DEVICE_ void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
HEDDLE_DEVICE_ float __saturatef(float x) {
  return __nvvm_saturate_f(x);
}

HEDDLE_DEVICE_ float expf(float x) {
  return __expf(x);
}
HEDDLE_DEVICE_ float exp2f(float x) {
  return __exp2f(x);
}
HEDDLE_DEVICE_ float logf(float x) {
  return __logf(x);
}
HEDDLE_DEVICE_ float log2f(float x) {
  return __log2f(x);
}
HEDDLE_DEVICE_ float log10f(float x) {
  return __log10f(x);
}
HEDDLE_DEVICE_ float sinf(float x) {
  return __sinf(x);
}
HEDDLE_DEVICE_ float cosf(float x) {
  return __cosf(x);
}
HEDDLE_DEVICE_ float tanf(float x) {
  return __tanf(x);
}
HEDDLE_DEVICE_ float powf(float x, float y) {
  return __powf(x, y);
}
HEDDLE_DEVICE_ float tanhf(float x) {
  const float t = __expf(-2.0f * __builtin_fabsf(x));  // in [0, 1]: no overflow
  return __builtin_copysignf((1.0f - t) / (1.0f + t), x);
}

HEDDLE_DEVICE_ float sqrtf(float x) {
  return __nvvm_sqrt_rn_f(x);
}
HEDDLE_DEVICE_ double sqrt(double x) {
  return __nvvm_sqrt_rn_d(x);
}
HEDDLE_DEVICE_ float fabsf(float x) {
  return __builtin_fabsf(x);
}
HEDDLE_DEVICE_ double fabs(double x) {
  return __builtin_fabs(x);
}
HEDDLE_DEVICE_ float fminf(float a, float b) {
  return __builtin_fminf(a, b);
}
HEDDLE_DEVICE_ float fmaxf(float a, float b) {
  return __builtin_fmaxf(a, b);
}
HEDDLE_DEVICE_ double fmin(double a, double b) {
  return __builtin_fmin(a, b);
}
HEDDLE_DEVICE_ double fmax(double a, double b) {
  return __builtin_fmax(a, b);
}
HEDDLE_DEVICE_ float fmaf(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
HEDDLE_DEVICE_ double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
HEDDLE_DEVICE_ float floorf(float x) {
  return __builtin_floorf(x);
}
HEDDLE_DEVICE_ double floor(double x) {
  return __builtin_floor(x);
}
HEDDLE_DEVICE_ float ceilf(float x) {
  return __builtin_ceilf(x);
}
HEDDLE_DEVICE_ double ceil(double x) {
  return __builtin_ceil(x);
}
HEDDLE_DEVICE_ float truncf(float x) {
  return __builtin_truncf(x);
}
HEDDLE_DEVICE_ double trunc(double x) {
  return __builtin_trunc(x);
}
HEDDLE_DEVICE_ float rintf(float x) {
  return __builtin_rintf(x);
}
HEDDLE_DEVICE_ double rint(double x) {
  return __builtin_rint(x);
}
HEDDLE_DEVICE_ float copysignf(float x, float y) {
  return __builtin_copysignf(x, y);
}
HEDDLE_DEVICE_ bool isnan(float x) {
  return __builtin_isnan(x);
}
HEDDLE_DEVICE_ bool isnan(double x) {
  return __builtin_isnan(x);
}
HEDDLE_DEVICE_ bool isinf(float x) {
  return __builtin_isinf(x);
}
HEDDLE_DEVICE_ bool isinf(double x) {
  return __builtin_isinf(x);
}
HEDDLE_DEVICE_ float min(float a, float b) {
  return __builtin_fminf(a, b);
}
HEDDLE_DEVICE_ float max(float a, float b) {
  return __builtin_fmaxf(a, b);
}
HEDDLE_DEVICE_ double min(double a, double b) {
  return __builtin_fmin(a, b);
}
HEDDLE_DEVICE_ double max(double a, double b) {
  return __builtin_fmax(a, b);
}

// Operations with a rounding of their own; n nearest even, z to zero, d down, u up.
#define HEDDLE_ROUNDED_(suffix, rounding)                                               \
  HEDDLE_DEVICE_ float __fadd_##suffix(float a, float b) {                              \
    float value;                                                                        \
    asm("add." rounding ".f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));             \
    return value;                                                                       \
  }                                                                                     \
  HEDDLE_DEVICE_ float __fmul_##suffix(float a, float b) {                              \
    float value;                                                                        \
    asm("mul." rounding ".f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));             \
    return value;                                                                       \
  }                                                                                     \
  HEDDLE_DEVICE_ float __fmaf_##suffix(float a, float b, float c) {                     \
    float value;                                                                        \
    asm("fma." rounding ".f32 %0, %1, %2, %3;" : "=f"(value) : "f"(a), "f"(b), "f"(c)); \
    return value;                                                                       \
  }                                                                                     \
  HEDDLE_DEVICE_ float __int2float_##suffix(int x) {                                    \
    float value;                                                                        \
    asm("cvt." rounding ".f32.s32 %0, %1;" : "=f"(value) : "r"(x));                     \
    return value;                                                                       \
  }                                                                                     \
  HEDDLE_DEVICE_ float __uint2float_##suffix(unsigned int x) {                          \
    float value;                                                                        \
    asm("cvt." rounding ".f32.u32 %0, %1;" : "=f"(value) : "r"(x));                     \
    return value;                                                                       \
  }                                                                                     \
  HEDDLE_DEVICE_ int __float2int_##suffix(float x) {                                    \
    int value;                                                                          \
    asm("cvt." rounding "i.s32.f32 %0, %1;" : "=r"(value) : "f"(x));                    \
    return value;                                                                       \
  }                                                                                     \
  HEDDLE_DEVICE_ unsigned int __float2uint_##suffix(float x) {                          \
    unsigned int value;                                                                 \
    asm("cvt." rounding "i.u32.f32 %0, %1;" : "=r"(value) : "f"(x));                    \
    return value;                                                                       \
  }
HEDDLE_ROUNDED_(rn, "rn")
HEDDLE_ROUNDED_(rz, "rz")
HEDDLE_ROUNDED_(rd, "rm")
HEDDLE_ROUNDED_(ru, "rp")
#undef HEDDLE_ROUNDED_
