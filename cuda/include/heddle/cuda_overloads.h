// The names without f of heddle/cuda.h's mathematics for float and for integers, as C++'s <cmath> and CUDA have them:
// float stays float, integers become double, and of two different types double comes out.
#pragma once

template <bool, class T>
struct __heddle_if {};
template <class T>
struct __heddle_if<true, T> {
  using type = T;
};
template <class T>
struct __heddle_number {
  static constexpr bool whole = false, any = false;
};
#define HEDDLE_NUMBER_(name, is_whole)                  \
  template <>                                           \
  struct __heddle_number<name> {                        \
    static constexpr bool whole = is_whole, any = true; \
  };
HEDDLE_NUMBER_(bool, true)
HEDDLE_NUMBER_(char, true)
HEDDLE_NUMBER_(signed char, true)
HEDDLE_NUMBER_(unsigned char, true)
HEDDLE_NUMBER_(short, true)
HEDDLE_NUMBER_(unsigned short, true)
HEDDLE_NUMBER_(int, true)
HEDDLE_NUMBER_(unsigned int, true)
HEDDLE_NUMBER_(long, true)
HEDDLE_NUMBER_(unsigned long, true)
HEDDLE_NUMBER_(long long, true)
HEDDLE_NUMBER_(unsigned long long, true)
HEDDLE_NUMBER_(float, false)
HEDDLE_NUMBER_(double, false)
#undef HEDDLE_NUMBER_
#define HEDDLE_WHOLE_(T, result) typename __heddle_if<__heddle_number<T>::whole, result>::type
#define HEDDLE_MIXED_(A, B, result) \
  typename __heddle_if<__heddle_number<A>::any && __heddle_number<B>::any, result>::type

// One argument, with a form for integers.
#define HEDDLE_OVERLOAD1_(name, result)               \
  HEDDLE_DEVICE_ result name(float x) {               \
    return name##f(x);                                \
  }                                                   \
  template <class T>                                  \
  HEDDLE_DEVICE_ HEDDLE_WHOLE_(T, double) name(T x) { \
    return name(static_cast<double>(x));              \
  }
#define HEDDLE_FLOAT1_(name) HEDDLE_OVERLOAD1_(name, float)
HEDDLE_FLOAT1_(fabs)
HEDDLE_FLOAT1_(floor)
HEDDLE_FLOAT1_(ceil)
HEDDLE_FLOAT1_(trunc)
HEDDLE_FLOAT1_(rint)
HEDDLE_FLOAT1_(nearbyint)
HEDDLE_FLOAT1_(round)
HEDDLE_FLOAT1_(sqrt)
HEDDLE_FLOAT1_(cbrt)
HEDDLE_FLOAT1_(exp)
HEDDLE_FLOAT1_(exp2)
HEDDLE_FLOAT1_(expm1)
HEDDLE_FLOAT1_(log)
HEDDLE_FLOAT1_(log2)
HEDDLE_FLOAT1_(log10)
HEDDLE_FLOAT1_(log1p)
HEDDLE_FLOAT1_(logb)
HEDDLE_FLOAT1_(sin)
HEDDLE_FLOAT1_(cos)
HEDDLE_FLOAT1_(tan)
HEDDLE_FLOAT1_(asin)
HEDDLE_FLOAT1_(acos)
HEDDLE_FLOAT1_(atan)
HEDDLE_FLOAT1_(sinh)
HEDDLE_FLOAT1_(cosh)
HEDDLE_FLOAT1_(tanh)
HEDDLE_FLOAT1_(asinh)
HEDDLE_FLOAT1_(acosh)
HEDDLE_FLOAT1_(atanh)
HEDDLE_FLOAT1_(erf)
HEDDLE_FLOAT1_(erfc)
HEDDLE_FLOAT1_(lgamma)
HEDDLE_FLOAT1_(tgamma)
#undef HEDDLE_FLOAT1_
#undef HEDDLE_OVERLOAD1_
#define HEDDLE_TO_INTEGER_(name, result)              \
  HEDDLE_DEVICE_ result name(float x) {               \
    return name##f(x);                                \
  }                                                   \
  template <class T>                                  \
  HEDDLE_DEVICE_ HEDDLE_WHOLE_(T, result) name(T x) { \
    return name(static_cast<double>(x));              \
  }
