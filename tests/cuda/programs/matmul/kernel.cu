// Products of square matrices, by tiles in dynamic shared memory.
#include "check.h"
#include "kernel.h"

static __global__ void product(const float* a, const float* b, float* c, int n) {
  extern __shared__ float tiles[];
  const int w = blockDim.x;
  float* const left = tiles;
  float* const right = tiles + w * w;
  const int x = blockIdx.x * w + threadIdx.x;
  const int y = blockIdx.y * w + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n; t += w) {
    left[threadIdx.y * w + threadIdx.x] = a[y * n + t + threadIdx.x];
    right[threadIdx.y * w + threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < w; ++k) sum += left[threadIdx.y * w + k] * right[k * w + threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

float multiply(const float* a, const float* b, float* c, int n, int tile) {
  float *da, *db, *dc;
  const size_t bytes = sizeof(float) * n * n;
  CHECK(cudaMalloc(&da, bytes));
  CHECK(cudaMalloc(&db, bytes));
  CHECK(cudaMalloc(&dc, bytes));
  CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
  Timer timer;
  product<<<dim3(n / tile, n / tile), dim3(tile, tile), 2 * tile * tile * sizeof(float)>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  const float milliseconds = timer.stop();
  CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  return milliseconds;
}
