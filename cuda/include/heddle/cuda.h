// What a CUDA C++ kernel needs to compile with plain clang: no SDK, no host headers, no device library.
//
// Included before every CUDA file. Works for 32- and 64-bit device addresses and for clang 14 to 19. It stands in for
// cuda_runtime.h, math.h, stdint.h, limits.h, float.h, string.h, stdio.h (printf), assert.h and their kin; half
// precision comes by cuda_fp16.h. docs/cuda-support.md says what there is, docs/cuda-mathematics.md how exact it is.
// Multiply and add are never fused unless fma or fmaf is called.
#pragma once

#ifndef __CUDA__
#error "heddle/cuda.h is for CUDA device code (clang++ -x cuda --cuda-device-only)"
#endif

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#ifndef HEDDLE_WITH_HOST  // else behind the host's headers, which write __attribute__((__noinline__))
#define __noinline__ __attribute__((noinline))
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__  // what stays unchanged is read where it is, without being told
#define __align__(n) __attribute__((aligned(n)))
#ifndef __restrict__
#define __restrict__ __restrict
#endif

// nodebug: an instruction of such a function counts as one of the line that calls it.
// For host functions of the file too, which clang reads and does not compile.
#ifdef HEDDLE_WITH_HOST
#define HEDDLE_DEVICE_ static __device__ __forceinline__ __attribute__((nodebug, unused))
#else
#define HEDDLE_DEVICE_ static __host__ __device__ __forceinline__ __attribute__((nodebug))
#endif
#define HEDDLE_BOTH_ static __host__ __device__ __forceinline__ __attribute__((nodebug))

// Longer functions, which clang may leave as calls; tables that only device code reads.
#ifdef HEDDLE_WITH_HOST
#define HEDDLE_MATH_ static __device__ __inline__ __attribute__((nodebug, unused))
#else
#define HEDDLE_MATH_ static __host__ __device__ __inline__ __attribute__((nodebug))
#endif
#define HEDDLE_NOINLINE_ static __device__ __attribute__((noinline, nodebug, unused))
#define HEDDLE_TABLE_ static __constant__ const
#define HEDDLE_SQRT_ __nvvm_sqrt_rn_d
#define HEDDLE_SQRTF_ __nvvm_sqrt_rn_f

#include "heddle/cuda_types.h"

// ---------------------------------------------------------------------------------------------- built-in variables

// Reading threadIdx.x reads the special register; the variables themselves have no storage.
#define HEDDLE_INLINE_ __device__ __forceinline__ __attribute__((nodebug))
#define HEDDLE_INDEX_(name, sreg)                                                            \
  struct heddle_##name##_ {                                                                  \
    __declspec(property(get = get_x)) unsigned int x;                                        \
    __declspec(property(get = get_y)) unsigned int y;                                        \
    __declspec(property(get = get_z)) unsigned int z;                                        \
    static HEDDLE_INLINE_ unsigned int get_x() { return __nvvm_read_ptx_sreg_##sreg##_x(); } \
    static HEDDLE_INLINE_ unsigned int get_y() { return __nvvm_read_ptx_sreg_##sreg##_y(); } \
    static HEDDLE_INLINE_ unsigned int get_z() { return __nvvm_read_ptx_sreg_##sreg##_z(); } \
    HEDDLE_INLINE_ operator dim3() const { return dim3(get_x(), get_y(), get_z()); }         \
    HEDDLE_INLINE_ operator uint3() const { return uint3{get_x(), get_y(), get_z()}; }       \
    heddle_##name##_() = delete;                                                             \
    heddle_##name##_(const heddle_##name##_&) = delete;                                      \
    void operator=(const heddle_##name##_&) = delete;                                        \
  };                                                                                         \
  extern const __device__ __attribute__((weak)) heddle_##name##_ name;

HEDDLE_INDEX_(threadIdx, tid)
HEDDLE_INDEX_(blockIdx, ctaid)
HEDDLE_INDEX_(blockDim, ntid)
HEDDLE_INDEX_(gridDim, nctaid)
#undef HEDDLE_INDEX_
#undef HEDDLE_INLINE_

// No macro: structures have members of this name.
static constexpr int warpSize = 32;

// Special registers that CUDA reaches through inline assembly only.
HEDDLE_DEVICE_ unsigned int __heddle_laneid() {
  unsigned int value;
  asm("mov.u32 %0, %%laneid;" : "=r"(value));
  return value;
}
HEDDLE_DEVICE_ unsigned int __heddle_warpid() {
  unsigned int value;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(value));
  return value;
}
HEDDLE_DEVICE_ unsigned int __heddle_smid() {
  unsigned int value;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(value));
  return value;
}
HEDDLE_DEVICE_ int clock() {
  int value;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(value)::"memory");
  return value;
}
HEDDLE_DEVICE_ long long clock64() {
  long long value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
  return value;
}

// What depends on which threads are active: clang must not make one of two such operations, one on each side of a
// branch, which would then be executed before the threads part. Takes a statement in braces.
#define HEDDLE_OF_ACTIVE_THREADS_ [[clang::nomerge]]