HEDDLE_TO_INTEGER_(lround, long)
HEDDLE_TO_INTEGER_(llround, long long)
HEDDLE_TO_INTEGER_(lrint, long)
HEDDLE_TO_INTEGER_(llrint, long long)
HEDDLE_TO_INTEGER_(ilogb, int)
#undef HEDDLE_TO_INTEGER_
#define HEDDLE_CLASS_(name, result)                   \
  template <class T>                                  \
  HEDDLE_DEVICE_ HEDDLE_WHOLE_(T, result) name(T x) { \
    return name(static_cast<double>(x));              \
  }
HEDDLE_CLASS_(isnan, bool)
HEDDLE_CLASS_(isinf, bool)
HEDDLE_CLASS_(isfinite, bool)
HEDDLE_CLASS_(isnormal, bool)
HEDDLE_CLASS_(signbit, bool)
HEDDLE_CLASS_(fpclassify, int)
#undef HEDDLE_CLASS_

// CUDA's own, which take no integers.
#define HEDDLE_FLOAT_ONLY_(name)       \
  HEDDLE_DEVICE_ float name(float x) { \
    return name##f(x);                 \
  }
HEDDLE_FLOAT_ONLY_(rsqrt)
HEDDLE_FLOAT_ONLY_(rcbrt)
HEDDLE_FLOAT_ONLY_(exp10)
HEDDLE_FLOAT_ONLY_(sinpi)
HEDDLE_FLOAT_ONLY_(cospi)
HEDDLE_FLOAT_ONLY_(erfinv)
HEDDLE_FLOAT_ONLY_(erfcinv)
HEDDLE_FLOAT_ONLY_(erfcx)
HEDDLE_FLOAT_ONLY_(normcdf)
HEDDLE_FLOAT_ONLY_(normcdfinv)
#undef HEDDLE_FLOAT_ONLY_

#define HEDDLE_OVERLOAD2_(name)                                  \
  HEDDLE_DEVICE_ float name(float a, float b) {                  \
    return name##f(a, b);                                        \
  }                                                              \
  template <class A, class B>                                    \
  HEDDLE_DEVICE_ HEDDLE_MIXED_(A, B, double) name(A a, B b) {    \
    return name(static_cast<double>(a), static_cast<double>(b)); \
  }
HEDDLE_OVERLOAD2_(pow)
HEDDLE_OVERLOAD2_(fmin)
HEDDLE_OVERLOAD2_(fmax)
HEDDLE_OVERLOAD2_(fmod)
HEDDLE_OVERLOAD2_(fdim)
HEDDLE_OVERLOAD2_(atan2)
HEDDLE_OVERLOAD2_(hypot)
HEDDLE_OVERLOAD2_(copysign)
HEDDLE_OVERLOAD2_(remainder)
HEDDLE_OVERLOAD2_(nextafter)
#undef HEDDLE_OVERLOAD2_

HEDDLE_DEVICE_ float fma(float a, float b, float c) {
  return fmaf(a, b, c);
}
template <class A, class B, class C>
HEDDLE_DEVICE_ typename __heddle_if<__heddle_number<C>::any, HEDDLE_MIXED_(A, B, double)>::type fma(A a, B b, C c) {
  return fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c));
}
HEDDLE_DEVICE_ float frexp(float x, int* exponent) {
  return frexpf(x, exponent);
}
HEDDLE_DEVICE_ float modf(float x, float* whole) {
  return modff(x, whole);
}
HEDDLE_DEVICE_ float ldexp(float x, int n) {
  return ldexpf(x, n);
}
HEDDLE_DEVICE_ float scalbn(float x, int n) {
  return ldexpf(x, n);
}
HEDDLE_DEVICE_ float scalbln(float x, long n) {
  return scalblnf(x, n);
}
HEDDLE_DEVICE_ float remquo(float x, float y, int* quotient) {
  return remquof(x, y, quotient);
}
HEDDLE_DEVICE_ void sincos(float x, float* sine, float* cosine) {
  sincosf(x, sine, cosine);
}
HEDDLE_DEVICE_ void sincospi(float x, float* sine, float* cosine) {
  sincospif(x, sine, cosine);
}

