// Trigonometric functions of heddle/cuda.h and their inverses, in both widths; see heddle/cuda_exponential.h.
//
// Arguments are reduced to [-pi/4, pi/4] by three parts of pi/2 (Cody and Waite, 1980), very large ones by a product
// with as many bits of 2/pi as count (M. Payne and R. Hanek, SIGNUM Newsletter 18(1), 1983). Inverse functions: one
// division, and two intervals of the quotient.
#pragma once

// x = quadrant * pi/2 + high + low; the quadrant modulo 4.
struct __heddle_angle {
  double high, low;
  int quadrant;
};

// 2/pi, the binary point after 64 zero bits.
HEDDLE_NOINLINE_ __heddle_angle __heddle_reduce_huge(double x) {
  HEDDLE_TABLE_ unsigned long long bits_of_2_over_pi[20] = {
      0x0000000000000000ULL, 0xa2f9836e4e441529ULL, 0xfc2757d1f534ddc0ULL, 0xdb6295993c439041ULL,
      0xfe5163abdebbc561ULL, 0xb7246e3a424dd2e0ULL, 0x06492eea09d1921cULL, 0xfe1deb1cb129a73eULL,
      0xe88235f52ebb4484ULL, 0xe99c7026b45f7e41ULL, 0x3991d639835339f4ULL, 0x9c845f8bbdf9283bULL,
      0x1ff897ffde05980fULL, 0xef2f118b5a0a6d1fULL, 0x6d367ecf27cb09b7ULL, 0x4f463f669e5fea2dULL,
      0x7527bac7ebe5f17bULL, 0x3d0739f78a5292eaULL, 0x6bfb5fb11f8d5d08ULL, 0x56033046fc7b6babULL};
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(x));
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1075;
  const unsigned long long m = (bits & 0xfffffffffffffULL) | 0x10000000000000ULL;
  // 192 bits of 2/pi from that of weight 2 in x * 2/pi on; multiples of 4 fall out at the top of the product.
  const int place = exponent + 62;
  const int word = place >> 6;
  const int shift = place & 63;
  unsigned long long w[3];
  for (int i = 0; i < 3; ++i) {
    const unsigned long long next = bits_of_2_over_pi[word + i + 1];
    w[i] = shift == 0 ? bits_of_2_over_pi[word + i] : (bits_of_2_over_pi[word + i] << shift) | (next >> (64 - shift));
  }
  const unsigned long long p0 = m * w[2];
  const unsigned long long middle = m * w[1];
  const unsigned long long p1 = middle + __umul64hi(m, w[2]);
  const unsigned long long p2 = m * w[0] + __umul64hi(m, w[1]) + (p1 < middle ? 1 : 0);
  int quadrant = static_cast<int>(p2 >> 62);
  unsigned long long high = (p2 << 2) | (p1 >> 62);  // the fraction of the quadrant
  unsigned long long low = (p1 << 2) | (p0 >> 62);
  const bool above = (high >> 63) != 0;  // beyond a half: from the next quadrant downwards
  if (above) {
    ++quadrant;
    low = 0 - low;
    high = ~high + (low == 0 ? 1 : 0);
  }
  const int zeros = high == 0 ? 64 : __clzll(static_cast<long long>(high));
  if (zeros == 64) {
    high = low;
    low = 0;
  } else if (zeros != 0) {
    high = (high << zeros) | (low >> (64 - zeros));
    low <<= zeros;
  }
  const double scale = __heddle_pow2(-64 - zeros);
  const double a = static_cast<double>(high >> 11) * 0x1p11;
  const double b = static_cast<double>(((high & 0x7ff) << 42) | (low >> 22)) * 0x1p-42;
  double r = a * 0x1.921fb54442d18p+0;
  double rest =
      HEDDLE_FMA_(a, 0x1.921fb54442d18p+0, -r) + HEDDLE_FMA_(a, 0x1.1a62633145c07p-54, b * 0x1.921fb54442d18p+0);
  const double sum = r + rest;
  rest = ((r - sum) + rest) * scale;
  r = sum * scale;
  const bool negative = x < 0.0;
  return {above != negative ? -r : r, above != negative ? -rest : rest, negative ? -quadrant : quadrant};
}
HEDDLE_MATH_ __heddle_angle __heddle_reduce(double x) {
  if (__builtin_fabs(x) < 0x1p30) {
    const __heddle_integer n = __heddle_nearest(x * 0x1.45f306dc9c883p-1);
    const double t = HEDDLE_FMA_(n.value, -0x1.921fb54442d18p+0, x);  // exact: see docs/cuda-mathematics.md
    const double p = n.value * 0x1.1a62633145c07p-54;
    const double p_low = HEDDLE_FMA_(n.value, 0x1.1a62633145c07p-54, -p);
    const double r = t - p;
    const double q = t - r;
    const double lost = (q - p) + (t - (r + q));
    return {r, (lost - p_low) + n.value * 0x1.f1976b7ed8fbcp-110, n.number};
  }
  if (!(__builtin_fabs(x) < __builtin_inf())) return {__builtin_nan(""), 0.0, 0};
  return __heddle_reduce_huge(x);
}
// sin and cos of r + low, within [-pi/4, pi/4]; what sin adds to r.
HEDDLE_MATH_ double __heddle_sin_rest(double r, double low) {
  const double z = r * r;
  double p = -7.586685070091267e-13;
  p = HEDDLE_FMA_(p, z, 1.605853141458901e-10);
  p = HEDDLE_FMA_(p, z, -2.5052106231157904e-08);
  p = HEDDLE_FMA_(p, z, 2.7557319219335453e-06);
  p = HEDDLE_FMA_(p, z, -0.0001984126984126506);
  p = HEDDLE_FMA_(p, z, 0.008333333333333331);
  p = HEDDLE_FMA_(p, z, -0.16666666666666666);
  return HEDDLE_FMA_(z * r, p, HEDDLE_FMA_(-0.5 * z, low, low));
}
HEDDLE_MATH_ double __heddle_sin_of(double r, double low) {
  return r + __heddle_sin_rest(r, low);
}
HEDDLE_MATH_ __heddle_pair __heddle_cos_parts(double r, double low) {
  const double z = r * r;
  double p = 4.7458652037874553e-14;
  p = HEDDLE_FMA_(p, z, -1.1470460773969325e-11);
  p = HEDDLE_FMA_(p, z, 2.0876755790363397e-09);
  p = HEDDLE_FMA_(p, z, -2.755731922140076e-07);
  p = HEDDLE_FMA_(p, z, 2.4801587301584645e-05);
  p = HEDDLE_FMA_(p, z, -0.0013888888888888887);
  p = HEDDLE_FMA_(p, z, 0.041666666666666664);
  const double h = 0.5 * z;
  const double w = 1.0 - h;
  const double rest = ((1.0 - w) - h) + HEDDLE_FMA_(z * z, p, -r * low);
  const double c = w + rest;
  return {c, (w - c) + rest};
}
HEDDLE_MATH_ double __heddle_cos_of(double r, double low) {
  return __heddle_cos_parts(r, low).high;
}
// quadrant 0: sin, 1: cos, 2: -sin, 3: -cos
HEDDLE_MATH_ double __heddle_wave(__heddle_angle at, int quadrant) {
  const double value = (quadrant & 1) != 0 ? __heddle_cos_of(at.high, at.low) : __heddle_sin_of(at.high, at.low);
  return (quadrant & 2) != 0 ? -value : value;
}
HEDDLE_MATH_ double sin(double x) {
  if (__builtin_fabs(x) < 0x1p-27) return x;
  const __heddle_angle at = __heddle_reduce(x);
  return __heddle_wave(at, at.quadrant);
}
HEDDLE_MATH_ double cos(double x) {
  const __heddle_angle at = __heddle_reduce(x);
  return __heddle_wave(at, at.quadrant + 1);
}
HEDDLE_MATH_ void sincos(double x, double* sine, double* cosine) {
  const __heddle_angle at = __heddle_reduce(x);
  const double s = __heddle_sin_of(at.high, at.low);
  const double c = __heddle_cos_of(at.high, at.low);
  const double first = (at.quadrant & 1) != 0 ? c : s;
  const double second = (at.quadrant & 1) != 0 ? s : c;
  *sine = __builtin_fabs(x) < 0x1p-27 ? x : (at.quadrant & 2) != 0 ? -first : first;
  *cosine = ((at.quadrant + 1) & 2) != 0 ? -second : second;
}
HEDDLE_MATH_ double tan(double x) {
  if (__builtin_fabs(x) < 0x1p-27) return x;
  const __heddle_angle at = __heddle_reduce(x);
  const double s = at.high + __heddle_sin_rest(at.high, at.low);
  const double s_low = (at.high - s) + __heddle_sin_rest(at.high, at.low);
  const __heddle_pair c = __heddle_cos_parts(at.high, at.low);
  const bool odd = (at.quadrant & 1) != 0;
  const double n = odd ? -c.high : s;
  const double n_low = odd ? -c.low : s_low;
  const double d = odd ? s : c.high;
  const double d_low = odd ? s_low : c.low;
  const double q = n / d;
  return q + ((HEDDLE_FMA_(-q, d, n) + n_low) - q * d_low) / d;
}
// x * pi, reduced; x in half turns.
HEDDLE_MATH_ __heddle_angle __heddle_reduce_pi(double x) {
  const double n = __builtin_rint(2.0 * x);
  const double t = HEDDLE_FMA_(n, -0.5, x);
  const double r = t * 0x1.921fb54442d18p+1;
  const double low = HEDDLE_FMA_(t, 0x1.921fb54442d18p+1, -r) + t * 0x1.1a62633145c07p-53;
  return {r, low, static_cast<int>(HEDDLE_FMA_(__builtin_trunc(n * 0.25), -4.0, n))};
}
HEDDLE_MATH_ double sinpi(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return __builtin_nan("");
  if (__builtin_fabs(x) >= 0x1p53 || __builtin_trunc(x) == x) return __builtin_copysign(0.0, x);
  const __heddle_angle at = __heddle_reduce_pi(x);
  return __heddle_wave(at, at.quadrant);
}
HEDDLE_MATH_ double cospi(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return __builtin_nan("");
  if (__builtin_fabs(x) >= 0x1p53) return 1.0;
  const __heddle_angle at = __heddle_reduce_pi(x);
  return at.high == 0.0 && (at.quadrant & 1) != 0 ? 0.0 : __heddle_wave(at, at.quadrant + 1);
}
HEDDLE_MATH_ void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}

