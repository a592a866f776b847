// Exponentials, logarithms and powers of heddle/cuda.h, in both widths. Plain C++ over IEEE operations and fma, so that
// a host that compiles this file computes the same bits; docs/cuda-mathematics.md states the errors, as measured.
//
// Methods: argument reduction by Cody and Waite (Software Manual for the Elementary Functions, 1980); log(1+f) by
// s = f/(2+f), whose series in s*s needs few terms (P. T. P. Tang, ACM TOMS 16(4), 1990); sums of two numbers where one
// would lose bits (T. J. Dekker, Numer. Math. 18, 1971). The polynomials interpolate at Chebyshev nodes.
#pragma once

#define HEDDLE_FMA_ __builtin_fma
#define HEDDLE_FMAF_ __builtin_fmaf

// 2^n for n in [-1022, 1023].
HEDDLE_MATH_ double __heddle_pow2(int n) {
  return __longlong_as_double(static_cast<long long>(n + 1023) << 52);
}
HEDDLE_MATH_ float __heddle_pow2f(int n) {
  return __int_as_float((n + 127) << 23);
}
// x * 2^n with one rounding, for x in [0.5, 4) and |n| < 2044 (252).
HEDDLE_MATH_ double __heddle_scale(double x, int n) {
  const int half = n >> 1;
  return x * __heddle_pow2(half) * __heddle_pow2(n - half);
}
HEDDLE_MATH_ float __heddle_scalef(float x, int n) {
  const int half = n >> 1;
  return x * __heddle_pow2f(half) * __heddle_pow2f(n - half);
}
// The nearest integer of a number below 2^31, left in the low bits of a sum; NaN stays NaN.
struct __heddle_integer {
  double value;
  int number;
};
HEDDLE_MATH_ __heddle_integer __heddle_nearest(double x) {
  const double shifted = x + 0x1.8p52;
  return {shifted - 0x1.8p52, static_cast<int>(__double_as_longlong(shifted))};
}
struct __heddle_integerf {
  float value;
  int number;
};
HEDDLE_MATH_ __heddle_integerf __heddle_nearestf(float x) {  // below 2^22
  const float shifted = x + 0x1.8p23f;
  return {shifted - 0x1.8p23f, __float_as_int(shifted) - 0x4b400000};
}
HEDDLE_MATH_ double __heddle_clamp(double x, double low, double high) {  // NaN stays NaN
  x = x < low ? low : x;
  return x > high ? high : x;
}
HEDDLE_MATH_ float __heddle_clampf(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2; relative error 2e-18.
HEDDLE_MATH_ double __heddle_exp_tail(double r) {
  double q = 2.0914689542549555e-09;
  q = HEDDLE_FMA_(q, r, 2.5105220609870554e-08);
  q = HEDDLE_FMA_(q, r, 2.7557273636924405e-07);
  q = HEDDLE_FMA_(q, r, 2.755725539154403e-06);
  q = HEDDLE_FMA_(q, r, 2.4801587325552618e-05);
  q = HEDDLE_FMA_(q, r, 0.00019841269874827454);
  q = HEDDLE_FMA_(q, r, 0.0013888888888883746);
  q = HEDDLE_FMA_(q, r, 0.008333333333326132);
  q = HEDDLE_FMA_(q, r, 0.04166666666666667);
  q = HEDDLE_FMA_(q, r, 0.1666666666666667);
  return HEDDLE_FMA_(q, r, 0.5);
}
// 2^n * e^(r + low).
HEDDLE_MATH_ double __heddle_exp_of(double r, double low, int n) {
  const double most = r * r * __heddle_exp_tail(r);
  return __heddle_scale(1.0 + (r + (most + HEDDLE_FMA_(low, r + most, low))), n);
}
// 2^more * e^(x + low) for a tiny low.
HEDDLE_MATH_ double __heddle_exp_sum(double x, double low, int more = 0) {
  x = __heddle_clamp(x, -750.0, 720.0);
  const __heddle_integer n = __heddle_nearest(x * 0x1.71547652b82fep+0);
  double r = HEDDLE_FMA_(n.value, -0x1.62e42fefap-1, x);
  r = HEDDLE_FMA_(n.value, -0x1.cf79abc9e3b3ap-40, r);
  return __heddle_exp_of(r, low, n.number + more);
}
HEDDLE_MATH_ double exp(double x) {
  x = __heddle_clamp(x, -750.0, 720.0);
  const __heddle_integer n = __heddle_nearest(x * 0x1.71547652b82fep+0);
  double r = HEDDLE_FMA_(n.value, -0x1.62e42fefap-1, x);
  r = HEDDLE_FMA_(n.value, -0x1.cf79abc9e3b3ap-40, r);
  return __heddle_scale(1.0 + HEDDLE_FMA_(r * r, __heddle_exp_tail(r), r), n.number);
}
HEDDLE_MATH_ double exp2(double x) {
  x = __heddle_clamp(x, -1080.0, 1030.0);
  const __heddle_integer n = __heddle_nearest(x);
  const double t = x - n.value;
  const double r = t * 0x1.62e42fefa39efp-1;
  const double low = HEDDLE_FMA_(t, 0x1.62e42fefa39efp-1, -r) + t * 0x1.abc9e3b39803fp-56;
  return __heddle_exp_of(r, low, n.number);
}
HEDDLE_MATH_ double exp10(double x) {
  x = __heddle_clamp(x, -330.0, 310.0);
  const __heddle_integer n = __heddle_nearest(x * 0x1.a934f0979a371p+1);
  const double t = HEDDLE_FMA_(n.value, -0x1.34413509fp-2, x);  // exact
  const double tail = n.value * -0x1.e7fbcc47c4acdp-40;
  const double r = t * 0x1.26bb1bbb55516p+1;
  const double low = HEDDLE_FMA_(t, 0x1.26bb1bbb55516p+1, -r) + t * -0x1.f48ad494ea3e9p-53;
  const double rest = tail * 0x1.26bb1bbb55516p+1;
  const double sum = r + rest;
  return __heddle_exp_of(sum, (r - sum) + rest + low, n.number);
}
// A sum of two numbers whose first is the larger, or 0.
struct __heddle_pair {
  double high, low;
};
HEDDLE_MATH_ __heddle_pair __heddle_sum(double a, double b) {
  const double high = a + b;
  return {high, (a - high) + b};
}
// e^x - 1 for |x| <= 700.
HEDDLE_MATH_ __heddle_pair __heddle_expm1_of(double x) {
  const __heddle_integer n = __heddle_nearest(x * 0x1.71547652b82fep+0);
  const double first = HEDDLE_FMA_(n.value, -0x1.62e42fefap-1, x);
  const double second = n.value * 0x1.cf79abc9e3b3ap-40;
  const double r = first - second;
  const double most = HEDDLE_FMA_(r * r, __heddle_exp_tail(r), (first - r) - second);
  if (n.number == 0) return __heddle_sum(r, most);
  // 2^n (1 + r + most) - 1, with the error of the first sum kept.
  const double scale = __heddle_pow2(n.number);
  const double base = scale - 1.0;
  const double sum = HEDDLE_FMA_(scale, r, base);
  return __heddle_sum(sum, HEDDLE_FMA_(scale, most, HEDDLE_FMA_(scale, r, base - sum)));
}
HEDDLE_MATH_ double expm1(double x) {
  if (__builtin_fabs(x) < 0x1p-54) return x;
  if (x < -40.0) return -1.0;
  return x > 690.0 ? exp(x) : __heddle_expm1_of(x).high;
}

// 2^n * e^(r + low), in single precision.
HEDDLE_MATH_ float __heddle_expf_of(float r, float low, int n) {
  float q = 0.00019890994f;
  q = HEDDLE_FMAF_(q, r, 0.00139336532f);
  q = HEDDLE_FMAF_(q, r, 0.00833331048f);
  q = HEDDLE_FMAF_(q, r, 0.0416664667f);
  q = HEDDLE_FMAF_(q, r, 0.166666672f);
  q = HEDDLE_FMAF_(q, r, 0.5f);
  return __heddle_scalef(1.0f + (r + HEDDLE_FMAF_(r * r, q, low)), n);
}
HEDDLE_MATH_ float expf(float x) {
  x = __heddle_clampf(x, -110.0f, 90.0f);
  const __heddle_integerf n = __heddle_nearestf(x * 0x1.715476p+0f);
  float r = HEDDLE_FMAF_(n.value, -0x1.62ep-1f, x);
  r = HEDDLE_FMAF_(n.value, -0x1.0bfbe8p-15f, r);
  return __heddle_expf_of(r, 0.0f, n.number);
}
HEDDLE_MATH_ float exp2f(float x) {
  x = __heddle_clampf(x, -160.0f, 130.0f);
  const __heddle_integerf n = __heddle_nearestf(x);
  const float t = x - n.value;
  const float r = t * 0x1.62e43p-1f;
  const float low = HEDDLE_FMAF_(t, 0x1.62e43p-1f, -r) + t * -0x1.05c61p-29f;
  return __heddle_expf_of(r, low, n.number);
}
HEDDLE_MATH_ float exp10f(float x) {
  x = __heddle_clampf(x, -48.0f, 40.0f);
  const __heddle_integerf n = __heddle_nearestf(x * 0x1.a934fp+1f);
  float t = HEDDLE_FMAF_(n.value, -0x1.344p-2f, x);
  t = HEDDLE_FMAF_(n.value, -0x1.3509f8p-18f, t);
  const float r = t * 0x1.26bb1cp+1f;
  const float low = HEDDLE_FMAF_(t, 0x1.26bb1cp+1f, -r) + t * -0x1.12aabap-25f;
  return __heddle_expf_of(r, low, n.number);
}
HEDDLE_MATH_ float expm1f(float x) {
  return static_cast<float>(expm1(static_cast<double>(x)));
}

// x = 2^k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
struct __heddle_split {
  double f, k;
};
HEDDLE_MATH_ __heddle_split __heddle_split_of(double x) {
  const bool tiny = x < 0x1p-1022;
  const long long bits = __double_as_longlong(tiny ? x * 0x1p54 : x);
  const int k = (static_cast<int>(bits >> 32) - 0x3fe6a09e) >> 20;
  const double m = __longlong_as_double(bits - (static_cast<long long>(k) << 52));
  return {m - 1.0, static_cast<double>(tiny ? k - 54 : k)};
}
// log(1 + f) as a sum of two; the second holds the rounding errors that matter.
HEDDLE_MATH_ __heddle_pair __heddle_log1p_of(double f) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 0.14616484198366603;
  p = HEDDLE_FMA_(p, z, 0.1533171880828007);
  p = HEDDLE_FMA_(p, z, 0.18182889209266595);
  p = HEDDLE_FMA_(p, z, 0.22222211133642084);
  p = HEDDLE_FMA_(p, z, 0.2857142862598255);
  p = HEDDLE_FMA_(p, z, 0.3999999999989949);
  p = HEDDLE_FMA_(p, z, 0.666666666666667);
  const double h = 0.5 * f * f;
  const double high = f - h;
  return {high, HEDDLE_FMA_(s, HEDDLE_FMA_(z, p, h), ((f - high) - h) - HEDDLE_FMA_(0.5 * f, f, -h))};
}
// What log, log2 and log10 have for numbers that are not positive and finite.
HEDDLE_MATH_ double __heddle_log_special(double x) {
  return x == 0.0 ? -__builtin_inf() : x < 0.0 ? __builtin_nan("") : x;
}
HEDDLE_MATH_ double __heddle_log_sum(double k, __heddle_pair l) {
  const double a = k * 0x1.62e42fefap-1;
  const double sum = a + l.high;
  return sum + (((a - sum) + l.high) + HEDDLE_FMA_(k, 0x1.cf79abc9e3b3ap-40, l.low));
}
HEDDLE_MATH_ double log(double x) {
  if (!(x > 0.0 && x < __builtin_inf())) return __heddle_log_special(x);
  const __heddle_split x2 = __heddle_split_of(x);
  return __heddle_log_sum(x2.k, __heddle_log1p_of(x2.f));
}
HEDDLE_MATH_ double log2(double x) {
  if (!(x > 0.0 && x < __builtin_inf())) return __heddle_log_special(x);
  const __heddle_split x2 = __heddle_split_of(x);
  const __heddle_pair l = __heddle_log1p_of(x2.f);
  const double p = l.high * 0x1.71547652b82fep+0;
  const double low = HEDDLE_FMA_(l.high, 0x1.71547652b82fep+0, -p) +
                     HEDDLE_FMA_(l.low, 0x1.71547652b82fep+0, l.high * 0x1.777d0ffda0d24p-56);
  const double sum = x2.k + p;
  return sum + (((x2.k - sum) + p) + low);
}
HEDDLE_MATH_ double log10(double x) {
  if (!(x > 0.0 && x < __builtin_inf())) return __heddle_log_special(x);
  const __heddle_split x2 = __heddle_split_of(x);
  const __heddle_pair l = __heddle_log1p_of(x2.f);
  const double p = l.high * 0x1.bcb7b1526e50ep-2;
  const double low = HEDDLE_FMA_(l.high, 0x1.bcb7b1526e50ep-2, -p) +
                     HEDDLE_FMA_(l.low, 0x1.bcb7b1526e50ep-2, l.high * 0x1.95355baaafad3p-57);
  const double a = x2.k * 0x1.34413509fp-2;
  const double sum = a + p;
  return sum + (((a - sum) + p) + HEDDLE_FMA_(x2.k, 0x1.e7fbcc47c4acdp-40, low));
}
HEDDLE_MATH_ double log1p(double x) {
  if (!(x > -1.0 && x < __builtin_inf())) return x == -1.0 ? -__builtin_inf() : x < -1.0 ? __builtin_nan("") : x;
  if (x > -0.2928 && x < 0.4142) {
    if (__builtin_fabs(x) < 0x1p-54) return x;
    const __heddle_pair l = __heddle_log1p_of(x);
    return l.high + l.low;
  }
  const double u = 1.0 + x;
  const double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  const __heddle_split u2 = __heddle_split_of(u);
  __heddle_pair l = __heddle_log1p_of(u2.f);
  l.low += lost / u;
  return __heddle_log_sum(u2.k, l);
}

