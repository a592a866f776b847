/* <cuComplex.h>: complex numbers as pairs of float or double, for host and device, C and C++.

   Quotients and absolute values are scaled, so that no intermediate result leaves the range where the result does not.
 */
#pragma once

#ifdef __CUDA__
#define HEDDLE_COMPLEX_ static __host__ __device__ __inline__ __attribute__((always_inline, nodebug, unused))
#else
#include <math.h>
#define HEDDLE_COMPLEX_ static __inline__ __attribute__((unused))
#endif

#define HEDDLE_COMPLEX_TYPE_(type, pair, real, suffix, root, size)                          \
  typedef pair type;                                                                        \
  HEDDLE_COMPLEX_ real cuCreal##suffix(type x) {                                            \
    return x.x;                                                                             \
  }                                                                                         \
  HEDDLE_COMPLEX_ real cuCimag##suffix(type x) {                                            \
    return x.y;                                                                             \
  }                                                                                         \
  HEDDLE_COMPLEX_ type make_##type(real x, real y) {                                        \
    type result;                                                                            \
    result.x = x;                                                                           \
    result.y = y;                                                                           \
    return result;                                                                          \
  }                                                                                         \
  HEDDLE_COMPLEX_ type cuConj##suffix(type x) {                                             \
    return make_##type(x.x, -x.y);                                                          \
  }                                                                                         \
  HEDDLE_COMPLEX_ type cuCadd##suffix(type x, type y) {                                     \
    return make_##type(x.x + y.x, x.y + y.y);                                               \
  }                                                                                         \
  HEDDLE_COMPLEX_ type cuCsub##suffix(type x, type y) {                                     \
    return make_##type(x.x - y.x, x.y - y.y);                                               \
  }                                                                                         \
  HEDDLE_COMPLEX_ type cuCmul##suffix(type x, type y) {                                     \
    return make_##type(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);                       \
  }                                                                                         \
  HEDDLE_COMPLEX_ type cuCdiv##suffix(type x, type y) {                                     \
    const real scale = (real)1 / (size(y.x) + size(y.y));                                   \
    const type a = make_##type(x.x * scale, x.y * scale);                                   \
    const type b = make_##type(y.x * scale, y.y * scale);                                   \
    const real square = (real)1 / (b.x * b.x + b.y * b.y);                                  \
    return make_##type((a.x * b.x + a.y * b.y) * square, (a.y * b.x - a.x * b.y) * square); \
  }                                                                                         \
  HEDDLE_COMPLEX_ real cuCabs##suffix(type x) {                                             \
    const real a = size(x.x);                                                               \
    const real b = size(x.y);                                                               \
    const real larger = a > b ? a : b;                                                      \
    const real smaller = a > b ? b : a;                                                     \
    const real part = smaller / larger;                                                     \
    if (!(larger > (real)0) || larger - larger != (real)0) return a + b;                    \
    return larger * root((real)1 + part * part);                                            \
  }                                                                                         \
  HEDDLE_COMPLEX_ type cuCfma##suffix(type x, type y, type z) {                             \
    return make_##type(x.x * y.x + z.x - x.y * y.y, x.x * y.y + z.y + x.y * y.x);           \
  }

HEDDLE_COMPLEX_TYPE_(cuFloatComplex, float2, float, f, sqrtf, fabsf)
HEDDLE_COMPLEX_TYPE_(cuDoubleComplex, double2, double, , sqrt, fabs)
#undef HEDDLE_COMPLEX_TYPE_

typedef cuFloatComplex cuComplex;
HEDDLE_COMPLEX_ cuComplex make_cuComplex(float x, float y) {
  return make_cuFloatComplex(x, y);
}
HEDDLE_COMPLEX_ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) {
  return make_cuDoubleComplex((double)x.x, (double)x.y);
}
HEDDLE_COMPLEX_ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return make_cuFloatComplex((float)x.x, (float)x.y);
}
#undef HEDDLE_COMPLEX_
