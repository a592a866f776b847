#include "tb/device/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace heddle::tb::launch {
namespace {

using isa::Type;

static_assert(std::endian::native == std::endian::little, "device memory is little-endian");

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
bool is_unsigned(Type type) {
  return type == Type::u8 || type == Type::u16 || type == Type::u32 || type == Type::u64;
}

// Rounds to nearest even: |x| as a multiple of the half's unit in the last place at that size.
std::uint16_t half_of(double x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000U : 0U;
  if (std::isnan(x)) {
    return 0x7fffU;
  }
  const double magnitude = std::fabs(x);
  if (std::isinf(magnitude)) {
    return sign | 0x7c00U;
  }
  if (magnitude == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent);               // magnitude in [2^(exponent-1), 2^exponent)
  const int unit = std::max(exponent - 11, -24);  // 11 significant bits; 2^-24 is the least subnormal
  const double digits = std::nearbyint(std::ldexp(magnitude, -unit));  // default rounding: to nearest even
  // digits up to 2^11: the addition carries into the exponent field by itself.
  const auto bits = static_cast<std::uint32_t>(digits) + (static_cast<std::uint32_t>(unit + 24) << 10U);
  return static_cast<std::uint16_t>(sign | std::min<std::uint32_t>(bits, 0x7c00U));
}

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 31;
  const int digits = bits & 1023;
  const double magnitude = exponent == 31  ? (digits == 0 ? HUGE_VAL : std::nan(""))
                           : exponent == 0 ? std::ldexp(digits, -24)
                                           : std::ldexp(1024 + digits, exponent - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

template <class T>
T take(std::span<const std::byte> element) {
  T value;
  std::memcpy(&value, element.data(), sizeof(value));
  return value;
}

Wide integer_of(Type type, std::span<const std::byte> element) {
  switch (isa::size_of(type)) {
    case 1:
      return is_signed(type) ? Wide{take<std::int8_t>(element)} : Wide{take<std::uint8_t>(element)};
    case 2:
      return is_signed(type) ? Wide{take<std::int16_t>(element)} : Wide{take<std::uint16_t>(element)};
    case 4:
      return is_signed(type) ? Wide{take<std::int32_t>(element)} : Wide{take<std::uint32_t>(element)};
    default:
      return is_signed(type) ? Wide{take<std::int64_t>(element)} : Wide{take<std::uint64_t>(element)};
  }
}

}  // namespace

bool is_float(Type type) {
  return type == Type::f16 || type == Type::f32 || type == Type::f64;
}

Range range_of(Type type) {
  const unsigned bits = 8 * isa::size_of(type);
  const Wide one = 1;
  return {is_unsigned(type) ? Wide{0} : -(one << (bits - 1)),
          is_signed(type) ? (one << (bits - 1)) - 1 : (one << bits) - 1};
}

std::string text_of(Wide value) {
  return value < 0 ? fmt::format("{}", static_cast<std::int64_t>(value))
                   : fmt::format("{}", static_cast<std::uint64_t>(value));
}

std::optional<std::string> objection(Type type, const Number& value) {
  if (is_float(type)) {
    const double largest = type == Type::f16 ? 65504.0 : 3.4028234663852886e38;
    if (type != Type::f64 && std::isfinite(value.real) && std::fabs(value.real) > largest) {
      return fmt::format("{} is too large for {}", value.real, isa::name_of(type));
    }
    return std::nullopt;
  }
  if (!value.is_integer) {
    return fmt::format("{} is not an integer, as {} needs", value.real, isa::name_of(type));
  }
  const Range range = range_of(type);
  if (value.integer < range.low || value.integer > range.high) {
    return fmt::format("{} is outside {}, which is {} to {}", text_of(value.integer), isa::name_of(type),
                       text_of(range.low), text_of(range.high));
  }
  return std::nullopt;
}

Element encode(Type type, const Number& value) {
  Element out{};
  if (type == Type::f16) {
    const std::uint16_t bits = half_of(value.real);
    std::memcpy(out.data(), &bits, sizeof(bits));
  } else if (type == Type::f32) {
    const auto single = static_cast<float>(value.real);
    std::memcpy(out.data(), &single, sizeof(single));
  } else if (type == Type::f64) {
    std::memcpy(out.data(), &value.real, sizeof(value.real));
  } else {
    const auto bits = static_cast<std::uint64_t>(value.integer);
    std::memcpy(out.data(), &bits, isa::size_of(type));
  }
  return out;
}

double decode_float(Type type, std::span<const std::byte> element) {
  return type == Type::f16   ? half_value(take<std::uint16_t>(element))
         : type == Type::f32 ? static_cast<double>(take<float>(element))
                             : take<double>(element);
}

std::string text_of(Type type, std::span<const std::byte> element) {
  if (type == Type::f32) {
    return fmt::format("{}", take<float>(element));
  }
  return is_float(type) ? fmt::format("{}", decode_float(type, element)) : text_of(integer_of(type, element));
}

Number decode(Type type, std::span<const std::byte> element) {
  return is_float(type) ? Number::of(decode_float(type, element)) : Number::of(integer_of(type, element));
}

std::optional<int> compare(Type type, const Number& a, const Number& b) {
  if (!is_float(type)) {
    return a.integer < b.integer ? -1 : a.integer > b.integer ? 1 : 0;
  }
  if (std::isnan(a.real) || std::isnan(b.real)) {
    return std::nullopt;
  }
  return a.real < b.real ? -1 : a.real > b.real ? 1 : 0;
}

bool equal(Type type, std::span<const std::byte> actual, std::span<const std::byte> expected,
           std::optional<double> tolerance) {
  if (std::equal(actual.begin(), actual.end(), expected.begin(), expected.end())) {
    return true;
  }
  if (!is_float(type) || !tolerance) {
    return false;
  }
  const double a = decode_float(type, actual);
  const double e = decode_float(type, expected);
  if (std::isnan(a) || std::isnan(e)) {
    return std::isnan(a) && std::isnan(e);
  }
  if (std::isinf(a) || std::isinf(e)) {
    return a == e;
  }
  return std::fabs(a - e) <= *tolerance * std::fabs(e);
}

}  // namespace heddle::tb::launch
