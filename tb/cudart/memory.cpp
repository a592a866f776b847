// The run-time API's memory: allocation, copies, fills, symbols.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tb/cudart/graphs.hpp"
#include "tb/cudart/work.hpp"

namespace heddle::cudart {
namespace {

using tb::program::kAsynchronous;

constexpr std::size_t kPitch = 512;  // rows of cudaMallocPitch begin at multiples of this

// Rows of `width` bytes, `pitch` apart.
struct Area {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  bool on_device = false;
};

bool on_device(Runtime& runtime, const void* pointer) {
  const Runtime::Region* const region = runtime.region(pointer);
  return region != nullptr && !region->managed;
}

void copy(Runtime& runtime, const Area& to, const Area& from, std::size_t width, std::size_t height,
          cudaStream_t stream, bool asynchronous) {
  if (!asynchronous) require_no_recording();
  if (width == 0 || height == 0) return;
  require(height == 1 || (to.pitch >= width && from.pitch >= width), cudaErrorInvalidPitchValue,
          "rows are wider than the distance between them");
  const std::uint32_t flags = asynchronous ? kAsynchronous : 0;
  const std::uint64_t on = stream_number(stream);
  if (to.on_device && from.on_device) {
    runtime.ask({Call::copy, flags, {to.address, to.pitch, from.address, from.pitch, width, height, on}, 0});
  } else if (to.on_device) {
    runtime.move_rows({Call::write, flags, {to.address, to.pitch, width, height, on}, 0},
                      reinterpret_cast<void*>(from.address), from.pitch);
  } else if (from.on_device) {
    runtime.move_rows({Call::read, flags, {from.address, from.pitch, width, height, on}, 0},
                      reinterpret_cast<void*>(to.address), to.pitch);
  } else {
    for (std::size_t y = 0; y < height; ++y) {
      std::memmove(reinterpret_cast<void*>(to.address + y * to.pitch),
                   reinterpret_cast<const void*>(from.address + y * from.pitch), width);
    }
  }
  if (!asynchronous) runtime.show_prints();
}

// A part of a variable, as an area of device memory; of the host's, where the program has a managed one at its place.
Area part_of(Runtime& runtime, const void* symbol, std::size_t size, std::size_t offset) {
  const Symbol& known = runtime.symbol(symbol);
  require(offset <= known.size && size <= known.size - offset, cudaErrorInvalidValue,
          "the copy goes beyond the end of the variable");
  const Runtime::Region* const region = runtime.region(reinterpret_cast<const void*>(known.address));
  return {known.address + offset, size, region == nullptr || !region->managed};
}

// Pinned host memory: an ordinary allocation, by address.
std::map<void*, bool>& pinned() {
  static auto* const all = new std::map<void*, bool>;  // true: the program's own, registered
  return *all;
}

}  // namespace

void* address_of(Runtime& runtime, const void* variable, std::size_t size, std::size_t offset) {
  const Symbol& known = runtime.symbol(variable);
  runtime.remember(known.address, known.size);
  return reinterpret_cast<void*>(part_of(runtime, variable, size, offset).address);
}

void release(Runtime& runtime, void* pointer) {
  const Runtime::Region* const region = runtime.region(pointer);
  if (region != nullptr && region->owner != nullptr) {
    require(pointer == region->owner->pointer, cudaErrorInvalidValue, "nothing was allocated at this address");
    region->owner->freed = true;
  } else {
    leave_pool(pointer);
    runtime.release(pointer);
  }
}

void* allocate_pinned(std::size_t size) {
  void* const pointer = std::calloc(std::max<std::size_t>(size, 1), 1);
  require(pointer != nullptr, cudaErrorMemoryAllocation, "the host has no memory left");
  pinned()[pointer] = false;
  return pointer;
}

void release_pinned(Runtime& runtime, void* pointer) {
  if (pointer == nullptr) return;
  if (runtime.region(pointer) != nullptr) {
    runtime.release(pointer);
    return;
  }
  const auto found = pinned().find(pointer);
  require(found != pinned().end() && !found->second, cudaErrorInvalidValue, "this is no memory of cudaMallocHost");
  pinned().erase(found);
  std::free(pointer);
}

// Which side each pointer is of: what was allocated says it, and the kind must agree (managed memory is on both sides).
void transfer(Runtime& runtime, Rows to, Rows from, std::size_t width, std::size_t height, cudaMemcpyKind kind,
              cudaStream_t stream, bool asynchronous) {
  require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection, "");
  if (width == 0 || height == 0) return;
  require(to.at != nullptr && from.at != nullptr, cudaErrorInvalidValue, "a pointer is null");
  const bool to_device = on_device(runtime, to.at);
  const bool from_device = on_device(runtime, from.at);
  const auto agrees = [&](const void* pointer, bool device, bool wanted) {
    return kind == cudaMemcpyDefault || device == wanted || runtime.region(pointer) != nullptr;
  };
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  require(agrees(to.at, to_device, wants_to), cudaErrorInvalidValue,
          "the destination is no device memory, which the direction says");
  require(agrees(from.at, from_device, wants_from), cudaErrorInvalidValue,
          "the source is no device memory, which the direction says");
  require((kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost) || !from_device,
          cudaErrorInvalidMemcpyDirection, "the source is device memory, and the direction says the host's");
  require((kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost) || !to_device,
          cudaErrorInvalidMemcpyDirection, "the destination is device memory, and the direction says the host's");
  const Area target{number_of(to.at), to.pitch, to_device};
  const Area source{number_of(from.at), from.pitch, from_device};
  if (asynchronous && records(stream)) {
    static_cast<void>(record(stream, copy_content(to, from, width, height, kind)));
    return;
  }
  copy(runtime, target, source, width, height, stream, asynchronous);
}

