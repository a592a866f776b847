#include "isa/texture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace heddle::isa {

namespace {

constexpr std::uint32_t kNotANumber = 0x7fff'ffff;
constexpr unsigned kOne = 256;  // weight 1 in fixed point

// Indices of the texels along one axis, and the weight of the second in parts of kOne. An index below 0: the border.
struct Along {
  std::array<std::int64_t, 2> index{};
  unsigned second = 0;
};

// `outside`: the index is below 0 or not below the size.
std::int64_t addressed(std::int64_t index, std::int64_t size, AddressMode mode) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case AddressMode::border:
      return -1;
    case AddressMode::wrap:  // the coordinate has been folded: at most one beyond either end
      return index < 0 ? size - 1 : 0;
    case AddressMode::clamp:
    case AddressMode::mirror:
      break;
  }
  return std::clamp<std::int64_t>(index, 0, size - 1);
}

// The coordinate in texels, folded into the texture where the mode repeats it.
double position(double x, double size, AddressMode mode, bool normalized) {
  if (std::isnan(x)) return 0;
  if (normalized) {
    const double whole = std::floor(x);
    if (mode == AddressMode::wrap && std::isfinite(x)) x -= whole;
    if (mode == AddressMode::mirror && std::isfinite(x)) {
      x = std::fmod(whole, 2) == 0 ? x - whole : 1 - (x - whole);
    }
    x *= size;
  }
  return std::clamp(x, -2.0, size + 2);  // what lies farther out is no different
}

Along along(std::uint32_t bits, std::uint32_t size, AddressMode mode, const TextureDescriptor& of) {
  if (!of.normalized_coordinates && mode != AddressMode::border) mode = AddressMode::clamp;
  double at = position(static_cast<double>(std::bit_cast<float>(bits)), size, mode, of.normalized_coordinates);
  at -= of.linear ? 0.5 : 0;
  const double floor = std::floor(at);
  const auto index = static_cast<std::int64_t>(floor);
  Along result;
  result.index = {addressed(index, size, mode), addressed(index + 1, size, mode)};
  result.second = of.linear ? static_cast<unsigned>(std::floor((at - floor) * kOne + 0.5)) : 0;
  return result;
}

Along along_integer(std::uint32_t bits, std::uint32_t size, AddressMode mode, const TextureDescriptor& of) {
  const bool zero = of.zero_outside || mode == AddressMode::border;
  Along result;
  result.index[0] = addressed(static_cast<std::int32_t>(bits), size, zero ? AddressMode::border : AddressMode::clamp);
  return result;
}

// Exact: every binary16 number is a binary32 one.
float widened(std::uint16_t half) {
  const unsigned exponent = (half >> 10U) & 31U;
  const unsigned fraction = half & 1023U;
  const float sign = (half >> 15U) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    return fraction != 0 ? std::bit_cast<float>(kNotANumber) : std::copysign(INFINITY, sign);
  }
  return exponent == 0 ? sign * std::ldexp(static_cast<float>(fraction), -24)
                       : sign * std::ldexp(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25);
}

// A channel as binary32 (real numbers, normalized values) or as an integer of 32 bits.
std::uint32_t channel(const TextureDescriptor& of, const std::byte* from) {
  std::uint32_t raw = 0;
  std::memcpy(&raw, from, of.channel_bytes);
  if (of.kind == TexelKind::real) {
    return of.channel_bytes == 4 ? raw : std::bit_cast<std::uint32_t>(widened(static_cast<std::uint16_t>(raw)));
  }
  const unsigned bits = 8U * of.channel_bytes;
  if (of.kind == TexelKind::unsigned_integer) {
    if (!of.normalized_values) return raw;
    return std::bit_cast<std::uint32_t>(static_cast<float>(raw) / static_cast<float>((1U << bits) - 1));
  }
  const std::int32_t value = static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits);
  if (!of.normalized_values) return static_cast<std::uint32_t>(value);
  return std::bit_cast<std::uint32_t>(
      std::max(static_cast<float>(value) / static_cast<float>((1U << (bits - 1)) - 1), -1.0F));
}

}  // namespace

