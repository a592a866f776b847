// Votes and shuffles of heddle/cuda.h. The forms without a mask serve the threads that are active together.
#pragma once

// At the start of a kernel's body: its launches have warps of n threads, a multiple of the machine's SIMD width,
// instead of the machine's own. A kernel that votes or shuffles has warps of 32 threads, and can have no others.
#define HEDDLE_WARP_SIZE(n) HEDDLE_WARP_SIZE_TEXT_(n)
#define HEDDLE_WARP_SIZE_TEXT_(n) asm volatile(".pragma \"warp_size " #n "\";")

#define HEDDLE_VOTE_(name, mode)                                                             \
  HEDDLE_DEVICE_ int __##name##_sync(unsigned int mask, int predicate) {                     \
    int value;                                                                               \
    asm volatile("{ .reg .pred %%p; .reg .pred %%q; setp.ne.s32 %%p, %1, 0; vote.sync." mode \
                 ".pred %%q, %%p, %2; selp.s32 %0, 1, 0, %%q; }"                             \
                 : "=r"(value)                                                               \
                 : "r"(predicate), "r"(mask)                                                 \
                 : "memory");                                                                \
    return value;                                                                            \
  }                                                                                          \
  HEDDLE_DEVICE_ int __##name(int predicate) {                                               \
    int value;                                                                               \
    HEDDLE_OF_ACTIVE_THREADS_ {                                                              \
      asm volatile("{ .reg .pred %%p; .reg .pred %%q; setp.ne.s32 %%p, %1, 0; vote." mode    \
                   ".pred %%q, %%p; selp.s32 %0, 1, 0, %%q; }"                               \
                   : "=r"(value)                                                             \
                   : "r"(predicate)                                                          \
                   : "memory");                                                              \
    }                                                                                        \
    return value;                                                                            \
  }
HEDDLE_VOTE_(all, "all")
HEDDLE_VOTE_(any, "any")
HEDDLE_VOTE_(uni, "uni")
#undef HEDDLE_VOTE_

HEDDLE_DEVICE_ unsigned int __ballot_sync(unsigned int mask, int predicate) {
  unsigned int value;
  asm volatile("{ .reg .pred %%p; setp.ne.s32 %%p, %1, 0; vote.sync.ballot.b32 %0, %%p, %2; }"
               : "=r"(value)
               : "r"(predicate), "r"(mask)
               : "memory");
  return value;
}
HEDDLE_DEVICE_ unsigned int __ballot(int predicate) {
  unsigned int value;
  HEDDLE_OF_ACTIVE_THREADS_ {
    asm volatile("{ .reg .pred %%p; setp.ne.s32 %%p, %1, 0; vote.ballot.b32 %0, %%p; }"
                 : "=r"(value)
                 : "r"(predicate)
                 : "memory");
  }
  return value;
}
HEDDLE_DEVICE_ unsigned int __activemask() {
  unsigned int value;
  HEDDLE_OF_ACTIVE_THREADS_ {
    asm volatile("activemask.b32 %0;" : "=r"(value)::"memory");
  }
  return value;
}

// A long has the size of an int or of a long long.
#if __SIZEOF_LONG__ == 8
#define HEDDLE_LONG_ long long
#else
#define HEDDLE_LONG_ int
#endif
// Values that are shuffled as those of another type of their size.
#define HEDDLE_SHUFFLE_AS_(name, type, operand, to, from)                                                  \
  HEDDLE_DEVICE_ type __##name##_sync(unsigned int mask, type value, operand lane, int width = warpSize) { \
    return from(__##name##_sync(mask, to(value), lane, width));                                            \
  }                                                                                                        \
  HEDDLE_DEVICE_ type __##name(type value, operand lane, int width = warpSize) {                           \
    return from(__##name(to(value), lane, width));                                                         \
  }