struct __heddle_splitf {
  float f, k;
};
HEDDLE_MATH_ __heddle_splitf __heddle_splitf_of(float x) {
  const bool tiny = x < 0x1p-126f;
  const int bits = __float_as_int(tiny ? x * 0x1p24f : x);
  const int k = (bits - 0x3f3504f3) >> 23;
  return {__int_as_float(bits - (k << 23)) - 1.0f, static_cast<float>(tiny ? k - 24 : k)};
}
struct __heddle_pairf {
  float high, low;
};
HEDDLE_MATH_ __heddle_pairf __heddle_log1pf_of(float f) {
  const float s = f / (2.0f + f);
  const float z = s * s;
  float p = 0.295799762f;
  p = HEDDLE_FMAF_(p, z, 0.3998878f);
  p = HEDDLE_FMAF_(p, z, 0.666666865f);
  const float h = 0.5f * f * f;
  const float high = f - h;
  return {high, HEDDLE_FMAF_(s, HEDDLE_FMAF_(z, p, h), ((f - high) - h) - HEDDLE_FMAF_(0.5f * f, f, -h))};
}
HEDDLE_MATH_ float __heddle_logf_special(float x) {
  return x == 0.0f ? -__builtin_inff() : x < 0.0f ? __builtin_nanf("") : x;
}
HEDDLE_MATH_ float logf(float x) {
  if (!(x > 0.0f && x < __builtin_inff())) return __heddle_logf_special(x);
  const __heddle_splitf x2 = __heddle_splitf_of(x);
  const __heddle_pairf l = __heddle_log1pf_of(x2.f);
  const float a = x2.k * 0x1.62ep-1f;
  const float sum = a + l.high;
  return sum + (((a - sum) + l.high) + HEDDLE_FMAF_(x2.k, 0x1.0bfbe8p-15f, l.low));
}
HEDDLE_MATH_ float log2f(float x) {
  if (!(x > 0.0f && x < __builtin_inff())) return __heddle_logf_special(x);
  const __heddle_splitf x2 = __heddle_splitf_of(x);
  const __heddle_pairf l = __heddle_log1pf_of(x2.f);
  const float p = l.high * 0x1.715476p+0f;
  const float low =
      HEDDLE_FMAF_(l.high, 0x1.715476p+0f, -p) + HEDDLE_FMAF_(l.low, 0x1.715476p+0f, l.high * 0x1.4ae0cp-26f);
  const float sum = x2.k + p;
  return sum + (((x2.k - sum) + p) + low);
}
HEDDLE_MATH_ float log10f(float x) {
  if (!(x > 0.0f && x < __builtin_inff())) return __heddle_logf_special(x);
  const __heddle_splitf x2 = __heddle_splitf_of(x);
  const __heddle_pairf l = __heddle_log1pf_of(x2.f);
  const float p = l.high * 0x1.bcb7b2p-2f;
  const float low =
      HEDDLE_FMAF_(l.high, 0x1.bcb7b2p-2f, -p) + HEDDLE_FMAF_(l.low, 0x1.bcb7b2p-2f, l.high * -0x1.5b235ep-27f);
  const float a = x2.k * 0x1.344p-2f;
  const float sum = a + p;
  return sum + (((a - sum) + p) + HEDDLE_FMAF_(x2.k, 0x1.3509f8p-18f, low));
}
HEDDLE_MATH_ float log1pf(float x) {
  return static_cast<float>(log1p(static_cast<double>(x)));
}

