// A kernel whose sums want more registers than blocks of 1024 threads leave to each thread, launched with small and
// with large blocks, and what the program is told of it.
#include <cstdio>

constexpr int kSums = 80;

__global__ void sums(const int* from, int* to, int n) {
  int sum[kSums] = {};
  for (int i = 0; i < n; ++i) {
    const int one = from[i] + threadIdx.x;
    for (int j = 0; j < kSums; ++j) sum[j] = sum[j] * 3 + (one ^ sum[(j + 7) % kSums]);
  }
  int all = 0;
  for (int j = 0; j < kSums; ++j) all = all * 5 + sum[j];
  to[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

static int wanted(const int* from, int n, int thread) {
  unsigned sum[kSums] = {};
  for (int i = 0; i < n; ++i) {
    const unsigned one = unsigned(from[i] + thread);
    for (int j = 0; j < kSums; ++j) sum[j] = sum[j] * 3 + (one ^ sum[(j + 7) % kSums]);
  }
  unsigned all = 0;
  for (unsigned one : sum) all = all * 5 + one;
  return int(all);
}

int main() {
  constexpr int n = 6;
  int *from = nullptr, *to = nullptr;
  cudaMallocManaged(&from, n * sizeof(int));
  cudaMallocManaged(&to, 1024 * sizeof(int));
  for (int i = 0; i < n; ++i) from[i] = 1000 + 37 * i;
  cudaFuncAttributes kernel;
  cudaFuncGetAttributes(&kernel, sums);
  int of_128 = 0, of_1024 = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_128, sums, 128, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_1024, sums, 1024, 0);
  int wrong = 0;
  for (const int block : {128, kernel.maxThreadsPerBlock, 1024}) {
    for (int i = 0; i < block; ++i) to[i] = 0;
    sums<<<1, block>>>(from, to, n);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::printf("%d threads: %s\n", block, cudaGetErrorString(error));
    for (int i = 0; i < block; ++i) wrong += to[i] != wanted(from, n, i);
  }
  std::printf("more than 64 registers: %d, all in registers: %d, fit: %d, of 128: %d, of 1024: %d, wrong: %d\n",
              kernel.numRegs > 64, kernel.localSizeBytes == 0,
              kernel.maxThreadsPerBlock * kernel.numRegs <= 65536 && kernel.maxThreadsPerBlock<1024, of_128> 1, of_1024,
              wrong);
}
