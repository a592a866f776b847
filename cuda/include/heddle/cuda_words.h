// Functions of heddle/cuda.h that take a word as four bytes or two halves, each for itself ("SIMD intrinsics").
#pragma once

// Sums leave out the carries between the lanes (the top bits are added without carry). Comparisons give all ones or
// zeros in a lane (__vcmp) or one and zero (__vset).
#define HEDDLE_LANES_(n, tops)                                                                       \
  HEDDLE_BOTH_ unsigned int __heddle_lowest##n(unsigned int x) {                                     \
    return (x & tops) >> (32 / n - 1);                                                               \
  }                                                                                                  \
  HEDDLE_BOTH_ unsigned int __heddle_spread##n(unsigned int x) {                                     \
    return (x & tops) | ((x & tops) - __heddle_lowest##n(x));                                        \
  }                                                                                                  \
  HEDDLE_BOTH_ unsigned int __heddle_sum##n(unsigned int a, unsigned int b) {                        \
    return ((a & ~tops) + (b & ~tops)) ^ ((a ^ b) & tops);                                           \
  }                                                                                                  \
  HEDDLE_BOTH_ unsigned int __heddle_difference##n(unsigned int a, unsigned int b) {                 \
    return ((a | tops) - (b & ~tops)) ^ ((a ^ ~b) & tops);                                           \
  }                                                                                                  \
  HEDDLE_BOTH_ unsigned int __heddle_geu##n(unsigned int a, unsigned int b) {                        \
    return __heddle_spread##n((a & ~b) | (~(a ^ b) & ((a | tops) - (b & ~tops))));                   \
  }                                                                                                  \
  HEDDLE_BOTH_ unsigned int __heddle_ges##n(unsigned int a, unsigned int b) {                        \
    return __heddle_geu##n(a ^ tops, b ^ tops);                                                      \
  }                                                                                                  \
  HEDDLE_BOTH_ unsigned int __heddle_choose##n(unsigned int first, unsigned int a, unsigned int b) { \
    return (a & first) | (b & ~first);                                                               \
  }                                                                                                  \
  /* The largest or the smallest number of a lane, by the sign of another one. */                    \
  HEDDLE_BOTH_ unsigned int __heddle_limit##n(unsigned int sign) {                                   \
    return ~tops + __heddle_lowest##n(sign);                                                         \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vadd##n(unsigned int a, unsigned int b) {                            \
    return __heddle_sum##n(a, b);                                                                    \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vsub##n(unsigned int a, unsigned int b) {                            \
    return __heddle_difference##n(a, b);                                                             \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vavgu##n(unsigned int a, unsigned int b) {                           \
    return (a | b) - (((a ^ b) & ~(tops >> (32 / n - 1))) >> 1);                                     \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vhaddu##n(unsigned int a, unsigned int b) {                          \
    return (a & b) + (((a ^ b) & ~(tops >> (32 / n - 1))) >> 1);                                     \
  }                                                                                                  \
  /* Halves are rounded away from zero. */                                                           \
  HEDDLE_DEVICE_ unsigned int __vavgs##n(unsigned int a, unsigned int b) {                           \
    const unsigned int low = __vhaddu##n(a ^ tops, b ^ tops) ^ tops;                                 \
    return low + ((a ^ b) & __heddle_lowest##n(~low));                                               \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vcmpeq##n(unsigned int a, unsigned int b) {                          \
    const unsigned int x = a ^ b;                                                                    \
    return __heddle_spread##n(~(((x & ~tops) + ~tops) | x));                                         \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vcmpne##n(unsigned int a, unsigned int b) {                          \
    return ~__vcmpeq##n(a, b);                                                                       \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vseteq##n(unsigned int a, unsigned int b) {                          \
    return __heddle_lowest##n(__vcmpeq##n(a, b));                                                    \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vsetne##n(unsigned int a, unsigned int b) {                          \
    return __heddle_lowest##n(__vcmpne##n(a, b));                                                    \
  }                                                                                                  \
  HEDDLE_LANES_COMPARE_(u, n)                                                                        \
  HEDDLE_LANES_COMPARE_(s, n)                                                                        \
  HEDDLE_DEVICE_ unsigned int __vneg##n(unsigned int a) {                                            \
    return __vsub##n(0, a);                                                                          \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vnegss##n(unsigned int a) {                                          \
    const unsigned int negative = __vneg##n(a);                                                      \
    return negative - __heddle_lowest##n(a & negative);                                              \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vabs##n(unsigned int a) {                                            \
    const unsigned int signs = __heddle_spread##n(a);                                                \
    return __vsub##n(a ^ signs, signs);                                                              \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vabsss##n(unsigned int a) {                                          \
    const unsigned int absolute = __vabs##n(a);                                                      \
    return absolute - __heddle_lowest##n(absolute);                                                  \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vaddss##n(unsigned int a, unsigned int b) {                          \
    const unsigned int sum = __vadd##n(a, b);                                                        \
    return __heddle_choose##n(__heddle_spread##n(~(a ^ b) & (a ^ sum)), __heddle_limit##n(a), sum);  \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vsubss##n(unsigned int a, unsigned int b) {                          \
    const unsigned int rest = __vsub##n(a, b);                                                       \
    return __heddle_choose##n(__heddle_spread##n((a ^ b) & (a ^ rest)), __heddle_limit##n(a), rest); \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vaddus##n(unsigned int a, unsigned int b) {                          \
    return __vadd##n(a, __vminu##n(b, ~a));                                                          \
  }                                                                                                  \
  HEDDLE_DEVICE_ unsigned int __vsubus##n(unsigned int a, unsigned int b) {                          \
    return __vsub##n(a, __vminu##n(a, b));                                                           \
  }