// In single precision up to 2^16, beyond by way of the double functions, rounded once.
HEDDLE_MATH_ float __heddle_sinf_of(float r) {
  const float z = r * r;
  float p = 2.72498642e-06f;
  p = HEDDLE_FMAF_(p, z, -0.000198400856f);
  p = HEDDLE_FMAF_(p, z, 0.00833333191f);
  p = HEDDLE_FMAF_(p, z, -0.166666672f);
  return HEDDLE_FMAF_(z * r, p, r);
}
HEDDLE_MATH_ float __heddle_cosf_of(float r) {
  const float z = r * r;
  float p = 2.45478914e-05f;
  p = HEDDLE_FMAF_(p, z, -0.00138883025f);
  p = HEDDLE_FMAF_(p, z, 0.0416666642f);
  p = HEDDLE_FMAF_(p, z, -0.5f);
  return HEDDLE_FMAF_(p, z, 1.0f);
}
HEDDLE_MATH_ float __heddle_reducef(float x, int* quadrant) {
  const __heddle_integerf n = __heddle_nearestf(x * 0x1.45f306p-1f);
  *quadrant = n.number;
  float r = HEDDLE_FMAF_(n.value, -0x1.921fb6p+0f, x);
  r = HEDDLE_FMAF_(n.value, 0x1.777a5cp-25f, r);
  return HEDDLE_FMAF_(n.value, 0x1.ee59dap-50f, r);
}
HEDDLE_MATH_ float __heddle_wavef(float r, int quadrant) {
  const float value = (quadrant & 1) != 0 ? __heddle_cosf_of(r) : __heddle_sinf_of(r);
  return (quadrant & 2) != 0 ? -value : value;
}
HEDDLE_NOINLINE_ float __heddle_sinf_large(float x) {
  return static_cast<float>(sin(static_cast<double>(x)));
}
HEDDLE_NOINLINE_ float __heddle_cosf_large(float x) {
  return static_cast<float>(cos(static_cast<double>(x)));
}
HEDDLE_NOINLINE_ float __heddle_tanf_large(float x) {
  return static_cast<float>(tan(static_cast<double>(x)));
}
HEDDLE_MATH_ float sinf(float x) {
  if (!(__builtin_fabsf(x) < 0x1p16f)) return __heddle_sinf_large(x);
  int quadrant;
  const float r = __heddle_reducef(x, &quadrant);
  return x == 0.0f ? x : __heddle_wavef(r, quadrant);
}
HEDDLE_MATH_ float cosf(float x) {
  if (!(__builtin_fabsf(x) < 0x1p16f)) return __heddle_cosf_large(x);
  int quadrant;
  const float r = __heddle_reducef(x, &quadrant);
  return __heddle_wavef(r, quadrant + 1);
}
HEDDLE_MATH_ void sincosf(float x, float* sine, float* cosine) {
  if (!(__builtin_fabsf(x) < 0x1p16f)) {
    *sine = __heddle_sinf_large(x);
    *cosine = __heddle_cosf_large(x);
    return;
  }
  int quadrant;
  const float r = __heddle_reducef(x, &quadrant);
  const float s = __heddle_sinf_of(r);
  const float c = __heddle_cosf_of(r);
  const float first = (quadrant & 1) != 0 ? c : s;
  const float second = (quadrant & 1) != 0 ? s : c;
  *sine = x == 0.0f ? x : (quadrant & 2) != 0 ? -first : first;
  *cosine = ((quadrant + 1) & 2) != 0 ? -second : second;
}
HEDDLE_MATH_ float tanf(float x) {
  if (!(__builtin_fabsf(x) < 0x1p16f)) return __heddle_tanf_large(x);
  int quadrant;
  const float r = __heddle_reducef(x, &quadrant);
  const float s = __heddle_sinf_of(r);
  const float c = __heddle_cosf_of(r);
  return x == 0.0f ? x : (quadrant & 1) != 0 ? -c / s : s / c;
}
HEDDLE_MATH_ float sinpif(float x) {
  return static_cast<float>(sinpi(static_cast<double>(x)));
}
HEDDLE_MATH_ float cospif(float x) {
  return static_cast<float>(cospi(static_cast<double>(x)));
}
HEDDLE_MATH_ void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

