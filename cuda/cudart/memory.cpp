// The run-time API's memory: allocation, copies, fills, symbols.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "cuda/cudart/graphs.hpp"
#include "cuda/cudart/host_memory.hpp"
#include "cuda/cudart/work.hpp"

namespace heddle::cudart {
namespace {

using cudart::kAsynchronous;

constexpr std::size_t kMostPointers = 65536;  // bytes of a copy in which pointers to pinned memory are looked for
constexpr std::size_t kPitch = 512;           // rows of cudaMallocPitch begin at multiples of this

// Rows of `width` bytes, `pitch` apart.
struct Area {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  bool on_device = false;
};

void copy(Runtime& runtime, const Area& to, const Area& from, std::size_t width, std::size_t height,
          cudaStream_t stream, bool asynchronous) {
  if (width == 0 || height == 0) return;
  require_addressable(std::max(to.pitch, from.pitch), width, height);
  require(height == 1 || (to.pitch >= width && from.pitch >= width), cudaErrorInvalidPitchValue,
          "rows are wider than the distance between them");
  const std::uint32_t flags = asynchronous ? kAsynchronous : 0;
  const std::uint64_t on = stream_number(stream);
  if (to.on_device && from.on_device) {
    runtime.ask({Call::copy, flags, {to.address, to.pitch, from.address, from.pitch, width, height, on}, 0});
  } else if (to.on_device) {
    if (height == 1 && width <= kMostPointers) {
      reach_pinned(runtime, reinterpret_cast<const void*>(from.address), width);
    }
    runtime.move_rows({Call::write, flags, {to.address, to.pitch, width, height, on}, 0},
                      reinterpret_cast<void*>(from.address), from.pitch);
  } else if (from.on_device) {
    runtime.move_rows({Call::read, flags, {from.address, from.pitch, width, height, on}, 0},
                      reinterpret_cast<void*>(to.address), to.pitch);
  } else {
    for (std::size_t y = 0; y < height; ++y) {
      void* const row = reinterpret_cast<void*>(to.address + y * to.pitch);
      const void* const source = reinterpret_cast<const void*>(from.address + y * from.pitch);
      if (copy_host(row, source, width)) continue;
      throw Failure{cudaErrorInvalidValue,
                    can_read(source, width) ? no_memory_to_write(row, width) : no_memory_to_read(source, width)};
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

}  // namespace

void* address_of(Runtime& runtime, const void* variable, std::size_t size, std::size_t offset) {
  const Symbol& known = runtime.symbol(variable);
  runtime.remember(known.address, known.size);
  return reinterpret_cast<void*>(part_of(runtime, variable, size, offset).address);
}

void release(Runtime& runtime, void* pointer) {
  const Runtime::Region* const region = runtime.region(pointer);
  require_not_pinned(pointer);
  if (region != nullptr && region->owner != nullptr) {
    require(pointer == region->owner->pointer, cudaErrorInvalidValue, "nothing was allocated at this address");
    region->owner->freed = true;
  } else {
    leave_pool(pointer);
    runtime.release(pointer);
  }
}

void transfer(Runtime& runtime, Rows to, Rows from, std::size_t width, std::size_t height, cudaMemcpyKind kind,
              cudaStream_t stream, bool asynchronous) {
  require_kind(kind);
  if (width == 0 || height == 0) return;
  const Sides sides = sides_of(runtime, to.at, from.at, kind);
  const Area target{number_of(to.at), to.pitch, sides.to_device};
  const Area source{number_of(from.at), from.pitch, sides.from_device};
  if (asynchronous && records(stream)) {
    static_cast<void>(record(stream, copy_content(runtime, to, from, width, height, kind)));
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
  require_box(box);
  const auto slice = [](const cudaPitchedPtr& memory, const cudaPos& position, std::size_t z) {
    const std::size_t rows = (position.z + z) * memory.ysize + position.y;
    return Rows{static_cast<const char*>(memory.ptr) + rows * memory.pitch + position.x, memory.pitch};
  };
  for (std::size_t z = 0; z < box.extent.depth; ++z) {
    transfer(runtime, slice(box.dstPtr, box.dstPos, z), slice(box.srcPtr, box.srcPos, z), box.extent.width,
             box.extent.height, box.kind, stream, asynchronous);
  }
}

void fill(Runtime& runtime, void* pointer, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
          std::size_t height, cudaStream_t stream) {
  if (width == 0 || height == 0) return;
  require_addressable(pitch, width, height);
  require(height == 1 || pitch >= width, cudaErrorInvalidValue, "rows are wider than the distance between them");
  reach_pinned(runtime, &pointer, sizeof pointer);
  const Runtime::Region* const region = runtime.region(pointer);
  require(region != nullptr, cudaErrorInvalidValue, "this is no device memory");
  if (records(stream)) {
    static_cast<void>(record(stream, fill_content(runtime, {pointer, pitch, value, element, width / element, height})));
    return;
  }
  if (region->managed) {
    for (std::size_t y = 0; y < height; ++y) {
      void* const row = static_cast<char*>(pointer) + y * pitch;
      if (!can_write(row, width)) throw Failure{cudaErrorInvalidValue, no_memory_to_write(row, width)};
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
  if (extent.width == 0 || extent.height == 0) return;
  require(to.pitch >= extent.width, cudaErrorInvalidValue, "rows are wider than the distance between them");
  require_addressable(to.pitch, extent.width, product(to.ysize, extent.depth));
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
    if (size != 0) require_places(from);
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
    if (size != 0) require_places(to);
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
    require_places(pointer);
    *pointer = nullptr;
    if (size != 0) *pointer = runtime.allocate(size, managed);
  });
}

// Rows of `width` bytes, each behind a gap up to the next multiple of kPitch.
std::size_t pitch_of(std::size_t width) {
  require(width <= kMostPitch - kPitch, cudaErrorInvalidValue, "the rows are too wide");
  return (width + kPitch - 1) / kPitch * kPitch;
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
    require_pitches(to_pitch, from_pitch, width, height);
    heddle::cudart::transfer(runtime, {to, to_pitch}, {from, from_pitch}, width, height, kind, stream, asynchronous);
  });
}

cudaError_t peer(const char* name, void* to, int to_device, const void* from, int from_device, std::size_t size,
                 cudaStream_t stream, bool asynchronous) {
  return guarded(name, [&](Runtime& runtime) {
    require_device(to_device);
    require_device(from_device);
    heddle::cudart::transfer(runtime, {to, size}, {from, size}, size, 1, cudaMemcpyDeviceToDevice, stream,
                             asynchronous);
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return allocate("cudaMalloc", pointer, size, false);
}
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
  return guarded("cudaMallocManaged", [&](Runtime& runtime) {
    require_places(pointer);
    require(size != 0, cudaErrorInvalidValue, "the memory is empty");
    require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost, cudaErrorInvalidValue,
            "managed memory is made with cudaMemAttachGlobal or cudaMemAttachHost");
    *pointer = runtime.allocate(size, true);
  });
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return guarded("cudaMallocPitch", [&](Runtime& runtime) {
    require_places(pointer, pitch);
    *pitch = pitch_of(width);
    const std::size_t size = product(*pitch, height);
    *pointer = size != 0 ? runtime.allocate(size, false) : nullptr;
  });
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  return guarded("cudaMalloc3D", [&](Runtime& runtime) {
    require_places(pointer);
    const std::size_t pitch = pitch_of(extent.width);
    const std::size_t size = product(product(pitch, extent.height), extent.depth);
    *pointer = {size != 0 ? runtime.allocate(size, false) : nullptr, pitch, extent.width, extent.height};
  });
}
cudaError_t cudaFree(void* pointer) {
  return guarded("cudaFree", [&](Runtime& runtime) {
    if (pointer != nullptr) {
      require_safe();
      release(runtime, pointer);
    } else {
      static_cast<void>(runtime.machine());  // programs make the device ready by this
    }
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return guarded("cudaMemGetInfo", [&](Runtime& runtime) {
    require_places(free, total);
    const Answer answer = runtime.ask({Call::memory, 0, {}, 0});
    *free = answer.words[0];
    *total = answer.words[1];
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return transfer("cudaMemcpy", to, size, from, size, size, 1, kind, nullptr, false);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return transfer("cudaMemcpyAsync", to, size, from, size, size, 1, kind, stream, true);
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size) {
  return peer("cudaMemcpyPeer", to, to_device, from, from_device, size, nullptr, false);
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
    require_places(pointer);
    const Symbol& known = runtime.symbol(symbol);
    runtime.remember(known.address, known.size);
    *pointer = reinterpret_cast<void*>(known.address);
  });
}
cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return guarded("cudaGetSymbolSize", [&](Runtime& runtime) {
    require_places(size);
    *size = runtime.symbol(symbol).size;
  });
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
  return guarded("cudaMemcpy3D", [&](Runtime& runtime) {
    require_places(box);
    transfer_3d(runtime, *box, nullptr, false);
  });
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) {
  return guarded("cudaMemcpy3DAsync", [&](Runtime& runtime) {
    require_places(box);
    transfer_3d(runtime, *box, stream, true);
  });
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return guarded("cudaMemset3D",
                 [&](Runtime& runtime) { fill_3d(runtime, to, static_cast<unsigned char>(value), extent, nullptr); });
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return guarded("cudaMemset3DAsync",
                 [&](Runtime& runtime) { fill_3d(runtime, to, static_cast<unsigned char>(value), extent, stream); });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size,
                                cudaStream_t stream) {
  return peer("cudaMemcpyPeerAsync", to, to_device, from, from_device, size, stream, true);
}

}  // extern "C"
#pragma GCC visibility pop
