// The run-time API's pools of device memory: names for parts of the same memory, with what is used of each. Nothing is
// kept back: what is freed can be had by all, so that a pool has reserved what is used.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "cuda/cudart/graphs.hpp"
#include "cuda/cudart/work.hpp"

struct CUmemPoolHandle_st {
  std::uint64_t used = 0, most = 0, most_reserved = 0;
  std::uint64_t release_threshold = 0;
  int reuse[4] = {0, 1, 1, 1};  // by attribute
};

namespace heddle::cudart {
namespace {

struct Pools {
  CUmemPoolHandle_st by_default;
  std::set<cudaMemPool_t> made;
  cudaMemPool_t present = &by_default;
  struct Part {
    cudaMemPool_t pool = nullptr;
    std::size_t size = 0;
  };
  std::map<const void*, Part> parts;
};
Pools& pools() {
  static auto* const all = new Pools;
  return *all;
}

CUmemPoolHandle_st& known(cudaMemPool_t pool) {
  require(pool == &pools().by_default || pools().made.count(pool) != 0, cudaErrorInvalidValue, "there is no such pool");
  return *pool;
}

void require_device_of_pools(int device) {
  require(device == 0, cudaErrorInvalidValue, "there is one device, of number 0");
}

cudaError_t allocate_of(const char* name, void** pointer, std::size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return guarded(name, [&](Runtime& runtime) {
    require_places(pointer);
    require_stream(stream);
    *pointer = nullptr;
    CUmemPoolHandle_st& of = known(pool == nullptr ? pools().present : pool);
    require_stream(stream);
    if (records(stream)) {
      NodeContent content = allocation_content(size);
      *pointer = content.memory->pointer;
      static_cast<void>(record(stream, std::move(content)));
      return;
    }
    if (size == 0) return;
    *pointer = runtime.allocate(size, false);
    pools().parts[*pointer] = {&of, size};
    of.used += size;
    of.most = std::max(of.most, of.used);
    of.most_reserved = std::max(of.most_reserved, of.used);
  });
}

}  // namespace

void leave_pool(const void* pointer) {
  const auto part = pools().parts.find(pointer);
  if (part == pools().parts.end()) return;
  part->second.pool->used -= part->second.size;
  pools().parts.erase(part);
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return allocate_of("cudaMallocAsync", pointer, size, nullptr, stream);
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return allocate_of("cudaMallocFromPoolAsync", pointer, size, pool, stream);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return guarded("cudaFreeAsync", [&](Runtime& runtime) {
    require_stream(stream);
    require(pointer != nullptr, cudaErrorInvalidValue, "the pointer is null");
    if (!records(stream) || !record(stream, free_content(pointer))) release(runtime, pointer);
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return guarded("cudaDeviceGetDefaultMemPool", [&](Runtime&) {
    require_places(pool);
    require_device(device);
    *pool = &pools().by_default;
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return guarded("cudaDeviceGetMemPool", [&](Runtime&) {
    require_places(pool);
    require_device_of_pools(device);
    *pool = pools().present;
  });
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return guarded("cudaDeviceSetMemPool", [&](Runtime&) {
    require_device_of_pools(device);
    pools().present = &known(pool);
  });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return guarded("cudaMemPoolCreate", [&](Runtime&) {
    require_places(pool, properties);
    require(properties->allocType == cudaMemAllocationTypePinned &&
                properties->location.type == cudaMemLocationTypeDevice && properties->location.id == 0,
            cudaErrorInvalidValue, "a pool is of the device's memory");
    require(properties->handleTypes == cudaMemHandleTypeNone, cudaErrorNotSupported,
            "memory is not shared with other processes");
    *pool = *pools().made.insert(new CUmemPoolHandle_st).first;
  });
}
// What is allocated of it stays.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return guarded("cudaMemPoolDestroy", [&](Runtime&) {
    require(pools().made.count(pool) != 0, cudaErrorInvalidValue, "there is no such pool that can be destroyed");
    for (auto& [pointer, part] : pools().parts) {
      if (part.pool == pool) part.pool = &pools().by_default;
    }
    pools().by_default.used += pool->used;
    if (pools().present == pool) pools().present = &pools().by_default;
    pools().made.erase(pool);
    delete pool;
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return guarded("cudaMemPoolTrimTo", [&](Runtime&) { static_cast<void>(known(pool)); });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return guarded("cudaMemPoolSetAttribute", [&](Runtime&) {
    require_places(value);
    CUmemPoolHandle_st& of = known(pool);
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        std::memcpy(&of.reuse[attribute], value, sizeof of.reuse[attribute]);
        return;
      case cudaMemPoolAttrReleaseThreshold:
        std::memcpy(&of.release_threshold, value, sizeof of.release_threshold);
        return;
      case cudaMemPoolAttrUsedMemHigh:
        require_zero(value);
        of.most = of.used;
        return;
      case cudaMemPoolAttrReservedMemHigh:
        require_zero(value);
        of.most_reserved = of.used;
        return;
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent:
        break;
    }
    throw Failure{cudaErrorInvalidValue, "this attribute cannot be set"};
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return guarded("cudaMemPoolGetAttribute", [&](Runtime&) {
    require_places(value);
    const CUmemPoolHandle_st& of = known(pool);
    const auto give = [&](std::uint64_t bytes) { std::memcpy(value, &bytes, sizeof bytes); };
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        std::memcpy(value, &of.reuse[attribute], sizeof of.reuse[attribute]);
        return;
      case cudaMemPoolAttrReleaseThreshold:
        return give(of.release_threshold);
      case cudaMemPoolAttrUsedMemHigh:
        return give(of.most);
      case cudaMemPoolAttrReservedMemHigh:
        return give(of.most_reserved);
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent:
        return give(of.used);
    }
    throw Failure{cudaErrorInvalidValue, "this attribute is not known"};
  });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, size_t count) {
  return guarded("cudaMemPoolSetAccess", [&](Runtime&) {
    if (count != 0) require_places(access);
    static_cast<void>(known(pool));
    for (std::size_t i = 0; i < count; ++i) {
      require_device_of_pools(access[i].location.id);
      require(access[i].flags == cudaMemAccessFlagsProtReadWrite, cudaErrorInvalidValue,
              "the device that has the memory can always reach it");
    }
  });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return guarded("cudaMemPoolGetAccess", [&](Runtime&) {
    require_places(flags, location);
    static_cast<void>(known(pool));
    require_device_of_pools(location->id);
    *flags = cudaMemAccessFlagsProtReadWrite;
  });
}

}  // extern "C"
#pragma GCC visibility pop