void transfer_3d(Runtime& runtime, const cudaMemcpy3DParms& box, cudaStream_t stream, bool asynchronous) {
  if (box.srcArray != nullptr || box.dstArray != nullptr) {
    // What is of an array counts in its texels: x of its position, and the width if either side is one.
    require(box.extent.depth <= 1 && box.srcPos.z == 0 && box.dstPos.z == 0, cudaErrorNotSupported,
            "arrays have two dimensions here");
    const std::size_t texel = texel_bytes(box.srcArray != nullptr ? box.srcArray : box.dstArray);
    const std::size_t width = box.extent.width * texel;
    const auto side = [&](cudaArray_t array, const cudaPos& position, const cudaPitchedPtr& memory) {
      if (array != nullptr) return array_rows(array, position.x * texel, position.y, width, box.extent.height);
      return Rows{static_cast<const char*>(memory.ptr) + position.y * memory.pitch + position.x, memory.pitch};
    };
    transfer(runtime, side(box.dstArray, box.dstPos, box.dstPtr), side(box.srcArray, box.srcPos, box.srcPtr), width,
             box.extent.height, box.kind, stream, asynchronous);
    return;
  }
  const auto slice = [](const cudaPitchedPtr& memory, const cudaPos& position, std::size_t z) {
    const std::size_t rows = (position.z + z) * memory.ysize + position.y;
    return Rows{static_cast<const char*>(memory.ptr) + rows * memory.pitch + position.x, memory.pitch};
  };
  require(box.extent.depth <= 1 || (box.srcPtr.ysize >= box.extent.height && box.dstPtr.ysize >= box.extent.height),
          cudaErrorInvalidValue, "a slice of the box has more rows than one of the memory");
  for (std::size_t z = 0; z < box.extent.depth; ++z) {
    transfer(runtime, slice(box.dstPtr, box.dstPos, z), slice(box.srcPtr, box.srcPos, z), box.extent.width,
             box.extent.height, box.kind, stream, asynchronous);
  }
}

void fill(Runtime& runtime, void* pointer, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
          std::size_t height, cudaStream_t stream) {
  if (width == 0 || height == 0) return;
  require(height == 1 || pitch >= width, cudaErrorInvalidPitchValue, "rows are wider than the distance between them");
  const Runtime::Region* const region = runtime.region(pointer);
  require(region != nullptr, cudaErrorInvalidValue, "this is no device memory");
  if (records(stream)) {
    static_cast<void>(record(stream, fill_content({pointer, pitch, value, element, width / element, height})));
    return;
  }
  if (region->managed) {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; x += element)
        std::memcpy(static_cast<char*>(pointer) + y * pitch + x, &value, element);
    }
    return;
  }
  runtime.ask({Call::fill,
               kAsynchronous,
               {number_of(pointer), pitch, width, height, stream_number(stream), value, element},
               0});
}

