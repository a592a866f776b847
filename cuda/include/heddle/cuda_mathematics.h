// The functions of <math.h> in heddle/cuda.h that are exact, or choose, round, compare and take numbers apart; in both
// widths. What has an error of its own stands in heddle/cuda_exponential.h and the two beside it; the overloads of the
// names without f in heddle/cuda_overloads.h.
#pragma once

#define HEDDLE_BUILTIN1_(name)            \
  HEDDLE_DEVICE_ float name##f(float x) { \
    return __builtin_##name##f(x);        \
  }                                       \
  HEDDLE_DEVICE_ double name(double x) {  \
    return __builtin_##name(x);           \
  }
HEDDLE_BUILTIN1_(fabs)
HEDDLE_BUILTIN1_(floor)
HEDDLE_BUILTIN1_(ceil)
HEDDLE_BUILTIN1_(trunc)
HEDDLE_BUILTIN1_(rint)
#undef HEDDLE_BUILTIN1_
#define HEDDLE_BUILTIN2_(name)                     \
  HEDDLE_DEVICE_ float name##f(float a, float b) { \
    return __builtin_##name##f(a, b);              \
  }                                                \
  HEDDLE_DEVICE_ double name(double a, double b) { \
    return __builtin_##name(a, b);                 \
  }
HEDDLE_BUILTIN2_(fmin)
HEDDLE_BUILTIN2_(fmax)
HEDDLE_BUILTIN2_(copysign)
#undef HEDDLE_BUILTIN2_
HEDDLE_DEVICE_ float fmaf(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
HEDDLE_DEVICE_ double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
HEDDLE_DEVICE_ float sqrtf(float x) {
  return __nvvm_sqrt_rn_f(x);
}
HEDDLE_DEVICE_ double sqrt(double x) {
  return __nvvm_sqrt_rn_d(x);
}
HEDDLE_DEVICE_ float fdividef(float a, float b) {
  return a / b;
}
HEDDLE_DEVICE_ float nanf(const char*) {
  return __builtin_nanf("");
}
HEDDLE_DEVICE_ double nan(const char*) {
  return __builtin_nan("");
}

// Rounding: rint and nearbyint to even, round away from zero. Integers are as cvt gives them: saturated, NaN is 0 (for
// 64 bits 0x8000000000000000).
#define HEDDLE_ROUND_(type, f, half)                                       \
  HEDDLE_DEVICE_ type nearbyint##f(type x) {                               \
    return rint##f(x);                                                     \
  }                                                                        \
  HEDDLE_MATH_ type round##f(type x) {                                     \
    const type t = trunc##f(x);                                            \
    const type up = fabs##f(x - t) >= half ? 1 : 0;                        \
    return copysign##f(fabs##f(t) + up, x);                                \
  }                                                                        \
  HEDDLE_MATH_ type fdim##f(type a, type b) {                              \
    return a != a || b != b ? a + b : a > b ? a - b : 0;                   \
  }                                                                        \
  HEDDLE_MATH_ type modf##f(type x, type* whole) {                         \
    *whole = trunc##f(x);                                                  \
    return copysign##f(fabs##f(x) == __builtin_inf() ? 0 : x - *whole, x); \
  }
HEDDLE_ROUND_(float, f, 0.5f)
HEDDLE_ROUND_(double, , 0.5)
#undef HEDDLE_ROUND_
#define HEDDLE_TO_INTEGER_(name, type, source, instruction, result, operand) \
  HEDDLE_DEVICE_ type name(source x) {                                       \
    type value;                                                              \
    asm(instruction " %0, %1;" : result(value) : operand(x));                \
    return value;                                                            \
  }
