// The run-time API's device: one, the simulated machine.
#include <algorithm>
#include <cstring>

#include "cuda/cudart/work.hpp"

using heddle::cudart::Call;
using heddle::cudart::guarded;
using heddle::cudart::kAsIs;
using heddle::cudart::require;
using heddle::cudart::require_device;
using heddle::cudart::require_places;
using heddle::cudart::Runtime;

namespace {

constexpr std::size_t kPrintBytes = std::size_t{1} << 20;

cudaDeviceProp properties_of(const heddle::cudart::MachineFacts& machine) {
  cudaDeviceProp p{};
  std::strncpy(p.name, machine.name, sizeof p.name - 1);
  p.totalGlobalMem = machine.memory_bytes;
  p.sharedMemPerBlock = p.sharedMemPerMultiprocessor = p.sharedMemPerBlockOptin = machine.shared_bytes;
  p.regsPerBlock = p.regsPerMultiprocessor = static_cast<int>(machine.core_registers);
  p.warpSize = static_cast<int>(machine.warp_lanes);
  p.memPitch = heddle::cudart::kMostPitch;
  for (int i = 0; i < 3; ++i) {
    p.maxThreadsDim[i] = static_cast<int>(machine.most_block[i]);
    p.maxGridSize[i] = static_cast<int>(machine.most_grid[i]);
  }
  p.maxThreadsPerBlock = p.maxThreadsDim[0];
  p.clockRate = static_cast<int>(machine.clock_khz);
  p.totalConstMem = machine.constant_bytes;
  p.major = 6;  // what kernels are compiled for
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.deviceOverlap = p.asyncEngineCount = p.concurrentKernels = 1;
  p.multiProcessorCount = static_cast<int>(machine.cores);
  p.cooperativeLaunch = static_cast<int>(machine.cooperates);
  p.canMapHostMemory = p.unifiedAddressing = p.managedMemory = 1;
  p.memoryClockRate = static_cast<int>(machine.memory_khz);
  p.memoryBusWidth = static_cast<int>(machine.memory_bits);
  p.l2CacheSize = static_cast<int>(machine.l2_bytes);
  p.maxThreadsPerMultiProcessor = static_cast<int>(machine.core_threads);
  p.maxBlocksPerMultiProcessor = static_cast<int>(machine.core_blocks);
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.singleToDoublePrecisionPerfRatio = 1;
  return p;
}

int attribute_of(const cudaDeviceProp& p, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
      return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory:
      return static_cast<int>(p.totalConstMem);
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxPitch:
      return static_cast<int>(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.regsPerBlock;
    case cudaDevAttrClockRate:
      return p.clockRate;
    case cudaDevAttrTextureAlignment:
      return static_cast<int>(p.textureAlignment);
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrMemoryClockRate:
      return p.memoryClockRate;
    case cudaDevAttrGlobalMemoryBusWidth:
      return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrTexturePitchAlignment:
      return static_cast<int>(p.texturePitchAlignment);
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return p.singleToDoublePrecisionPerfRatio;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrHostRegisterSupported:
      return 1;
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrMultiGpuBoardGroupID:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrCooperativeMultiDeviceLaunch:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrMaxAccessPolicyWindowSize:
    case cudaDevAttrReservedSharedMemoryPerBlock:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrConcurrentManagedAccess:
      return 0;
    case cudaDevAttrCooperativeLaunch:
      return p.cooperativeLaunch;
    default:  // what release 11.5 asks about besides, the machine has not
      if (attribute >= cudaDevAttrMaxThreadsPerBlock && attribute <= cudaDevAttrMemoryPoolSupportedHandleTypes)
        return 0;
      break;
  }
  throw heddle::cudart::Failure{cudaErrorInvalidValue, "this attribute is not known"};
}

void require_limit(cudaLimit limit) {
  require(limit >= cudaLimitStackSize && limit <= cudaLimitPersistingL2CacheSize, cudaErrorUnsupportedLimit,
          "devices have no such limit");
}

cudaError_t synchronize(const char* name) {
  return guarded(name, [](Runtime& runtime) { heddle::cudart::synchronize(runtime); });
}

}  // namespace

void heddle::cudart::set_heap_limit(Runtime& runtime, std::size_t bytes) {
  require(bytes != heddle::cudart::kAsIs, cudaErrorInvalidValue, "no device heap is so large");
  static_cast<void>(runtime.ask({Call::heap, 0, {bytes}, 0}));
}