void fill_3d(Runtime& runtime, const cudaPitchedPtr& to, unsigned value, const cudaExtent& extent,
             cudaStream_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    fill(runtime, static_cast<char*>(to.ptr) + z * to.pitch * to.ysize, to.pitch, value, 1, extent.width, extent.height,
         stream);
  }
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

namespace {

cudaError_t to_symbol(const char* name, const void* symbol, const void* from, std::size_t size, std::size_t offset,
                      cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
  return guarded(name, [&](Runtime& runtime) {
    if (asynchronous && records(stream)) {
      transfer(runtime, {address_of(runtime, symbol, size, offset), size}, {from, size}, size, 1, kind, stream, true);
      return;
    }
    require(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault,
            cudaErrorInvalidMemcpyDirection, "");
    copy(runtime, part_of(runtime, symbol, size, offset), {number_of(from), size, on_device(runtime, from)}, size, 1,
         stream, asynchronous);
  });
}

cudaError_t from_symbol(const char* name, void* to, const void* symbol, std::size_t size, std::size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
  return guarded(name, [&](Runtime& runtime) {
    if (asynchronous && records(stream)) {
      transfer(runtime, {to, size}, {address_of(runtime, symbol, size, offset), size}, size, 1, kind, stream, true);
      return;
    }
    require(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault,
            cudaErrorInvalidMemcpyDirection, "");
    copy(runtime, {number_of(to), size, on_device(runtime, to)}, part_of(runtime, symbol, size, offset), size, 1,
         stream, asynchronous);
  });
}

cudaError_t allocate(const char* name, void** pointer, std::size_t size, bool managed) {
  return guarded(name, [&](Runtime& runtime) {
    require(pointer != nullptr, cudaErrorInvalidValue, "the pointer's address is null");
    *pointer = nullptr;
    if (size != 0) *pointer = runtime.allocate(size, managed);
  });
}

cudaError_t allocate_pinned(const char* name, void** pointer, std::size_t size) {
  return guarded(name, [&](Runtime&) {
    require(pointer != nullptr, cudaErrorInvalidValue, "the pointer's address is null");
    *pointer = heddle::cudart::allocate_pinned(size);
  });
}

cudaError_t fill(const char* name, void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                 cudaStream_t stream) {
  return guarded(name, [&](Runtime& runtime) {
    heddle::cudart::fill(runtime, pointer, pitch, static_cast<unsigned char>(value), 1, width, height, stream);
  });
}

cudaError_t transfer(const char* name, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                     bool asynchronous) {
  return guarded(name, [&](Runtime& runtime) {
    heddle::cudart::transfer(runtime, {to, to_pitch}, {from, from_pitch}, width, height, kind, stream, asynchronous);
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return allocate("cudaMalloc", pointer, size, false);
}
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int) {
  return allocate("cudaMallocManaged", pointer, size, true);
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return allocate("cudaMallocPitch", pointer, *pitch * height, false);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  const size_t pitch = (extent.width + kPitch - 1) / kPitch * kPitch;
  *pointer = {nullptr, pitch, extent.width, extent.height};
  return allocate("cudaMalloc3D", &pointer->ptr, pitch * extent.height * extent.depth, false);
}
cudaError_t cudaFree(void* pointer) {
  return guarded("cudaFree", [&](Runtime& runtime) {
    if (pointer != nullptr) {
      release(runtime, pointer);
    } else {
      static_cast<void>(runtime.machine());  // programs make the device ready by this
    }
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return allocate_pinned("cudaMallocHost", pointer, size);
}
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  // What kernels reach too is as managed memory is.
  if ((flags & cudaHostAllocMapped) != 0) return allocate("cudaHostAlloc", pointer, size, true);
  return allocate_pinned("cudaHostAlloc", pointer, size);
}
cudaError_t cudaFreeHost(void* pointer) {
  return guarded("cudaFreeHost", [&](Runtime& runtime) { release_pinned(runtime, pointer); });
}
cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  return guarded("cudaHostRegister", [&](Runtime& runtime) {
    require(pointer != nullptr && size != 0, cudaErrorInvalidValue, "the pointer is null, or the memory empty");
    require(pinned().emplace(pointer, true).second, cudaErrorHostMemoryAlreadyRegistered, "");
    if ((flags & cudaHostRegisterMapped) == 0) return;
    try {
      runtime.map_host(pointer, size);
    } catch (const Failure&) {
      pinned().erase(pointer);
      throw;
    }
  });
}
cudaError_t cudaHostUnregister(void* pointer) {
  return guarded("cudaHostUnregister", [&](Runtime& runtime) {
    const auto found = pinned().find(pointer);
    require(found != pinned().end() && found->second, cudaErrorHostMemoryNotRegistered, "");
    runtime.unmap_host(pointer);
    pinned().erase(found);
  });
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
  return guarded("cudaHostGetDevicePointer", [&](Runtime& runtime) {
    void* const copy = runtime.device_address(host);
    require(copy != nullptr || runtime.region(host) != nullptr, cudaErrorInvalidValue,
            "kernels do not reach this memory: allocate it with cudaHostAllocMapped, or register it with "
            "cudaHostRegisterMapped");
    *device = copy != nullptr ? copy : host;
  });
}
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) {
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return guarded("cudaMemGetInfo", [&](Runtime& runtime) {
    const Answer answer = runtime.ask({Call::memory, 0, {}, 0});
    *free = answer.words[0];
    *total = answer.words[1];
  });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return guarded("cudaPointerGetAttributes", [&](Runtime& runtime) {
    const Runtime::Region* const region = runtime.region(pointer);
    void* const same = const_cast<void*>(pointer);
    if (region == nullptr) {
      void* const copy = runtime.device_address(pointer);
      const bool known = pinned().count(same) != 0 || copy != nullptr;
      *attributes = {known ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered, 0, copy, known ? same : nullptr};
    } else if (region->managed) {
      *attributes = {cudaMemoryTypeManaged, 0, same, same};
    } else {
      *attributes = {cudaMemoryTypeDevice, 0, same, nullptr};
    }
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return transfer("cudaMemcpy", to, size, from, size, size, 1, kind, nullptr, false);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return transfer("cudaMemcpyAsync", to, size, from, size, size, 1, kind, stream, true);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t size) {
  return transfer("cudaMemcpyPeer", to, size, from, size, size, 1, cudaMemcpyDeviceToDevice, nullptr, false);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return transfer("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr, false);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return transfer("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream, true);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset, cudaMemcpyKind kind) {
  return to_symbol("cudaMemcpyToSymbol", symbol, from, size, offset, kind, nullptr, false);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, size, offset, kind, stream, true);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind) {
  return from_symbol("cudaMemcpyFromSymbol", to, symbol, size, offset, kind, nullptr, false);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, size, offset, kind, stream, true);
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return guarded("cudaGetSymbolAddress", [&](Runtime& runtime) {
    const Symbol& known = runtime.symbol(symbol);
    runtime.remember(known.address, known.size);
    *pointer = reinterpret_cast<void*>(known.address);
  });
}
cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return guarded("cudaGetSymbolSize", [&](Runtime& runtime) { *size = runtime.symbol(symbol).size; });
}
cudaError_t cudaMemset(void* pointer, int value, size_t size) {
  return fill("cudaMemset", pointer, size, value, size, 1, nullptr);
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream) {
  return fill("cudaMemsetAsync", pointer, size, value, size, 1, stream);
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return fill("cudaMemset2D", pointer, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill("cudaMemset2DAsync", pointer, pitch, value, width, height, stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* box) {
  return guarded("cudaMemcpy3D", [&](Runtime& runtime) { transfer_3d(runtime, *box, nullptr, false); });
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) {
  return guarded("cudaMemcpy3DAsync", [&](Runtime& runtime) { transfer_3d(runtime, *box, stream, true); });
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return cudaMemset3DAsync(to, value, extent, nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return guarded("cudaMemset3D",
                 [&](Runtime& runtime) { fill_3d(runtime, to, static_cast<unsigned char>(value), extent, stream); });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t size, cudaStream_t stream) {
  return transfer("cudaMemcpyPeerAsync", to, size, from, size, size, 1, cudaMemcpyDeviceToDevice, stream, true);
}
cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer) {
  return guarded("cudaHostGetFlags", [&](Runtime& runtime) {
    const bool mapped = runtime.region(pointer) != nullptr;
    require(mapped || pinned().count(pointer) != 0, cudaErrorInvalidValue, "this is no memory of cudaHostAlloc");
    *flags = mapped ? cudaHostAllocMapped : cudaHostAllocDefault;
  });
}

}  // extern "C"
#pragma GCC visibility pop
