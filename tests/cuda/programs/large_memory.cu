// More device memory than lies below 4 GiB: kernels, copies, fills and managed memory at both ends of large buffers.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(call)                                              \
  do {                                                           \
    const cudaError_t error = (call);                            \
    if (error != cudaSuccess) {                                  \
      std::printf("%s: %s\n", #call, cudaGetErrorString(error)); \
      return 1;                                                  \
    }                                                            \
  } while (false)
#define EXPECT(condition)                                 \
  do {                                                    \
    if (!(condition)) {                                   \
      std::printf("line %d: " #condition "\n", __LINE__); \
      return 1;                                           \
    }                                                     \
  } while (false)

// Of `last` + 1 numbers the first and the last one.
__global__ void write_ends(std::uint64_t* numbers, std::uint64_t last, std::uint64_t value) {
  numbers[threadIdx.x * last] = value + threadIdx.x;
}
__global__ void add_ends(std::uint64_t* to, const std::uint64_t* from, std::uint64_t to_last, std::uint64_t from_last) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to + threadIdx.x * to_last), from[threadIdx.x * from_last]);
}

int main() {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
  std::size_t left = 0;
  std::size_t whole = 0;
  CHECK(cudaMemGetInfo(&left, &whole));
  EXPECT(whole == 12 * kGib && left == whole);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.totalGlobalMem == whole);

  std::uint64_t* low = nullptr;
  std::uint64_t* high = nullptr;
  std::uint64_t* managed = nullptr;
  CHECK(cudaMalloc(&low, 3 * kGib));
  CHECK(cudaMalloc(&high, 5 * kGib));
  CHECK(cudaMallocManaged(&managed, kGib));
  void* more = nullptr;
  EXPECT(cudaMalloc(&more, 4 * kGib) == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaMemGetInfo(&left, &whole));
  EXPECT(left == 3 * kGib);

  constexpr std::uint64_t kLow = 3 * kGib / sizeof *low - 1;
  constexpr std::uint64_t kHigh = 5 * kGib / sizeof *high - 1;
  constexpr std::uint64_t kManaged = kGib / sizeof *managed - 1;
  managed[0] = 1000;
  managed[kManaged] = 2000;
  write_ends<<<1, 2>>>(low, kLow, 10);
  write_ends<<<1, 2>>>(high, kHigh, 20);
  add_ends<<<1, 2>>>(high, low, kHigh, kLow);
  add_ends<<<1, 2>>>(managed, high, kManaged, kHigh);
  CHECK(cudaDeviceSynchronize());
  EXPECT(managed[0] == 1030 && managed[kManaged] == 2032);

  std::uint64_t seen[2] = {};
  CHECK(cudaMemcpy(&seen[0], high, sizeof seen[0], cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&seen[1], high + kHigh, sizeof seen[1], cudaMemcpyDeviceToHost));
  EXPECT(seen[0] == 30 && seen[1] == 32);
  const std::uint64_t sent = 77;
  CHECK(cudaMemcpy(high + kHigh, &sent, sizeof sent, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(low + kLow - 7, high + kHigh - 7, 8 * sizeof sent, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(&seen[0], low + kLow, sizeof seen[0], cudaMemcpyDeviceToHost));
  EXPECT(seen[0] == 77);
  CHECK(cudaMemset(high + kHigh, 0xff, sizeof sent));
  CHECK(cudaMemcpy(&seen[1], high + kHigh, sizeof seen[1], cudaMemcpyDeviceToHost));
  EXPECT(seen[1] == UINT64_MAX);
  CHECK(cudaFree(high));
  CHECK(cudaFree(low));
  CHECK(cudaFree(managed));
  CHECK(cudaMemGetInfo(&left, &whole));
  EXPECT(left == whole);
  std::printf("PASSED\n");
}
