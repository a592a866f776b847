/* Arithmetic of float2 to float4, int2 to int4 and uint2 to uint4, component by component, as cutil_math.h and, since,
   helper_math.h of NVIDIA's samples have it. */
#ifndef HELPER_MATH_H
#define HELPER_MATH_H
#define CUTIL_MATH_H

#include <math.h>
#include <stdlib.h>

#include "cuda_runtime.h"

typedef unsigned int uint;
typedef unsigned short ushort;

#ifndef __CUDACC__
inline int min(int a, int b) {
  return a < b ? a : b;
}
inline int max(int a, int b) {
  return a > b ? a : b;
}
inline float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
#endif

#define HEDDLE_PLAIN_ inline __host__ __device__
/* What E makes of each component. */
#define HEDDLE_PARTS2_(E) E(x), E(y)
#define HEDDLE_PARTS3_(E) HEDDLE_PARTS2_(E), E(z)
#define HEDDLE_PARTS4_(E) HEDDLE_PARTS3_(E), E(w)
#define HEDDLE_VECTOR_(n, type, name, E, ...)     \
  HEDDLE_PLAIN_ type##n name(__VA_ARGS__) {       \
    return make_##type##n(HEDDLE_PARTS##n##_(E)); \
  }
#define HEDDLE_SIZES_(M, ...) M(2, __VA_ARGS__) M(3, __VA_ARGS__) M(4, __VA_ARGS__)

/* One number for all components; those of another type. */
#define HEDDLE_SAME_(c) s
#define HEDDLE_FLOAT_(c) (float)a.c
#define HEDDLE_INT_(c) (int)a.c
#define HEDDLE_UINT_(c) (uint) a.c
#define HEDDLE_MAKE_(n, type, E, one, other)                    \
  HEDDLE_VECTOR_(n, type, make_##type##n, HEDDLE_SAME_, type s) \
  HEDDLE_VECTOR_(n, type, make_##type##n, E, one##n a)          \
  HEDDLE_VECTOR_(n, type, make_##type##n, E, other##n a)
HEDDLE_SIZES_(HEDDLE_MAKE_, float, HEDDLE_FLOAT_, int, uint)
HEDDLE_SIZES_(HEDDLE_MAKE_, int, HEDDLE_INT_, float, uint)
HEDDLE_SIZES_(HEDDLE_MAKE_, uint, HEDDLE_UINT_, float, int)
/* Components left out, and added. */
#define HEDDLE_RESIZE_(type)                                \
  HEDDLE_PLAIN_ type##2 make_##type##2(type##3 a) {         \
    return make_##type##2(a.x, a.y);                        \
  }                                                         \
  HEDDLE_PLAIN_ type##3 make_##type##3(type##2 a) {         \
    return make_##type##3(a.x, a.y, 0);                     \
  }                                                         \
  HEDDLE_PLAIN_ type##3 make_##type##3(type##2 a, type z) { \
    return make_##type##3(a.x, a.y, z);                     \
  }                                                         \
  HEDDLE_PLAIN_ type##3 make_##type##3(type##4 a) {         \
    return make_##type##3(a.x, a.y, a.z);                   \
  }                                                         \
  HEDDLE_PLAIN_ type##4 make_##type##4(type##3 a) {         \
    return make_##type##4(a.x, a.y, a.z, 0);                \
  }                                                         \
  HEDDLE_PLAIN_ type##4 make_##type##4(type##3 a, type w) { \
    return make_##type##4(a.x, a.y, a.z, w);                \
  }
HEDDLE_RESIZE_(float)
HEDDLE_RESIZE_(int)
HEDDLE_RESIZE_(uint)

