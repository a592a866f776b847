// The second part of cuda_half.h: functions of two halves side by side, and of one that have no place in the first;
// what device code has alone.
#pragma once

HEDDLE_HALF_ __half operator+(__half a) {
  return a;
}
HEDDLE_HALF_ __half& operator++(__half& a) {
  return a = __hadd(a, __half(1.0f));
}
HEDDLE_HALF_ __half& operator--(__half& a) {
  return a = __hsub(a, __half(1.0f));
}
HEDDLE_HALF_ __half operator++(__half& a, int) {
  const __half before = a;
  ++a;
  return before;
}
HEDDLE_HALF_ __half operator--(__half& a, int) {
  const __half before = a;
  --a;
  return before;
}

HEDDLE_HALF_ __half2 __low2half2(__half2 x) {
  return {x.x, x.x};
}
HEDDLE_HALF_ __half2 __high2half2(__half2 x) {
  return {x.y, x.y};
}
HEDDLE_HALF_ __half2 __lowhigh2highlow(__half2 x) {
  return {x.y, x.x};
}
HEDDLE_HALF_ __half2 __lows2half2(__half2 x, __half2 y) {
  return {x.x, y.x};
}
HEDDLE_HALF_ __half2 __highs2half2(__half2 x, __half2 y) {
  return {x.y, y.y};
}
HEDDLE_HALF_ __half2 __h2div(__half2 a, __half2 b) {
  return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)};
}
HEDDLE_HALF_ __half2 __hmax2(__half2 a, __half2 b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
HEDDLE_HALF_ __half2 __hmin2(__half2 a, __half2 b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
HEDDLE_HALF_ __half2 __hneg2(__half2 a) {
  return {__hneg(a.x), __hneg(a.y)};
}
HEDDLE_HALF_ __half2 __habs2(__half2 a) {
  return {__habs(a.x), __habs(a.y)};
}
HEDDLE_HALF_ __half2 operator/(__half2 a, __half2 b) {
  return __h2div(a, b);
}
HEDDLE_HALF_ __half2 operator-(__half2 a) {
  return __hneg2(a);
}
HEDDLE_HALF_ __half2 operator+(__half2 a) {
  return a;
}
#define HEDDLE_HALF_ASSIGNED_(op)                               \
  HEDDLE_HALF_ __half2& operator op##=(__half2& a, __half2 b) { \
    return a = a op b;                                          \
  }
HEDDLE_HALF_ASSIGNED_(+)
HEDDLE_HALF_ASSIGNED_(-)
HEDDLE_HALF_ASSIGNED_(*)
HEDDLE_HALF_ASSIGNED_(/)
#undef HEDDLE_HALF_ASSIGNED_

// 1 or 0 in each half; in the forms with b whether it is so in both.
#define HEDDLE_HALF_COMPARED_(name)                                                \
  HEDDLE_HALF_ __half2 __h##name##2(__half2 a, __half2 b) {                        \
    return {__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f}; \
  }                                                                                \
  HEDDLE_HALF_ bool __hb##name##2(__half2 a, __half2 b) {                          \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                             \
  }
HEDDLE_HALF_COMPARED_(eq)
HEDDLE_HALF_COMPARED_(ne)
HEDDLE_HALF_COMPARED_(lt)
HEDDLE_HALF_COMPARED_(le)
HEDDLE_HALF_COMPARED_(gt)
HEDDLE_HALF_COMPARED_(ge)
#undef HEDDLE_HALF_COMPARED_
HEDDLE_HALF_ bool operator==(__half2 a, __half2 b) {
  return __hbeq2(a, b);
}
HEDDLE_HALF_ bool operator!=(__half2 a, __half2 b) {
  return __hbne2(a, b);
}

#ifdef __CUDA__
#define HEDDLE_HALF_DEVICE_ static __device__ __inline__ __attribute__((always_inline, nodebug, unused))

HEDDLE_HALF_DEVICE_ __half2 __ldg(const __half2* address) {
  return *address;
}

#define HEDDLE_HALF_SHUFFLE_(name, type, word, operand)                                                   \
  HEDDLE_HALF_DEVICE_ type __##name##_sync(unsigned int mask, type value, operand lane, int width = 32) { \
    const unsigned int bits = __builtin_bit_cast(word, value);                                            \
    return __builtin_bit_cast(type, static_cast<word>(__##name##_sync(mask, bits, lane, width)));         \
  }
HEDDLE_HALF_SHUFFLE_(shfl, __half, unsigned short, int)
HEDDLE_HALF_SHUFFLE_(shfl_up, __half, unsigned short, unsigned int)
HEDDLE_HALF_SHUFFLE_(shfl_down, __half, unsigned short, unsigned int)
HEDDLE_HALF_SHUFFLE_(shfl_xor, __half, unsigned short, int)
HEDDLE_HALF_SHUFFLE_(shfl, __half2, unsigned int, int)
HEDDLE_HALF_SHUFFLE_(shfl_up, __half2, unsigned int, unsigned int)
HEDDLE_HALF_SHUFFLE_(shfl_down, __half2, unsigned int, unsigned int)
HEDDLE_HALF_SHUFFLE_(shfl_xor, __half2, unsigned int, int)
#undef HEDDLE_HALF_SHUFFLE_

// By compare and swap of the word that holds it.
HEDDLE_HALF_DEVICE_ __half atomicAdd(__half* address, __half value) {
  auto* const bits = reinterpret_cast<unsigned short*>(address);
  unsigned short old = *reinterpret_cast<volatile unsigned short*>(bits);
  for (;;) {
    const unsigned short seen = atomicCAS(bits, old, __hadd(__ushort_as_half(old), value).__x);
    if (seen == old) return __ushort_as_half(old);
    old = seen;
  }
}
HEDDLE_HALF_DEVICE_ __half2 atomicAdd(__half2* address, __half2 value) {
  auto* const bits = reinterpret_cast<unsigned int*>(address);
  unsigned int old = *reinterpret_cast<volatile unsigned int*>(bits);
  for (;;) {
    const __half2 sum = __hadd2(__builtin_bit_cast(__half2, old), value);
    const unsigned int seen = atomicCAS(bits, old, __builtin_bit_cast(unsigned int, sum));
    if (seen == old) return __builtin_bit_cast(__half2, old);
    old = seen;
  }
}
#undef HEDDLE_HALF_DEVICE_
#endif
