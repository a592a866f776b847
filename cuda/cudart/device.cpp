// The run-time API's device: one, the simulated machine.
#include <optional>

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
    const std::optional<int> known = heddle::cudart::device_attribute(runtime.machine(), attribute);
    require(known.has_value(), cudaErrorInvalidValue, "this attribute is not known");
    *value = *known;
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
// Device memory stays until the program ends, so that its statistics are of one run.
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
#define HEDDLE_ERROR_FUNCTION_
#include <heddle_error_words.h>
#undef HEDDLE_ERROR_FUNCTION_

}  // extern "C"
#pragma GCC visibility pop
