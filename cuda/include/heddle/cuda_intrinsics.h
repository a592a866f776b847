// CUDA's floating-point intrinsics: the machine's approximations, operations that round as they say, conversions.
#pragma once

// The machine's approximations; docs/isa.md has their bounds.
#define HEDDLE_APPROXIMATION_(name, instruction)                   \
  HEDDLE_DEVICE_ float name(float x) {                             \
    float value;                                                   \
    asm(instruction ".approx.f32 %0, %1;" : "=f"(value) : "f"(x)); \
    return value;                                                  \
  }
HEDDLE_APPROXIMATION_(heddle_ex2_, "ex2")
HEDDLE_APPROXIMATION_(heddle_lg2_, "lg2")
HEDDLE_APPROXIMATION_(heddle_sin_, "sin")
HEDDLE_APPROXIMATION_(heddle_cos_, "cos")
// Of what turns out to be a constant the compiler takes the function's value, as nvcc 13.0 was seen to do with these
// four: a loop to __log2f(16) has a known count.
#define HEDDLE_FOLDED_(name, function, approximation)                            \
  HEDDLE_DEVICE_ float name(float x) {                                           \
    return __builtin_constant_p(x) ? __builtin_##function(x) : approximation(x); \
  }
HEDDLE_FOLDED_(__exp2f, exp2f, heddle_ex2_)
HEDDLE_FOLDED_(__log2f, log2f, heddle_lg2_)
HEDDLE_FOLDED_(__sinf, sinf, heddle_sin_)
HEDDLE_FOLDED_(__cosf, cosf, heddle_cos_)
#undef HEDDLE_FOLDED_
HEDDLE_APPROXIMATION_(__tanhf, "tanh")
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
HEDDLE_DEVICE_ float __exp10f(float x) {
  return __exp2f(x * 3.3219280948873623f);
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
// Rounded right: the double is never so close to the middle of two floats (tried for every significand).
HEDDLE_DEVICE_ float __frsqrt_rn(float x) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}

// Operations with a rounding of their own; n nearest even, z to zero, d down, u up.
#define HEDDLE_ARITHMETIC_(prefix, suffix, rounding, type, ptx, c)           \
  HEDDLE_DEVICE_ type __##prefix##add_##suffix(type a, type b) {             \
    type value;                                                              \
    asm("add." rounding "." ptx " %0, %1, %2;" : "=" c(value) : c(a), c(b)); \
    return value;                                                            \
  }                                                                          \
  HEDDLE_DEVICE_ type __##prefix##sub_##suffix(type a, type b) {             \
    type value;                                                              \
    asm("sub." rounding "." ptx " %0, %1, %2;" : "=" c(value) : c(a), c(b)); \
    return value;                                                            \
  }                                                                          \
  HEDDLE_DEVICE_ type __##prefix##mul_##suffix(type a, type b) {             \
    type value;                                                              \
    asm("mul." rounding "." ptx " %0, %1, %2;" : "=" c(value) : c(a), c(b)); \
    return value;                                                            \
  }                                                                          \
  HEDDLE_DEVICE_ type __##prefix##div_##suffix(type a, type b) {             \
    type value;                                                              \
    asm("div." rounding "." ptx " %0, %1, %2;" : "=" c(value) : c(a), c(b)); \
    return value;                                                            \
  }                                                                          \
  HEDDLE_DEVICE_ type __##prefix##rcp_##suffix(type a) {                     \
    type value;                                                              \
    asm("rcp." rounding "." ptx " %0, %1;" : "=" c(value) : c(a));           \
    return value;                                                            \
  }                                                                          \
  HEDDLE_DEVICE_ type __##prefix##sqrt_##suffix(type a) {                    \
    type value;                                                              \
    asm("sqrt." rounding "." ptx " %0, %1;" : "=" c(value) : c(a));          \
    return value;                                                            \
  }
#define HEDDLE_FUSED_(name, rounding, type, ptx, c)                                    \
  HEDDLE_DEVICE_ type name(type x, type y, type z) {                                   \
    type value;                                                                        \
    asm("fma." rounding "." ptx " %0, %1, %2, %3;" : "=" c(value) : c(x), c(y), c(z)); \
    return value;                                                                      \
  }
#define HEDDLE_CONVERT_(name, to, from, ptx, cto, cfrom)    \
  HEDDLE_DEVICE_ to name(from x) {                          \
    to value;                                               \
    asm("cvt." ptx " %0, %1;" : "=" cto(value) : cfrom(x)); \
    return value;                                           \
  }
#define HEDDLE_ROUNDED_(suffix, r)                                                           \
  HEDDLE_ARITHMETIC_(f, suffix, r, float, "f32", "f")                                        \
  HEDDLE_ARITHMETIC_(d, suffix, r, double, "f64", "d")                                       \
  HEDDLE_FUSED_(__fmaf_##suffix, r, float, "f32", "f")                                       \
  HEDDLE_FUSED_(__fma_##suffix, r, double, "f64", "d")                                       \
  HEDDLE_CONVERT_(__int2float_##suffix, float, int, r ".f32.s32", "f", "r")                  \
  HEDDLE_CONVERT_(__uint2float_##suffix, float, unsigned int, r ".f32.u32", "f", "r")        \
  HEDDLE_CONVERT_(__ll2float_##suffix, float, long long, r ".f32.s64", "f", "l")             \
  HEDDLE_CONVERT_(__ull2float_##suffix, float, unsigned long long, r ".f32.u64", "f", "l")   \
  HEDDLE_CONVERT_(__ll2double_##suffix, double, long long, r ".f64.s64", "d", "l")           \
  HEDDLE_CONVERT_(__ull2double_##suffix, double, unsigned long long, r ".f64.u64", "d", "l") \
  HEDDLE_CONVERT_(__double2float_##suffix, float, double, r ".f32.f64", "f", "d")            \
  HEDDLE_CONVERT_(__float2int_##suffix, int, float, r "i.s32.f32", "r", "f")                 \
  HEDDLE_CONVERT_(__float2uint_##suffix, unsigned int, float, r "i.u32.f32", "r", "f")       \
  HEDDLE_CONVERT_(__float2ll_##suffix, long long, float, r "i.s64.f32", "l", "f")            \
  HEDDLE_CONVERT_(__float2ull_##suffix, unsigned long long, float, r "i.u64.f32", "l", "f")  \
  HEDDLE_CONVERT_(__double2int_##suffix, int, double, r "i.s32.f64", "r", "d")               \
  HEDDLE_CONVERT_(__double2uint_##suffix, unsigned int, double, r "i.u32.f64", "r", "d")     \
  HEDDLE_CONVERT_(__double2ll_##suffix, long long, double, r "i.s64.f64", "l", "d")          \
  HEDDLE_CONVERT_(__double2ull_##suffix, unsigned long long, double, r "i.u64.f64", "l", "d")
HEDDLE_ROUNDED_(rn, "rn")
HEDDLE_ROUNDED_(rz, "rz")
HEDDLE_ROUNDED_(rd, "rm")
HEDDLE_ROUNDED_(ru, "rp")
#undef HEDDLE_ROUNDED_
#undef HEDDLE_CONVERT_
#undef HEDDLE_FUSED_
#undef HEDDLE_ARITHMETIC_
HEDDLE_DEVICE_ double __int2double_rn(int x) {
  return x;
}
HEDDLE_DEVICE_ double __uint2double_rn(unsigned int x) {
  return x;
}