// abs and the choice of the smaller or larger. Of two different types it is the type of their sum; CUDA has the same
// for the pairs that it takes, and calls the others ambiguous.
HEDDLE_DEVICE_ int abs(int x) {
  return x < 0 ? static_cast<int>(0U - static_cast<unsigned int>(x)) : x;
}
HEDDLE_DEVICE_ long abs(long x) {
  return x < 0 ? static_cast<long>(0UL - static_cast<unsigned long>(x)) : x;
}
HEDDLE_DEVICE_ long long abs(long long x) {
  return x < 0 ? static_cast<long long>(0ULL - static_cast<unsigned long long>(x)) : x;
}
HEDDLE_DEVICE_ float abs(float x) {
  return __builtin_fabsf(x);
}
HEDDLE_DEVICE_ double abs(double x) {
  return __builtin_fabs(x);
}
HEDDLE_DEVICE_ long labs(long x) {
  return abs(x);
}
HEDDLE_DEVICE_ long long llabs(long long x) {
  return abs(x);
}
#define HEDDLE_CHOICE_(type)              \
  HEDDLE_BOTH_ type min(type a, type b) { \
    return b < a ? b : a;                 \
  }                                       \
  HEDDLE_BOTH_ type max(type a, type b) { \
    return a < b ? b : a;                 \
  }
HEDDLE_CHOICE_(int)
HEDDLE_CHOICE_(unsigned int)
HEDDLE_CHOICE_(long)
HEDDLE_CHOICE_(unsigned long)
HEDDLE_CHOICE_(long long)
HEDDLE_CHOICE_(unsigned long long)
#undef HEDDLE_CHOICE_
HEDDLE_BOTH_ float min(float a, float b) {
  return __builtin_fminf(a, b);
}
HEDDLE_BOTH_ float max(float a, float b) {
  return __builtin_fmaxf(a, b);
}
HEDDLE_BOTH_ double min(double a, double b) {
  return __builtin_fmin(a, b);
}
HEDDLE_BOTH_ double max(double a, double b) {
  return __builtin_fmax(a, b);
}
#define HEDDLE_SUM_(A, B) decltype(A() + B())
template <class A, class B>
HEDDLE_BOTH_ HEDDLE_MIXED_(A, B, HEDDLE_SUM_(A, B)) min(A a, B b) {
  return min(static_cast<HEDDLE_SUM_(A, B)>(a), static_cast<HEDDLE_SUM_(A, B)>(b));
}
template <class A, class B>
HEDDLE_BOTH_ HEDDLE_MIXED_(A, B, HEDDLE_SUM_(A, B)) max(A a, B b) {
  return max(static_cast<HEDDLE_SUM_(A, B)>(a), static_cast<HEDDLE_SUM_(A, B)>(b));
}
#undef HEDDLE_SUM_
#undef HEDDLE_MIXED_
#undef HEDDLE_WHOLE_
#define HEDDLE_NAMED_(name, type, call)         \
  HEDDLE_BOTH_ type name##min(type a, type b) { \
    return min(a, b);                           \
  }                                             \
  HEDDLE_BOTH_ type name##max(type a, type b) { \
    return max(a, b);                           \
  }
HEDDLE_NAMED_(u, unsigned int, )
HEDDLE_NAMED_(ll, long long, )
HEDDLE_NAMED_(ull, unsigned long long, )
#undef HEDDLE_NAMED_

// <cmath>'s other home.
namespace std {
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::fdim;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::frexp;
using ::hypot;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::isnormal;
using ::ldexp;
using ::lgamma;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::logb;
using ::lrint;
using ::lround;
#ifndef HEDDLE_WITH_HOST
using ::max;
using ::min;
#endif
using ::modf;
using ::nearbyint;
using ::nextafter;
using ::pow;
using ::remainder;
using ::remquo;
using ::rint;
using ::round;
using ::scalbn;
using ::signbit;
using ::sin;
using ::sinh;
using ::size_t;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;
}  // namespace std
