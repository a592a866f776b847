/* What kernels call of the run-time API: what tells errors, of which there are none, as what could fail is not there.
   Launches from kernels are not: their names are, since libraries name them in templates that are never used; a kernel
   that calls one does not link. */
#pragma once

#include "cuda_runtime.h"
#ifdef __CUDA__
extern "C" {
__device__ void* cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ cudaError_t cudaLaunchDevice(void* kernel, void* parameters, dim3 grid, dim3 block, unsigned int shared,
                                        cudaStream_t stream);
}
static inline __device__ cudaError_t cudaGetLastError(void) {
  return cudaSuccess;
}
static inline __device__ cudaError_t cudaPeekAtLastError(void) {
  return cudaSuccess;
}
static inline __device__ const char* cudaGetErrorString(cudaError_t error) {
  switch ((int)error) {
#define HEDDLE_ERROR_(name, value, text) \
  case value:                            \
    return text;
#include "heddle_errors.h"
#undef HEDDLE_ERROR_
    default:
      return "unrecognized error code";
  }
}
static inline __device__ const char* cudaGetErrorName(cudaError_t error) {
  switch ((int)error) {
#define HEDDLE_ERROR_(name, value, text) \
  case value:                            \
    return #name;
#include "heddle_errors.h"
#undef HEDDLE_ERROR_
    default:
      return "unrecognized error code";
  }
}
#endif
