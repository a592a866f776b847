// Tiles that threads copy into shared memory two rounds ahead, by the primitives of pipelines.
#include <cuda_pipeline.h>

#include <cstdio>

constexpr int kRounds = 12;
constexpr int kThreads = 64;
constexpr int kAhead = 2;

struct alignas(16) Four {
  int v[4];
};

// Sixteen bytes of each thread, eight of which the last four are 0, and four, by round.
__global__ void sums(const Four* a, const int2* b, const int* c, int* out) {
  __shared__ Four tile_a[kAhead + 1][kThreads];
  __shared__ int2 tile_b[kAhead + 1][kThreads];
  __shared__ int tile_c[kAhead + 1][kThreads];
  const int i = threadIdx.x;
  const auto copy = [&](int round) {
    if (round < kRounds) {
      const int to = round % (kAhead + 1);
      __pipeline_memcpy_async(&tile_a[to][i], &a[round * kThreads + i], 16);
      __pipeline_memcpy_async(&tile_b[to][i], &b[round * kThreads + i], 8, 4);
      __pipeline_memcpy_async(&tile_c[to][i], &c[round * kThreads + i], 4);
    }
    __pipeline_commit();
  };
  for (int round = 0; round < kAhead; ++round) copy(round);
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    copy(round + kAhead);
    __pipeline_wait_prior(kAhead);
    __syncthreads();
    const int from = round % (kAhead + 1);
    const int other = kThreads - 1 - i;
    sum = sum * 3 + tile_a[from][other].v[round % 4] + 5 * tile_b[from][other].x + 7 * tile_b[from][other].y +
          11 * tile_c[from][other];
    __syncthreads();
  }
  out[i] = sum;
}

int main() {
  constexpr int count = kRounds * kThreads;
  Four* a = nullptr;
  int2* b = nullptr;
  int *c = nullptr, *out = nullptr;
  cudaMallocManaged(&a, count * sizeof *a);
  cudaMallocManaged(&b, count * sizeof *b);
  cudaMallocManaged(&c, count * sizeof *c);
  cudaMallocManaged(&out, kThreads * sizeof *out);
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < 4; ++j) a[i].v[j] = 1000 * i + j;
    b[i] = make_int2(17 * i, 23 * i);
    c[i] = 3 - i;
  }
  sums<<<1, kThreads>>>(a, b, c, out);
  const cudaError_t error = cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0;
    for (int round = 0; round < kRounds; ++round) {
      const int from = round * kThreads + kThreads - 1 - i;
      sum = sum * 3 + a[from].v[round % 4] + 5 * b[from].x + 11 * c[from];
    }
    wrong += out[i] != sum;
  }
  std::printf(error == cudaSuccess && wrong == 0 ? "PASSED\n" : "FAILED\n");
}
