// Textures: what a descriptor says of the texels in device memory, which of them a fetch reads, and what it makes of
// them. Part of the operations' semantics, as isa/semantics.hpp is: the interpreter and the core model share it.
//
// The rules are in the CUDA C++ Programming Guide, appendix "Texture Fetching": point sampling takes the texel
// whose index is the floor of the coordinate; linear filtering takes texels around the coordinate less 0.5, with
// weights in 9-bit fixed point with 8 bits of fraction. What the guide leaves open is said at the functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace heddle::isa {

// What a channel of a texel holds: `real` is binary32, or binary16 with channels of 2 bytes.
enum class TexelKind : std::uint8_t { signed_integer, unsigned_integer, real };
// What becomes of a coordinate outside the texture. wrap and mirror are for normalized coordinates; without, they are
// clamp. In CUDA's order.
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

// As it lies in device memory: the texture's handle is its address (DeviceMemory::add_texture). Compiled surface
// accesses load `base`, `pitch`, `row_bytes` and `height` from there (ptx/lower/surface.cpp).
struct TextureDescriptor {
  std::uint64_t base = 0;       // address of the first texel, a multiple of texel_bytes()
  std::uint32_t width = 1;      // texels of a row, at least 1
  std::uint32_t height = 1;     // rows, at least 1; 1 of one dimension
  std::uint32_t pitch = 0;      // bytes from one row to the next, a multiple of texel_bytes()
  std::uint32_t row_bytes = 4;  // of a row's texels: width x texel_bytes()
  std::uint8_t channels = 1;    // 1, 2 or 4
  std::uint8_t channel_bytes = 4;
  TexelKind kind = TexelKind::real;
  std::array<AddressMode, 2> address = {AddressMode::clamp, AddressMode::clamp};  // of x and y
  bool linear = false;                  // filter; else point sampling. Not of integer coordinates
  bool normalized_values = false;       // integers of 1 or 2 bytes are read as fractions of their largest value
  bool normalized_coordinates = false;  // 1.0 is the width (height)
  bool zero_outside = false;            // of linear memory: a fetch by an integer outside the texture yields 0
  std::array<std::uint8_t, 31> unused{};

  [[nodiscard]] std::uint32_t texel_bytes() const { return std::uint32_t{channels} * channel_bytes; }
};
static_assert(sizeof(TextureDescriptor) == 64 && std::is_trivially_copyable_v<TextureDescriptor>);

inline constexpr std::uint32_t kLargestTexture = 1U << 28U;  // texels of a row

// What is wrong with a descriptor; empty: nothing.
[[nodiscard]] std::string_view why_malformed(const TextureDescriptor& descriptor);

// The texels that one fetch reads, in the order (i, j), (i+1, j), (i, j+1), (i+1, j+1). Texels outside a texture with
// borders, which are 0, and texels of weight 0 are not read.
struct TexelFetch {
  bool filtered = false;
  unsigned count = 0;
  unsigned bytes = 4;  // of each
  std::array<std::uint64_t, 4> address{};
  std::array<std::uint32_t, 4> weight{};  // filtered: in parts of kWhole
  static constexpr std::uint32_t kWhole = 1U << 16U;
};
// Coordinates are the bits of binary32 numbers or (`real` false) signed integers. The fraction of a filtered coordinate
// is rounded to the nearest 256th, half up. Coordinates that are no number count as 0. A normalized coordinate is
// multiplied by the size without rounding. Integer coordinates are indices, and indices outside become 0 where the
// address mode is border or zero_outside holds, else the nearest inside.
[[nodiscard]] TexelFetch texels_of(const TextureDescriptor& descriptor, unsigned dimensions, bool real,
                                   std::array<std::uint32_t, 2> coordinates);

using Texel = std::array<std::byte, 16>;
// What the fetch yields, channel by channel; 0 for channels that the texture lacks. Integers are extended to 32 bits,
// real numbers and normalized values are binary32. A filtered value is the exact sum of the weighted texels, as a
// double with roundings between its additions, rounded once; if it is no number, 0x7fffffff.
[[nodiscard]] std::array<std::uint32_t, 4> fetched(const TextureDescriptor& descriptor, const TexelFetch& fetch,
                                                   const std::array<Texel, 4>& texels);

}  // namespace heddle::isa