/* Operators with vectors and numbers on either side. */
#define HEDDLE_NEGATED_(c) -a.c
#define HEDDLE_ADD_(c) a.c + b.c
#define HEDDLE_ADD_S_(c) a.c + s
#define HEDDLE_S_ADD_(c) s + b.c
#define HEDDLE_SUB_(c) a.c - b.c
#define HEDDLE_SUB_S_(c) a.c - s
#define HEDDLE_S_SUB_(c) s - b.c
#define HEDDLE_MUL_(c) a.c* b.c
#define HEDDLE_MUL_S_(c) a.c* s
#define HEDDLE_S_MUL_(c) s* b.c
#define HEDDLE_DIV_(c) a.c / b.c
#define HEDDLE_DIV_S_(c) a.c / s
#define HEDDLE_S_DIV_(c) s / b.c
#define HEDDLE_OPERATOR_(n, type, sign, vectors, number, before)        \
  HEDDLE_VECTOR_(n, type, operator sign, vectors, type##n a, type##n b) \
  HEDDLE_VECTOR_(n, type, operator sign, number, type##n a, type s)     \
  HEDDLE_VECTOR_(n, type, operator sign, before, type s, type##n b)     \
  HEDDLE_PLAIN_ void operator sign##=(type##n& a, type##n b) {          \
    a = a sign b;                                                       \
  }                                                                     \
  HEDDLE_PLAIN_ void operator sign##=(type##n& a, type s) {             \
    a = a sign s;                                                       \
  }
#define HEDDLE_OPERATORS_(n, type)                                        \
  HEDDLE_OPERATOR_(n, type, +, HEDDLE_ADD_, HEDDLE_ADD_S_, HEDDLE_S_ADD_) \
  HEDDLE_OPERATOR_(n, type, -, HEDDLE_SUB_, HEDDLE_SUB_S_, HEDDLE_S_SUB_) \
  HEDDLE_OPERATOR_(n, type, *, HEDDLE_MUL_, HEDDLE_MUL_S_, HEDDLE_S_MUL_)
HEDDLE_SIZES_(HEDDLE_OPERATORS_, float)
HEDDLE_SIZES_(HEDDLE_OPERATORS_, int)
HEDDLE_SIZES_(HEDDLE_OPERATORS_, uint)
HEDDLE_SIZES_(HEDDLE_OPERATOR_, float, /, HEDDLE_DIV_, HEDDLE_DIV_S_, HEDDLE_S_DIV_)
#define HEDDLE_NEGATION_(n, type) HEDDLE_VECTOR_(n, type, operator-, HEDDLE_NEGATED_, type##n a)
HEDDLE_SIZES_(HEDDLE_NEGATION_, float)
HEDDLE_SIZES_(HEDDLE_NEGATION_, int)

/* Bounds, and places between two points. */
#define HEDDLE_FMIN_(c) fminf(a.c, b.c)
#define HEDDLE_FMAX_(c) fmaxf(a.c, b.c)
#define HEDDLE_LESS_(c) a.c < b.c ? a.c : b.c
#define HEDDLE_MORE_(c) a.c > b.c ? a.c : b.c
#define HEDDLE_CLAMP_(c) clamp(v.c, a.c, b.c)
#define HEDDLE_CLAMP_S_(c) clamp(v.c, a, b)
#define HEDDLE_STEP_(c) smoothstep(a.c, b.c, x.c)
HEDDLE_PLAIN_ float clamp(float f, float a, float b) {
  return fmaxf(a, fminf(f, b));
}
HEDDLE_PLAIN_ int clamp(int f, int a, int b) {
  return f < a ? a : f > b ? b : f;
}
HEDDLE_PLAIN_ uint clamp(uint f, uint a, uint b) {
  return f < a ? a : f > b ? b : f;
}
HEDDLE_PLAIN_ float lerp(float a, float b, float t) {
  return a + t * (b - a);
}
HEDDLE_PLAIN_ float smoothstep(float a, float b, float x) {
  const float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return y * y * (3.0f - 2.0f * y);
}
#define HEDDLE_CLAMPS_(n, type)                                                  \
  HEDDLE_VECTOR_(n, type, clamp, HEDDLE_CLAMP_, type##n v, type##n a, type##n b) \
  HEDDLE_VECTOR_(n, type, clamp, HEDDLE_CLAMP_S_, type##n v, type a, type b)
#define HEDDLE_WHOLE_BOUNDS_(n, type)                              \
  HEDDLE_VECTOR_(n, type, min, HEDDLE_LESS_, type##n a, type##n b) \
  HEDDLE_VECTOR_(n, type, max, HEDDLE_MORE_, type##n a, type##n b)
HEDDLE_SIZES_(HEDDLE_CLAMPS_, float)
HEDDLE_SIZES_(HEDDLE_CLAMPS_, int)
HEDDLE_SIZES_(HEDDLE_CLAMPS_, uint)
HEDDLE_SIZES_(HEDDLE_WHOLE_BOUNDS_, int)
HEDDLE_SIZES_(HEDDLE_WHOLE_BOUNDS_, uint)

/* Rounding and rests, lengths and directions. */
#define HEDDLE_FLOOR_(c) floorf(v.c)
#define HEDDLE_FRACTION_(c) v.c - floorf(v.c)
#define HEDDLE_REST_(c) fmodf(a.c, b.c)
#define HEDDLE_FABS_(c) fabsf(v.c)
#define HEDDLE_ABS_(c) (v.c < 0 ? -v.c : v.c)
HEDDLE_PLAIN_ float fracf(float v) {
  return v - floorf(v);
}
#define HEDDLE_DOTS_(type)                                \
  HEDDLE_PLAIN_ type dot(type##2 a, type##2 b) {          \
    return a.x * b.x + a.y * b.y;                         \
  }                                                       \
  HEDDLE_PLAIN_ type dot(type##3 a, type##3 b) {          \
    return a.x * b.x + a.y * b.y + a.z * b.z;             \
  }                                                       \
  HEDDLE_PLAIN_ type dot(type##4 a, type##4 b) {          \
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; \
  }
HEDDLE_DOTS_(float)
HEDDLE_DOTS_(int)
HEDDLE_DOTS_(uint)
#define HEDDLE_REAL_(n, type)                                                        \
  HEDDLE_VECTOR_(n, type, fminf, HEDDLE_FMIN_, type##n a, type##n b)                 \
  HEDDLE_VECTOR_(n, type, fmaxf, HEDDLE_FMAX_, type##n a, type##n b)                 \
  HEDDLE_PLAIN_ type##n lerp(type##n a, type##n b, type t) {                         \
    return a + t * (b - a);                                                          \
  }                                                                                  \
  HEDDLE_VECTOR_(n, type, smoothstep, HEDDLE_STEP_, type##n a, type##n b, type##n x) \
  HEDDLE_VECTOR_(n, type, floorf, HEDDLE_FLOOR_, type##n v)                          \
  HEDDLE_VECTOR_(n, type, floor, HEDDLE_FLOOR_, type##n v)                           \
  HEDDLE_VECTOR_(n, type, fracf, HEDDLE_FRACTION_, type##n v)                        \
  HEDDLE_VECTOR_(n, type, fmodf, HEDDLE_REST_, type##n a, type##n b)                 \
  HEDDLE_VECTOR_(n, type, fabs, HEDDLE_FABS_, type##n v)                             \
  HEDDLE_PLAIN_ type length(type##n v) {                                             \
    return sqrtf(dot(v, v));                                                         \
  }                                                                                  \
  HEDDLE_PLAIN_ type##n normalize(type##n v) {                                       \
    return v * rsqrtf(dot(v, v));                                                    \
  }
HEDDLE_SIZES_(HEDDLE_REAL_, float)
#define HEDDLE_ABSOLUTE_(n, type) HEDDLE_VECTOR_(n, type, abs, HEDDLE_ABS_, type##n v)
HEDDLE_SIZES_(HEDDLE_ABSOLUTE_, int)
/* `i` thrown back by a plane that `n` stands on. */
HEDDLE_PLAIN_ float3 reflect(float3 i, float3 n) {
  return i - 2.0f * n * dot(n, i);
}
HEDDLE_PLAIN_ float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#undef HEDDLE_PLAIN_
#undef HEDDLE_PARTS2_
#undef HEDDLE_PARTS3_
#undef HEDDLE_PARTS4_
#undef HEDDLE_VECTOR_
#undef HEDDLE_SIZES_
#undef HEDDLE_SAME_
#undef HEDDLE_FLOAT_
#undef HEDDLE_INT_
#undef HEDDLE_UINT_
#undef HEDDLE_MAKE_
#undef HEDDLE_RESIZE_
#undef HEDDLE_NEGATED_
#undef HEDDLE_ADD_
#undef HEDDLE_ADD_S_
#undef HEDDLE_S_ADD_
#undef HEDDLE_SUB_
#undef HEDDLE_SUB_S_
#undef HEDDLE_S_SUB_
#undef HEDDLE_MUL_
#undef HEDDLE_MUL_S_
#undef HEDDLE_S_MUL_
#undef HEDDLE_DIV_
#undef HEDDLE_DIV_S_
#undef HEDDLE_S_DIV_
#undef HEDDLE_OPERATOR_
#undef HEDDLE_OPERATORS_
#undef HEDDLE_NEGATION_
#undef HEDDLE_FMIN_
#undef HEDDLE_FMAX_
#undef HEDDLE_LESS_
#undef HEDDLE_MORE_
#undef HEDDLE_CLAMP_
#undef HEDDLE_CLAMP_S_
#undef HEDDLE_STEP_
#undef HEDDLE_CLAMPS_
#undef HEDDLE_WHOLE_BOUNDS_
#undef HEDDLE_FLOOR_
#undef HEDDLE_FRACTION_
#undef HEDDLE_REST_
#undef HEDDLE_FABS_
#undef HEDDLE_ABS_
#undef HEDDLE_DOTS_
#undef HEDDLE_REAL_
#undef HEDDLE_ABSOLUTE_
#endif
