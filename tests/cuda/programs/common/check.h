// Ends the program where a call fails.
#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#define CHECK(call)                                                                        \
  do {                                                                                     \
    const cudaError_t error_ = (call);                                                     \
    if (error_ != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

// Time between its making and stop(), in milliseconds.
class Timer {
 public:
  explicit Timer(cudaStream_t stream = 0) : stream_(stream) {
    CHECK(cudaEventCreate(&begin_));
    CHECK(cudaEventCreate(&end_));
    CHECK(cudaEventRecord(begin_, stream_));
  }
  float stop() {
    float milliseconds = 0;
    CHECK(cudaEventRecord(end_, stream_));
    CHECK(cudaEventSynchronize(end_));
    CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_, end_;
};

inline int finish(bool right, float milliseconds) {
  right = right && milliseconds > 0;
  std::printf("%.4f ms\n%s\n", milliseconds, right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
