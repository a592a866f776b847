#include <stdio.h>
#include <vector>
__constant__ float scale[2];
__device__ int counter;
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] * scale[0] + b[i] * scale[1];
  if (i == 0) {
    printf("hello from %d\n", i);
    atomicAdd(&counter, 7);
  }
}
int main() {
  const int n = 5000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = i;
    b[i] = 2 * i;
  }
  float *da, *db, *dc;
  cudaMalloc(&da, n * 4);
  cudaMalloc(&db, n * 4);
  cudaMalloc((void**)&dc, n * 4);
  float s[2] = {2, 3};
  cudaMemcpyToSymbol(scale, s, sizeof s);
  cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice);
  cudaEvent_t e0, e1;
  cudaEventCreate(&e0);
  cudaEventCreate(&e1);
  cudaEventRecord(e0);
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  cudaEventRecord(e1);
  cudaEventSynchronize(e1);
  float ms = 0;
  cudaEventElapsedTime(&ms, e0, e1);
  cudaMemcpy(c.data(), dc, n * 4, cudaMemcpyDeviceToHost);
  int k = 0;
  cudaMemcpyFromSymbol(&k, counter, sizeof k);
  bool ok = k == 7 && cudaGetLastError() == cudaSuccess;
  for (int i = 0; i < n; ++i) ok = ok && c[i] == a[i] * 2 + b[i] * 3;
  printf("%s %.6f ms\n", ok ? "PASSED" : "FAILED", ms);
  return ok ? 0 : 1;
}
