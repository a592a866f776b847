// Integer functions of heddle/cuda.h.
#pragma once

HEDDLE_DEVICE_ int __popc(unsigned int x) {
  return __builtin_popcount(x);
}
HEDDLE_DEVICE_ int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
HEDDLE_DEVICE_ int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x));
}
HEDDLE_DEVICE_ int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
// 1 plus the place of the lowest bit set; 0 for 0.
HEDDLE_DEVICE_ int __ffs(int x) {
  return __builtin_ffs(x);
}
HEDDLE_DEVICE_ int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
HEDDLE_DEVICE_ unsigned int __brev(unsigned int x) {
  return __builtin_bitreverse32(x);
}
HEDDLE_DEVICE_ unsigned long long __brevll(unsigned long long x) {
  return __builtin_bitreverse64(x);
}

HEDDLE_DEVICE_ unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
  unsigned int value;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(value) : "r"(a), "r"(b), "r"(selector));
  return value;
}

// hi:lo shifted; the plain forms use the low 5 bits of the count, the _c forms clamp it to 32.
HEDDLE_DEVICE_ unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int count) {
  unsigned int value;
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(value) : "r"(lo), "r"(hi), "r"(count));
  return value;
}
HEDDLE_DEVICE_ unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int count) {
  unsigned int value;
  asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(value) : "r"(lo), "r"(hi), "r"(count));
  return value;
}
HEDDLE_DEVICE_ unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int count) {
  unsigned int value;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(value) : "r"(lo), "r"(hi), "r"(count));
  return value;
}
HEDDLE_DEVICE_ unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int count) {
  unsigned int value;
  asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(value) : "r"(lo), "r"(hi), "r"(count));
  return value;
}

HEDDLE_DEVICE_ int __mul24(int a, int b) {
  int value;
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(value) : "r"(a), "r"(b));
  return value;
}
HEDDLE_DEVICE_ unsigned int __umul24(unsigned int a, unsigned int b) {
  unsigned int value;
  asm("mul24.lo.u32 %0, %1, %2;" : "=r"(value) : "r"(a), "r"(b));
  return value;
}
HEDDLE_DEVICE_ int __mulhi(int a, int b) {
  int value;
  asm("mul.hi.s32 %0, %1, %2;" : "=r"(value) : "r"(a), "r"(b));
  return value;
}
HEDDLE_DEVICE_ unsigned int __umulhi(unsigned int a, unsigned int b) {
  unsigned int value;
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(value) : "r"(a), "r"(b));
  return value;
}
HEDDLE_DEVICE_ long long __mul64hi(long long a, long long b) {
  long long value;
  asm("mul.hi.s64 %0, %1, %2;" : "=l"(value) : "l"(a), "l"(b));
  return value;
}
HEDDLE_DEVICE_ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  unsigned long long value;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(value) : "l"(a), "l"(b));
  return value;
}
// |a - b| + c
HEDDLE_DEVICE_ unsigned int __sad(int a, int b, unsigned int c) {
  unsigned int value;
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(value) : "r"(a), "r"(b), "r"(c));
  return value;
}
HEDDLE_DEVICE_ unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) {
  unsigned int value;
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(value) : "r"(a), "r"(b), "r"(c));
  return value;
}
// (a + b) / 2 without overflow, rounded down; __r: rounded up.
HEDDLE_DEVICE_ int __hadd(int a, int b) {
  return (a & b) + ((a ^ b) >> 1);
}
HEDDLE_DEVICE_ unsigned int __uhadd(unsigned int a, unsigned int b) {
  return (a & b) + ((a ^ b) >> 1);
}
HEDDLE_DEVICE_ int __rhadd(int a, int b) {
  return (a | b) - ((a ^ b) >> 1);
}
HEDDLE_DEVICE_ unsigned int __urhadd(unsigned int a, unsigned int b) {
  return (a | b) - ((a ^ b) >> 1);
}