// The third operand holds the segment mask (bits 12..8) and the last lane of a segment (bits 4..0; 0 for up).
#define HEDDLE_SHUFFLE_(name, mode, last, operand)                                                             \
  HEDDLE_DEVICE_ unsigned int __##name##_sync(unsigned int mask, unsigned int value, operand lane,             \
                                              int width = warpSize) {                                          \
    unsigned int result;                                                                                       \
    asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;"                                                  \
                 : "=r"(result)                                                                                \
                 : "r"(value), "r"(lane), "r"(((warpSize - width) << 8) | last), "r"(mask)                     \
                 : "memory");                                                                                  \
    return result;                                                                                             \
  }                                                                                                            \
  HEDDLE_DEVICE_ unsigned int __##name(unsigned int value, operand lane, int width = warpSize) {               \
    unsigned int result;                                                                                       \
    HEDDLE_OF_ACTIVE_THREADS_ {                                                                                \
      asm volatile("shfl." mode ".b32 %0, %1, %2, %3;"                                                         \
                   : "=r"(result)                                                                              \
                   : "r"(value), "r"(lane), "r"(((warpSize - width) << 8) | last)                              \
                   : "memory");                                                                                \
    }                                                                                                          \
    return result;                                                                                             \
  }                                                                                                            \
  HEDDLE_SHUFFLE_AS_(name, int, operand, static_cast<unsigned int>, static_cast<int>)                          \
  HEDDLE_SHUFFLE_AS_(name, float, operand, __float_as_uint, __uint_as_float)                                   \
  HEDDLE_DEVICE_ unsigned long long __##name##_sync(unsigned int mask, unsigned long long value, operand lane, \
                                                    int width = warpSize) {                                    \
    const unsigned int low = __##name##_sync(mask, static_cast<unsigned int>(value), lane, width);             \
    const unsigned int high = __##name##_sync(mask, static_cast<unsigned int>(value >> 32), lane, width);      \
    return (static_cast<unsigned long long>(high) << 32) | low;                                                \
  }                                                                                                            \
  HEDDLE_DEVICE_ unsigned long long __##name(unsigned long long value, operand lane, int width = warpSize) {   \
    const unsigned int low = __##name(static_cast<unsigned int>(value), lane, width);                          \
    const unsigned int high = __##name(static_cast<unsigned int>(value >> 32), lane, width);                   \
    return (static_cast<unsigned long long>(high) << 32) | low;                                                \
  }                                                                                                            \
  HEDDLE_SHUFFLE_AS_(name, long long, operand, static_cast<unsigned long long>, static_cast<long long>)        \
  HEDDLE_SHUFFLE_AS_(name, double, operand, __double_as_longlong, __longlong_as_double)                        \
  HEDDLE_SHUFFLE_AS_(name, long, operand, static_cast<HEDDLE_LONG_>, static_cast<long>)                        \
  HEDDLE_SHUFFLE_AS_(name, unsigned long, operand, static_cast<unsigned HEDDLE_LONG_>, static_cast<unsigned long>)
HEDDLE_SHUFFLE_(shfl, "idx", 31, int)
HEDDLE_SHUFFLE_(shfl_up, "up", 0, unsigned int)
HEDDLE_SHUFFLE_(shfl_down, "down", 31, unsigned int)
HEDDLE_SHUFFLE_(shfl_xor, "bfly", 31, int)
#undef HEDDLE_SHUFFLE_
#undef HEDDLE_SHUFFLE_AS_

// The lanes among `mask` that hold the same value; _all: `mask` if all its lanes do, else 0.
#define HEDDLE_MATCH_(type, constraint, bits, cast)                                                    \
  HEDDLE_DEVICE_ unsigned int __match_any_sync(unsigned int mask, type value) {                        \
    unsigned int result;                                                                               \
    asm volatile("match.any.sync." bits " %0, %1, %2;"                                                 \
                 : "=r"(result)                                                                        \
                 : constraint(cast(value)), "r"(mask)                                                  \
                 : "memory");                                                                          \
    return result;                                                                                     \
  }                                                                                                    \
  HEDDLE_DEVICE_ unsigned int __match_all_sync(unsigned int mask, type value, int* all) {              \
    unsigned int result;                                                                               \
    asm volatile("{ .reg .pred %%p; match.all.sync." bits " %0|%%p, %2, %3; selp.s32 %1, 1, 0, %%p; }" \
                 : "=r"(result), "=r"(*all)                                                            \
                 : constraint(cast(value)), "r"(mask)                                                  \
                 : "memory");                                                                          \
    return result;                                                                                     \
  }
HEDDLE_MATCH_(int, "r", "b32", static_cast<unsigned int>)
HEDDLE_MATCH_(unsigned int, "r", "b32", static_cast<unsigned int>)
HEDDLE_MATCH_(float, "r", "b32", __float_as_uint)
HEDDLE_MATCH_(long long, "l", "b64", static_cast<unsigned long long>)
HEDDLE_MATCH_(unsigned long long, "l", "b64", static_cast<unsigned long long>)
#if __SIZEOF_LONG__ == 8
HEDDLE_MATCH_(long, "l", "b64", static_cast<unsigned long long>)
HEDDLE_MATCH_(unsigned long, "l", "b64", static_cast<unsigned long long>)
#else
HEDDLE_MATCH_(long, "r", "b32", static_cast<unsigned int>)
HEDDLE_MATCH_(unsigned long, "r", "b32", static_cast<unsigned int>)
#endif
HEDDLE_MATCH_(double, "l", "b64", __double_as_longlong)
#undef HEDDLE_MATCH_
#undef HEDDLE_LONG_

HEDDLE_DEVICE_ void __nanosleep(unsigned int nanoseconds) {
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}

// Sums and the like over the lanes of `mask`, which all take part: in code for compute capability 8.0 and above one
// instruction, as nvcc has it, and a loop below, where nvcc has none.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HEDDLE_REDUCE_(name, type, of, combine)                                                     \
  HEDDLE_DEVICE_ type __reduce_##name##_sync(unsigned int mask, type value) {                       \
    type result;                                                                                    \
    asm volatile("redux.sync." #name "." of " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask)); \
    return result;                                                                                  \
  }
#else
#define HEDDLE_REDUCE_(name, type, of, combine)                               \
  HEDDLE_DEVICE_ type __reduce_##name##_sync(unsigned int mask, type value) { \
    type result = value;                                                      \
    bool first = true;                                                        \
    for (unsigned int left = mask; left != 0; left &= left - 1) {             \
      const type x = __shfl_sync(mask, value, __builtin_ctz(left));           \
      result = first ? x : combine;                                           \
      first = false;                                                          \
    }                                                                         \
    return result;                                                            \
  }
#endif
HEDDLE_REDUCE_(add, int, "s32", static_cast<int>(static_cast<unsigned int>(result) + static_cast<unsigned int>(x)))
HEDDLE_REDUCE_(add, unsigned int, "u32", result + x)
HEDDLE_REDUCE_(min, int, "s32", (x < result ? x : result))
HEDDLE_REDUCE_(min, unsigned int, "u32", (x < result ? x : result))
HEDDLE_REDUCE_(max, int, "s32", (x > result ? x : result))
HEDDLE_REDUCE_(max, unsigned int, "u32", (x > result ? x : result))
HEDDLE_REDUCE_(and, unsigned int, "b32", (result & x))
HEDDLE_REDUCE_(or, unsigned int, "b32", (result | x))
HEDDLE_REDUCE_(xor, unsigned int, "b32", (result ^ x))
#undef HEDDLE_REDUCE_
