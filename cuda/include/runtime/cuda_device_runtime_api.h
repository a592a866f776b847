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
#define HEDDLE_ERROR_FUNCTION_ static inline __device__
#include "heddle_error_words.h"
#undef HEDDLE_ERROR_FUNCTION_
#endif
