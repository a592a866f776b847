// The run-time API's memory of the host. What is made with the flag for it is managed memory. Other pinned memory lies
// at addresses where the device has nothing, and becomes the device's too, as managed memory, once a kernel may reach
// it: unified addressing says that all can. Until then it costs the simulation nothing.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "cuda/cudart/graphs.hpp"
#include "cuda/cudart/host_memory.hpp"
#include "cuda/cudart/work.hpp"

namespace heddle::cudart {
namespace {

struct Pinned {
  enum class Kind { own, placed, registered, mapped };  // placed: within kHostMemory
  Kind kind = Kind::own;
  std::size_t size = 0;
  unsigned flags = 0;
};
std::map<std::uint64_t, Pinned>& pinned() {  // by address
  static auto* const all = new std::map<std::uint64_t, Pinned>;
  return *all;
}

// The pinned memory that holds any of these bytes; the map's end: there is none.
auto pinned_at(std::uint64_t address, std::size_t size) {
  auto after = pinned().lower_bound(address + std::max<std::size_t>(size, 1));
  if (after == pinned().begin()) return pinned().end();
  --after;
  return after->first + std::max<std::size_t>(after->second.size, 1) > address ? after : pinned().end();
}

std::size_t whole_pages(std::size_t size) {
  return (std::max<std::size_t>(size, 1) + kPage - 1) / kPage * kPage;
}

// Memory of the host at an address that the device does not use for anything else; null: there is none.
void* place_host(std::size_t size) {
  const std::size_t bytes = whole_pages(size);
  std::uint64_t address = kHostMemory;
  for (auto next = pinned().lower_bound(kHostMemory);; ++next) {  // the first gap
    const bool last = next == pinned().end() || next->first >= kHostMemoryEnd;
    const std::uint64_t end = last ? kHostMemoryEnd : next->first;
    if (address < end && bytes <= end - address) break;
    if (last) return nullptr;
    address = next->first + whole_pages(next->second.size) + kPage;
  }
  void* const place = reinterpret_cast<void*>(address);
  void* const found =
      ::mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (found == place) return place;
  if (found != MAP_FAILED) ::munmap(found, bytes);
  return nullptr;  // the program uses these addresses itself
}

constexpr unsigned kAllocationFlags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
constexpr unsigned kIoMemory = 4;
constexpr unsigned kReadOnly = 8;
constexpr unsigned kRegistrationFlags = cudaHostRegisterPortable | cudaHostRegisterMapped | kIoMemory | kReadOnly;

}  // namespace

void* allocate_pinned(Runtime& runtime, std::size_t size, unsigned flags) {
  require((flags & ~kAllocationFlags) == 0, cudaErrorInvalidValue, "host memory has no such flag");
  if ((flags & cudaHostAllocMapped) != 0) {
    void* const pointer = size != 0 ? runtime.allocate(size, true) : nullptr;
    if (pointer != nullptr) pinned()[number_of(pointer)] = {Pinned::Kind::mapped, size, flags};
    return pointer;
  }
  Pinned::Kind kind = Pinned::Kind::placed;
  void* pointer = place_host(size);
  if (pointer == nullptr) {
    kind = Pinned::Kind::own;
    pointer = std::calloc(std::max<std::size_t>(size, 1), 1);
  }
  require(pointer != nullptr, cudaErrorMemoryAllocation, "the host has no memory left");
  pinned()[number_of(pointer)] = {kind, size, flags};
  return pointer;
}

void release_pinned(Runtime& runtime, void* pointer) {
  if (pointer == nullptr) return;
  const auto found = pinned().find(number_of(pointer));
  require(found != pinned().end() && found->second.kind != Pinned::Kind::registered, cudaErrorInvalidValue,
          "this is no memory of cudaMallocHost");
  const Pinned memory = found->second;
  pinned().erase(found);
  if (memory.kind == Pinned::Kind::own) {
    std::free(pointer);
  } else if (runtime.region(pointer) != nullptr) {
    runtime.release(pointer);
  } else {
    ::munmap(pointer, whole_pages(memory.size));
  }
}

void reach_pinned(Runtime& runtime, const void* words, std::size_t bytes) {
  const auto first = pinned().lower_bound(kHostMemory);
  if (first == pinned().end() || first->first >= kHostMemoryEnd || bytes < sizeof(std::uint64_t)) return;
  std::vector<std::uint64_t> values(bytes / sizeof(std::uint64_t));
  const std::size_t whole = values.size() * sizeof(std::uint64_t);
  if (!read_host(values.data(), words, {whole, whole, 1})) return;  // the copy itself says it
  for (const std::uint64_t value : values) {
    if (value < kHostMemory || value >= kHostMemoryEnd) continue;
    const auto found = pinned_at(value, 1);
    if (found == pinned().end() || found->second.kind != Pinned::Kind::placed || found->second.size == 0) continue;
    void* const pointer = reinterpret_cast<void*>(found->first);
    if (runtime.region(pointer) == nullptr) runtime.reach_host(pointer, found->second.size);
  }
}

void* reached_by_kernels(Runtime& runtime, void* host) {
  const auto found = pinned_at(number_of(host), 1);
  if (found != pinned().end() && found->second.kind == Pinned::Kind::registered &&
      runtime.device_address(host) == nullptr) {
    runtime.map_host(reinterpret_cast<void*>(found->first), found->second.size);
  }
  reach_pinned(runtime, &host, sizeof host);
  void* const copy = runtime.device_address(host);
  const Runtime::Region* const region = runtime.region(host);
  require(copy != nullptr || (region != nullptr && region->managed), cudaErrorInvalidValue,
          "kernels do not reach this memory: allocate it with cudaHostAlloc, or register it with cudaHostRegister");
  return copy != nullptr ? copy : host;
}

void require_not_pinned(const void* pointer) {
  require(pinned().count(number_of(pointer)) == 0, cudaErrorInvalidValue, "this is host memory: cudaFreeHost frees it");
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

namespace {

// What advice is about: managed memory.
void require_managed(Runtime& runtime, const void* pointer, std::size_t size) {
  const Runtime::Region* const region = runtime.region(pointer);
  require(region != nullptr && region->managed, cudaErrorInvalidValue, "this is no managed memory");
  require(size != 0 && size <= runtime.bytes_behind(pointer), cudaErrorInvalidValue,
          "the range is empty, or goes beyond the end of the memory");
}

void require_place(int device) {
  if (device != cudaCpuDeviceId) require_device(device);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return guarded("cudaMallocHost", [&](Runtime& runtime) {
    require_places(pointer);
    *pointer = allocate_pinned(runtime, size, cudaHostAllocDefault);
  });
}
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return guarded("cudaHostAlloc", [&](Runtime& runtime) {
    require_places(pointer);
    *pointer = allocate_pinned(runtime, size, flags);
  });
}
cudaError_t cudaFreeHost(void* pointer) {
  return guarded("cudaFreeHost", [&](Runtime& runtime) {
    if (pointer != nullptr) require_safe();
    release_pinned(runtime, pointer);
  });
}
cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  return guarded("cudaHostRegister", [&](Runtime& runtime) {
    require(pointer != nullptr && size != 0, cudaErrorInvalidValue, "the memory is empty, or the pointer null");
    require((flags & ~kRegistrationFlags) == 0, cudaErrorInvalidValue, "host memory has no such flag");
    require(is_mapped(pointer, size), cudaErrorInvalidValue, "the program has no such memory");
    require(pinned_at(number_of(pointer), size) == pinned().end(), cudaErrorHostMemoryAlreadyRegistered,
            "the memory is pinned already, or a part of it");
    if ((flags & cudaHostRegisterMapped) != 0) runtime.map_host(pointer, size);
    pinned()[number_of(pointer)] = {Pinned::Kind::registered, size, flags};
  });
}
cudaError_t cudaHostUnregister(void* pointer) {
  return guarded("cudaHostUnregister", [&](Runtime& runtime) {
    require_places(pointer);
    const auto found = pinned().find(number_of(pointer));
    require(found != pinned().end() && found->second.kind == Pinned::Kind::registered, cudaErrorHostMemoryNotRegistered,
            "nothing was registered at this address");
    runtime.unmap_host(pointer);
    pinned().erase(found);
  });
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return guarded("cudaHostGetDevicePointer", [&](Runtime& runtime) {
    require_places(device);
    require(flags == 0, cudaErrorInvalidValue, "the flags are not 0");
    *device = reached_by_kernels(runtime, host);
  });
}
cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer) {
  return guarded("cudaHostGetFlags", [&](Runtime&) {
    require_places(flags);
    const auto found = pinned_at(number_of(pointer), 1);
    require(found != pinned().end(), cudaErrorInvalidValue, "this is no memory of cudaHostAlloc");
    *flags = found->second.flags;
  });
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, int device, cudaStream_t stream) {
  return guarded("cudaMemPrefetchAsync", [&](Runtime& runtime) {
    require_managed(runtime, pointer, size);
    if (program_release() >= 13) return;  // it has other parameters behind the size
    require_stream(stream);
    require_not_recording(stream);
    require_place(device);
  });
}
cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice, int device) {
  return guarded("cudaMemAdvise", [&](Runtime& runtime) {
    require_managed(runtime, pointer, size);
    require(advice >= cudaMemAdviseSetReadMostly && advice <= cudaMemAdviseUnsetAccessedBy, cudaErrorInvalidValue,
            "there is no such advice");
    const bool of_a_place = advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
                            advice == cudaMemAdviseUnsetAccessedBy;
    if (of_a_place && program_release() < 13) require_place(device);  // which has a place's kind there
  });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return guarded("cudaPointerGetAttributes", [&](Runtime& runtime) {
    require_places(attributes);
    const Runtime::Region* const region = runtime.region(pointer);
    void* const same = const_cast<void*>(pointer);
    void* const copy = runtime.device_address(pointer);
    const auto found = pinned_at(number_of(pointer), 1);
    if (copy != nullptr || found != pinned().end()) {
      const bool at_once = region != nullptr || (found != pinned().end() && found->second.kind == Pinned::Kind::placed);
      *attributes = {cudaMemoryTypeHost, 0, at_once ? same : copy, same};
    } else if (region == nullptr) {
      *attributes = {cudaMemoryTypeUnregistered, 0, nullptr, nullptr};
    } else if (region->managed) {
      *attributes = {cudaMemoryTypeManaged, 0, same, same};
    } else {
      *attributes = {cudaMemoryTypeDevice, 0, same, nullptr};
    }
  });
}

}  // extern "C"
#pragma GCC visibility pop
