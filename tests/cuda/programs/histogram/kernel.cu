// Counts of bytes, by atomics, of parts that come in streams.
#include "check.h"
#include "kernel.h"

static __global__ void count(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned mine[kBins];
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[data[i] % kBins], 1U);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

float histogram(const unsigned char* pinned, int n, unsigned* bins) {
  const int parts = 4, part = n / parts;
  unsigned char* data;
  unsigned* sums;
  cudaStream_t streams[parts];
  CHECK(cudaMalloc(&data, n));
  CHECK(cudaMalloc(&sums, kBins * sizeof(unsigned)));
  CHECK(cudaMemset(sums, 0, kBins * sizeof(unsigned)));
  Timer timer;
  for (int i = 0; i < parts; ++i) {
    CHECK(cudaStreamCreate(&streams[i]));
    CHECK(cudaMemcpyAsync(data + i * part, pinned + i * part, part, cudaMemcpyHostToDevice, streams[i]));
    count<<<2, 64, 0, streams[i]>>>(data + i * part, part, sums);
  }
  const float milliseconds = timer.stop();
  CHECK(cudaMemcpy(bins, sums, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(data));
  CHECK(cudaFree(sums));
  return milliseconds;
}