// Four bytes or two halves of a word, each for itself. Sums leave out the carries between them (the top bits are added
// without carry); comparisons give all ones or zeros.
#define HEDDLE_LANES_(n, tops)                                                 \
  HEDDLE_DEVICE_ unsigned int __vadd##n(unsigned int a, unsigned int b) {      \
    return ((a & ~tops) + (b & ~tops)) ^ ((a ^ b) & tops);                     \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vsub##n(unsigned int a, unsigned int b) {      \
    return ((a | tops) - (b & ~tops)) ^ ((a ^ ~b) & tops);                     \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vavgu##n(unsigned int a, unsigned int b) {     \
    return (a | b) - (((a ^ b) & ~(tops >> (32 / n - 1))) >> 1);               \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vhaddu##n(unsigned int a, unsigned int b) {    \
    return (a & b) + (((a ^ b) & ~(tops >> (32 / n - 1))) >> 1);               \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __heddle_spread##n(unsigned int set) {           \
    return (set & tops) | ((set & tops) - ((set & tops) >> (32 / n - 1)));     \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vcmpeq##n(unsigned int a, unsigned int b) {    \
    const unsigned int x = a ^ b;                                              \
    return __heddle_spread##n(~(((x & ~tops) + ~tops) | x));                   \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vcmpne##n(unsigned int a, unsigned int b) {    \
    return ~__vcmpeq##n(a, b);                                                 \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vcmpgeu##n(unsigned int a, unsigned int b) {   \
    const unsigned int low = (a | tops) - (b & ~tops);                         \
    return __heddle_spread##n((a & ~b) | (~(a ^ b) & low));                    \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vcmpgtu##n(unsigned int a, unsigned int b) {   \
    return ~__vcmpgeu##n(b, a);                                                \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vcmpleu##n(unsigned int a, unsigned int b) {   \
    return __vcmpgeu##n(b, a);                                                 \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vcmpltu##n(unsigned int a, unsigned int b) {   \
    return ~__vcmpgeu##n(a, b);                                                \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vcmpges##n(unsigned int a, unsigned int b) {   \
    return __vcmpgeu##n(a ^ tops, b ^ tops);                                   \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vcmpgts##n(unsigned int a, unsigned int b) {   \
    return __vcmpgtu##n(a ^ tops, b ^ tops);                                   \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vmaxu##n(unsigned int a, unsigned int b) {     \
    const unsigned int first = __vcmpgeu##n(a, b);                             \
    return (a & first) | (b & ~first);                                         \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vminu##n(unsigned int a, unsigned int b) {     \
    const unsigned int first = __vcmpgeu##n(a, b);                             \
    return (b & first) | (a & ~first);                                         \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vmaxs##n(unsigned int a, unsigned int b) {     \
    const unsigned int first = __vcmpges##n(a, b);                             \
    return (a & first) | (b & ~first);                                         \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vmins##n(unsigned int a, unsigned int b) {     \
    const unsigned int first = __vcmpges##n(a, b);                             \
    return (b & first) | (a & ~first);                                         \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vabsdiffu##n(unsigned int a, unsigned int b) { \
    return __vsub##n(__vmaxu##n(a, b), __vminu##n(a, b));                      \
  }                                                                            \
  HEDDLE_DEVICE_ unsigned int __vneg##n(unsigned int a) {                      \
    return __vsub##n(0, a);                                                    \
  }
HEDDLE_LANES_(4, 0x80808080U)
HEDDLE_LANES_(2, 0x80008000U)
#undef HEDDLE_LANES_
HEDDLE_DEVICE_ unsigned int __vsadu4(unsigned int a, unsigned int b) {
  const unsigned int d = __vabsdiffu4(a, b);
  const unsigned int pairs = (d & 0xff00ffU) + ((d >> 8) & 0xff00ffU);
  return (pairs & 0xffff) + (pairs >> 16);
}
// Dot products of four bytes, and of two halves with two bytes, added to c.
HEDDLE_DEVICE_ int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  return c;
}
HEDDLE_DEVICE_ unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 0xff) * ((b >> i) & 0xff);
  return c;
}
