// What programs can ask of the device: one table, by which each release's properties are filled in and every attribute
// is answered (device_facts.cpp).
#pragma once

#include <cstddef>
#include <optional>

#include <driver_types.h>
#include "cuda/cudart/protocol.hpp"

namespace heddle::cudart {

inline constexpr std::size_t kMostPitch = 0x7fffffff;

// Release 12's device properties: those of release 11, and more; the rest of its 1032 bytes is 0.
struct Properties12 : cudaDeviceProp {
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported;
  int further[71];
};
static_assert(sizeof(Properties12) == 1032);

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
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported;
  int further[71];
};
static_assert(sizeof(Properties13) == 1008);

[[nodiscard]] cudaDeviceProp device_properties(const MachineFacts& machine);
[[nodiscard]] Properties12 device_properties_12(const MachineFacts& machine);
[[nodiscard]] Properties13 device_properties_13(const MachineFacts& machine);
// The driver's CUdevice_attribute has the same numbers. What release 11.5 asks about besides, the machine has not: 0.
// Empty: that release has no such attribute.
[[nodiscard]] std::optional<int> device_attribute(const MachineFacts& machine, int attribute);

}  // namespace heddle::cudart
