// Tiles that threads copy into shared memory two rounds ahead: by the primitives of pipelines, by pipelines of their
// own, by barriers and pipelines of the block, and as groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

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

// Likewise, each thread waiting for its batches by its own pipeline, whose latest two may be under way. What the first
// warp copies a warp may copy in words of 4 bytes, 8 or 16, and in bytes.
__global__ void own_pipelines(const Four* a, const int2* b, const int* c, int* out) {
  __shared__ Four tile_a[kAhead + 1][kThreads];
  __shared__ int2 tile_b[kAhead + 1][kThreads];
  __shared__ int tile_c[kAhead + 1][kThreads];
  __shared__ short bytes[kAhead + 1][kThreads];
  const int i = threadIdx.x;
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const auto copy = [&](int round) {
    pipe.producer_acquire();
    if (round < kRounds) {
      const int to = round % (kAhead + 1);
      cuda::memcpy_async(&tile_a[to][i], &a[round * kThreads + i], sizeof(Four), pipe);
      cuda::memcpy_async(&tile_b[to][i], &b[round * kThreads + i], sizeof(int2), pipe);
      cuda::memcpy_async(&tile_c[to][i], &c[round * kThreads + i], sizeof(int), pipe);
      cuda::memcpy_async(&bytes[to][i], &c[round * kThreads + i], sizeof(short), pipe);
    }
    pipe.producer_commit();
  };
  for (int round = 0; round < kAhead; ++round) copy(round);
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    copy(round + kAhead);
    pipe.consumer_wait();
    __syncthreads();
    const int from = round % (kAhead + 1);
    const int other = kThreads - 1 - i;
    sum = sum * 3 + tile_a[from][other].v[round % 4] + 5 * tile_b[from][other].x + 7 * tile_b[from][other].y +
          11 * tile_c[from][other] + 13 * bytes[from][other];
    pipe.consumer_release();
    __syncthreads();
  }
  out[i] = sum;
}

// The block's barriers count what each thread copies, two rounds ahead, and in one round what the block copies as a
// group; bytes are copied at once. `Pipeline`: stages of a pipeline of the block do.
template <bool Pipeline>
__global__ void of_block(const Four* a, const int2* b, const int* c, int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier ready[kAhead + 1];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kAhead + 1> state;
  __shared__ Four tile_a[kAhead + 1][kThreads];
  __shared__ int2 tile_b[kAhead + 1][kThreads];
  __shared__ int tile_c[kAhead + 1][kThreads];
  __shared__ short bytes[kAhead + 1][kThreads];
  const int i = threadIdx.x;
  const cg::thread_block block = cg::this_thread_block();
  if (i == 0) {
    for (Barrier& one : ready) init(&one, kThreads);
  }
  __syncthreads();
  auto pipe = cuda::make_pipeline(block, &state);
  Barrier::arrival_token tokens[kAhead + 1];
  const auto copy = [&](int round) {
    const int to = round % (kAhead + 1);
    const auto begin = [&](auto& counts) {
      if (round >= kRounds) return;
      if (round == 5) {
        cuda::memcpy_async(block, tile_a[to], &a[round * kThreads], sizeof(Four) * kThreads, counts);
      } else {
        cuda::memcpy_async(&tile_a[to][i], &a[round * kThreads + i], sizeof(Four), counts);
      }
      cuda::memcpy_async(&tile_b[to][i], &b[round * kThreads + i], sizeof(int2), counts);
      cuda::memcpy_async(&tile_c[to][i], &c[round * kThreads + i], sizeof(int), counts);
      cuda::memcpy_async(&bytes[to][i], &c[round * kThreads + i], sizeof(short), counts);
    };
    if constexpr (Pipeline) {
      pipe.producer_acquire();
      begin(pipe);
      pipe.producer_commit();
    } else {
      begin(ready[to]);
      tokens[to] = ready[to].arrive();
    }
  };
  for (int round = 0; round < kAhead; ++round) copy(round);
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int from = round % (kAhead + 1);
    const int other = kThreads - 1 - i;
    copy(round + kAhead);
    if constexpr (Pipeline) {
      pipe.consumer_wait();
    } else {
      ready[from].wait(static_cast<Barrier::arrival_token&&>(tokens[from]));
    }
    sum = sum * 3 + tile_a[from][other].v[round % 4] + 5 * tile_b[from][other].x + 7 * tile_b[from][other].y +
          11 * tile_c[from][other] + 13 * bytes[from][other];
    if constexpr (Pipeline) {
      pipe.consumer_release();
    } else {
      __syncthreads();
    }
  }
  out[i] = sum;
}

// As a group; `from` may be off by an element, which takes words of 4 bytes.
__global__ void groups(const int* from, int offset, int* out) {
  __shared__ alignas(16) int tile[2][kThreads * 3];
  __shared__ alignas(16) int back[kThreads];
  const cg::thread_block block = cg::this_thread_block();
  const auto copy = [&](int round) {
    if (round < kRounds) {
      cg::memcpy_async(block, tile[round % 2], from + offset + round * kThreads, sizeof(int) * kThreads * 3);
    } else {
      cg::memcpy_async(block, back, tile[0], sizeof back);
    }
  };
  copy(0);
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    copy(round + 1);
    cg::wait_prior<1>(block);
    for (int i = 0; i < 3; ++i) {
      sum = sum * 5 + tile[round % 2][kThreads * i + kThreads - 1 - threadIdx.x];
    }
    block.sync();
  }
  cg::wait(block);
  out[threadIdx.x] = sum + back[threadIdx.x];
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
  int wrong = 0;
  for (const int way : {0, 1, 2, 3}) {
    const bool own = way != 0;
    if (way == 0) sums<<<1, kThreads>>>(a, b, c, out);
    if (way == 1) own_pipelines<<<1, kThreads>>>(a, b, c, out);
    if (way == 2) of_block<false><<<1, kThreads>>>(a, b, c, out);
    if (way == 3) of_block<true><<<1, kThreads>>>(a, b, c, out);
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < kThreads; ++i) {
      int sum = 0;
      for (int round = 0; round < kRounds; ++round) {
        const int from = round * kThreads + kThreads - 1 - i;
        sum = sum * 3 + a[from].v[round % 4] + 5 * b[from].x + 11 * c[from];
        if (own) sum += 7 * b[from].y + 13 * static_cast<short>(c[from]);
      }
      wrong += out[i] != sum;
    }
  }
  const int* const words = &a[0].v[0];
  for (int offset = 0; offset < 3; ++offset) {
    groups<<<1, kThreads>>>(words, offset, out);
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < kThreads; ++i) {
      int sum = 0;
      for (int round = 0; round < kRounds; ++round) {
        for (int j = 0; j < 3; ++j) {
          sum = sum * 5 + words[offset + (round + j) * kThreads + kThreads - 1 - i];
        }
      }
      // The last copy is from the tile of the round before the last.
      const int last = (kRounds - 1) % 2 == 0 ? kRounds - 1 : kRounds - 2;
      wrong += out[i] != sum + words[offset + last * kThreads + i];
    }
  }
  std::printf(wrong == 0 ? "PASSED\n" : "FAILED, %d\n", wrong);
}
