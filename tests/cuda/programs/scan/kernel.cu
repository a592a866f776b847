// Sums of all before each, by warps; the block size is asked for.
#include "check.h"
#include "kernel.h"

static __global__ void scan_blocks(int* data, int* totals, int n) {
  __shared__ int sums[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int value = i < n ? data[i] : 0;
  for (int k = 1; k < 32; k *= 2) {
    const int other = __shfl_up_sync(~0U, value, k);
    if (lane >= k) value += other;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  for (int w = 0; w < warp; ++w) value += sums[w];
  if (i < n) data[i] = value;
  if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = value;
}
static __global__ void add_totals(int* data, const int* totals, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int b = 0; i < n && b < blockIdx.x; ++b) data[i] += totals[b];
}

float scan(int* host, int n) {
  cudaFuncAttributes attributes;
  int least = 0, block = 0, resident = 0;
  CHECK(cudaFuncGetAttributes(&attributes, scan_blocks));
  CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &block, scan_blocks, 0, 128));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, scan_blocks, block, 0));
  if (attributes.sharedSizeBytes != 128 || least < 1 || resident < 1 || block > 128 || block % 32 != 0) return -1;
  const int blocks = (n + block - 1) / block;
  int *data, *totals;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMalloc(&totals, blocks * sizeof(int)));
  CHECK(cudaMemcpy(data, host, n * sizeof(int), cudaMemcpyHostToDevice));
  Timer timer;
  scan_blocks<<<blocks, block>>>(data, totals, n);
  add_totals<<<blocks, block>>>(data, totals, n);
  const float milliseconds = timer.stop();
  CHECK(cudaMemcpy(host, data, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));
  CHECK(cudaFree(totals));
  return milliseconds;
}
