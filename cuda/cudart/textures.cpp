// The run-time API's arrays, textures and surfaces. An array is pitched device memory that the program knows by a
// pointer to what is said of it here. A texture or surface is a handle, which the simulator makes of a description; of
// a reference it is the value of a variable of the device, which binding writes.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "cuda/cudart/graphs.hpp"
#include "cuda/cudart/work.hpp"

struct cudaArray {
  std::uint64_t address = 0;
  std::size_t pitch = 0, width = 0, height = 0;  // width in texels; height 0: of one dimension
  cudaChannelFormatDesc format{};
  unsigned flags = 0;
  [[nodiscard]] std::size_t rows() const { return std::max<std::size_t>(height, 1); }
};

namespace heddle::cudart {
namespace {

using cudart::TextureFacts;

constexpr std::size_t kArrayPitch = 32;  // rows of arrays begin at multiples of this

struct Arrays {
  std::map<cudaArray_const_t, std::unique_ptr<cudaArray>> all;
  cudaArray& at(cudaArray_const_t array) const {
    const auto found = all.find(array);
    require(found != all.end(), cudaErrorInvalidValue, "this is no array of cudaMallocArray");
    return *found->second;
  }
};
Arrays& arrays() {
  static auto* const all = new Arrays;
  return *all;
}

struct Reference {
  bool normalized_values = false;
  std::uint64_t handle = 0;  // 0: not bound
};
std::map<const void*, Reference>& references() {
  static auto* const all = new std::map<const void*, Reference>;
  return *all;
}

struct Object {
  bool surface = false;
  cudaResourceDesc resource{};
  cudaTextureDesc sampling{};
};
std::map<unsigned long long, Object>& objects() {
  static auto* const all = new std::map<unsigned long long, Object>;
  return *all;
}
const Object& object(unsigned long long handle, bool surface) {
  const auto found = objects().find(handle);
  require(found != objects().end() && found->second.surface == surface, cudaErrorInvalidValue,
          surface ? "this is no surface object" : "this is no texture object");
  return found->second;
}

// Channels that are there come first, and all have the same bits.
unsigned channels_of(const cudaChannelFormatDesc& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  unsigned count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  const bool equal = std::all_of(bits, bits + count, [&](int each) { return each == bits[0]; });
  const bool none = std::all_of(bits + count, bits + 4, [](int each) { return each == 0; });
  require(equal && none && (count == 1 || count == 2 || count == 4), cudaErrorInvalidChannelDescriptor,
          "texels have 1, 2 or 4 channels of the same size");
  require((bits[0] == 8 && format.f != cudaChannelFormatKindFloat) || bits[0] == 16 || bits[0] == 32,
          cudaErrorInvalidChannelDescriptor, "channels have 8, 16 or 32 bits, floats 16 or 32");
  require(format.f >= cudaChannelFormatKindSigned && format.f <= cudaChannelFormatKindFloat,
          cudaErrorInvalidChannelDescriptor, "channels are signed, unsigned or floats");
  return count;
}

std::size_t bytes_of(const cudaChannelFormatDesc& format) {
  return channels_of(format) * static_cast<std::size_t>(format.x) / 8;
}

// Texels in memory, of a size that the simulator takes.
TextureFacts texels(std::uint64_t address, const cudaChannelFormatDesc& format, std::size_t width, std::size_t height,
                    std::size_t pitch) {
  constexpr std::size_t kMost = std::size_t{1} << 28U;
  require(width != 0 && height != 0 && width <= kMost && height <= kMost && pitch <= 0xffff'ffffU,
          cudaErrorInvalidValue, "the texture is empty or too large");
  TextureFacts facts;
  facts.base = address;
  facts.width = static_cast<std::uint32_t>(width);
  facts.height = static_cast<std::uint32_t>(height);
  facts.pitch = static_cast<std::uint32_t>(pitch);
  facts.channels = channels_of(format);
  facts.channel_bytes = static_cast<std::uint32_t>(format.x) / 8;
  facts.kind = static_cast<std::uint32_t>(format.f);
  facts.address_x = facts.address_y = cudaAddressModeClamp;
  return facts;
}
TextureFacts texels(const cudaArray& array) {
  return texels(array.address, array.format, array.width, array.rows(), array.pitch);
}
// From linear memory a fetch by an index outside yields 0. A size beyond the allocation's end means up to there.
TextureFacts linear(Runtime& runtime, const void* pointer, const cudaChannelFormatDesc& format, std::size_t size) {
  require(runtime.region(pointer) != nullptr, cudaErrorInvalidValue, "this is no device memory");
  const std::uint64_t address = number_of(pointer);
  const std::size_t texel = bytes_of(format);
  std::size_t width = std::min<std::size_t>(size, runtime.bytes_behind(pointer)) / texel;
  width = std::min(width, std::size_t{1} << 28U);
  TextureFacts facts = texels(address, format, width, 1, width * texel);
  facts.zero_outside = 1;
  return facts;
}

void sample(TextureFacts& facts, cudaTextureFilterMode filter, const cudaTextureAddressMode* address,
            bool normalized_coordinates, bool normalized_values) {
  const bool real = facts.kind == cudaChannelFormatKindFloat;
  facts.normalized_values = normalized_values && !real ? 1 : 0;
  require(facts.normalized_values == 0 || facts.channel_bytes < 4, cudaErrorInvalidNormSetting, "");
  facts.linear = filter == cudaFilterModeLinear ? 1 : 0;
  require(facts.linear == 0 || real || facts.normalized_values != 0, cudaErrorInvalidFilterSetting, "");
  for (unsigned axis = 0; axis < 2; ++axis) {
    require(address[axis] >= cudaAddressModeWrap && address[axis] <= cudaAddressModeBorder, cudaErrorInvalidValue,
            "unknown address mode");
  }
  facts.address_x = static_cast<std::uint32_t>(address[0]);
  facts.address_y = static_cast<std::uint32_t>(address[1]);
  facts.normalized_coordinates = normalized_coordinates ? 1 : 0;
}

std::uint64_t make(Runtime& runtime, const TextureFacts& facts, std::uint64_t reference = 0, std::uint64_t old = 0) {
  return runtime.ask({Call::texture, 0, {reference, old}, sizeof facts}, &facts).words[0];
}

Reference& reference_of(const void* variable) {
  const auto found = references().find(variable);
  require(found != references().end(), cudaErrorInvalidTexture, "this is no texture or surface reference of a kernel");
  return found->second;
}

void bind_handle(Runtime& runtime, const void* variable, const TextureFacts& facts) {
  Reference& reference = reference_of(variable);
  reference.handle = make(runtime, facts, runtime.symbol(variable).address, reference.handle);
}
void bind(Runtime& runtime, const textureReference* texture, TextureFacts facts) {
  const bool normalized_values = reference_of(texture).normalized_values;
  require(texture->sRGB == 0, cudaErrorNotSupported, "sRGB textures");
  sample(facts, texture->filterMode, texture->addressMode, texture->normalized != 0, normalized_values);
  bind_handle(runtime, texture, facts);
}

void unbind(Runtime& runtime, const void* variable) {
  Reference& reference = reference_of(variable);
  if (reference.handle == 0) return;
  runtime.ask({Call::texture, 0, {runtime.symbol(variable).address, reference.handle}, 0});
  reference.handle = 0;
}

cudaChannelFormatDesc format_of(const cudaChannelFormatDesc* given) {
  require(given != nullptr, cudaErrorInvalidChannelDescriptor, "the format is null");
  return *given;
}

std::uint64_t texture_object(Runtime& runtime, const cudaResourceDesc& resource, const cudaTextureDesc& sampling) {
  TextureFacts facts;
  switch (resource.resType) {
    case cudaResourceTypeArray:
      facts = texels(arrays().at(resource.res.array.array));
      break;
    case cudaResourceTypeLinear:
      facts = linear(runtime, resource.res.linear.devPtr, resource.res.linear.desc, resource.res.linear.sizeInBytes);
      break;
    case cudaResourceTypePitch2D: {
      const auto& area = resource.res.pitch2D;
      require(runtime.region(area.devPtr) != nullptr, cudaErrorInvalidValue, "this is no device memory");
      facts = texels(number_of(area.devPtr), area.desc, area.width, area.height, area.pitchInBytes);
      break;
    }
    case cudaResourceTypeMipmappedArray:
      throw Failure{cudaErrorNotSupported, "mipmapped arrays"};
    default:
      throw Failure{cudaErrorInvalidValue, "unknown kind of resource"};
  }
  require(sampling.sRGB == 0, cudaErrorNotSupported, "sRGB textures");
  require(std::all_of(sampling.borderColor, sampling.borderColor + 4, [](float each) { return each == 0; }),
          cudaErrorNotSupported, "the border of a texture is 0 here");
  sample(facts, sampling.filterMode, sampling.addressMode, sampling.normalizedCoords != 0,
         sampling.readMode == cudaReadModeNormalizedFloat);
  return make(runtime, facts);
}

cudaError_t destroy(const char* name, unsigned long long handle, bool surface) {
  return guarded(name, [&](Runtime& runtime) {
    static_cast<void>(object(handle, surface));
    runtime.ask({Call::texture, 0, {0, handle}, 0});
    objects().erase(handle);
  });
}

cudaError_t copy_2d(const char* name, cudaArray_const_t array, std::size_t x, std::size_t y, Rows other,
                    std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous,
                    bool to_array) {
  return guarded(name, [&](Runtime& runtime) {
    const Rows rows = array_rows(array, x, y, width, height);
    require_pitches(other.pitch, other.pitch, width, height);
    transfer(runtime, to_array ? rows : other, to_array ? other : rows, width, height, kind, stream, asynchronous);
  });
}

// `size` bytes from byte x of row y on, row after row.
cudaError_t copy_bytes(const char* name, cudaArray_const_t array, std::size_t x, std::size_t y, const void* other,
                       std::size_t size, cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous, bool to_array) {
  return guarded(name, [&](Runtime& runtime) {
    const std::size_t row = arrays().at(array).width * texel_bytes(array);
    require(x < row || size == 0, cudaErrorInvalidValue, "the copy begins outside the array");
    const char* at = static_cast<const char*>(other);
    while (size != 0) {
      // Whole rows at once; the rest of the first one and a part of the last one by themselves.
      const std::size_t width = std::min(size, row - x);
      const std::size_t height = width == row ? size / row : 1;
      const Rows rows = array_rows(array, x, y, width, height);
      const Rows there{at, width};
      transfer(runtime, to_array ? rows : there, to_array ? there : rows, width, height, kind, stream, asynchronous);
      at += width * height;
      size -= width * height;
      y += height;
      x = 0;
    }
  });
}

}  // namespace

Rows array_rows(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
  const cudaArray& all = arrays().at(array);
  const std::size_t row = all.width * bytes_of(all.format);
  require(x <= row && width <= row - x && y <= all.rows() && height <= all.rows() - y, cudaErrorInvalidValue,
          "the copy goes beyond the end of the array");
  return {reinterpret_cast<const void*>(all.address + y * all.pitch + x), all.pitch};
}

std::size_t texel_bytes(cudaArray_const_t array) {
  return bytes_of(arrays().at(array).format);
}

void add_reference(const void* variable, bool normalized_values) {
  references()[variable] = {normalized_values, 0};
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

#pragma GCC visibility push(default)
extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height,
                            unsigned int flags) {
  return guarded("cudaMallocArray", [&](Runtime& runtime) {
    require_places(array);
    require(width != 0, cudaErrorInvalidValue, "the array is empty");
    require((flags & ~(cudaArraySurfaceLoadStore | cudaArrayTextureGather)) == 0, cudaErrorNotSupported,
            "layers and cubes");
    auto made = std::make_unique<cudaArray>();
    made->format = format_of(format);
    made->width = width;
    made->height = height;
    made->flags = flags;
    made->pitch = (width * bytes_of(made->format) + kArrayPitch - 1) / kArrayPitch * kArrayPitch;
    made->address = number_of(runtime.allocate(made->pitch * made->rows(), false));
    *array = made.get();
    arrays().all.emplace(*array, std::move(made));
  });
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned int flags) {
  return guarded("cudaMalloc3DArray", [&](Runtime&) {
    require(extent.depth == 0, cudaErrorNotSupported, "arrays have two dimensions here");
    const cudaError_t error = cudaMallocArray(array, format, extent.width, extent.height, flags);
    require(error == cudaSuccess, error, "");
  });
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  return guarded("cudaFreeArray", [&](Runtime& runtime) {
    if (array == nullptr) return;
    require_safe();
    runtime.release(reinterpret_cast<void*>(arrays().at(array).address));
    arrays().all.erase(array);
  });
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  return guarded("cudaArrayGetInfo", [&](Runtime&) {
    const cudaArray& of = arrays().at(array);
    if (format != nullptr) *format = of.format;
    if (extent != nullptr) *extent = {of.width, of.height, 0};
    if (flags != nullptr) *flags = of.flags;
  });
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return guarded("cudaGetChannelDesc", [&](Runtime&) {
    require_places(format);
    *format = arrays().at(array).format;
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t size, cudaMemcpyKind kind) {
  return copy_bytes("cudaMemcpyToArray", to, x, y, from, size, kind, nullptr, false, true);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t size,
                                cudaMemcpyKind kind) {
  return copy_bytes("cudaMemcpyFromArray", from, x, y, to, size, kind, nullptr, false, false);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t size,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes("cudaMemcpyToArrayAsync", to, x, y, from, size, kind, stream, true, true);
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t size,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes("cudaMemcpyFromArrayAsync", from, x, y, to, size, kind, stream, true, false);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2DToArray", to, x, y, {from, from_pitch}, width, height, kind, nullptr, false, true);
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t to_pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2DFromArray", from, x, y, {to, to_pitch}, width, height, kind, nullptr, false, false);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d("cudaMemcpy2DToArrayAsync", to, x, y, {from, from_pitch}, width, height, kind, stream, true, true);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t to_pitch, cudaArray_const_t from, size_t x, size_t y,
                                       size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d("cudaMemcpy2DFromArrayAsync", from, x, y, {to, to_pitch}, width, height, kind, stream, true, false);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, cudaMemcpyKind kind) {
  return guarded("cudaMemcpy2DArrayToArray", [&](Runtime& runtime) {
    transfer(runtime, array_rows(to, to_x, to_y, width, height), array_rows(from, from_x, from_y, width, height), width,
             height, kind, nullptr, false);
  });
}

// Texels lie at addresses that are multiples of their size, whatever the device's alignment: the offset is always 0.
cudaError_t cudaBindTexture(size_t* offset, const textureReference* texture, const void* pointer,
                            const cudaChannelFormatDesc* format, size_t size) {
  return guarded("cudaBindTexture", [&](Runtime& runtime) {
    bind(runtime, texture, linear(runtime, pointer, format_of(format), size));
    if (offset != nullptr) *offset = 0;
  });
}
cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* texture, const void* pointer,
                              const cudaChannelFormatDesc* format, size_t width, size_t height, size_t pitch) {
  return guarded("cudaBindTexture2D", [&](Runtime& runtime) {
    require(runtime.region(pointer) != nullptr, cudaErrorInvalidValue, "this is no device memory");
    bind(runtime, texture, texels(number_of(pointer), format_of(format), width, height, pitch));
    if (offset != nullptr) *offset = 0;
  });
}
cudaError_t cudaBindTextureToArray(const textureReference* texture, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
  return guarded("cudaBindTextureToArray",
                 [&](Runtime& runtime) { bind(runtime, texture, texels(arrays().at(array))); });
}
cudaError_t cudaUnbindTexture(const textureReference* texture) {
  return guarded("cudaUnbindTexture", [&](Runtime& runtime) { unbind(runtime, texture); });
}
cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* texture) {
  return guarded("cudaGetTextureAlignmentOffset", [&](Runtime&) {
    require_places(offset);
    require(reference_of(texture).handle != 0, cudaErrorInvalidTexture, "nothing is bound to the reference");
    *offset = 0;
  });
}
cudaError_t cudaGetTextureReference(const textureReference** texture, const void* symbol) {
  return guarded("cudaGetTextureReference", [&](Runtime&) {
    require_places(texture);
    static_cast<void>(reference_of(symbol));
    *texture = static_cast<const textureReference*>(symbol);
  });
}
cudaError_t cudaBindSurfaceToArray(const surfaceReference* surface, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
  return guarded("cudaBindSurfaceToArray",
                 [&](Runtime& runtime) { bind_handle(runtime, surface, texels(arrays().at(array))); });
}
cudaError_t cudaGetSurfaceReference(const surfaceReference** surface, const void* symbol) {
  return guarded("cudaGetSurfaceReference", [&](Runtime&) {
    require_places(surface);
    static_cast<void>(reference_of(symbol));
    *surface = static_cast<const surfaceReference*>(symbol);
  });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* sampling, const cudaResourceViewDesc* view) {
  return guarded("cudaCreateTextureObject", [&](Runtime& runtime) {
    require_places(texture, resource, sampling);
    require(view == nullptr, cudaErrorNotSupported, "views of resources");
    *texture = texture_object(runtime, *resource, *sampling);
    objects()[*texture] = {false, *resource, *sampling};
  });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return destroy("cudaDestroyTextureObject", texture, false);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  return guarded("cudaGetTextureObjectResourceDesc", [&](Runtime&) {
    require_places(resource);
    *resource = object(texture, false).resource;
  });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* sampling, cudaTextureObject_t texture) {
  return guarded("cudaGetTextureObjectTextureDesc", [&](Runtime&) {
    require_places(sampling);
    *sampling = object(texture, false).sampling;
  });
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  return guarded("cudaCreateSurfaceObject", [&](Runtime& runtime) {
    require_places(surface, resource);
    require(resource->resType == cudaResourceTypeArray, cudaErrorInvalidValue, "surfaces are of arrays");
    *surface = make(runtime, texels(arrays().at(resource->res.array.array)));
    objects()[*surface] = {true, *resource, {}};
  });
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return destroy("cudaDestroySurfaceObject", surface, true);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
  return guarded("cudaGetSurfaceObjectResourceDesc", [&](Runtime&) {
    require_places(resource);
    *resource = object(surface, true).resource;
  });
}

}  // extern "C"
#pragma GCC visibility pop
