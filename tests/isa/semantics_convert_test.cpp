// cvt over the type matrix, against long double and 128-bit integers, which hold every source value exactly.
#include <algorithm>
#include <cfenv>
#include <cmath>

#include "lane_check.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("SemanticsConvert.FloatTo*")

namespace heddle::isa {
namespace {

using namespace test;
using s128 = __int128;

constexpr Type kIntegers[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64};
constexpr Type kFloats[] = {Type::f16, Type::f32, Type::f64};
constexpr Rounding kDirections[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};
constexpr Rounding kIntegral[] = {Rounding::rni, Rounding::rzi, Rounding::rmi, Rounding::rpi};

bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
unsigned bits_of(Type t) {
  return 8 * size_of(t);
}
s128 lowest(Type t) {
  return is_signed(t) ? -(s128{1} << (bits_of(t) - 1)) : 0;
}
s128 highest(Type t) {
  return (s128{1} << (bits_of(t) - (is_signed(t) ? 1 : 0))) - 1;
}

s128 integer_in(Type t, u64 raw) {
  const s128 value = static_cast<s128>(raw) & ((s128{1} << bits_of(t)) - 1);
  return value > highest(t) ? value - (s128{1} << bits_of(t)) : value;
}
// How a register (pair) holds an integer of a type.
u64 integer_out(Type t, s128 value) {
  const s128 wrapped = integer_in(t, static_cast<u64>(value));
  return bits_of(t) == 64 ? static_cast<u64>(wrapped) : u64{static_cast<u32>(wrapped)};
}

long double half_value(u32 half) {
  const u32 exponent = half >> 10U & 31U;
  const u32 fraction = half & 1023U;
  const long double sign = (half & 0x8000U) != 0 ? -1.0L : 1.0L;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<long double>::quiet_NaN() : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<long double>(fraction), -24);
  return sign * std::ldexp(static_cast<long double>(1024 + fraction), static_cast<int>(exponent) - 25);
}

long double float_in(Type t, u64 raw, bool ftz = false) {
  if (t == Type::f16) return half_value(low(raw));
  if (t == Type::f64) return std::bit_cast<double>(raw);
  const u32 word = low(raw);
  return std::bit_cast<float>(ftz && (word & 0x7F800000U) == 0 ? word & 0x80000000U : word);
}

// The half on the given side of x, found among all halves.
u32 half_of(long double x, Rounding rounding) {
  const u32 sign = std::signbit(x) ? 0x8000U : 0;
  const long double magnitude = std::fabs(x);
  if (std::isinf(x)) return sign | 0x7C00U;
  u32 below = 0;  // largest half not above the magnitude
  for (u32 step = 0x4000; step != 0; step /= 2) {
    if (below + step < 0x7C00 && half_value(below + step) <= magnitude) below += step;
  }
  if (half_value(below) == magnitude) return sign | below;
  const u32 above = below + 1;
  switch (rounding) {
    case Rounding::rz:
      return sign | below;
    case Rounding::rm:
      return sign | (sign != 0 ? above : below);
    case Rounding::rp:
      return sign | (sign != 0 ? below : above);
    default: {
      // The binade above the largest half stands in for infinity when distances are compared.
      const long double next = above == 0x7C00 ? 65536.0L : half_value(above);
      const long double down = magnitude - half_value(below);
      const long double up = next - magnitude;
      return sign | (down < up || (down == up && below % 2 == 0) ? below : above);
    }
  }
}

template <typename F>
F narrowed(long double x, Rounding rounding) {
  const volatile long double from = x;
  std::fesetround(kHostModes[static_cast<unsigned>(rounding) - 1]);
  const volatile F to = static_cast<F>(from);
  std::fesetround(FE_TONEAREST);
  return to;
}

u64 float_out(Type t, long double x, Rounding rounding, bool ftz, bool saturate) {
  if (saturate) x = std::isnan(x) || x <= 0 ? 0 : std::min(x, 1.0L);
  if (std::isnan(x)) return t == Type::f16 ? 0x7FFF : t == Type::f32 ? 0x7FFFFFFF : 0xFFF8000000000000U;
  if (t == Type::f16) return half_of(x, rounding);
  if (t == Type::f64) return std::bit_cast<u64>(narrowed<double>(x, rounding));
  const u32 word = std::bit_cast<u32>(narrowed<float>(x, rounding));
  return ftz && (word & 0x7F800000U) == 0 ? word & 0x80000000U : word;
}

long double integral_value(long double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::rni:
      return std::nearbyint(x);
    case Rounding::rmi:
      return std::floor(x);
    case Rounding::rpi:
      return std::ceil(x);
    default:
      return std::trunc(x);
  }
}

