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
HEDDLE_DEVICE_ int abs(int x) {
  return x < 0 ? static_cast<int>(0U - static_cast<unsigned int>(x)) : x;
}
HEDDLE_DEVICE_ long long llabs(long long x) {
  return x < 0 ? static_cast<long long>(0ULL - static_cast<unsigned long long>(x)) : x;
}

HEDDLE_BOTH_ int min(int a, int b) {
  return b < a ? b : a;
}
HEDDLE_BOTH_ int max(int a, int b) {
  return a < b ? b : a;
}
HEDDLE_BOTH_ unsigned int min(unsigned int a, unsigned int b) {
  return b < a ? b : a;
}
HEDDLE_BOTH_ unsigned int max(unsigned int a, unsigned int b) {
  return a < b ? b : a;
}
HEDDLE_BOTH_ unsigned int min(int a, unsigned int b) {
  return min(static_cast<unsigned int>(a), b);
}
HEDDLE_BOTH_ unsigned int max(int a, unsigned int b) {
  return max(static_cast<unsigned int>(a), b);
}
HEDDLE_BOTH_ unsigned int min(unsigned int a, int b) {
  return min(a, static_cast<unsigned int>(b));
}
HEDDLE_BOTH_ unsigned int max(unsigned int a, int b) {
  return max(a, static_cast<unsigned int>(b));
}
HEDDLE_BOTH_ long long min(long long a, long long b) {
  return b < a ? b : a;
}
HEDDLE_BOTH_ long long max(long long a, long long b) {
  return a < b ? b : a;
}
HEDDLE_BOTH_ unsigned long long min(unsigned long long a, unsigned long long b) {
  return b < a ? b : a;
}
HEDDLE_BOTH_ unsigned long long max(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}

// A load through the read-only path: the value is that of a plain load.
template <class T>
HEDDLE_DEVICE_ T __ldg(const T* address) {
  return *address;
}