#define HEDDLE_LANES_COMPARE_(kind, n)                                              \
  HEDDLE_DEVICE_ unsigned int __vcmpge##kind##n(unsigned int a, unsigned int b) {   \
    return __heddle_ge##kind##n(a, b);                                              \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vcmpgt##kind##n(unsigned int a, unsigned int b) {   \
    return ~__heddle_ge##kind##n(b, a);                                             \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vcmple##kind##n(unsigned int a, unsigned int b) {   \
    return __heddle_ge##kind##n(b, a);                                              \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vcmplt##kind##n(unsigned int a, unsigned int b) {   \
    return ~__heddle_ge##kind##n(a, b);                                             \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vsetge##kind##n(unsigned int a, unsigned int b) {   \
    return __heddle_lowest##n(__vcmpge##kind##n(a, b));                             \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vsetgt##kind##n(unsigned int a, unsigned int b) {   \
    return __heddle_lowest##n(__vcmpgt##kind##n(a, b));                             \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vsetle##kind##n(unsigned int a, unsigned int b) {   \
    return __heddle_lowest##n(__vcmple##kind##n(a, b));                             \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vsetlt##kind##n(unsigned int a, unsigned int b) {   \
    return __heddle_lowest##n(__vcmplt##kind##n(a, b));                             \
  }                                                                                 \
  HEDDLE_BOTH_ unsigned int __heddle_max##kind##n(unsigned int a, unsigned int b) { \
    return __heddle_choose##n(__heddle_ge##kind##n(a, b), a, b);                    \
  }                                                                                 \
  HEDDLE_BOTH_ unsigned int __heddle_min##kind##n(unsigned int a, unsigned int b) { \
    return __heddle_choose##n(__heddle_ge##kind##n(a, b), b, a);                    \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vmax##kind##n(unsigned int a, unsigned int b) {     \
    return __heddle_max##kind##n(a, b);                                             \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vmin##kind##n(unsigned int a, unsigned int b) {     \
    return __heddle_min##kind##n(a, b);                                             \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vabsdiff##kind##n(unsigned int a, unsigned int b) { \
    return __vsub##n(__vmax##kind##n(a, b), __vmin##kind##n(a, b));                 \
  }                                                                                 \
  HEDDLE_DEVICE_ unsigned int __vsad##kind##n(unsigned int a, unsigned int b) {     \
    return __heddle_total##n(__vabsdiff##kind##n(a, b));                            \
  }
// The lanes' sum.
HEDDLE_BOTH_ unsigned int __heddle_total2(unsigned int x) {
  return (x & 0xffff) + (x >> 16);
}
HEDDLE_BOTH_ unsigned int __heddle_total4(unsigned int x) {
  return __heddle_total2((x & 0xff00ffU) + ((x >> 8) & 0xff00ffU));
}
HEDDLE_LANES_(4, 0x80808080U)
HEDDLE_LANES_(2, 0x80008000U)
#undef HEDDLE_LANES_COMPARE_
#undef HEDDLE_LANES_

// Of dynamic programming ("DPX"): the greater or smaller one of two or three numbers or of a sum and a number, as a
// word or by halves; _relu: no less than 0; __vib: *first says whether the first one was taken. Sums wrap around.
#define HEDDLE_SEARCHED_(type, suffix, max_, min_, sum_)                            \
  HEDDLE_BOTH_ type __vimax3_##suffix(const type a, const type b, const type c) {   \
    return max_(max_(a, b), c);                                                     \
  }                                                                                 \
  HEDDLE_BOTH_ type __vimin3_##suffix(const type a, const type b, const type c) {   \
    return min_(min_(a, b), c);                                                     \
  }                                                                                 \
  HEDDLE_BOTH_ type __viaddmax_##suffix(const type a, const type b, const type c) { \
    return max_(static_cast<type>(sum_(a, b)), c);                                  \
  }                                                                                 \
  HEDDLE_BOTH_ type __viaddmin_##suffix(const type a, const type b, const type c) { \
    return min_(static_cast<type>(sum_(a, b)), c);                                  \
  }