// -------------------------------------------------------------------------------------------------------- inverses

// (atan(t) - t) / t^3 of t^2 in [0, 1/4].
HEDDLE_MATH_ double __heddle_atan_tail(double z) {
  double p = -0.009215792047089858;
  p = HEDDLE_FMA_(p, z, 0.025006503566489507);
  p = HEDDLE_FMA_(p, z, -0.03806653672057366);
  p = HEDDLE_FMA_(p, z, 0.04628024868570153);
  p = HEDDLE_FMA_(p, z, -0.05240099507994713);
  p = HEDDLE_FMA_(p, z, 0.05879578429582425);
  p = HEDDLE_FMA_(p, z, -0.06666435677235948);
  p = HEDDLE_FMA_(p, z, 0.07692294712540285);
  p = HEDDLE_FMA_(p, z, -0.09090908620322523);
  p = HEDDLE_FMA_(p, z, 0.11111111100917376);
  p = HEDDLE_FMA_(p, z, -0.14285714285599188);
  p = HEDDLE_FMA_(p, z, 0.19999999999999488);
  return HEDDLE_FMA_(p, z, -0.3333333333333333);
}
// atan(b / a) for 0 <= b <= a, a in [2^-900, 2^1000], as a sum of two. Above 1/2 by pi/4 + atan((b - a) / (b + a)).
HEDDLE_MATH_ __heddle_pair __heddle_atan_ratio(double b, double a) {
  const bool large = b > 0.5 * a;
  const double n = large ? b - a : b;
  const double d = large ? b + a : a;
  const double d_low = large ? (a - d) + b : 0.0;
  const double inverse = 1.0 / d;
  const double t = n * inverse;
  const double t_low = (HEDDLE_FMA_(-t, d, n) - t * d_low) * inverse;
  const double z = t * t;
  const double tail = HEDDLE_FMA_(z * t, __heddle_atan_tail(z), t_low);
  const double base = large ? 0x1.921fb54442d18p-1 : 0.0;
  const double base_low = large ? 0x1.1a62633145c07p-55 : 0.0;
  const double high = base + t;
  return {high, (base - high) + t + (tail + base_low)};
}
// pi/2 (or pi) - x where asked for.
HEDDLE_MATH_ double __heddle_atan_place(__heddle_pair at, bool swapped, bool behind) {
  if (swapped) {
    const double base = 0x1.921fb54442d18p+0;
    const double high = base - at.high;
    at = {high, (base - high) - at.high + (0x1.1a62633145c07p-54 - at.low)};
  }
  if (behind) {
    const double base = 0x1.921fb54442d18p+1;
    const double high = base - at.high;
    at = {high, (base - high) - at.high + (0x1.1a62633145c07p-53 - at.low)};
  }
  return at.high + at.low;
}
HEDDLE_MATH_ double atan(double x) {
  const double size = __builtin_fabs(x);
  if (size < 0x1p-27 || x != x) return x;
  const bool swapped = size > 1.0;
  const double b = swapped ? 1.0 : size;
  const double a = swapped ? __heddle_clamp(size, 0.0, 0x1p100) : 1.0;
  return __builtin_copysign(__heddle_atan_place(__heddle_atan_ratio(b, a), swapped, false), x);
}
HEDDLE_MATH_ double atan2(double y, double x) {
  if (x != x || y != y) return x + y;
  double a = __builtin_fabs(x);
  double b = __builtin_fabs(y);
  const bool swapped = b > a;
  const bool behind = __builtin_signbit(x);
  if (swapped) {
    const double other = a;
    a = b;
    b = other;
  }
  __heddle_pair at = {0.0, 0.0};
  if (__builtin_isinf(a)) {
    if (__builtin_isinf(b)) at = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
  } else if (a != 0.0) {
    const double scale = a > 0x1p900 ? 0x1p-200 : a < 0x1p-800 ? 0x1p200 : 1.0;
    if (!swapped && !behind && b * scale < a * scale * 0x1p-700) {  // may be subnormal: one rounding, of the quotient
      return __builtin_copysign(b / a, y);
    }
    at = __heddle_atan_ratio(b * scale, a * scale);
  }
  return __builtin_copysign(__heddle_atan_place(at, swapped, behind), y);
}
// (asin(x) - x) / x^3 of x^2 in [0, 1/4].
HEDDLE_MATH_ double __heddle_asin_tail(double z) {
  double p = 0.028169218060881414;
  p = HEDDLE_FMA_(p, z, -0.010749050339697808);
  p = HEDDLE_FMA_(p, z, 0.01603551434914882);
  p = HEDDLE_FMA_(p, z, 0.0078029494773533175);
  p = HEDDLE_FMA_(p, z, 0.011875494382636922);
  p = HEDDLE_FMA_(p, z, 0.013929652902326633);
  p = HEDDLE_FMA_(p, z, 0.017355259955786323);
  p = HEDDLE_FMA_(p, z, 0.02237204763174451);
  p = HEDDLE_FMA_(p, z, 0.03038194736709848);
  p = HEDDLE_FMA_(p, z, 0.044642857103423646);
  p = HEDDLE_FMA_(p, z, 0.07500000000020764);
  return HEDDLE_FMA_(p, z, 0.1666666666666665);
}
HEDDLE_MATH_ double asin(double x) {
  const double size = __builtin_fabs(x);
  if (size <= 0.5) {
    const double z = x * x;
    return size < 0x1p-27 ? x : HEDDLE_FMA_(z * x, __heddle_asin_tail(z), x);
  }
  const double z = HEDDLE_FMA_(size, -0.5, 0.5);
  const double s = HEDDLE_SQRT_(z);  // NaN beyond 1
  const double high = 0x1.921fb54442d18p+0 - 2.0 * s;
  const double rest =
      (0x1.921fb54442d18p+0 - high) - 2.0 * s + (0x1.1a62633145c07p-54 - 2.0 * (z * s * __heddle_asin_tail(z)));
  return __builtin_copysign(high + rest, x);
}
HEDDLE_MATH_ double acos(double x) {
  const double size = __builtin_fabs(x);
  if (size <= 0.5) {
    const double z = x * x;
    const double tail = z * x * __heddle_asin_tail(z);
    const double high = 0x1.921fb54442d18p+0 - x;
    return high + ((0x1.921fb54442d18p+0 - high) - x + (0x1.1a62633145c07p-54 - tail));
  }
  const double z = HEDDLE_FMA_(size, -0.5, 0.5);
  const double s = HEDDLE_SQRT_(z);
  const double tail = z * s * __heddle_asin_tail(z);
  if (x > 0.0) {
    const double lost = s == 0.0 ? 0.0 : HEDDLE_FMA_(-s, s, z) / (2.0 * s);
    return 2.0 * (s + (tail + lost));
  }
  const double high = 0x1.921fb54442d18p+1 - 2.0 * s;
  return high + ((0x1.921fb54442d18p+1 - high) - 2.0 * s + (0x1.1a62633145c07p-53 - 2.0 * tail));
}

