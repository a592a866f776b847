// What programs that judge themselves say where something is not as it should be, before they end.
#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#define CHECK(call)                                                                          \
  do {                                                                                       \
    const cudaError_t error_ = (call);                                                       \
    if (error_ != cudaSuccess) {                                                             \
      std::printf("FAILED: %s in line %d: %s\n", #call, __LINE__, cudaGetErrorName(error_)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)
#define EXPECT(condition)                                           \
  do {                                                              \
    if (!(condition)) {                                             \
      std::printf("FAILED: %s in line %d\n", #condition, __LINE__); \
      std::exit(1);                                                 \
    }                                                               \
  } while (0)
