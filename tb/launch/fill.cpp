#include "tb/launch/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/random.hpp"

namespace heddle::tb::launch {
namespace {

// Element i of the ramp. Floats: start + i * step in double, rounded once.
Number ramp_element(const Fill::Ramp& ramp, isa::Type type, std::uint64_t i) {
  if (is_float(type)) {
    return Number::of(ramp.start.real + static_cast<double>(i) * ramp.step.real);
  }
  return Number::of(ramp.start.integer + ramp.step.integer * static_cast<Wide>(i));
}

Number random_element(const Fill::Random& random, isa::Type type, heddle::Random& generator) {
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

constexpr std::uint64_t kPiece = 65536;

void copy_file(const std::string& path, const Buffer& buffer, std::uint64_t bytes, const WritePiece& write) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> piece;
  for (std::uint64_t begin = 0; begin < bytes; begin += kPiece) {
    piece.resize(std::min(kPiece, bytes - begin));
    file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    if (!file) {
      throw InputError(buffer.where, fmt::format("cannot read '{}'", path));
    }
    write(begin, piece);
  }
}

// Elements from number `first` on. Any element is known from its number.
void make_elements(const Fill& fill, isa::Type type, std::uint64_t first, std::span<std::byte> bytes) {
  const unsigned size = isa::size_of(type);
  const auto* const value = std::get_if<Number>(&fill.contents);
  const auto* const list = std::get_if<Fill::List>(&fill.contents);
  const auto* const random = std::get_if<Fill::Random>(&fill.contents);
  heddle::Random generator(random == nullptr ? 0 : random->seed);
  generator.skip(first);
  for (std::uint64_t i = 0; i < bytes.size() / size; ++i) {
    const Number number = value != nullptr    ? *value
                          : list != nullptr   ? (*list)[first + i]
                          : random != nullptr ? random_element(*random, type, generator)
                                              : ramp_element(std::get<Fill::Ramp>(fill.contents), type, first + i);
    const Element element = encode(type, number);
    std::copy_n(element.begin(), size, bytes.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
}

}  // namespace

void fill_now(const Fill& fill, const Buffer& buffer, std::uint64_t bytes, const WritePiece& write) {
  if (const auto* const file = std::get_if<Fill::File>(&fill.contents)) {
    copy_file(file->path, buffer, bytes, write);
    return;
  }
  std::vector<std::byte> piece;
  for (std::uint64_t begin = 0; begin < bytes; begin += kPiece) {
    piece.resize(std::min(kPiece, bytes - begin));
    make_elements(fill, buffer.type, begin / isa::size_of(buffer.type), piece);
    write(begin, piece);
  }
}

void fill_fresh(const Fill& fill, const Buffer& buffer, std::uint64_t address, isa::DeviceMemory& memory) {
  if (std::holds_alternative<Fill::File>(fill.contents)) {
    fill_now(fill, buffer, buffer.bytes(),
             [&](std::uint64_t begin, std::span<const std::byte> piece) { memory.write(address + begin, piece); });
    return;
  }
  if (const auto* const value = std::get_if<Number>(&fill.contents)) {
    const Element zero = encode(buffer.type, *value);
    if (std::all_of(zero.begin(), zero.end(), [](std::byte byte) { return byte == std::byte{0}; })) {
      return;  // new memory reads as zero
    }
  }
  // Memory which no kernel touches takes no room on the host.
  memory.fill_on_touch(address, buffer.bytes(),
                       [fill, type = buffer.type, address](std::uint64_t first, std::span<std::byte> bytes) {
                         make_elements(fill, type, (first - address) / isa::size_of(type), bytes);
                       });
}

}  // namespace heddle::tb::launch
