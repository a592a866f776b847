// Texture sampling against values that the host computes by the words of the CUDA programming guide ("Texture
// Fetching"): coordinates as exact fractions, texels as their own numbers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "isa/device_memory.hpp"
#include "isa/texture.hpp"

namespace heddle::isa {
namespace {

constexpr std::uint64_t kTexels = 0x1000;

TextureDescriptor texture_of(unsigned width, unsigned height, unsigned channels = 1, unsigned bytes = 4,
                             TexelKind kind = TexelKind::real) {
  TextureDescriptor of;
  of.base = kTexels;
  of.width = width;
  of.height = height;
  of.channels = static_cast<std::uint8_t>(channels);
  of.channel_bytes = static_cast<std::uint8_t>(bytes);
  of.kind = kind;
  of.row_bytes = width * channels * bytes;
  of.pitch = (of.row_bytes + 31) / 32 * 32;
  return of;
}

// The storage behind a texture, from kTexels on.
std::array<std::uint32_t, 4> fetch(const TextureDescriptor& of, const std::vector<std::byte>& storage,
                                   unsigned dimensions, bool real, std::uint32_t x, std::uint32_t y = 0) {
  const TexelFetch fetch = texels_of(of, dimensions, real, {x, y});
  std::array<Texel, 4> texels{};
  for (unsigned i = 0; i < fetch.count; ++i) {
    EXPECT_LE(fetch.address[i] + fetch.bytes, kTexels + storage.size());
    std::memcpy(texels[i].data(), storage.data() + (fetch.address[i] - kTexels), fetch.bytes);
  }
  return fetched(of, fetch, texels);
}

std::uint32_t bits_of_float(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

std::vector<std::byte> storage_of(const TextureDescriptor& of) {
  return std::vector<std::byte>(std::size_t{of.pitch} * of.height);
}

// ---- the guide's rules, on long doubles, in which all that stands here is exact

struct GuideImage {
  long width, height;
  std::vector<float> texels;  // row by row
  AddressMode mode;
  bool normalized;
  long index(long i, long size, bool& outside) const {
    if (mode == AddressMode::border) {
      outside = outside || i < 0 || i >= size;
      return std::clamp(i, 0L, size - 1);
    }
    if (!normalized || mode == AddressMode::clamp) return std::clamp(i, 0L, size - 1);
    if (mode == AddressMode::wrap) return ((i % size) + size) % size;
    const long twice = ((i % (2 * size)) + 2 * size) % (2 * size);  // mirror
    return twice < size ? twice : 2 * size - 1 - twice;
  }
  float at(long i, long j) const {
    bool outside = false;
    const long x = index(i, width, outside);
    const long y = index(j, height, outside);
    return outside ? 0.0F : texels[static_cast<std::size_t>(y * width + x)];
  }
  // Index and 9-bit weight of the second texel.
  static std::pair<long, long> split(long double x) {
    const long double lower = std::floor(x - 0.5L);
    return {static_cast<long>(lower), std::lround((x - 0.5L - lower) * 256)};
  }
  long double coordinate(float x, long size) const {
    if (!normalized) return x;
    const long double whole = std::floor(static_cast<long double>(x));
    long double folded = x;
    if (mode == AddressMode::wrap) folded = x - whole;
    if (mode == AddressMode::mirror) folded = std::fmod(whole, 2) == 0 ? x - whole : 1 - (x - whole);
    return folded * size;
  }
  float nearest(float x, float y) const {
    return at(static_cast<long>(std::floor(coordinate(x, width))),
              static_cast<long>(std::floor(coordinate(y, height))));
  }
  float linear(float x, float y) const {
    const auto [i, a] = split(coordinate(x, width));
    const auto [j, b] = split(coordinate(y, height));
    const long double sum = static_cast<long double>((256 - a) * (256 - b)) * at(i, j) +
                            static_cast<long double>(a * (256 - b)) * at(i + 1, j) +
                            static_cast<long double>((256 - a) * b) * at(i, j + 1) +
                            static_cast<long double>(a * b) * at(i + 1, j + 1);
    return static_cast<float>(sum / 65536);
  }
};

class TextureModes : public ::testing::TestWithParam<std::tuple<AddressMode, bool, bool>> {};

TEST_P(TextureModes, FollowTheGuide) {
  const auto& [mode, normal, linear] = GetParam();
  const bool normalized = normal;  // for the function below
  std::mt19937 random(7);
  for (const auto& [width, height] : {std::pair{7U, 5U}, {16U, 16U}, {1U, 3U}, {33U, 1U}}) {
    TextureDescriptor of = texture_of(width, height);
    of.address = {mode, mode};
    of.normalized_coordinates = normalized;
    of.linear = linear;
    ASSERT_EQ(why_malformed(of), "");
    std::vector<std::byte> storage = storage_of(of);
    GuideImage image{width, height, {}, mode, normalized};
    for (unsigned y = 0; y < height; ++y) {
      for (unsigned x = 0; x < width; ++x) {
        const float value = static_cast<float>(random() % 2000) / 8 - 100;
        image.texels.push_back(value);
        std::memcpy(storage.data() + y * of.pitch + x * 4, &value, 4);
      }
    }
    for (int i = 0; i < 2000; ++i) {
      // Multiples of 1/512, some of them exactly between texels, and far outside.
      const auto coordinate = [&](unsigned size) {
        const float texels =
            static_cast<float>(static_cast<int>(random() % (6 * size * 512)) - 3 * int(size) * 512) / 512;
        return normalized ? texels / static_cast<float>(std::bit_ceil(size)) : texels;
      };
      const float x = coordinate(width);
      const float y = coordinate(height);
      const float expected = linear ? image.linear(x, y) : image.nearest(x, y);
      const std::uint32_t actual = fetch(of, storage, 2, true, bits_of_float(x), bits_of_float(y))[0];
      ASSERT_EQ(std::bit_cast<float>(actual), expected) << x << ", " << y << " of " << width << " x " << height;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TextureModes,
                         ::testing::Combine(::testing::Values(AddressMode::wrap, AddressMode::clamp,
                                                              AddressMode::mirror, AddressMode::border),
                                            ::testing::Bool(), ::testing::Bool()));

TEST(Texture, WeightsHaveEightBitsOfFraction) {
  TextureDescriptor of = texture_of(2, 1);
  of.linear = true;
  const TexelFetch quarter = texels_of(of, 1, true, {bits_of_float(0.75F), 0});
  ASSERT_EQ(quarter.count, 2U);
  EXPECT_EQ(quarter.weight[0], 192U * 256);
  EXPECT_EQ(quarter.weight[1], 64U * 256);
  // 1/512 rounds up to 1/256; a little less to none, and the second texel is not read.
  EXPECT_EQ(texels_of(of, 1, true, {bits_of_float(0.5F + 1 / 512.0F), 0}).weight[1], 256U);
  EXPECT_EQ(texels_of(of, 1, true, {bits_of_float(0.5F + 1 / 1024.0F), 0}).count, 1U);
  // Just below the second texel's centre: weight 1 is exact.
  const TexelFetch whole = texels_of(of, 1, true, {bits_of_float(1.4995F), 0});
  ASSERT_EQ(whole.count, 1U);
  EXPECT_EQ(whole.weight[0], TexelFetch::kWhole);
  EXPECT_EQ(whole.address[0], kTexels + 4);
}

TEST(Texture, IntegersOutsideLinearMemoryAreZero) {
  TextureDescriptor of = texture_of(4, 1, 1, 4, TexelKind::unsigned_integer);
  std::vector<std::byte> storage = storage_of(of);
  const std::uint32_t words[] = {11, 12, 13, 14};
  std::memcpy(storage.data(), words, sizeof words);
  of.zero_outside = true;
  for (const auto& [index, value] : {std::pair{0U, 11U}, {3U, 14U}, {4U, 0U}, {~0U, 0U}, {0x8000'0000U, 0U}}) {
    EXPECT_EQ(fetch(of, storage, 1, false, index)[0], value) << index;
  }
  of.zero_outside = false;  // an array: as its address mode says
  EXPECT_EQ(fetch(of, storage, 1, false, 4)[0], 14U);
  EXPECT_EQ(fetch(of, storage, 1, false, ~0U)[0], 11U);
  of.address[0] = AddressMode::border;
  EXPECT_EQ(fetch(of, storage, 1, false, 4)[0], 0U);
}

TEST(Texture, StrangeCoordinatesDoNoHarm) {
  TextureDescriptor of = texture_of(4, 1);
  std::vector<std::byte> storage = storage_of(of);
  const float values[] = {1, 2, 3, 4};
  std::memcpy(storage.data(), values, sizeof values);
  const auto at = [&](float x) { return std::bit_cast<float>(fetch(of, storage, 1, true, bits_of_float(x))[0]); };
  for (const bool linear : {false, true}) {
    of.linear = linear;
    EXPECT_EQ(at(INFINITY), 4);
    EXPECT_EQ(at(-INFINITY), 1);
    EXPECT_EQ(at(3e38F), 4);
    EXPECT_EQ(at(NAN), 1);
    of.normalized_coordinates = true;
    for (const AddressMode mode : {AddressMode::wrap, AddressMode::mirror}) {
      of.address[0] = mode;
      for (const float x : {INFINITY, -INFINITY, NAN, 3e38F, -3e38F, -1e-30F}) {
        EXPECT_GE(at(x), 1) << x;
        EXPECT_LE(at(x), 4) << x;
      }
    }
    of.address[0] = AddressMode::clamp;
    of.normalized_coordinates = false;
  }
}

TEST(Texture, ChannelsAreExtendedAndNormalized) {
  const auto value_of = [](unsigned bytes, TexelKind kind, bool normalized, std::uint32_t raw) {
    TextureDescriptor of = texture_of(1, 1, 2, bytes, kind);
    of.normalized_values = normalized;
    EXPECT_EQ(why_malformed(of), "");
    std::vector<std::byte> storage = storage_of(of);
    std::memcpy(storage.data() + bytes, &raw, bytes);  // the second channel
    const std::array<std::uint32_t, 4> all = fetch(of, storage, 1, true, 0);
    EXPECT_EQ(all[0], 0U);
    EXPECT_EQ(all[2], 0U);
    EXPECT_EQ(all[3], 0U);
    return all[1];
  };
  EXPECT_EQ(value_of(1, TexelKind::unsigned_integer, false, 0xfe), 0xfeU);
  EXPECT_EQ(value_of(1, TexelKind::signed_integer, false, 0xfe), 0xffff'fffeU);
  EXPECT_EQ(value_of(2, TexelKind::signed_integer, false, 0x8001), 0xffff'8001U);
  EXPECT_EQ(value_of(4, TexelKind::signed_integer, false, 0x8000'0001), 0x8000'0001U);
  EXPECT_EQ(value_of(4, TexelKind::real, false, 0x7f80'0001), 0x7f80'0001U);  // bits as they are
  for (unsigned raw = 0; raw < 256; ++raw) {
    EXPECT_EQ(value_of(1, TexelKind::unsigned_integer, true, raw), bits_of_float(static_cast<float>(raw) / 255.0F));
    const float fraction = static_cast<float>(static_cast<signed char>(raw)) / 127.0F;
    EXPECT_EQ(value_of(1, TexelKind::signed_integer, true, raw), bits_of_float(std::max(fraction, -1.0F)));
  }
  EXPECT_EQ(value_of(2, TexelKind::unsigned_integer, true, 0xffff), bits_of_float(1));
  EXPECT_EQ(value_of(2, TexelKind::signed_integer, true, 0x8000), bits_of_float(-1));
  // binary16: every number, against its value as sign, exponent and fraction say it.
  for (std::uint32_t half = 0; half < 0x10000; half += 7) {
    const int exponent = static_cast<int>(half >> 10U) & 31;
    const double fraction = half & 1023U;
    double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1 + fraction / 1024, exponent - 15);
    if (exponent == 31) value = fraction == 0 ? HUGE_VAL : NAN;
    const float actual = std::bit_cast<float>(value_of(2, TexelKind::real, false, half));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(actual));
    } else {
      EXPECT_EQ(bits_of_float(actual), bits_of_float(static_cast<float>((half >> 15U) != 0 ? -value : value))) << half;
    }
  }
}

TEST(Texture, FilteredValuesThatAreNoNumbersAreOne) {
  TextureDescriptor of = texture_of(2, 1);
  of.linear = true;
  std::vector<std::byte> storage = storage_of(of);
  const float values[] = {INFINITY, -INFINITY};
  std::memcpy(storage.data(), values, sizeof values);
  EXPECT_EQ(fetch(of, storage, 1, true, bits_of_float(1))[0], 0x7fff'ffffU);
  EXPECT_EQ(fetch(of, storage, 1, true, bits_of_float(0.5F))[0], bits_of_float(INFINITY));  // the other is not read
}

TEST(Texture, MalformedDescriptorsAreNamed) {
  const auto reason = [](auto change) {
    TextureDescriptor of = texture_of(4, 4);
    change(of);
    return std::string(why_malformed(of));
  };
  using T = TextureDescriptor;
  EXPECT_EQ(reason([](T&) {}), "");
  EXPECT_EQ(reason([](T& of) { of.channels = 3; }), "a texel has 1, 2 or 4 channels");
  EXPECT_EQ(reason([](T& of) { of.channel_bytes = 8; }), "a channel has 8, 16 or 32 bits");
  EXPECT_EQ(reason([](T& of) { of.kind = static_cast<TexelKind>(9); }), "unknown kind of channels");
  EXPECT_EQ(reason([](T& of) { of.channel_bytes = 1; }), "a real number has 16 or 32 bits");
  EXPECT_EQ(reason([](T& of) { of.width = 0; }), "the width or height is 0 or too large");
  EXPECT_EQ(reason([](T& of) { of.row_bytes = 17; }), "the row's bytes are not those of its texels");
  EXPECT_EQ(reason([](T& of) { of.base = 2; }), "the base is no multiple of the texel's size");
  EXPECT_EQ(reason([](T& of) { of.pitch = 18; }), "the pitch is no multiple of the texel's size");
  EXPECT_EQ(reason([](T& of) { of.pitch = 12; }), "rows overlap");
  EXPECT_EQ(reason([](T& of) { of.address[1] = static_cast<AddressMode>(4); }), "unknown address mode");
  EXPECT_EQ(reason([](T& of) { of.normalized_values = true; }),
            "values read as fractions are integers of 8 or 16 bits");
  EXPECT_EQ(reason([](T& of) {
              of.kind = TexelKind::signed_integer;
              of.linear = true;
            }),
            "linear filtering yields real numbers, and this texture has integers");
}

TEST(Texture, MemoryKeepsDescriptorsUntilTheyAreReleased) {
  DeviceMemory memory;
  const std::uint64_t handle = memory.add_texture("a", texture_of(4, 4));
  ASSERT_NE(memory.texture(handle), nullptr);
  EXPECT_EQ(memory.texture(handle)->width, 4U);
  EXPECT_EQ(memory.get<TextureDescriptor>(handle).pitch, 32U);
  EXPECT_FALSE(memory.find(handle, 64)->writable);
  EXPECT_EQ(memory.texture(handle + 4), nullptr);
  EXPECT_EQ(memory.texture(0), nullptr);
  memory.release(handle);
  EXPECT_EQ(memory.texture(handle), nullptr);
  EXPECT_EQ(memory.find(handle, 64), nullptr);
  try {
    static_cast<void>(memory.add_texture("b", texture_of(0, 1)));
    FAIL() << "taken";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "b: the width or height is 0 or too large");
  }
}

}  // namespace
}  // namespace heddle::isa
