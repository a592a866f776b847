#include <cuda_runtime.h>

#include "answer.h"

__global__ void six_times(int* p) {
  *p *= 6;
}
extern "C" int answer(int given) {
  int* d = nullptr;
  cudaMalloc(&d, sizeof given);
  cudaMemcpy(d, &given, sizeof given, cudaMemcpyHostToDevice);
  six_times<<<1, 1>>>(d);
  cudaMemcpy(&given, d, sizeof given, cudaMemcpyDeviceToHost);
  cudaFree(d);
  return given;
}
