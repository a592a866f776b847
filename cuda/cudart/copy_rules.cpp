// What copies and fills must be, before anything is moved or recorded.
#include <cstring>

#include "cuda/cudart/graphs.hpp"
#include "cuda/cudart/work.hpp"

namespace heddle::cudart {
namespace {

void require_pitch(std::size_t pitch, std::size_t width, std::size_t height) {
  require(pitch >= width, cudaErrorInvalidPitchValue, "rows are wider than the distance between them");
  require(height <= 1 || pitch <= kMostPitch, cudaErrorInvalidValue, "rows are too far apart");
}

// One side of a box. The number of rows of a slice may be left out where there is one slice.
void require_within(const cudaPitchedPtr& memory, const cudaPos& at, const cudaExtent& extent) {
  require_pitch(memory.pitch, extent.width, extent.height);
  require(at.x <= memory.pitch - extent.width, cudaErrorInvalidValue,
          "the box is wider than the rows behind its place");
  const bool rows_matter = memory.ysize != 0 || extent.depth > 1;
  require(!rows_matter || (at.y <= memory.ysize && extent.height <= memory.ysize - at.y), cudaErrorInvalidValue,
          "a slice of the box has more rows than one of the memory");
}

// From there on the region has so many bytes, if it is one of the device's.
void require_bytes(Runtime& runtime, const void* pointer, const cudaPos& at, std::size_t pitch, std::size_t rows,
                   const cudaExtent& extent) {
  if (runtime.region(pointer) == nullptr) return;
  const std::size_t last = ((at.z + extent.depth - 1) * rows + at.y + extent.height - 1) * pitch + at.x + extent.width;
  require(last <= runtime.bytes_behind(pointer), cudaErrorInvalidValue, "the copy goes beyond the end of the memory");
}

}  // namespace

void require_device(int device) {
  require(device == 0, cudaErrorInvalidDevice, "there is one device, of number 0");
}

void require_zero(const void* value) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, value, sizeof bytes);
  require(bytes == 0, cudaErrorInvalidValue, "a mark of the most memory can be set to 0 only");
}

std::size_t product(std::size_t a, std::size_t b) {
  std::size_t whole = 0;
  require(!__builtin_mul_overflow(a, b, &whole), cudaErrorMemoryAllocation, "no memory has so many bytes");
  return whole;
}

void require_addressable(std::size_t pitch, std::size_t width, std::size_t height) {
  constexpr std::size_t kMost = std::size_t{1} << 47U;  // of an address
  require(width <= kMost && height <= kMost && (height <= 1 || pitch <= kMost / height), cudaErrorInvalidValue,
          "no memory has so many bytes");
}

void require_kind(cudaMemcpyKind kind) {
  require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection,
          "there is no such direction of copies");
}

bool on_device(Runtime& runtime, const void* pointer) {
  const Runtime::Region* const region = runtime.region(pointer);
  return region != nullptr && !region->managed;
}

// What was allocated says it, and the kind must agree (managed memory is on both sides).
Sides sides_of(Runtime& runtime, const void* to, const void* from, cudaMemcpyKind kind) {
  require(to != nullptr && from != nullptr, cudaErrorInvalidValue, "a pointer is null");
  const Sides sides{on_device(runtime, to), on_device(runtime, from)};
  const auto agrees = [&](const void* pointer, bool device, bool wanted) {
    return kind == cudaMemcpyDefault || device == wanted || runtime.region(pointer) != nullptr;
  };
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  require(agrees(to, sides.to_device, wants_to), cudaErrorInvalidValue,
          "the destination is no device memory, which the direction says");
  require(agrees(from, sides.from_device, wants_from), cudaErrorInvalidValue,
          "the source is no device memory, which the direction says");
  require((kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost) || !sides.from_device,
          cudaErrorInvalidMemcpyDirection, "the source is device memory, and the direction says the host's");
  require((kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost) || !sides.to_device,
          cudaErrorInvalidMemcpyDirection, "the destination is device memory, and the direction says the host's");
  return sides;
}

void require_pitches(std::size_t to, std::size_t from, std::size_t width, std::size_t height) {
  require_pitch(to, width, height);
  require_pitch(from, width, height);
}

void require_box(const cudaMemcpy3DParms& box) {
  if (box.extent.width == 0 || box.extent.height == 0 || box.extent.depth == 0) return;
  require_within(box.dstPtr, box.dstPos, box.extent);
  require_within(box.srcPtr, box.srcPos, box.extent);
}

// Nodes are refused when they are made, not when the graph runs.
void require_node(Runtime& runtime, const cudaMemcpy3DParms& box) {
  require_kind(box.kind);
  if (box.srcArray != nullptr || box.dstArray != nullptr) return;  // bounded by their own size
  require(box.extent.width != 0 && box.extent.height != 0 && box.extent.depth != 0, cudaErrorInvalidValue,
          "a node copies at least one byte");
  static_cast<void>(sides_of(runtime, box.dstPtr.ptr, box.srcPtr.ptr, box.kind));
  require_box(box);
  require_bytes(runtime, box.dstPtr.ptr, box.dstPos, box.dstPtr.pitch, box.dstPtr.ysize, box.extent);
  require_bytes(runtime, box.srcPtr.ptr, box.srcPos, box.srcPtr.pitch, box.srcPtr.ysize, box.extent);
}

void require_node(Runtime& runtime, const cudaMemsetParams& to) {
  require(to.elementSize == 1 || to.elementSize == 2 || to.elementSize == 4, cudaErrorInvalidValue,
          "elements have 1, 2 or 4 bytes");
  require(to.width != 0 && to.height != 0, cudaErrorInvalidValue, "a node fills at least one element");
  require(runtime.region(to.dst) != nullptr, cudaErrorInvalidValue, "this is no device memory");
  const std::size_t whole = runtime.bytes_behind(to.dst);
  require(to.width <= whole / to.elementSize, cudaErrorInvalidValue, "the fill goes beyond the end of the memory");
  if (to.height == 1) return;
  const std::size_t width = to.width * to.elementSize;
  require(to.pitch >= width, cudaErrorInvalidValue, "rows are wider than the distance between them");
  require(to.height - 1 <= (whole - width) / to.pitch, cudaErrorInvalidValue,
          "the fill goes beyond the end of the memory");
}

}  // namespace heddle::cudart
