// What part of the scratchpad a kernel prefers, and how many of its blocks a core then has.
#include <cstdio>

extern __shared__ int shared[];

__global__ void reverse(int* out) {
  shared[threadIdx.x] = blockIdx.x * 32 + threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = shared[31 - threadIdx.x];
}

int main() {
  constexpr int kBlocks = 20;
  constexpr int kShared = 16 << 10;
  int* out = nullptr;
  cudaMallocManaged(&out, kBlocks * 32 * sizeof(int));
  for (const int part : {-1, 0, 12, 100}) {
    cudaFuncSetAttribute(reverse, cudaFuncAttributePreferredSharedMemoryCarveout, part);
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 32, kShared);
    reverse<<<kBlocks, 32, kShared>>>(out);
    bool right = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < kBlocks * 32; ++i) {
      right = right && out[i] == i / 32 * 32 + 31 - i % 32;
      out[i] = -1;
    }
    printf("%d: %d%s\n", part, blocks, right ? "" : " wrong");
  }
  return 0;
}
