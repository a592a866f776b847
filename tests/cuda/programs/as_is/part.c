/* Host code in C89, as old programs have it. */
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <driver_types.h>
#include <stdio.h>
#include <vector_types.h>
#include <vector_functions.h>

#ifndef __DRIVER_TYPES_H__
#error "an include guard is missing"
#endif

static int undeclared_arguments(struct cudaDeviceProp* properties, enum cudaMemcpyKind kind) {
  return properties->warpSize + (int)kind;
}

int main(void) {
  int* d;
  int h = 7;
  float4 v = make_float4(1, 2, 3, 4);
  dim3 grid;
  struct cudaExtent extent = make_cudaExtent(4, 1, 1);
  struct cudaDeviceProp properties;
  CUdevice device = 0;
  cudaStream_t stream = 0;
  cudaError_t error;
  grid.x = grid.y = grid.z = 1;
  error = cudaMalloc((void**)&d, extent.width);
  cudaMemcpyAsync(d, &h, sizeof h, cudaMemcpyHostToDevice, stream);
  h = 0;
  cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
  cudaGetDeviceProperties(&properties, device);
  printf("%d %d %g %d\n", (int)error, h, v.w + grid.x, undeclared_arguments(&properties, cudaMemcpyDefault));
  return 0;
}