// ----------------------------------------------------------------------------------------------- barriers and fences

// In place of the compiler's built-in of this name, which clang 14 does not take for an access to memory: it moves
// loads of __shared__ variables that are only used by name to before the barrier (llvm-project issue 58626).
HEDDLE_DEVICE_ void heddle_syncthreads() {
  asm volatile("bar.sync 0;" ::: "memory");
}
#define __syncthreads() heddle_syncthreads()
HEDDLE_DEVICE_ int __syncthreads_count(int predicate) {
  int value;
  asm volatile("{ .reg .pred %%p; setp.ne.s32 %%p, %1, 0; bar.red.popc.u32 %0, 0, %%p; }"
               : "=r"(value)
               : "r"(predicate)
               : "memory");
  return value;
}
HEDDLE_DEVICE_ int __syncthreads_and(int predicate) {
  int value;
  asm volatile(
      "{ .reg .pred %%p; .reg .pred %%q; setp.ne.s32 %%p, %1, 0; bar.red.and.pred %%q, 0, %%p; selp.s32 %0, 1, 0, %%q; "
      "}"
      : "=r"(value)
      : "r"(predicate)
      : "memory");
  return value;
}
HEDDLE_DEVICE_ int __syncthreads_or(int predicate) {
  int value;
  asm volatile(
      "{ .reg .pred %%p; .reg .pred %%q; setp.ne.s32 %%p, %1, 0; bar.red.or.pred %%q, 0, %%p; selp.s32 %0, 1, 0, %%q; }"
      : "=r"(value)
      : "r"(predicate)
      : "memory");
  return value;
}
HEDDLE_DEVICE_ void __syncwarp(unsigned int mask = 0xffffffffU) {
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
HEDDLE_DEVICE_ void __threadfence_block() {
  asm volatile("membar.cta;" ::: "memory");
}
HEDDLE_DEVICE_ void __threadfence() {
  asm volatile("membar.gl;" ::: "memory");
}
HEDDLE_DEVICE_ void __threadfence_system() {
  asm volatile("membar.sys;" ::: "memory");
}
HEDDLE_DEVICE_ void __trap() {
  asm volatile("trap;");
}
HEDDLE_DEVICE_ void __brkpt() {
  asm volatile("trap;");
}

// ------------------------------------------------------------------------------------------------- bit
// reinterpretation

HEDDLE_BOTH_ int __float_as_int(float x) {
  return __builtin_bit_cast(int, x);
}
HEDDLE_BOTH_ unsigned int __float_as_uint(float x) {
  return __builtin_bit_cast(unsigned int, x);
}
HEDDLE_BOTH_ float __int_as_float(int x) {
  return __builtin_bit_cast(float, x);
}
HEDDLE_BOTH_ float __uint_as_float(unsigned int x) {
  return __builtin_bit_cast(float, x);
}
HEDDLE_BOTH_ long long __double_as_longlong(double x) {
  return __builtin_bit_cast(long long, x);
}
HEDDLE_BOTH_ double __longlong_as_double(long long x) {
  return __builtin_bit_cast(double, x);
}
HEDDLE_BOTH_ int __double2hiint(double x) {
  return static_cast<int>(__double_as_longlong(x) >> 32);
}
HEDDLE_BOTH_ int __double2loint(double x) {
  return static_cast<int>(__double_as_longlong(x));
}
HEDDLE_BOTH_ double __hiloint2double(int hi, int lo) {
  return __longlong_as_double(static_cast<long long>(
      (static_cast<unsigned long long>(static_cast<unsigned int>(hi)) << 32) | static_cast<unsigned int>(lo)));
}

#include "heddle/cuda_unfused.h"
// Behind it:
#include "heddle/cuda_atomics.h"
#include "heddle/cuda_integers.h"
#include "heddle/cuda_mathematics.h"
#include "heddle/cuda_words.h"
// Behind it:
#include "heddle/cuda_exponential.h"
#include "heddle/cuda_intrinsics.h"
#include "heddle/cuda_trigonometry.h"
// Behind these three:
#include "heddle/cuda_special_functions.h"
// Behind cuda_special_functions.h:
#include "heddle/cuda_memory.h"
#include "heddle/cuda_overloads.h"
#include "heddle/cuda_progress.h"
#include "heddle/cuda_search.h"
#include "heddle/cuda_textures.h"
#include "heddle/cuda_warps.h"
// Behind them all:
#include "heddle/cuda_unfused_end.h"

#undef HEDDLE_DEVICE_
#undef HEDDLE_OF_ACTIVE_THREADS_
#undef HEDDLE_BOTH_
#undef HEDDLE_MATH_
#undef HEDDLE_NOINLINE_
#undef HEDDLE_TABLE_
#undef HEDDLE_SQRT_
#undef HEDDLE_SQRTF_
#undef HEDDLE_FMA_
#undef HEDDLE_FMAF_
#ifdef HEDDLE_WITH_HOST
#undef FP_NAN
#undef FP_INFINITE
#undef FP_ZERO
#undef FP_SUBNORMAL
#undef FP_NORMAL
#endif
