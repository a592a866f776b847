// Memory, text and assertions of heddle/cuda.h: memcpy and its kin, loads and stores with cache hints, printf, assert.
#pragma once

// Byte by byte where neither size nor alignment is known; clang makes wide copies where the size is constant.
HEDDLE_DEVICE_ void* memcpy(void* to, const void* from, size_t size) {
  __builtin_memcpy(to, from, size);
  return to;
}
HEDDLE_DEVICE_ void* memmove(void* to, const void* from, size_t size) {
  __builtin_memmove(to, from, size);
  return to;
}
HEDDLE_DEVICE_ void* memset(void* to, int value, size_t size) {
  __builtin_memset(to, value, size);
  return to;
}
HEDDLE_MATH_ int memcmp(const void* a, const void* b, size_t size) {
  const unsigned char* x = static_cast<const unsigned char*>(a);
  const unsigned char* y = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < size; ++i) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}
HEDDLE_MATH_ size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

// Addresses of one memory as generic ones, and the other way round, as inline PTX wants them.
#define HEDDLE_SPACE_(name, number)                                             \
  HEDDLE_DEVICE_ size_t __cvta_generic_to_##name(const void* address) {         \
    return (size_t)(const void __attribute__((address_space(number)))*)address; \
  }                                                                             \
  HEDDLE_DEVICE_ void* __cvta_##name##_to_generic(size_t address) {             \
    return (void*)(void __attribute__((address_space(number)))*)address;        \
  }
HEDDLE_SPACE_(global, 1)
HEDDLE_SPACE_(shared, 3)
HEDDLE_SPACE_(constant, 4)
HEDDLE_SPACE_(local, 5)
#undef HEDDLE_SPACE_

// Loads and stores with a cache hint: the value is that of a plain one. __ldcg and __ldcv are never answered by the L1.
#define HEDDLE_LOAD_(name)                  \
  template <class T>                        \
  HEDDLE_DEVICE_ T name(const T* address) { \
    return *address;                        \
  }
HEDDLE_LOAD_(__ldg)
HEDDLE_LOAD_(__ldca)
HEDDLE_LOAD_(__ldcs)
HEDDLE_LOAD_(__ldlu)
#undef HEDDLE_LOAD_
template <class T>
HEDDLE_DEVICE_ T __ldcg(const T* address) {
  if constexpr (sizeof(T) % 4 == 0) {
    unsigned int words[sizeof(T) / 4];
    for (unsigned int i = 0; i < sizeof(T) / 4; ++i) {
      words[i] = reinterpret_cast<const volatile unsigned int*>(address)[i];
    }
    return __builtin_bit_cast(T, words);
  } else if constexpr (sizeof(T) == 2 && alignof(T) == 2) {
    const unsigned short half = *reinterpret_cast<const volatile unsigned short*>(address);
    return __builtin_bit_cast(T, half);
  } else {
    unsigned char bytes[sizeof(T)];
    for (unsigned int i = 0; i < sizeof(T); ++i) {
      bytes[i] = reinterpret_cast<const volatile unsigned char*>(address)[i];
    }
    return __builtin_bit_cast(T, bytes);
  }
}
template <class T>
HEDDLE_DEVICE_ T __ldcv(const T* address) {
  return __ldcg(address);
}
#define HEDDLE_STORE_(name)                              \
  template <class T>                                     \
  HEDDLE_DEVICE_ void name(T* address, const T& value) { \
    *address = value;                                    \
  }
HEDDLE_STORE_(__stwb)
HEDDLE_STORE_(__stcg)
HEDDLE_STORE_(__stcs)
HEDDLE_STORE_(__stwt)
#undef HEDDLE_STORE_

// Text: what a launch prints appears when it ends, block by block and thread by thread (docs/cuda-support.md).
#ifndef HEDDLE_WITH_HOST
extern "C" __host__ __device__ int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

extern "C" __host__ __device__ void __assertfail(const char* condition, const char* file, unsigned int line,
                                                 const char* function, size_t size) __attribute__((noreturn));
#include "heddle/cuda_assert.h"

extern "C" __host__ void* malloc(size_t size);  // host functions of the file are read, and not compiled
extern "C" __host__ void free(void* pointer);
#else
extern "C" __device__ int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
extern "C" __device__ void __assertfail(const char* condition, const char* file, unsigned int line,
                                        const char* function, size_t size) __attribute__((noreturn));
// What the host's assert.h calls.
extern "C" __device__ __forceinline__ __attribute__((noreturn, nodebug)) void __assert_fail(const char* condition,
                                                                                            const char* file,
                                                                                            unsigned int line,
                                                                                            const char* function) {
  __assertfail(condition, file, line, function, 1);
}
#endif

// The device heap (docs/cuda-support.md).
extern "C" __device__ void* malloc(size_t size) __attribute__((nothrow));
extern "C" __device__ void free(void* pointer) __attribute__((nothrow));
namespace std {
using ::free;
using ::malloc;
}  // namespace std
#ifdef HEDDLE_WITH_HOST
// clang has new and delete beside the host's <new>: their instructions count as the caller's.
#define HEDDLE_AS_CALLER_ __device__ __attribute__((always_inline, nodebug))
HEDDLE_AS_CALLER_ void* operator new(size_t size);
HEDDLE_AS_CALLER_ void* operator new[](size_t size);
HEDDLE_AS_CALLER_ void operator delete(void* pointer) noexcept;
HEDDLE_AS_CALLER_ void operator delete[](void* pointer) noexcept;
#else
// new and delete call what ptx/lower/library.cpp has. This is new of an object in a place that there is.
#define HEDDLE_AS_CALLER_ __device__ __forceinline__ __attribute__((nodebug))
HEDDLE_AS_CALLER_ void* operator new(size_t, void* place) noexcept {
  return place;
}
HEDDLE_AS_CALLER_ void* operator new[](size_t, void* place) noexcept {
  return place;
}
#endif
#undef HEDDLE_AS_CALLER_
