// Numbers as whole multiples of powers of two, and their rounding to any floating-point format, by integers alone: the
// oracle for formats that the host has no type for.
#pragma once

#include <cstdint>
#include <optional>

namespace heddle::test {

struct Format {
  int exponent_bits;
  int fraction_bits;
  bool infinity = true;  // else the largest exponent has numbers, all but the last
};
inline constexpr Format kHalf{5, 10};
inline constexpr Format kBfloat{8, 7};
inline constexpr Format kSingle{8, 23};
inline constexpr Format kDouble{11, 52};
inline constexpr Format kE4M3{4, 3, false};
inline constexpr Format kE5M2{5, 2};

enum class Rounding { nearest, to_zero, down, up };

// (negative ? -1 : 1) * size * 2^exponent.
struct Exact {
  bool negative = false;
  unsigned __int128 size = 0;
  int exponent = 0;
};

// Nothing for infinities and what is no number.
inline std::optional<Exact> exact(std::uint64_t bits, Format format) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int top = (1 << format.exponent_bits) - 1;
  const auto field = static_cast<int>(bits >> format.fraction_bits) & top;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.fraction_bits) - 1);
  const bool negative = (bits >> (format.exponent_bits + format.fraction_bits) & 1U) != 0;
  if (field == top && (format.infinity || fraction == (std::uint64_t{1} << format.fraction_bits) - 1)) return {};
  const std::uint64_t leading = field == 0 ? 0 : std::uint64_t{1} << format.fraction_bits;
  return Exact{negative, fraction | leading, (field == 0 ? 1 : field) - bias - format.fraction_bits};
}

inline Exact negated(Exact x) {
  x.negative = !x.negative;
  return x;
}
inline Exact product(const Exact& a, const Exact& b) {
  return {a.negative != b.negative, a.size * b.size, a.exponent + b.exponent};
}
// One of the summands may be so far below the other that only that it is not 0 counts. Sizes up to 53 bits. A sum of 0
// is positive unless both are negative.
inline Exact sum(Exact a, Exact b) {
  if (a.size == 0 || b.size == 0) {
    if (a.size == 0 && b.size == 0) return {a.negative && b.negative, 0, 0};
    return a.size == 0 ? b : a;
  }
  constexpr int kRoom = 70;
  if (a.exponent < b.exponent) std::swap(a, b);
  if (a.exponent - b.exponent > kRoom) {
    b.size = 1;
    b.exponent = a.exponent - kRoom;
  }
  a.size <<= a.exponent - b.exponent;
  if (a.negative == b.negative) return {a.negative, a.size + b.size, b.exponent};
  if (a.size == b.size) return {};
  return a.size > b.size ? Exact{a.negative, a.size - b.size, b.exponent}
                         : Exact{b.negative, b.size - a.size, b.exponent};
}
// b is not 0; sizes up to 24 bits. The last bit stands for all that would follow.
inline Exact quotient(const Exact& a, const Exact& b) {
  const unsigned __int128 wide = a.size << 90;
  return {a.negative != b.negative, (wide / b.size) << 1 | (wide % b.size != 0 ? 1U : 0U),
          a.exponent - b.exponent - 91};
}

// The bits of what x is rounded to. Beyond the largest number: `beyond`, without the sign, where rounding goes there.
inline std::uint64_t rounded(const Exact& x, Format format, Rounding rounding = Rounding::nearest,
                             std::optional<std::uint64_t> beyond = {}) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint64_t sign = std::uint64_t{x.negative} << (format.exponent_bits + format.fraction_bits);
  if (x.size == 0) return sign;
  int length = 0;
  while (length < 128 && x.size >> length != 0) ++length;
  // The place of the last bit kept, never below that of subnormal numbers.
  int last = x.exponent + length - 1 - format.fraction_bits;
  if (const int least = 1 - bias - format.fraction_bits; last < least) last = least;
  const int dropped = last - x.exponent;
  unsigned __int128 kept = 0;
  bool up = false;
  if (dropped <= 0) {
    kept = x.size << -dropped;
  } else if (dropped < 128) {
    kept = x.size >> dropped;
    const unsigned __int128 rest = x.size - (kept << dropped);
    const unsigned __int128 half = static_cast<unsigned __int128>(1) << (dropped - 1);
    up = rounding == Rounding::nearest ? rest > half || (rest == half && (kept & 1U) != 0)
                                       : rest != 0 && rounding == (x.negative ? Rounding::down : Rounding::up);
  } else {
    up = rounding == (x.negative ? Rounding::down : Rounding::up);
  }
  kept += up ? 1U : 0U;
  const int field = last - (1 - bias - format.fraction_bits);  // 0 too where the leading bit is missing
  const std::uint64_t code =
      (static_cast<std::uint64_t>(field) << format.fraction_bits) + static_cast<std::uint64_t>(kept);
  const std::uint64_t top = std::uint64_t((1 << format.exponent_bits) - 1) << format.fraction_bits;
  const std::uint64_t largest = format.infinity ? top - 1 : top + (std::uint64_t{1} << format.fraction_bits) - 2;
  if (code <= largest) return sign | code;
  const bool away = rounding == Rounding::nearest || rounding == (x.negative ? Rounding::down : Rounding::up);
  return sign | (away ? beyond.value_or(largest + 1) : largest);
}

}  // namespace heddle::test