std::string_view why_malformed(const TextureDescriptor& of) {
  if (of.channels != 1 && of.channels != 2 && of.channels != 4) return "a texel has 1, 2 or 4 channels";
  if (of.channel_bytes != 1 && of.channel_bytes != 2 && of.channel_bytes != 4) return "a channel has 8, 16 or 32 bits";
  if (of.kind > TexelKind::real) return "unknown kind of channels";
  if (of.kind == TexelKind::real && of.channel_bytes == 1) return "a real number has 16 or 32 bits";
  if (of.width == 0 || of.height == 0 || of.width > kLargestTexture || of.height > kLargestTexture) {
    return "the width or height is 0 or too large";
  }
  if (std::uint64_t{of.width} * of.texel_bytes() != of.row_bytes) return "the row's bytes are not those of its texels";
  if (of.base % of.texel_bytes() != 0) return "the base is no multiple of the texel's size";
  if (of.pitch % of.texel_bytes() != 0) return "the pitch is no multiple of the texel's size";
  if (of.height > 1 && of.pitch < of.row_bytes) return "rows overlap";
  if (of.address[0] > AddressMode::border || of.address[1] > AddressMode::border) return "unknown address mode";
  if (of.normalized_values && (of.kind == TexelKind::real || of.channel_bytes == 4)) {
    return "values read as fractions are integers of 8 or 16 bits";
  }
  if (of.linear && of.kind != TexelKind::real && !of.normalized_values) {
    return "linear filtering yields real numbers, and this texture has integers";
  }
  return {};
}

TexelFetch texels_of(const TextureDescriptor& of, unsigned dimensions, bool real,
                     std::array<std::uint32_t, 2> coordinates) {
  TexelFetch fetch;
  fetch.bytes = of.texel_bytes();
  fetch.filtered = real && of.linear;
  const auto on_axis = [&](unsigned axis, std::uint32_t size) {
    return (real ? along : along_integer)(coordinates[axis], size, of.address[axis], of);
  };
  const Along x = on_axis(0, of.width);
  const Along y = dimensions > 1 ? on_axis(1, of.height) : Along{};
  for (unsigned corner = 0; corner < 4; ++corner) {
    const unsigned i = corner & 1U;
    const unsigned j = corner >> 1U;
    const std::uint32_t weight = (i != 0 ? x.second : kOne - x.second) * (j != 0 ? y.second : kOne - y.second);
    if (weight == 0 || x.index[i] < 0 || y.index[j] < 0) continue;
    fetch.address[fetch.count] = of.base + static_cast<std::uint64_t>(y.index[j]) * of.pitch +
                                 static_cast<std::uint64_t>(x.index[i]) * of.texel_bytes();
    fetch.weight[fetch.count++] = weight;
  }
  return fetch;
}

std::array<std::uint32_t, 4> fetched(const TextureDescriptor& of, const TexelFetch& fetch,
                                     const std::array<Texel, 4>& texels) {
  std::array<std::uint32_t, 4> result{};
  for (unsigned c = 0; c < of.channels && fetch.count != 0; ++c) {
    const auto value = [&](unsigned texel) { return channel(of, texels[texel].data() + c * of.channel_bytes); };
    if (!fetch.filtered) {
      result[c] = value(0);
      continue;
    }
    double sum = 0;  // a weight times a binary32 number is exact
    for (unsigned texel = 0; texel < fetch.count; ++texel) {
      sum += fetch.weight[texel] * static_cast<double>(std::bit_cast<float>(value(texel)));
    }
    sum /= TexelFetch::kWhole;
    result[c] = std::isnan(sum) ? kNotANumber : std::bit_cast<std::uint32_t>(static_cast<float>(sum));
  }
  return result;
}

}  // namespace heddle::isa