#define HEDDLE_SEARCHED_SIGNED_(type, suffix, max_, min_)                                  \
  HEDDLE_BOTH_ type __vimax_##suffix##_relu(const type a, const type b) {                  \
    return max_(max_(a, b), 0);                                                            \
  }                                                                                        \
  HEDDLE_BOTH_ type __vimin_##suffix##_relu(const type a, const type b) {                  \
    return max_(min_(a, b), 0);                                                            \
  }                                                                                        \
  HEDDLE_BOTH_ type __vimax3_##suffix##_relu(const type a, const type b, const type c) {   \
    return max_(__vimax3_##suffix(a, b, c), 0);                                            \
  }                                                                                        \
  HEDDLE_BOTH_ type __vimin3_##suffix##_relu(const type a, const type b, const type c) {   \
    return max_(__vimin3_##suffix(a, b, c), 0);                                            \
  }                                                                                        \
  HEDDLE_BOTH_ type __viaddmax_##suffix##_relu(const type a, const type b, const type c) { \
    return max_(__viaddmax_##suffix(a, b, c), 0);                                          \
  }                                                                                        \
  HEDDLE_BOTH_ type __viaddmin_##suffix##_relu(const type a, const type b, const type c) { \
    return max_(__viaddmin_##suffix(a, b, c), 0);                                          \
  }
#define HEDDLE_GREATER_(type, name)                                                  \
  HEDDLE_BOTH_ type __heddle_max_##name(type a, type b) {                            \
    return a >= b ? a : b;                                                           \
  }                                                                                  \
  HEDDLE_BOTH_ type __heddle_min_##name(type a, type b) {                            \
    return a <= b ? a : b;                                                           \
  }                                                                                  \
  HEDDLE_BOTH_ type __vibmax_##name(const type a, const type b, bool* const first) { \
    *first = a >= b;                                                                 \
    return *first ? a : b;                                                           \
  }                                                                                  \
  HEDDLE_BOTH_ type __vibmin_##name(const type a, const type b, bool* const first) { \
    *first = a <= b;                                                                 \
    return *first ? a : b;                                                           \
  }
#define HEDDLE_GREATER_HALVES_(kind)                                                                                  \
  HEDDLE_BOTH_ unsigned int __vibmax_##kind##16x2(const unsigned int a, const unsigned int b, bool* const first_high, \
                                                  bool* const first_low) {                                            \
    const unsigned int first = __heddle_ge##kind##2(a, b);                                                            \
    *first_high = (first >> 16) != 0;                                                                                 \
    *first_low = (first & 0xffff) != 0;                                                                               \
    return __heddle_choose2(first, a, b);                                                                             \
  }                                                                                                                   \
  HEDDLE_BOTH_ unsigned int __vibmin_##kind##16x2(const unsigned int a, const unsigned int b, bool* const first_high, \
                                                  bool* const first_low) {                                            \
    const unsigned int first = __heddle_ge##kind##2(b, a);                                                            \
    *first_high = (first >> 16) != 0;                                                                                 \
    *first_low = (first & 0xffff) != 0;                                                                               \
    return __heddle_choose2(first, a, b);                                                                             \
  }
HEDDLE_BOTH_ unsigned int __heddle_sum1(unsigned int a, unsigned int b) {
  return a + b;
}
HEDDLE_GREATER_(int, s32)
HEDDLE_GREATER_(unsigned int, u32)
HEDDLE_GREATER_HALVES_(s)
HEDDLE_GREATER_HALVES_(u)
HEDDLE_SEARCHED_(int, s32, __heddle_max_s32, __heddle_min_s32, __heddle_sum1)
HEDDLE_SEARCHED_(unsigned int, u32, __heddle_max_u32, __heddle_min_u32, __heddle_sum1)
HEDDLE_SEARCHED_(unsigned int, s16x2, __heddle_maxs2, __heddle_mins2, __heddle_sum2)
HEDDLE_SEARCHED_(unsigned int, u16x2, __heddle_maxu2, __heddle_minu2, __heddle_sum2)
HEDDLE_SEARCHED_SIGNED_(int, s32, __heddle_max_s32, __heddle_min_s32)
HEDDLE_SEARCHED_SIGNED_(unsigned int, s16x2, __heddle_maxs2, __heddle_mins2)
#undef HEDDLE_GREATER_HALVES_
#undef HEDDLE_GREATER_
#undef HEDDLE_SEARCHED_SIGNED_
#undef HEDDLE_SEARCHED_
