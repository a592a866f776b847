// Elements of buffers and scalar arguments: ranges, encoding, comparison.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::tb::launch {

__extension__ typedef __int128 Wide;  // holds every 64-bit integer, signed or not

// A number as the file has it.
struct Number {
  bool is_integer = true;
  Wide integer = 0;
  double real = 0;  // valid for integers too
  [[nodiscard]] static Number of(Wide value) { return {true, value, static_cast<double>(value)}; }
  [[nodiscard]] static Number of(double value) { return {false, 0, value}; }
};

[[nodiscard]] bool is_float(isa::Type type);
// The integers that an integer type holds; b8..b64 take both the signed and the unsigned ones.
struct Range {
  Wide low, high;
};
[[nodiscard]] Range range_of(isa::Type type);
[[nodiscard]] std::string text_of(Wide value);

// Why `value` cannot be an element of `type`; nothing when it can.
[[nodiscard]] std::optional<std::string> objection(isa::Type type, const Number& value);

// The element's bytes, little-endian; the first size_of(type) count. Floats round to nearest even. The value must be
// one without objection.
using Element = std::array<std::byte, 8>;
[[nodiscard]] Element encode(isa::Type type, const Number& value);
[[nodiscard]] double decode_float(isa::Type type, std::span<const std::byte> element);
[[nodiscard]] std::string text_of(isa::Type type, std::span<const std::byte> element);
[[nodiscard]] Number decode(isa::Type type, std::span<const std::byte> element);
// -1, 0, 1: a is less, equal, greater; nothing when one of them is no number (NaN).
[[nodiscard]] std::optional<int> compare(isa::Type type, const Number& a, const Number& b);

// Equal: the same bits, or, for floats with a tolerance, |actual - expected| <= tolerance * |expected|, with infinities
// and zeros equal to themselves and any NaN equal to any NaN.
[[nodiscard]] bool equal(isa::Type type, std::span<const std::byte> actual, std::span<const std::byte> expected,
                         std::optional<double> tolerance);

}  // namespace heddle::tb::launch