// ---------------------------------------------------------------------------------------------------------- powers

// log(2^k (1 + f)) to twice double's bits but about ten: what x^y needs, whose exponent reaches 745.
HEDDLE_MATH_ __heddle_pair __heddle_log_twice(__heddle_split x) {
  const double f = x.f;
  const double d = 2.0 + f;
  const double inverse = 1.0 / d;
  const double s = f * inverse;
  const double s_low = (HEDDLE_FMA_(-s, d, f) - s * ((2.0 - d) + f)) * inverse;
  const double z = s * s;
  const double z_low = HEDDLE_FMA_(s, s, -z) + 2.0 * s * s_low;
  const double c = s * z;
  const double c_low = HEDDLE_FMA_(s, z, -c) + HEDDLE_FMA_(s, z_low, s_low * z);
  double p = 0.11723083470684552;
  p = HEDDLE_FMA_(p, z, 0.11706245438694063);
  p = HEDDLE_FMA_(p, z, 0.1333480435406345);
  p = HEDDLE_FMA_(p, z, 0.15384594968765747);
  p = HEDDLE_FMA_(p, z, 0.18181818335334335);
  p = HEDDLE_FMA_(p, z, 0.22222222221656143);
  p = HEDDLE_FMA_(p, z, 0.28571428571429364);
  p = HEDDLE_FMA_(p, z, 0.4);
  const double zp = z * p;
  const double t = 0x1.5555555555555p-1 + zp;
  const double t_low = (0x1.5555555555555p-1 - t) + zp + 0x1.5555555555555p-55;
  const double u = c * t;
  const double u_low = HEDDLE_FMA_(c, t, -u) + HEDDLE_FMA_(c, t_low, c_low * t);
  const double v = 2.0 * s + u;
  const double v_low = (2.0 * s - v) + u + HEDDLE_FMA_(2.0, s_low, u_low);
  const double a = x.k * 0x1.62e42fefap-1;
  const double sum = a + v;
  const double low = ((a - sum) + v) + HEDDLE_FMA_(x.k, 0x1.cf79abc9e3b3ap-40, v_low);
  const double high = sum + low;
  return {high, (sum - high) + low};
}
HEDDLE_MATH_ double __heddle_exp_pair(__heddle_pair x) {
  if (x.high > 720.0) return __builtin_inf();
  if (x.high < -750.0) return 0.0;
  return __heddle_exp_sum(x.high, x.low);
}
// C11, F.10.4.4, for everything but positive finite x and finite y.
HEDDLE_MATH_ double __heddle_pow_special(double x, double y, bool whole, bool odd) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  const double size = __builtin_fabs(x);
  if (__builtin_isinf(y)) {
    if (size == 1.0) return 1.0;
    return (size > 1.0) == (y > 0.0) ? __builtin_inf() : 0.0;
  }
  if (size == 0.0 || __builtin_isinf(size)) {
    const double value = (size == 0.0) == (y > 0.0) ? 0.0 : __builtin_inf();
    return odd ? __builtin_copysign(value, x) : value;
  }
  if (!whole) return __builtin_nan("");
  return 0.0;  // negative and whole: not special
}
HEDDLE_MATH_ double pow(double x, double y) {
  const bool whole = __builtin_trunc(y) == y;
  const bool odd = whole && __builtin_fabs(y) < 0x1p53 && __builtin_trunc(0.5 * y) * 2.0 != y;
  const double size = __builtin_fabs(x);
  const bool plain = size > 0.0 && size < __builtin_inf() && __builtin_fabs(y) < __builtin_inf() && y != 0.0;
  if (!plain || x == 1.0 || (x < 0.0 && !whole)) return __heddle_pow_special(x, y, whole, odd);
  const __heddle_pair l = __heddle_log_twice(__heddle_split_of(size));
  const double limited = __heddle_clamp(y, -0x1p80, 0x1p80);
  const double p = limited * l.high;
  const double result = __heddle_exp_pair({p, HEDDLE_FMA_(limited, l.high, -p) + limited * l.low});
  return x < 0.0 && odd ? -result : result;
}

