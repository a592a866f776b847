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

}  // namespace

void fill_buffer(const Buffer& buffer, std::uint64_t address, isa::DeviceMemory& memory) {
  const auto* value = std::get_if<Number>(&buffer.fill);
  if (value != nullptr) {
    const Element zero = encode(buffer.type, *value);
    if (std::all_of(zero.begin(), zero.end(), [](std::byte byte) { return byte == std::byte{0}; })) {
      return;  // new memory reads as zero
    }
  }
  std::ifstream file;
  if (const auto* from = std::get_if<Buffer::File>(&buffer.fill)) {
    file.open(from->path, std::ios::binary);
  }
  const auto* random = std::get_if<Buffer::Random>(&buffer.fill);
  tb::Random generator(random == nullptr ? 0 : random->seed);

  const unsigned size = isa::size_of(buffer.type);
  constexpr std::uint64_t kPieceElements = 8192;
  std::vector<std::byte> piece;
  for (std::uint64_t begin = 0; begin < buffer.count; begin += kPieceElements) {
    const std::uint64_t elements = std::min(kPieceElements, buffer.count - begin);
    piece.resize(elements * size);
    if (file.is_open() || std::holds_alternative<Buffer::File>(buffer.fill)) {
      file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
      if (!file) {
        throw InputError(buffer.where, fmt::format("cannot read '{}'", std::get<Buffer::File>(buffer.fill).path));
      }
    } else {
      for (std::uint64_t i = 0; i < elements; ++i) {
        const Number number = value != nullptr ? *value
                              : random != nullptr
                                  ? random_element(*random, buffer.type, generator)
                                  : ramp_element(std::get<Buffer::Ramp>(buffer.fill), buffer.type, begin + i);
        const Element element = encode(buffer.type, number);
        std::copy_n(element.begin(), size, piece.begin() + static_cast<std::ptrdiff_t>(i * size));
      }
    }
    memory.write(address + begin * size, piece);
  }
}

}  // namespace heddle::tb::launch
