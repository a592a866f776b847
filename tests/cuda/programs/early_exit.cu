// Threads that end early, in the middle of a warp and after some work, while the others go on to barriers.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kThreads = 96;

// Their place in the scratchpad is filled before they go, and seen behind the barrier.
__global__ void padded(int* out, const int* in, int count) {
  __shared__ int pad[kThreads];
  const int i = threadIdx.x;
  if (i >= count) {
    pad[i] = 1000;
    return;
  }
  pad[i] = in[i];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < kThreads; ++k) sum += pad[k];
  out[i] = sum;
}

// Ways with loops and branches of their own, one early end behind another, and a barrier before and between them.
__global__ void by_and_by(int* out, const int* in, int first, int second) {
  __shared__ int pad[kThreads];
  const int i = threadIdx.x;
  pad[i] = 1;
  __syncthreads();
  if (i >= first) {
    int sum = 0;
    for (int k = 0; k < in[i] % 5; ++k) sum += k * i;
    if (sum % 2 == 0) {
      out[i] = sum;
    } else {
      out[i] = -sum;
    }
    return;
  }
  pad[i] += pad[(i + 7) % kThreads] != 0 ? in[i] : 0;
  __syncthreads();
  if (i % 3 == second) {
    out[i] = pad[i];
    return;
  }
  const int other = pad[(i + 1) % first];
  __syncthreads();
  pad[i] = other;
  __syncthreads();
  out[i] = pad[i] + 7;
}

// Those that go on are few, and in either place of the branch.
__global__ void leaders(int* out, const int* in) {
  __shared__ int pad[kThreads / 32];
  const int i = threadIdx.x;
  out[i] = 5;
  if (i % 32 != 0) {
    out[i] = in[i] + 1;
    return;
  }
  pad[i / 32] = in[i];
  __syncthreads();
  out[i] = pad[(i / 32 + 1) % (kThreads / 32)];
}

// Whether a warp is together again behind the branch matters, and no barrier runs: the end of both ways stays one.
__global__ void together(int* out, const int* in, bool barrier) {
  __shared__ int pad[kThreads];
  const int i = threadIdx.x;
  int value = in[i];
  if (i % 32 < 16) {
    value += 3;
  } else {
    value *= 2;
    if (barrier) __syncthreads();
  }
  pad[i] = value;
  __syncwarp();
  out[i] = pad[i ^ 16] + __shfl_xor_sync(0xffffffffU, value, 1);
}

int main(int words, char**) {
  int in[kThreads];
  int out[kThreads];
  for (int i = 0; i < kThreads; ++i) in[i] = i * i % 23;
  int* device_in = nullptr;
  int* device_out = nullptr;
  cudaMalloc(&device_in, sizeof in);
  cudaMalloc(&device_out, sizeof out);
  cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
  int wrong = 0;
  const auto check = [&](const char* name, auto expected) {
    if (cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) {
      std::printf("%s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
      ++wrong;
      return;
    }
    for (int i = 0; i < kThreads; ++i) {
      if (out[i] != expected(i)) {
        std::printf("%s: thread %d: %d, not %d\n", name, i, out[i], expected(i));
        ++wrong;
      }
    }
  };
  for (const int count : {1, 31, 32, 50, 95, 96}) {
    cudaMemset(device_out, 0, sizeof out);
    padded<<<1, kThreads>>>(device_out, device_in, count);
    int sum = 1000 * (kThreads - count);
    for (int i = 0; i < count; ++i) sum += in[i];
    check("padded", [&](int i) { return i < count ? sum : 0; });
  }
  for (const int first : {40, 70, 96}) {
    cudaMemset(device_out, 0, sizeof out);
    by_and_by<<<1, kThreads>>>(device_out, device_in, first, 1);
    check("by_and_by", [&](int i) {
      if (i < first) return i % 3 == 1 ? 1 + in[i] : 8 + in[(i + 1) % first];
      int early = 0;
      for (int k = 0; k < in[i] % 5; ++k) early += k * i;
      return early % 2 == 0 ? early : -early;
    });
  }
  leaders<<<1, kThreads>>>(device_out, device_in);
  check("leaders", [&](int i) { return i % 32 != 0 ? in[i] + 1 : in[(i + 32) % kThreads]; });
  if (words > 1) together<<<1, kThreads>>>(device_out, device_in, false);
  const auto value = [&](int i) { return i % 32 < 16 ? in[i] + 3 : in[i] * 2; };
  if (words > 1) check("together", [&](int i) { return value(i ^ 16) + value(i ^ 1); });
  std::printf(wrong == 0 ? "PASSED\n" : "FAILED\n");
  return wrong;
}
