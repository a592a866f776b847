// What the formats of 16 and 8 bits share (cuda_half.h, cuda_bfloat.h, cuda_float8.h): functions that host and device
// have alike, in CUDA files, kernels alone and ordinary C++.
//
// Every header of such a format includes this before and heddle/cuda_numbers_end.h behind what it declares.
#include "heddle/cuda_unfused.h"

#ifndef HEDDLE_NUMBER_
#ifdef __CUDA__
#define HEDDLE_NUMBER_ static __host__ __device__ __inline__ __attribute__((always_inline, nodebug, unused))
#define HEDDLE_NUMBER_MEMBER_ __host__ __device__ __inline__ __attribute__((always_inline, nodebug))
#else
#define HEDDLE_NUMBER_ static inline __attribute__((unused))
#define HEDDLE_NUMBER_MEMBER_ inline
#endif
#endif

#ifndef HEDDLE_NUMBERS_
#define HEDDLE_NUMBERS_

#ifndef __CUDA__
#include <math.h>
#endif

// How a value between two of a format is rounded.
enum __heddle_rounding { __heddle_round_nearest, __heddle_round_to_zero, __heddle_round_down, __heddle_round_up };

HEDDLE_NUMBER_ unsigned int __heddle_bits_of(float value) {
  return __builtin_bit_cast(unsigned int, value);
}
HEDDLE_NUMBER_ float __heddle_float_of(unsigned int bits) {
  return __builtin_bit_cast(float, bits);
}

// To single precision, toward zero, with the last bit set if that was inexact: rounding it again to a format of at most
// 22 bits is as if from the double at once, in every direction.
HEDDLE_NUMBER_ float __heddle_odd_float(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  if (back == x || x != x) return nearest;
  unsigned int bits = __heddle_bits_of(nearest);
  if ((x < 0 ? -back : back) > (x < 0 ? -x : x)) --bits;
  return __heddle_float_of(bits | 1U);
}
// An integer in double precision, with the last bit set if it had more than 53.
HEDDLE_NUMBER_ double __heddle_odd_double(unsigned long long x) {
  if (x >> 53 == 0) return static_cast<double>(x);
  return static_cast<double>((x >> 11) | ((x & 0x7ffU) != 0 ? 1U : 0U)) * 2048;
}
HEDDLE_NUMBER_ double __heddle_odd_double(long long x) {
  return x < 0 ? -__heddle_odd_double(0ULL - static_cast<unsigned long long>(x))
               : __heddle_odd_double(static_cast<unsigned long long>(x));
}
// a + b in double precision, toward zero but for the last bit, which is set if that was inexact.
HEDDLE_NUMBER_ double __heddle_odd_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  if (!(error != 0) || sum - sum != 0) return sum;
  auto bits = __builtin_bit_cast(unsigned long long, sum);
  if ((error < 0) == (sum > 0)) --bits;
  return __builtin_bit_cast(double, bits | 1U);
}

// To an integer of type T, rounded and kept within its range. What is no number becomes 0, in 64 bits the value with
// the highest bit alone, as the device's conversions have it.
template <class T>
HEDDLE_NUMBER_ T __heddle_integer(float x, __heddle_rounding rounding) {
  constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
  constexpr T kHighest = static_cast<T>(1ULL << (kBits - 1));
  if (x != x) return sizeof(T) == 8 ? kHighest : T{0};
  const float whole = rounding == __heddle_round_nearest   ? __builtin_rintf(x)
                      : rounding == __heddle_round_to_zero ? __builtin_truncf(x)
                      : rounding == __heddle_round_down    ? __builtin_floorf(x)
                                                           : __builtin_ceilf(x);
  // The first power of two beyond the range.
  const float end = static_cast<float>(1ULL << (kBits - 1)) * (kSigned ? 1.0f : 2.0f);
  if (whole >= end) return kSigned ? static_cast<T>(~kHighest) : static_cast<T>(-1);
  if (whole < (kSigned ? -end : 0.0f)) return kSigned ? kHighest : T{0};
  return static_cast<T>(whole);
}

#endif