// Values on both sides of every integer type's limits, halves between integers, and halves' own limits.
std::vector<Lane> float_lanes(Type t) {
  std::vector<Lane> lanes;
  std::mt19937_64 random(9);
  const auto add = [&](u64 raw) { lanes.push_back({0, raw, 0, 0}); };
  if (t == Type::f16) {
    for (u32 half = 0; half < 0x10000; ++half) add(half);
    return lanes;
  }
  const std::vector<Lane> common = (t == Type::f32 ? floats() : doubles()).lanes(false, 6000);
  for (const Lane& l : common) {
    if (lanes.size() < 40 * 40 || lanes.size() % 3 == 0) add(l.a);
    add(l.b);
  }
  const auto around = [&](double x) {
    for (const double value : {x, -x}) {
      for (int step = -3; step <= 3; ++step) {
        if (t == Type::f32) {
          add(std::bit_cast<u32>(static_cast<float>(value)) + static_cast<u32>(step));
        } else {
          add(std::bit_cast<u64>(value) + static_cast<u64>(s64{step}));
        }
      }
    }
  };
  for (int e = -30; e <= 66; ++e) around(std::ldexp(1.0, e));
  for (const double x : {0.5, 1.5, 2.5, 127.5, 128.5, 255.5, 32767.5, 65503.0, 65504.0, 65519.0, 65520.0, 65535.5,
                         2147483647.5, 4294967295.5}) {
    around(x);
  }
  for (int n = 0; n < 3000; ++n) {  // halves' binades, with bits beyond their precision
    const double x =
        std::ldexp(1.0 + static_cast<double>(random() % 0x1000000) / 0x1000000, static_cast<int>(random() % 44) - 27);
    around(x);
  }
  return lanes;
}

TEST(SemanticsConvert, IntegerToInteger) {
  const std::vector<Lane> lanes = longs().lanes(false, 1500);
  for (const Type to : kIntegers) {
    for (const Type from : kIntegers) {
      check(operation(Op::CVT, cvt_mods(to, from, Rounding::none, false, false)), lanes,
            [&](const Lane& l) { return integer_out(to, integer_in(from, l.b)); });
      check(operation(Op::CVT, cvt_mods(to, from, Rounding::none, false, true)), lanes,
            [&](const Lane& l) { return integer_out(to, std::clamp(integer_in(from, l.b), lowest(to), highest(to))); });
    }
  }
}

TEST(SemanticsConvert, FloatToInteger) {
  for (const Type from : kFloats) {
    const std::vector<Lane> lanes = float_lanes(from);
    for (const Type to : kIntegers) {
      for (const Rounding rounding : kIntegral) {
        for (const bool ftz : {false, true}) {
          if (ftz && from != Type::f32) continue;
          check(operation(Op::CVT, cvt_mods(to, from, rounding, ftz, false)), lanes, [&](const Lane& l) -> u64 {
            const long double x = integral_value(float_in(from, l.b, ftz), rounding);
            if (std::isnan(x)) {
              const bool top_bit = from == Type::f64 || bits_of(to) == 64;
              return top_bit ? integer_out(to, s128{1} << (bits_of(to) - 1)) : 0;
            }
            if (x < static_cast<long double>(lowest(to))) return integer_out(to, lowest(to));
            if (x > static_cast<long double>(highest(to))) return integer_out(to, highest(to));
            return integer_out(to, static_cast<s128>(x));
          });
        }
      }
    }
  }
}

