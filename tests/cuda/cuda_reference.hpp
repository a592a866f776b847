// What the mathematics of heddle/cuda.h are compared with: the host's long double functions, whose 64 bits are 11 more
// than a double has; and arguments that find faults.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace heddle::test {

inline long double sin_of_pi(long double x) {
  if (!std::isfinite(x)) return std::numeric_limits<long double>::quiet_NaN();
  const long double rest = fmodl(x, 2);
  if (rest == truncl(rest)) return copysignl(0, x);
  const long double quarter = rintl(2 * rest);
  const long double angle = (rest - quarter / 2) * 3.14159265358979323846264338327950288L;
  const int quadrant = static_cast<int>(quarter) & 3;
  const long double value = (quadrant & 1) != 0 ? cosl(angle) : sinl(angle);
  return (quadrant & 2) != 0 ? -value : value;
}
inline long double cos_of_pi(long double x) {
  if (!std::isfinite(x)) return std::numeric_limits<long double>::quiet_NaN();
  const long double rest = fabsl(fmodl(x, 2));
  return rest == 0.5L || rest == 1.5L ? 0 : rest <= 1 ? sin_of_pi(0.5L - rest) + 0 : sin_of_pi(rest - 1.5L);
}
// e^(x^2) erfc(x), where the factors leave long double by its asymptotic series.
inline long double scaled_erfc(long double x) {
  if (x < 20) return expl(x * x) * erfcl(x);
  long double sum = 1;
  long double term = 1;
  for (int k = 1; k < 12; ++k) {
    term *= -(2 * k - 1) / (2 * x * x);
    sum += term;
  }
  return sum / (x * 1.77245385090551602729816748334114518L);
}

// Units in the last place of T that `got` is away from `exact`: 0 where both are the same infinity or not a number,
// infinite where only one is.
template <class T>
double ulps(T got, long double exact) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(got) ? 0 : kInfinite;
  if (!std::isfinite(static_cast<T>(exact))) return got == static_cast<T>(exact) ? 0 : kInfinite;
  if (!std::isfinite(got)) return kInfinite;
  int exponent = 0;
  std::frexp(std::max(fabsl(exact), static_cast<long double>(std::numeric_limits<T>::min())), &exponent);
  return static_cast<double>(fabsl(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

// Zeros, infinities, NaN, subnormals, extremes, multiples of pi, the double nearest to a multiple of pi/2; then numbers
// of any exponent, numbers close to 1, and numbers in [low, high].
template <class T>
std::vector<T> mathematics_arguments(std::size_t count, double low, double high, Random& random) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (const T x : {T{0},
                    T{1},
                    T{2},
                    T{3},
                    T(0.5),
                    T(0.75),
                    T(1.5),
                    T(10),
                    T(100),
                    Limits::infinity(),
                    Limits::max(),
                    Limits::min(),
                    Limits::denorm_min(),
                    Limits::epsilon(),
                    T(Limits::min() * 0.3),
                    T(1e5),
                    T(1e9),
                    T(1e22),
                    T(3.14159265358979323846),
                    T(1.57079632679489661923),
                    T(0x1.6ac5b262ca1ffp+849L),
                    T(0.69314718055994530942),
                    T(88.7),
                    T(-103.9),
                    T(709.78),
                    T(-745.1),
                    T(65536)}) {
    values.push_back(x);
    values.push_back(-x);
  }
  values.push_back(Limits::quiet_NaN());
  while (values.size() < count) {
    const std::uint64_t bits = random.next();
    T any = 0;
    if constexpr (sizeof(T) == 8) {
      any = std::bit_cast<double>(bits);
    } else {
      any = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
    values.push_back(any);
    values.push_back(static_cast<T>(1 + (random.unit() - 0.5) * std::ldexp(1.0, -static_cast<int>(random.below(20)))));
    values.push_back(static_cast<T>(low + (high - low) * random.unit()));
    values.push_back(static_cast<T>(low + (high - low) * random.unit()));
  }
  values.resize(count);
  return values;
}

}  // namespace heddle::test
