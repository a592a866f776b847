/* What kernels call of the run-time API. Launches from kernels are not there: their names are, since libraries name
   them in templates that nobody uses; a kernel that calls one does not link. */
#pragma once

#include "cuda_runtime.h"
#ifdef __CUDA__
extern "C" {
__device__ void* cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ cudaError_t cudaLaunchDevice(void* kernel, void* parameters, dim3 grid, dim3 block, unsigned int shared,
                                        cudaStream_t stream);
}
#endif
