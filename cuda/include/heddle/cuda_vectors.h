/* Vector types of CUDA and dim3, for device and host code, C too. Needs __align__, __host__, __device__ and
   HEDDLE_BOTH_. */
#pragma once

/* C has a name for each structure besides, and writes a value of one as a variable's. */
#ifdef __cplusplus
#define HEDDLE_VALUE_(name, ...) \
  return name {                  \
    __VA_ARGS__                  \
  }
#else
#define HEDDLE_VALUE_(name, ...)    \
  const name value = {__VA_ARGS__}; \
  return value
#define HEDDLE_NAMES_(name)       \
  typedef struct name##1 name##1; \
  typedef struct name##2 name##2; \
  typedef struct name##3 name##3; \
  typedef struct name##4 name##4;
HEDDLE_NAMES_(char)
HEDDLE_NAMES_(uchar)
HEDDLE_NAMES_(short)
HEDDLE_NAMES_(ushort)
HEDDLE_NAMES_(int)
HEDDLE_NAMES_(uint)
HEDDLE_NAMES_(long)
HEDDLE_NAMES_(ulong)
HEDDLE_NAMES_(longlong)
HEDDLE_NAMES_(ulonglong)
HEDDLE_NAMES_(float)
HEDDLE_NAMES_(double)
#undef HEDDLE_NAMES_
typedef struct dim3 dim3;
#endif

/* Vectors of 2 and 4 are aligned to their size, up to 16 bytes, so that one memory operation moves them. */
#define HEDDLE_VECTORS_(name, type, align2, align4)                     \
  struct name##1 {                                                      \
    type x;                                                             \
  };                                                                    \
  struct __align__(align2) name##2 {                                    \
    type x, y;                                                          \
  };                                                                    \
  struct name##3 {                                                      \
    type x, y, z;                                                       \
  };                                                                    \
  struct __align__(align4) name##4 {                                    \
    type x, y, z, w;                                                    \
  };                                                                    \
  HEDDLE_BOTH_ name##1 make_##name##1(type x) {                         \
    HEDDLE_VALUE_(name##1, x);                                          \
  }                                                                     \
  HEDDLE_BOTH_ name##2 make_##name##2(type x, type y) {                 \
    HEDDLE_VALUE_(name##2, x, y);                                       \
  }                                                                     \
  HEDDLE_BOTH_ name##3 make_##name##3(type x, type y, type z) {         \
    HEDDLE_VALUE_(name##3, x, y, z);                                    \
  }                                                                     \
  HEDDLE_BOTH_ name##4 make_##name##4(type x, type y, type z, type w) { \
    HEDDLE_VALUE_(name##4, x, y, z, w);                                 \
  }

HEDDLE_VECTORS_(char, signed char, 2, 4)
HEDDLE_VECTORS_(uchar, unsigned char, 2, 4)
HEDDLE_VECTORS_(short, short, 4, 8)
HEDDLE_VECTORS_(ushort, unsigned short, 4, 8)
HEDDLE_VECTORS_(int, int, 8, 16)
HEDDLE_VECTORS_(uint, unsigned int, 8, 16)
HEDDLE_VECTORS_(long, long, (2 * sizeof(long)), 16)
HEDDLE_VECTORS_(ulong, unsigned long, (2 * sizeof(long)), 16)
HEDDLE_VECTORS_(longlong, long long, 16, 16)
HEDDLE_VECTORS_(ulonglong, unsigned long long, 16, 16)
HEDDLE_VECTORS_(float, float, 8, 16)
HEDDLE_VECTORS_(double, double, 16, 16)
#undef HEDDLE_VECTORS_
#undef HEDDLE_VALUE_

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const {
    return uint3{x, y, z};
  }
#endif
};
