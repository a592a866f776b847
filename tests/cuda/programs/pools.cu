// Pools of device memory, and calls that have one answer where there is one device.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/expect.h"

__global__ void add(const int* a, const int* b, int* sum) {
  sum[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static std::uint64_t number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  std::uint64_t value = 0;
  CHECK(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

static void pools() {
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  cudaMemPool_t by_default, present, own;
  CHECK(cudaDeviceGetDefaultMemPool(&by_default, 0));
  CHECK(cudaDeviceGetMemPool(&present, 0));
  EXPECT(by_default == present);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemPoolCreate(&own, &properties));
  properties.location.id = 1;
  cudaMemPool_t none;
  EXPECT(cudaMemPoolCreate(&none, &properties) == cudaErrorInvalidValue && cudaGetLastError() != cudaSuccess);
  std::uint64_t threshold = UINT64_MAX;
  CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(number(own, cudaMemPoolAttrReleaseThreshold) == UINT64_MAX);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  constexpr size_t kBytes = 64 * sizeof(int);
  int *a, *b, *sum;
  CHECK(cudaMallocAsync(&a, kBytes, own, stream));
  CHECK(cudaMallocFromPoolAsync(&b, kBytes, own, stream));
  CHECK(cudaDeviceSetMemPool(0, own));
  CHECK(cudaMallocAsync(&sum, kBytes, stream));
  EXPECT(number(own, cudaMemPoolAttrUsedMemCurrent) == 3 * kBytes);
  std::vector<int> in(64), out(64);
  for (int i = 0; i < 64; ++i) in[i] = i * i;
  CHECK(cudaMemcpyAsync(a, in.data(), kBytes, cudaMemcpyDefault, stream));
  CHECK(cudaMemcpyAsync(b, in.data(), kBytes, cudaMemcpyDefault, stream));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, add, a, b, sum));
  CHECK(cudaFreeAsync(a, stream));  // behind the kernel
  CHECK(cudaMemcpyAsync(out.data(), sum, kBytes, cudaMemcpyDefault, stream));
  CHECK(cudaFreeAsync(sum, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 64; ++i) EXPECT(out[i] == 2 * i * i);
  EXPECT(number(own, cudaMemPoolAttrUsedMemCurrent) == kBytes && number(own, cudaMemPoolAttrUsedMemHigh) == 3 * kBytes);
  cudaMemAccessFlags flags;
  cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemPoolGetAccess(&flags, own, &place));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  CHECK(cudaMemPoolTrimTo(own, 0));
  CHECK(cudaMemPoolDestroy(own));
  CHECK(cudaDeviceGetMemPool(&present, 0));
  EXPECT(present == by_default && number(by_default, cudaMemPoolAttrUsedMemCurrent) == kBytes);
  CHECK(cudaFree(b));
  EXPECT(number(by_default, cudaMemPoolAttrUsedMemCurrent) == 0);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  config.attrs = &cluster;
  config.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&config, add, a, b, sum) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
}

static void one_device() {
  char text[32];
  int device = -1;
  CHECK(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  CHECK(cudaDeviceGetByPCIBusId(&device, text));
  EXPECT(device == 0 && std::strcmp(text, "0000:00:00.0") == 0);
  EXPECT(cudaDeviceGetByPCIBusId(&device, "0000:07:00.0") == cudaErrorInvalidDevice);
  cudaGetLastError();
  const char* name = nullptr;
  CHECK(cudaFuncGetName(&name, add));
  EXPECT(std::strcmp(name, "_Z3addPKiS0_Pi") == 0);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPoint("cuMemGetInfo", &function, cudaEnableDefault, &result));
  EXPECT(result == cudaDriverEntryPointSuccess);
  EXPECT(cuInit(0) == CUDA_SUCCESS);
  size_t free = 0, total = 0;
  EXPECT(reinterpret_cast<CUresult (*)(size_t*, size_t*)>(function)(&free, &total) == CUDA_SUCCESS && total >= free);
  CHECK(cudaGetDriverEntryPoint("cuNothing", &function, cudaEnableDefault, &result));
  EXPECT(function == nullptr && result == cudaDriverEntryPointSymbolNotFound);
  cudaStream_t stream;
  unsigned long long id = 0, other = 0;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamGetId(stream, &id));
  CHECK(cudaStreamGetId(cudaStreamPerThread, &other));
  EXPECT(id != 0 && other != 0 && id != other);
  int* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 64 * sizeof(int)));
  CHECK(cudaStreamAttachMemAsync(stream, managed));
  for (int i = 0; i < 64; ++i) managed[i] = i;
  add<<<1, 64, 0, stream>>>(managed, managed, managed);
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 64; ++i) EXPECT(managed[i] == 2 * i);
  cudaStreamAttrValue window = {};
  window.accessPolicyWindow.base_ptr = managed;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
}

int main() {
  pools();
  one_device();
  std::printf("PASSED\n");
}