HEDDLE_MATH_ float __heddle_atanf_tail(float z) {
  float p = -0.0645159706f;
  p = HEDDLE_FMAF_(p, z, 0.107436314f);
  p = HEDDLE_FMAF_(p, z, -0.142639458f);
  p = HEDDLE_FMAF_(p, z, 0.199995399f);
  return HEDDLE_FMAF_(p, z, -0.333333313f);
}
// atan(b / a) for 0 <= b <= a. Above tan(pi/8) by pi/4 + atan((b - a) / (b + a)).
HEDDLE_MATH_ float __heddle_atanf_ratio(float b, float a) {
  const bool large = b > 0.4142135f * a;
  const float t = (large ? b - a : b) / (large ? b + a : a);
  const float z = t * t;
  const float tail = z * t * __heddle_atanf_tail(z);
  const float high = 0x1.921fb6p-1f + t;
  return large ? high + (((0x1.921fb6p-1f - high) + t) + (tail - 0x1.777a5cp-26f)) : t + tail;
}
HEDDLE_MATH_ float atanf(float x) {
  const float size = __builtin_fabsf(x);
  if (x != x) return x;
  const bool swapped = size > 1.0f;
  const float angle =
      __heddle_atanf_ratio(swapped ? 1.0f : size, swapped ? __heddle_clampf(size, 0.0f, 0x1p60f) : 1.0f);
  return __builtin_copysignf(swapped ? 0x1.921fb6p+0f - (angle + 0x1.777a5cp-25f) : angle, x);
}
HEDDLE_MATH_ float atan2f(float y, float x) {
  return static_cast<float>(atan2(static_cast<double>(y), static_cast<double>(x)));
}
HEDDLE_MATH_ float __heddle_asinf_tail(float z) {
  float p = 0.0336908475f;
  p = HEDDLE_FMAF_(p, z, 0.0171492379f);
  p = HEDDLE_FMAF_(p, z, 0.0311006624f);
  p = HEDDLE_FMAF_(p, z, 0.0445994027f);
  p = HEDDLE_FMAF_(p, z, 0.0750009418f);
  return HEDDLE_FMAF_(p, z, 0.166666657f);
}
HEDDLE_MATH_ float asinf(float x) {
  const float size = __builtin_fabsf(x);
  const float z = size <= 0.5f ? x * x : HEDDLE_FMAF_(size, -0.5f, 0.5f);
  const float s = size <= 0.5f ? size : HEDDLE_SQRTF_(z);
  const float tail = z * s * __heddle_asinf_tail(z);
  const float high = 0x1.921fb6p+0f - 2.0f * s;
  const float rest = (0x1.921fb6p+0f - high) - 2.0f * s - (0x1.777a5cp-25f + 2.0f * tail);
  return __builtin_copysignf(size <= 0.5f ? s + tail : high + rest, x);
}
HEDDLE_MATH_ float acosf(float x) {
  const float size = __builtin_fabsf(x);
  const float z = size <= 0.5f ? x * x : HEDDLE_FMAF_(size, -0.5f, 0.5f);
  const float s = size <= 0.5f ? x : HEDDLE_SQRTF_(z);
  const float angle = HEDDLE_FMAF_(z * s, __heddle_asinf_tail(z), s);
  if (size <= 0.5f) return 0x1.921fb6p+0f - (angle + 0x1.777a5cp-25f);
  return x > 0.0f ? 2.0f * angle : 0x1.921fb6p+1f - (HEDDLE_FMAF_(angle, 2.0f, 0x1.777a5cp-24f));
}