// In double precision with shorter polynomials (relative error 1e-11), rounded once.
HEDDLE_MATH_ float powf(float x, float y) {
  const bool whole = __builtin_truncf(y) == y;
  const bool odd = whole && __builtin_fabsf(y) < 0x1p24f && __builtin_truncf(0.5f * y) * 2.0f != y;
  const float size = __builtin_fabsf(x);
  const bool plain = size > 0.0f && size < __builtin_inff() && __builtin_fabsf(y) < __builtin_inff() && y != 0.0f;
  if (!plain || x == 1.0f || (x < 0.0f && !whole)) {
    return static_cast<float>(__heddle_pow_special(x, y, whole, odd));
  }
  const __heddle_split x2 = __heddle_split_of(size);
  const double s = x2.f / (2.0 + x2.f);
  const double z = s * s;
  double p = 0.19362685019474993;
  p = HEDDLE_FMA_(p, z, 0.22191399219082047);
  p = HEDDLE_FMA_(p, z, 0.285717545612925);
  p = HEDDLE_FMA_(p, z, 0.3999999879721329);
  p = HEDDLE_FMA_(p, z, 0.6666666666737519);
  const double l = HEDDLE_FMA_(x2.k, 0x1.62e42fefa39efp-1, HEDDLE_FMA_(s * z, p, 2.0 * s));
  const double e = __heddle_clamp(y * l, -120.0, 100.0);
  const __heddle_integer n = __heddle_nearest(e * 0x1.71547652b82fep+0);
  const double r = HEDDLE_FMA_(n.value, -0x1.62e42fefa39efp-1, e);
  double q = 2.4859593772487735e-05;
  q = HEDDLE_FMA_(q, r, 0.0001989928951558685);
  q = HEDDLE_FMA_(q, r, 0.0013888854030935933);
  q = HEDDLE_FMA_(q, r, 0.008333298465067715);
  q = HEDDLE_FMA_(q, r, 0.041666666719022916);
  q = HEDDLE_FMA_(q, r, 0.16666666719039594);
  q = HEDDLE_FMA_(q, r, 0.5);
  const float result = static_cast<float>(HEDDLE_FMA_(r * r, q, 1.0 + r) * __heddle_pow2(n.number));
  return x < 0.0f && odd ? -result : result;
}