HEDDLE_TO_INTEGER_(llrintf, long long, float, "cvt.rni.s64.f32", "=l", "f")
HEDDLE_TO_INTEGER_(llrint, long long, double, "cvt.rni.s64.f64", "=l", "d")
HEDDLE_TO_INTEGER_(__heddle_to_ll, long long, double, "cvt.rzi.s64.f64", "=l", "d")
#if __LONG_WIDTH__ == 64 || defined(__LP64__)
HEDDLE_TO_INTEGER_(lrintf, long, float, "cvt.rni.s64.f32", "=l", "f")
HEDDLE_TO_INTEGER_(lrint, long, double, "cvt.rni.s64.f64", "=l", "d")
HEDDLE_TO_INTEGER_(__heddle_to_l, long, double, "cvt.rzi.s64.f64", "=l", "d")
#else
HEDDLE_TO_INTEGER_(lrintf, long, float, "cvt.rni.s32.f32", "=r", "f")
HEDDLE_TO_INTEGER_(lrint, long, double, "cvt.rni.s32.f64", "=r", "d")
HEDDLE_TO_INTEGER_(__heddle_to_l, long, double, "cvt.rzi.s32.f64", "=r", "d")
#endif
#undef HEDDLE_TO_INTEGER_
HEDDLE_DEVICE_ long lround(double x) {
  return __heddle_to_l(round(x));
}
HEDDLE_DEVICE_ long lroundf(float x) {
  return __heddle_to_l(roundf(x));
}
HEDDLE_DEVICE_ long long llround(double x) {
  return __heddle_to_ll(round(x));
}
HEDDLE_DEVICE_ long long llroundf(float x) {
  return __heddle_to_ll(roundf(x));
}

// Classes. They look at the bits, so that no option of the compiler can fold them away.
HEDDLE_DEVICE_ bool isnan(float x) {
  return x != x;
}
HEDDLE_DEVICE_ bool isnan(double x) {
  return x != x;
}
HEDDLE_DEVICE_ bool isinf(float x) {
  return (__float_as_uint(x) & 0x7fffffffU) == 0x7f800000U;
}
HEDDLE_DEVICE_ bool isinf(double x) {
  return (__double_as_longlong(x) & 0x7fffffffffffffffLL) == 0x7ff0000000000000LL;
}
HEDDLE_DEVICE_ bool isfinite(float x) {
  return (__float_as_uint(x) & 0x7f800000U) != 0x7f800000U;
}
HEDDLE_DEVICE_ bool isfinite(double x) {
  return (__double2hiint(x) & 0x7ff00000) != 0x7ff00000;
}
HEDDLE_DEVICE_ bool isnormal(float x) {
  return isfinite(x) && (__float_as_uint(x) & 0x7f800000U) != 0;
}
HEDDLE_DEVICE_ bool isnormal(double x) {
  return isfinite(x) && (__double2hiint(x) & 0x7ff00000) != 0;
}
HEDDLE_DEVICE_ bool signbit(float x) {
  return __float_as_int(x) < 0;
}
HEDDLE_DEVICE_ bool signbit(double x) {
  return __double2hiint(x) < 0;
}
HEDDLE_DEVICE_ int fpclassify(float x) {
  return isnan(x) ? FP_NAN : isinf(x) ? FP_INFINITE : x == 0 ? FP_ZERO : isnormal(x) ? FP_NORMAL : FP_SUBNORMAL;
}
HEDDLE_DEVICE_ int fpclassify(double x) {
  return isnan(x) ? FP_NAN : isinf(x) ? FP_INFINITE : x == 0 ? FP_ZERO : isnormal(x) ? FP_NORMAL : FP_SUBNORMAL;
}

