// What CUDA's releases have different, for programs that NVIDIA's nvcc has compiled against their headers
// (driver_types.h of each). Ours are as release 11 has it.
#include <cstring>

#include "cuda/cudart/work.hpp"

using heddle::cudart::guarded;
using heddle::cudart::Runtime;

namespace {

int release_of_program = 11;

constexpr std::size_t kPropertyBytesOf12 = 1032;

// Release 13's device properties, as far as machines here have them; the rest of its 1008 bytes is 0.
struct Properties13 {
  char name[256];
  char ids[28];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory;
  int textures[39];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
  int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int further[76];
};

Properties13 as_13(const cudaDeviceProp& p) {
  Properties13 q;
  std::memset(&q, 0, sizeof q);
  std::memcpy(q.name, p.name, sizeof q.name);
  q.totalGlobalMem = p.totalGlobalMem;
  q.sharedMemPerBlock = p.sharedMemPerBlock;
  q.regsPerBlock = p.regsPerBlock;
  q.warpSize = p.warpSize;
  q.memPitch = p.memPitch;
  q.maxThreadsPerBlock = p.maxThreadsPerBlock;
  std::memcpy(q.maxThreadsDim, p.maxThreadsDim, sizeof q.maxThreadsDim);
  std::memcpy(q.maxGridSize, p.maxGridSize, sizeof q.maxGridSize);
  q.totalConstMem = p.totalConstMem;
  q.major = p.major;
  q.minor = p.minor;
  q.textureAlignment = p.textureAlignment;
  q.texturePitchAlignment = p.texturePitchAlignment;
  q.multiProcessorCount = p.multiProcessorCount;
  q.canMapHostMemory = p.canMapHostMemory;
  q.concurrentKernels = p.concurrentKernels;
  q.asyncEngineCount = p.asyncEngineCount;
  q.unifiedAddressing = p.unifiedAddressing;
  q.memoryBusWidth = p.memoryBusWidth;
  q.l2CacheSize = p.l2CacheSize;
  q.maxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  q.globalL1CacheSupported = p.globalL1CacheSupported;
  q.localL1CacheSupported = p.localL1CacheSupported;
  q.sharedMemPerMultiprocessor = p.sharedMemPerMultiprocessor;
  q.regsPerMultiprocessor = p.regsPerMultiprocessor;
  q.managedMemory = p.managedMemory;
  q.cooperativeLaunch = p.cooperativeLaunch;
  q.sharedMemPerBlockOptin = p.sharedMemPerBlockOptin;
  q.maxBlocksPerMultiProcessor = p.maxBlocksPerMultiProcessor;
  return q;
}

}  // namespace

int heddle::cudart::program_release() {
  return release_of_program;
}

#pragma GCC visibility push(default)
extern "C" {

void heddle_cudart_release(int of_program);
void heddle_cudart_release(int of_program) {
  release_of_program = of_program;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return guarded("cudaGetDeviceProperties", [&](Runtime& runtime) {
    heddle::cudart::require_places(properties);
    const cudaDeviceProp ours = heddle::cudart::device_properties(runtime, device);
    if (release_of_program < 13) {
      *properties = ours;
    } else {
      const Properties13 theirs = as_13(ours);
      std::memcpy(static_cast<void*>(properties), &theirs, sizeof theirs);
    }
  });
}
cudaError_t cudaGetDeviceProperties_v2(void* properties, int device);
cudaError_t cudaGetDeviceProperties_v2(void* properties, int device) {
  return guarded("cudaGetDeviceProperties", [&](Runtime& runtime) {
    heddle::cudart::require_places(properties);
    const cudaDeviceProp ours = heddle::cudart::device_properties(runtime, device);
    static_assert(sizeof ours <= kPropertyBytesOf12);
    std::memset(properties, 0, kPropertyBytesOf12);
    std::memcpy(properties, &ours, sizeof ours);
  });
}

}  // extern "C"
#pragma GCC visibility pop