cudaDeviceProp heddle::cudart::device_properties(Runtime& runtime, int device) {
  require_device(device);
  return properties_of(runtime.machine());
}

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return guarded("cudaGetDeviceCount", [&](Runtime&) {
    require_places(count);
    *count = 1;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return guarded("cudaGetDevice", [&](Runtime&) {
    require_places(device);
    *device = 0;
  });
}
cudaError_t cudaSetDevice(int device) {
  return guarded("cudaSetDevice", [&](Runtime&) { require_device(device); });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return guarded("cudaDeviceGetAttribute", [&](Runtime& runtime) {
    require_places(value);
    require_device(device);
    *value = attribute_of(properties_of(runtime.machine()), attribute);
  });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return guarded("cudaChooseDevice", [&](Runtime&) {
    require_places(device, wanted);
    *device = 0;
  });
}
cudaError_t cudaDeviceSynchronize(void) {
  return synchronize("cudaDeviceSynchronize");
}
cudaError_t cudaThreadSynchronize(void) {
  return synchronize("cudaThreadSynchronize");
}
// Device memory stays until the program ends, so that its statistics are those of one run.
cudaError_t cudaDeviceReset(void) {
  return synchronize("cudaDeviceReset");
}
cudaError_t cudaThreadExit(void) {
  return synchronize("cudaThreadExit");
}
cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return guarded("cudaSetDeviceFlags", [&](Runtime&) {
    constexpr unsigned kSchedules = cudaDeviceScheduleSpin | cudaDeviceScheduleYield | cudaDeviceScheduleBlockingSync;
    constexpr unsigned kSyncMemops = 0x80;
    const unsigned schedule = flags & kSchedules;
    require((flags & ~(kSchedules | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | kSyncMemops)) == 0 &&
                (schedule & (schedule - 1)) == 0,
            cudaErrorInvalidValue, "devices have no such flags");
  });
}
cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return guarded("cudaGetDeviceFlags", [&](Runtime&) {
    require_places(flags);
    *flags = cudaDeviceScheduleAuto;
  });
}
// Preferences that these machines have no choice for.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return guarded("cudaDeviceSetCacheConfig", [&](Runtime&) { heddle::cudart::require_config(config); });
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return guarded("cudaDeviceGetCacheConfig", [&](Runtime&) {
    require_places(config);
    *config = cudaFuncCachePreferNone;
  });
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return guarded("cudaDeviceSetSharedMemConfig", [&](Runtime&) { heddle::cudart::require_config(config); });
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return guarded("cudaDeviceGetSharedMemConfig", [&](Runtime&) {
    require_places(config);
    *config = cudaSharedMemBankSizeFourByte;
  });
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return guarded("cudaDeviceSetLimit", [&](Runtime& runtime) {
    require_limit(limit);
    if (limit == cudaLimitMallocHeapSize) heddle::cudart::set_heap_limit(runtime, value);
    if (limit == cudaLimitStackSize) static_cast<void>(runtime.ask({Call::stack, 0, {value}, 0}));
  });
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return guarded("cudaDeviceGetLimit", [&](Runtime& runtime) {
    require_places(value);
    require_limit(limit);
    const bool heap = limit == cudaLimitMallocHeapSize;
    *value = heap                               ? runtime.ask({Call::heap, 0, {heddle::cudart::kAsIs}, 0}).words[0]
             : limit == cudaLimitStackSize      ? runtime.ask({Call::stack, 0, {heddle::cudart::kAsIs}, 0}).words[0]
             : limit == cudaLimitPrintfFifoSize ? kPrintBytes
                                                : 0;
  });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return guarded("cudaDeviceGetStreamPriorityRange", [&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = 0;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return guarded("cudaDeviceCanAccessPeer", [&](Runtime&) {
    require_places(can);
    require_device(device);
    require_device(peer);
    *can = 0;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int flags) {
  return guarded("cudaDeviceEnablePeerAccess", [&](Runtime&) {
    require(flags == 0, cudaErrorInvalidValue, "flags are 0");
    require(false, cudaErrorInvalidDevice, "there is one device");
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int device) {
  return guarded("cudaDeviceDisablePeerAccess", [&](Runtime&) {
    require_device(device);
    require(false, cudaErrorPeerAccessNotEnabled, "");
  });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return guarded("cudaDriverGetVersion", [&](Runtime&) {
    require_places(version);
    *version = CUDART_VERSION;
  });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return guarded("cudaRuntimeGetVersion", [&](Runtime&) {
    require_places(version);
    *version = CUDART_VERSION;
  });
}
cudaError_t cudaProfilerStart(void) {
  return cudaSuccess;
}
cudaError_t cudaProfilerStop(void) {
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
  const cudaError_t error = heddle::cudart::last_error();
  if (!heddle::cudart::is_fault(error)) heddle::cudart::last_error() = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError(void) {
  return heddle::cudart::last_error();
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define HEDDLE_ERROR_(name, value, text) \
  case value:                            \
    return text;
#include <heddle_errors.h>
#undef HEDDLE_ERROR_
    default:
      return "unrecognized error code";
  }
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define HEDDLE_ERROR_(name, value, text) \
  case value:                            \
    return #name;
#include <heddle_errors.h>
#undef HEDDLE_ERROR_
    default:
      return "unrecognized error code";
  }
}

}  // extern "C"
#pragma GCC visibility pop