TEST(SemanticsConvert, IntegerToFloat) {
  std::vector<Lane> lanes = longs().lanes(false, 1500);
  std::mt19937_64 random(10);
  for (int e = 0; e < 64; ++e) {  // ties and their neighbours at every precision
    for (int n = 0; n < 40; ++n) {
      const u64 top = (random() | u64{1} << 63U) >> static_cast<unsigned>(e);
      const u64 cut = random() % 60;
      lanes.push_back({0, ((top >> cut << cut) | u64{1} << cut >> 1U) + random() % 3 - 1, 0, 0});
    }
  }
  for (const Type from : kIntegers) {
    for (const Type to : kFloats) {
      for (const Rounding rounding : kDirections) {
        for (const bool saturate : {false, true}) {
          check(operation(Op::CVT, cvt_mods(to, from, rounding, false, saturate)), lanes, [&](const Lane& l) {
            return float_out(to, static_cast<long double>(integer_in(from, l.b)), rounding, false, saturate);
          });
        }
      }
    }
  }
}

TEST(SemanticsConvert, FloatToFloat) {
  for (const Type from : kFloats) {
    const std::vector<Lane> lanes = float_lanes(from);
    for (const Type to : kFloats) {
      for (const Rounding rounding : kDirections) {
        for (const bool ftz : {false, true}) {
          for (const bool saturate : {false, true}) {
            const Rounding given = to == from ? Rounding::none : rounding;
            check(operation(Op::CVT, cvt_mods(to, from, given, ftz, saturate)), lanes,
                  [&](const Lane& l) { return float_out(to, float_in(from, l.b, ftz), rounding, ftz, saturate); });
          }
        }
      }
    }
  }
}

TEST(SemanticsConvert, FloatToIntegralFloat) {
  for (const Type type : kFloats) {
    const std::vector<Lane> lanes = float_lanes(type);
    for (const Rounding rounding : kIntegral) {
      for (const bool ftz : {false, true}) {
        if (ftz && type != Type::f32) continue;
        check(operation(Op::CVT, cvt_mods(type, type, rounding, ftz, false)), lanes, [&](const Lane& l) {
          return float_out(type, integral_value(float_in(type, l.b, ftz), rounding), Rounding::rn, ftz, false);
        });
      }
    }
  }
}

TEST(SemanticsConvert, ByHand) {
  const auto convert = [](Type to, Type from, Rounding rounding, u64 value, bool saturate = false) {
    return compute_one(operation(Op::CVT, cvt_mods(to, from, rounding, false, saturate)), {0, value});
  };
  EXPECT_EQ(convert(Type::s8, Type::u32, Rounding::none, 0x1FF), 0xFFFFFFFFU);
  EXPECT_EQ(convert(Type::u8, Type::s32, Rounding::none, 0xFFFFFFFF, true), 0U);
  EXPECT_EQ(convert(Type::s32, Type::f32, Rounding::rni, std::bit_cast<u32>(2.5F)), 2U);
  EXPECT_EQ(convert(Type::s32, Type::f32, Rounding::rpi, std::bit_cast<u32>(2.5F)), 3U);
  EXPECT_EQ(convert(Type::s32, Type::f32, Rounding::rzi, 0x7FC00000), 0U);
  EXPECT_EQ(convert(Type::s64, Type::f32, Rounding::rzi, 0x7FC00000), 0x8000000000000000U);
  EXPECT_EQ(convert(Type::u64, Type::f32, Rounding::rzi, 0x7FC00000), 0x8000000000000000U);
  EXPECT_EQ(convert(Type::s32, Type::f32, Rounding::rzi, std::bit_cast<u32>(1e20F)), 0x7FFFFFFFU);
  EXPECT_EQ(convert(Type::f32, Type::u32, Rounding::rn, 0x01000001), std::bit_cast<u32>(16777216.0F));
  EXPECT_EQ(convert(Type::f32, Type::u32, Rounding::rp, 0x01000001), std::bit_cast<u32>(16777218.0F));
  EXPECT_EQ(convert(Type::f16, Type::f32, Rounding::rn, std::bit_cast<u32>(1.0F)), 0x3C00U);
  EXPECT_EQ(convert(Type::f16, Type::f32, Rounding::rn, std::bit_cast<u32>(65520.0F)), 0x7C00U);
  EXPECT_EQ(convert(Type::f16, Type::f32, Rounding::rz, std::bit_cast<u32>(1e9F)), 0x7BFFU);
  EXPECT_EQ(convert(Type::f32, Type::f16, Rounding::none, 0x0001), std::bit_cast<u32>(0x1p-24F));
}

}  // namespace
}  // namespace heddle::isa
