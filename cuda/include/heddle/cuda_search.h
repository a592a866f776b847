// Database search of heddle/cuda.h: conditional accumulate (thesis 7.1), tree traverse (7.2.1), and loads with the
// row-buffer locality hint (7.2). The first two work on warps of the SIMD width.
#pragma once

namespace heddle {

#define HEDDLE_GLOBAL_(type) type __attribute__((address_space(1)))*
#define HEDDLE_SHARED_(type) type __attribute__((address_space(3)))*

// The threads whose condition is true write their value contiguously from `base` on, which is the same in all threads;
// returns how many there were. `base` points to global memory, `base` of the _shared form to the scratchpad.
#define HEDDLE_COND_ACC_(type, bits, letter)                                                                 \
  HEDDLE_DEVICE_ unsigned int cond_acc(type* base, bool condition, type value) {                             \
    unsigned int count;                                                                                      \
    HEDDLE_OF_ACTIVE_THREADS_ {                                                                              \
      asm volatile("{ .reg .pred %%p; setp.ne.u32 %%p, %2, 0; cond_acc.global." bits " %0, [%1], %%p, %3; }" \
                   : "=r"(count)                                                                             \
                   : HEDDLE_POINTER_((HEDDLE_GLOBAL_(type))base), "r"(static_cast<unsigned int>(condition)), \
                     letter(value)                                                                           \
                   : "memory");                                                                              \
    }                                                                                                        \
    return count;                                                                                            \
  }                                                                                                          \
  HEDDLE_DEVICE_ unsigned int cond_acc_shared(type* base, bool condition, type value) {                      \
    unsigned int count;                                                                                      \
    HEDDLE_OF_ACTIVE_THREADS_ {                                                                              \
      asm volatile("{ .reg .pred %%p; setp.ne.u32 %%p, %2, 0; cond_acc.shared." bits " %0, [%1], %%p, %3; }" \
                   : "=r"(count)                                                                             \
                   : HEDDLE_POINTER_((HEDDLE_SHARED_(type))base), "r"(static_cast<unsigned int>(condition)), \
                     letter(value)                                                                           \
                   : "memory");                                                                              \
    }                                                                                                        \
    return count;                                                                                            \
  }
#ifdef __LP64__
#define HEDDLE_POINTER_(p) "l"(p)
#else
#define HEDDLE_POINTER_(p) "r"(p)
#endif
#define HEDDLE_AS_WORD_(value) "r"(static_cast<unsigned int>(value))
#define HEDDLE_AS_PAIR_(value) "l"(static_cast<unsigned long long>(value))
#define HEDDLE_AS_FLOAT_(value) "f"(value)
#define HEDDLE_AS_DOUBLE_(value) "d"(value)
HEDDLE_COND_ACC_(signed char, "b8", HEDDLE_AS_WORD_)
HEDDLE_COND_ACC_(unsigned char, "b8", HEDDLE_AS_WORD_)
HEDDLE_COND_ACC_(short, "b16", HEDDLE_AS_WORD_)
HEDDLE_COND_ACC_(unsigned short, "b16", HEDDLE_AS_WORD_)
HEDDLE_COND_ACC_(int, "b32", HEDDLE_AS_WORD_)
HEDDLE_COND_ACC_(unsigned int, "b32", HEDDLE_AS_WORD_)
HEDDLE_COND_ACC_(float, "b32", HEDDLE_AS_FLOAT_)
HEDDLE_COND_ACC_(long long, "b64", HEDDLE_AS_PAIR_)
HEDDLE_COND_ACC_(unsigned long long, "b64", HEDDLE_AS_PAIR_)
HEDDLE_COND_ACC_(double, "b64", HEDDLE_AS_DOUBLE_)
#undef HEDDLE_COND_ACC_
#undef HEDDLE_AS_WORD_
#undef HEDDLE_AS_PAIR_
#undef HEDDLE_AS_FLOAT_
#undef HEDDLE_AS_DOUBLE_
#undef HEDDLE_SHARED_

// base + (threads whose condition is true << shift).
HEDDLE_DEVICE_ unsigned int tree_traverse(unsigned int base, bool condition, unsigned int shift) {
  unsigned int next;
  HEDDLE_OF_ACTIVE_THREADS_ {
    asm volatile("{ .reg .pred %%p; setp.ne.u32 %%p, %2, 0; tree_traverse.u32 %0, %1, %%p, %3; }"
                 : "=r"(next)
                 : "r"(base), "r"(static_cast<unsigned int>(condition)), "ri"(shift));
  }
  return next;
}

// base + (threads whose condition is true x size). size: of a node, a power of 2.
HEDDLE_DEVICE_ unsigned int tree_traverse_size(unsigned int base, bool condition, unsigned int size) {
  unsigned int next;
  HEDDLE_OF_ACTIVE_THREADS_ {
    asm volatile("{ .reg .pred %%p; setp.ne.u32 %%p, %2, 0; tree_traverse.size.u32 %0, %1, %%p, %3; }"
                 : "=r"(next)
                 : "r"(base), "r"(static_cast<unsigned int>(condition)), "ri"(size));
  }
  return next;
}

// Loads from global memory and tells the memory controller that another access to the same DRAM row follows soon.
#define HEDDLE_ROW_HINT_(type, suffix, constraint)                      \
  HEDDLE_DEVICE_ type row_hint_load(const type* from) {                 \
    type value;                                                         \
    asm volatile(".pragma \"row_hint\"; ld.global." suffix " %0, [%1];" \
                 : "=" constraint(value)                                \
                 : HEDDLE_POINTER_((HEDDLE_GLOBAL_(const type))from)    \
                 : "memory");                                           \
    return value;                                                       \
  }
HEDDLE_ROW_HINT_(int, "s32", "r")
HEDDLE_ROW_HINT_(unsigned int, "u32", "r")
HEDDLE_ROW_HINT_(float, "f32", "f")
HEDDLE_ROW_HINT_(long long, "s64", "l")
HEDDLE_ROW_HINT_(unsigned long long, "u64", "l")
HEDDLE_ROW_HINT_(double, "f64", "d")
#undef HEDDLE_ROW_HINT_
#undef HEDDLE_POINTER_
#undef HEDDLE_GLOBAL_

}  // namespace heddle
