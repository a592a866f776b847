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

// Dot products of four bytes, and of two halves with two bytes, added to c.
HEDDLE_DEVICE_ int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  return c;
}
HEDDLE_DEVICE_ unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 0xff) * ((b >> i) & 0xff);
  return c;
}