// Taking apart and putting together. Exact, but where a result becomes subnormal: rounded once.
HEDDLE_MATH_ double frexp(double x, int* exponent) {
  *exponent = 0;
  if (x == 0.0 || !isfinite(x)) return x;
  const bool tiny = fabs(x) < 0x1p-1022;
  const long long bits = __double_as_longlong(tiny ? x * 0x1p54 : x);
  *exponent = static_cast<int>((bits >> 52) & 0x7ff) - (tiny ? 1076 : 1022);
  return __longlong_as_double((bits & ~(0x7ffLL << 52)) | (1022LL << 52));
}
HEDDLE_MATH_ float frexpf(float x, int* exponent) {
  return static_cast<float>(frexp(static_cast<double>(x), exponent));
}
HEDDLE_MATH_ double ldexp(double x, int n) {
  // A step keeps 53 bits unless it is the last: down by way of 2^-969, after which one rounding is left.
  for (int i = 0; i < 2 && n > 1023; ++i) {
    x *= 0x1p1023;
    n -= 1023;
  }
  for (int i = 0; i < 2 && n < -1022; ++i) {
    x *= 0x1p-969;
    n += 969;
  }
  n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
  return x * __longlong_as_double(static_cast<long long>(n + 1023) << 52);
}
HEDDLE_MATH_ float ldexpf(float x, int n) {
  return static_cast<float>(ldexp(static_cast<double>(x), n));
}
HEDDLE_DEVICE_ double scalbn(double x, int n) {
  return ldexp(x, n);
}
HEDDLE_DEVICE_ float scalbnf(float x, int n) {
  return ldexpf(x, n);
}
HEDDLE_MATH_ double scalbln(double x, long n) {
  return ldexp(x, n > 10000 ? 10000 : n < -10000 ? -10000 : static_cast<int>(n));
}
HEDDLE_MATH_ float scalblnf(float x, long n) {
  return static_cast<float>(scalbln(static_cast<double>(x), n));
}
HEDDLE_MATH_ int ilogb(double x) {
  if (x == 0.0 || isnan(x)) return INT_MIN;
  if (isinf(x)) return INT_MAX;
  int exponent;
  frexp(x, &exponent);
  return exponent - 1;
}
HEDDLE_DEVICE_ int ilogbf(float x) {
  return ilogb(static_cast<double>(x));
}
HEDDLE_MATH_ double logb(double x) {
  if (x == 0.0) return -__builtin_inf();
  if (!isfinite(x)) return fabs(x);
  return ilogb(x);
}
HEDDLE_DEVICE_ float logbf(float x) {
  return static_cast<float>(logb(static_cast<double>(x)));
}
HEDDLE_MATH_ double nextafter(double x, double y) {
  if (isnan(x) || isnan(y)) return x + y;
  if (x == y) return y;
  if (x == 0.0) return copysign(__longlong_as_double(1), y);
  const long long bits = __double_as_longlong(x);
  return __longlong_as_double((x < y) == (x > 0.0) ? bits + 1 : bits - 1);
}
HEDDLE_MATH_ float nextafterf(float x, float y) {
  if (isnan(x) || isnan(y)) return x + y;
  if (x == y) return y;
  if (x == 0.0f) return copysignf(__int_as_float(1), y);
  const int bits = __float_as_int(x);
  return __int_as_float((x < y) == (x > 0.0f) ? bits + 1 : bits - 1);
}

// Remainders: exact, by long division in binary. `quotient` receives the low bits of the quotient.
HEDDLE_NOINLINE_ double __heddle_remainder(double x, double y, bool nearest, unsigned* quotient) {
  *quotient = 0;
  if (isnan(x) || isnan(y) || isinf(x) || y == 0.0) return __builtin_nan("");
  double rest = fabs(x);
  const double d = fabs(y);
  unsigned count = 0;
  if (rest >= d && !isinf(d)) {
    int ex;
    int ed;
    unsigned long long a = static_cast<unsigned long long>(frexp(rest, &ex) * 0x1p53);
    const unsigned long long b = static_cast<unsigned long long>(frexp(d, &ed) * 0x1p53);
    for (int i = ex - ed; i >= 0; --i) {
      count <<= 1;
      if (a >= b) {
        a -= b;
        count |= 1;
      }
      if (i != 0) a <<= 1;
    }
    rest = ldexp(static_cast<double>(a), ed - 53);
  }
  if (nearest && !isinf(d)) {
    // Twice the rest may overflow, half of d may lose a bit: compare what is left.
    const double other = d - rest;
    if (rest > other || (rest == other && (count & 1) != 0)) {
      rest = -other;
      ++count;
    }
  }
  *quotient = count;
  return signbit(x) ? -rest : rest;
}
HEDDLE_DEVICE_ double fmod(double x, double y) {
  unsigned quotient;
  return __heddle_remainder(x, y, false, &quotient);
}
HEDDLE_DEVICE_ double remainder(double x, double y) {
  unsigned quotient;
  return __heddle_remainder(x, y, true, &quotient);
}
HEDDLE_MATH_ double remquo(double x, double y, int* quotient) {
  unsigned count;
  const double rest = __heddle_remainder(x, y, true, &count);
  const int low = static_cast<int>(count & 7);
  *quotient = signbit(x) != signbit(y) ? -low : low;
  return rest;
}
HEDDLE_MATH_ float fmodf(float x, float y) {
  return static_cast<float>(fmod(static_cast<double>(x), static_cast<double>(y)));
}
HEDDLE_MATH_ float remainderf(float x, float y) {
  return static_cast<float>(remainder(static_cast<double>(x), static_cast<double>(y)));
}
HEDDLE_MATH_ float remquof(float x, float y, int* quotient) {
  return static_cast<float>(remquo(static_cast<double>(x), static_cast<double>(y), quotient));
}
