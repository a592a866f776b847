#include "tb/launch/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "tb/random.hpp"

namespace heddle::tb::launch {
namespace {

// Element i of the ramp. Floats: start + i * step in double, rounded once.
Number ramp_element(const Buffer::Ramp& ramp, isa::Type type, std::uint64_t i) {
  if (is_float(type)) {
    return Number::of(ramp.start.real + static_cast<double>(i) * ramp.step.real);
  }
  return Number::of(ramp.start.integer + ramp.step.integer * static_cast<Wide>(i));
}

Number random_element(const Buffer::Random& random, isa::Type type, tb::Random& generator) {
  if (is_float(type)) {
    return Number::of(random.low.real + (random.high.real - random.low.real) * generator.unit());
  }
  __extension__ using WideUnsigned = unsigned __int128;
  const auto values = static_cast<WideUnsigned>(random.high.integer - random.low.integer) + 1;  // 1 to 2^64 + 2^63
  const std::uint64_t drawn = generator.next();
  if (values > UINT64_MAX) {  // every pattern of 64 bits
    return Number::of(random.low.integer + static_cast<Wide>(drawn));
  }
  return Number::of(random.low.integer + static_cast<Wide>((static_cast<WideUnsigned>(drawn) * values) >> 64U));
}

void copy_file(const Buffer& buffer, std::uint64_t address, isa::DeviceMemory& memory) {
  const std::string& path = std::get<Buffer::File>(buffer.fill).path;
  std::ifstream file(path, std::ios::binary);
  constexpr std::uint64_t kPiece = 65536;
  std::vector<std::byte> piece;
  for (std::uint64_t begin = 0; begin < buffer.bytes(); begin += kPiece) {
    piece.resize(std::min(kPiece, buffer.bytes() - begin));
    file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    if (!file) {
      throw InputError(buffer.where, fmt::format("cannot read '{}'", path));
    }
    memory.write(address + begin, piece);
  }
}

}  // namespace

void fill_buffer(const Buffer& buffer, std::uint64_t address, isa::DeviceMemory& memory) {
  if (std::holds_alternative<Buffer::File>(buffer.fill)) {
    copy_file(buffer, address, memory);
    return;
  }
  if (const auto* const value = std::get_if<Number>(&buffer.fill)) {
    const Element zero = encode(buffer.type, *value);
    if (std::all_of(zero.begin(), zero.end(), [](std::byte byte) { return byte == std::byte{0}; })) {
      return;  // new memory reads as zero
    }
  }
  // Any element is known from its number, so that memory which no kernel touches takes no room on the host.
  memory.fill_on_touch(address, buffer.bytes(), [buffer, address](std::uint64_t first, std::span<std::byte> bytes) {
    const unsigned size = isa::size_of(buffer.type);
    const std::uint64_t begin = (first - address) / size;
    const auto* const value = std::get_if<Number>(&buffer.fill);
    const auto* const random = std::get_if<Buffer::Random>(&buffer.fill);
    tb::Random generator(random == nullptr ? 0 : random->seed);
    generator.skip(begin);
    for (std::uint64_t i = 0; i < bytes.size() / size; ++i) {
      const Number number = value != nullptr ? *value
                            : random != nullptr
                                ? random_element(*random, buffer.type, generator)
                                : ramp_element(std::get<Buffer::Ramp>(buffer.fill), buffer.type, begin + i);
      const Element element = encode(buffer.type, number);
      std::copy_n(element.begin(), size, bytes.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
  });
}

}  // namespace heddle::tb::launch
