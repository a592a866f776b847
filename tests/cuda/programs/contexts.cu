// What the driver API finds of the run-time API: nothing before its first call, then a driver that is initialised, and
// in threads that have made a call that needs a device the primary context. And what a program is told of memory that
// the device does not have.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "common/expect.h"

static CUcontext current() {
  CUcontext context = nullptr;
  EXPECT(cuCtxGetCurrent(&context) == CUDA_SUCCESS);
  return context;
}

int main() {
  std::size_t left = 0, whole = 0;
  int count = 0;
  EXPECT(cuMemGetInfo(&left, &whole) == CUDA_ERROR_NOT_INITIALIZED);
  EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 1);
  EXPECT(cuMemGetInfo(&left, &whole) == CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(current() == nullptr);

  CUcontext primary = nullptr;
  std::thread([&] {
    CHECK(cudaFree(0));
    EXPECT(cuMemGetInfo(&left, &whole) == CUDA_SUCCESS && left == whole && whole > 0);
    EXPECT(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS && primary != nullptr && current() == primary);
  }).join();
  EXPECT(current() == nullptr);
  EXPECT(cuMemGetInfo(&left, &whole) == CUDA_ERROR_INVALID_CONTEXT);

  // A context of the program's own stays; without one the next call makes the primary one current again.
  CUcontext own = nullptr;
  EXPECT(cuCtxCreate(&own, 0, 0) == CUDA_SUCCESS);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 4));
  EXPECT(current() == own && own != primary);
  EXPECT(cuCtxDestroy(own) == CUDA_SUCCESS && current() == nullptr);
  // Functions of the driver API that call those of the run-time API do not count.
  CUevent event = nullptr;
  int cores = 0;
  EXPECT(cuEventCreate(&event, CU_EVENT_DEFAULT) == CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(cuDeviceGetAttribute(&cores, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0) == CUDA_SUCCESS);
  EXPECT(current() == nullptr);
  CHECK(cudaFree(memory));
  EXPECT(current() == primary);
  EXPECT(cuMemGetInfo(&left, &whole) == CUDA_SUCCESS && left == whole);

  const std::uint64_t sizes[] = {std::uint64_t{5} << 30, UINT64_MAX};
  for (const std::uint64_t size : sizes) {
    EXPECT(cudaMalloc(&memory, size) == cudaErrorMemoryAllocation);
    EXPECT(cudaMallocManaged(&memory, size) == cudaErrorMemoryAllocation);
  }
  CHECK(cudaMalloc(&memory, std::size_t{3} << 30));
  EXPECT(cudaMalloc(&memory, std::size_t{1} << 30) == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
  std::printf("PASSED\n");
}
