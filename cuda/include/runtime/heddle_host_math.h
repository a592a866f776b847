/* CUDA's mathematics beyond the standard library's, in host code of CUDA files, for cuda_runtime.h. Templates: a
   program may have a function of its own by such a name. */
#ifndef HEDDLE_HOST_MATH_H
#define HEDDLE_HOST_MATH_H

#include <math.h>

/* A function of double, the float's by its own name, and both as overloads. */
#define HEDDLE_HOST_MATH_(name, parameters, by_double, by_float) \
  template <class = void>                                        \
  inline __host__ double name(HEDDLE_##parameters##_(double)) {  \
    return by_double;                                            \
  }                                                              \
  template <class = void>                                        \
  inline __host__ float name(HEDDLE_##parameters##_(float)) {    \
    return by_float;                                             \
  }                                                              \
  template <class = void>                                        \
  inline __host__ float name##f(HEDDLE_##parameters##_(float)) { \
    return by_float;                                             \
  }
#define HEDDLE_OF_ONE_(type) type x
#define HEDDLE_OF_TWO_(type) type x, type y

/* sin(pi x), by the nearest multiple of pi / 2; the cosine is the sine of a quarter of a turn more. */
template <class = void>
inline __host__ double heddle_host_sine_(double x, int quarters_more) {
  if (!isfinite(x)) return x - x;
  const double rest = fmod(x, 2);
  const double quarter = rint(2 * rest);
  const double angle = (rest - quarter / 2) * 3.14159265358979323846;
  const int quadrant = (static_cast<int>(quarter) + quarters_more) & 3;
  const double value = (quadrant & 1) != 0 ? cos(angle) : sin(angle);
  return (quadrant & 2) != 0 ? -value : value;
}

HEDDLE_HOST_MATH_(rsqrt, OF_ONE, 1 / sqrt(x), static_cast<float>(1 / sqrt(static_cast<double>(x))))
HEDDLE_HOST_MATH_(rcbrt, OF_ONE, 1 / cbrt(x), static_cast<float>(1 / cbrt(static_cast<double>(x))))
HEDDLE_HOST_MATH_(rhypot, OF_TWO, 1 / hypot(x, y),
                  static_cast<float>(1 / hypot(static_cast<double>(x), static_cast<double>(y))))
HEDDLE_HOST_MATH_(normcdf, OF_ONE, erfc(x * -0.70710678118654752440) / 2,
                  static_cast<float>(erfc(static_cast<double>(x) * -0.70710678118654752440) / 2))
HEDDLE_HOST_MATH_(sinpi, OF_ONE, x == rint(x) && isfinite(x) ? copysign(0.0, x) : heddle_host_sine_(x, 0),
                  x == rintf(x) && isfinite(x) ? copysignf(0, x) : static_cast<float>(heddle_host_sine_(x, 0)))
HEDDLE_HOST_MATH_(cospi, OF_ONE, heddle_host_sine_(x, 1) + 0.0,
                  static_cast<float>(heddle_host_sine_(static_cast<double>(x), 1) + 0.0))
#undef HEDDLE_HOST_MATH_
#undef HEDDLE_OF_ONE_
#undef HEDDLE_OF_TWO_

#endif
