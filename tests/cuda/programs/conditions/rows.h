// Calls and the codes that CUDA gives for them, one a row.
#pragma once
#include <cuda_runtime.h>
#include <cstdio>

static int rows = 0, wrong = 0;

// The last error is what the call gave, but for cudaErrorNotReady, which is none, and is gone once it has been taken.
inline void row(const char* call, int line, cudaError_t is, cudaError_t expected) {
  ++rows;
  const cudaError_t last = expected == cudaErrorNotReady ? cudaSuccess : expected;
  const cudaError_t seen = cudaPeekAtLastError(), taken = cudaGetLastError(), then = cudaGetLastError();
  if (is == expected && seen == last && taken == last && then == cudaSuccess) return;
  ++wrong;
  std::printf("line %d: %s is %d, last error %d, %d, then %d; expected %d\n", line, call, is, seen, taken, then,
              expected);
}
#define ROW(expected, call) row(#call, __LINE__, call, expected)
#define OK(call) ROW(cudaSuccess, call)
#define HOLDS(condition)                                      \
  do {                                                        \
    ++rows;                                                   \
    if (!(condition)) {                                       \
      ++wrong;                                                \
      std::printf("line %d: not %s\n", __LINE__, #condition); \
    }                                                         \
  } while (0)

inline int finish() {
  std::printf("%d rows, %d wrong\n", rows, wrong);
  return wrong != 0;
}
