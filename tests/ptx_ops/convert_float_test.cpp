// cvt from and to floating point (PTX ISA, section 9.7.9.21): every pair of types in every rounding, .ftz and .sat.
#include <gtest/gtest.h>

#include <limits>

#include "tests/ptx_ops/host_float.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("PtxConvert.SinglesToIntegers", "PtxConvert.IntegersTo*")

namespace heddle::ptx_ops {
namespace {

template <class T>
std::string type_name() {
  if constexpr (std::is_integral_v<T>) return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
  if constexpr (!std::is_integral_v<T>) return name_of<T>();
}

double widened(Half half) {
  const double sign = (half.bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = half.bits >> 10U & 31U;
  const double fraction = half.bits & 0x3ffU;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * std::ldexp(exponent == 0 ? fraction : fraction + 1024, std::max(exponent, 1) - 25);
}

// In the current rounding direction, as a count of the smallest step at x's size.
Half narrowed(long double x) {
  if (std::isnan(x)) return {0x7fff};
  const unsigned sign = std::signbit(x) ? 0x8000U : 0;
  if (std::isinf(x)) return {static_cast<u16>(sign | 0x7c00U)};
  const int exponent = x == 0 ? -14 : std::max(std::ilogb(x), -14);
  const volatile long double steps = std::ldexp(x, 10 - exponent);
  const volatile long double rounded = std::nearbyint(static_cast<long double>(steps));
  const long double value = std::ldexp(std::fabs(static_cast<long double>(rounded)), exponent - 10);
  if (value > 65504) {
    const int mode = std::fegetround();
    const bool inward = mode == FE_TOWARDZERO || mode == (sign != 0 ? FE_UPWARD : FE_DOWNWARD);
    return {static_cast<u16>(sign | (inward ? 0x7bffU : 0x7c00U))};
  }
  if (value < std::ldexp(1.0L, -14)) return {static_cast<u16>(sign | static_cast<u16>(std::ldexp(value, 24)))};
  const int scale = std::ilogb(value);
  return {static_cast<u16>(sign | static_cast<unsigned>(scale + 15) << 10U |
                           (static_cast<unsigned>(std::ldexp(value, 10 - scale)) & 0x3ffU))};
}

template <class F>
long double exact(F x, bool ftz) {
  if constexpr (std::is_same_v<F, Half>) return widened(x);
  if constexpr (std::is_same_v<F, float>) return flush(x, ftz);
  if constexpr (std::is_same_v<F, double>) return x;
  if constexpr (std::is_integral_v<F>) return x;
}

// Rounds a value that a long double holds exactly to the type F.
template <class F>
F to_real(long double x, const FloatMode& mode) {
  if (mode.saturate) x = x > 0 ? std::min(x, 1.0L) : 0.0L;
  const int before = std::fegetround();
  std::fesetround(mode.rounding);
  F result;
  if constexpr (std::is_same_v<F, Half>) {
    result = narrowed(x);
  } else {
    const volatile long double source = x;
    volatile F narrow = static_cast<F>(source);
    result = narrow;
  }
  std::fesetround(before);
  if constexpr (!std::is_same_v<F, Half>) result = std::isnan(result) ? canonical_nan<F>() : flush(result, mode.ftz);
  return result;
}

long double integral(long double x, int rounding) {
  switch (rounding) {
    case FE_TOWARDZERO:
      return std::trunc(x);
    case FE_DOWNWARD:
      return std::floor(x);
    case FE_UPWARD:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

template <class T>
constexpr bool kSingle = std::is_same_v<T, float>;

// f(modifiers, mode) for each rounding (suffix "" or "i") and, where they apply, .ftz and .sat.
template <class Function>
void modes(const std::string& suffix, bool has_ftz, Function f) {
  for (const RoundingName& rounding : kRoundings) {
    for (const bool ftz : {false, true}) {
      for (const bool saturate : {false, true}) {
        if (ftz && !has_ftz) continue;
        f(rounding.name + suffix + (ftz ? ".ftz" : "") + (saturate ? ".sat" : ""),
          FloatMode{rounding.mode, ftz, saturate});
      }
    }
  }
}

// ---- float to integer: out of range to the nearest bound, NaN as the note on cvt in the ISA says.

template <class To, class From>
To to_integer(From a, const FloatMode& mode) {
  const long double x = integral(exact(a, mode.ftz), mode.rounding);
  constexpr bool kTopBit = std::is_same_v<From, double> || sizeof(To) == 8;
  if (std::isnan(x)) return kTopBit ? static_cast<To>(u64{1} << (8 * sizeof(To) - 1)) : To{0};
  if (x <= std::numeric_limits<To>::min()) return std::numeric_limits<To>::min();
  if (x >= std::numeric_limits<To>::max()) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

template <class To, class From>
void float_to_integer(OperationTable& table) {
  modes("i", kSingle<From>, [&](const std::string& modifiers, FloatMode mode) {
    const std::string text = "cvt" + modifiers + "." + type_name<To>() + "." + name_of<From>() + " $d, $a;";
    table.add(text, [mode](From a) { return static_cast<Own<To>>(to_integer<To>(a, mode)); });
    if constexpr (sizeof(To) < 4) table.add(text, [mode](From a) { return static_cast<s32>(to_integer<To>(a, mode)); });
    if constexpr (sizeof(To) < 8) table.add(text, [mode](From a) { return static_cast<s64>(to_integer<To>(a, mode)); });
  });
}

template <class From>
void to_every_integer() {
  OperationTable table;
  float_to_integer<std::uint8_t, From>(table);
  float_to_integer<std::int8_t, From>(table);
  float_to_integer<u16, From>(table);
  float_to_integer<s16, From>(table);
  float_to_integer<u32, From>(table);
  float_to_integer<s32, From>(table);
  float_to_integer<u64, From>(table);
  float_to_integer<s64, From>(table);
  table.run();
}

TEST(PtxConvert, HalvesToIntegers) {
  to_every_integer<Half>();
}
TEST(PtxConvert, SinglesToIntegers) {
  to_every_integer<float>();
}
TEST(PtxConvert, DoublesToIntegers) {
  to_every_integer<double>();
}

// ---- integer to float

template <class To, class From>
void integer_to_float(OperationTable& table) {
  modes("", kSingle<To>, [&](const std::string& modifiers, FloatMode mode) {
    const std::string text = "cvt" + modifiers + "." + name_of<To>() + "." + type_name<From>() + " $d, $a;";
    table.add(text, [mode](Own<From> a) { return to_real<To>(exact(static_cast<From>(a), false), mode); });
    if constexpr (sizeof(From) < 8) {  // the low bits of a wider register
      table.add(text, [mode](u64 a) { return to_real<To>(exact(static_cast<From>(a), false), mode); });
    }
  });
}

template <class To>
void from_every_integer() {
  OperationTable table;
  integer_to_float<To, std::uint8_t>(table);
  integer_to_float<To, std::int8_t>(table);
  integer_to_float<To, u16>(table);
  integer_to_float<To, s16>(table);
  integer_to_float<To, u32>(table);
  integer_to_float<To, s32>(table);
  integer_to_float<To, u64>(table);
  integer_to_float<To, s64>(table);
  table.run();
}

TEST(PtxConvert, IntegersToHalves) {
  from_every_integer<Half>();
}
TEST(PtxConvert, IntegersToSingles) {
  from_every_integer<float>();
}
TEST(PtxConvert, IntegersToDoubles) {
  from_every_integer<double>();
}

// ---- float to float

template <class To, class From>
void narrowing(OperationTable& table) {
  modes("", kSingle<To> || kSingle<From>, [&](const std::string& modifiers, FloatMode mode) {
    table.add("cvt" + modifiers + "." + name_of<To>() + "." + name_of<From>() + " $d, $a;",
              [mode](From a) { return to_real<To>(exact(a, mode.ftz), mode); });
  });
}

template <class To, class From>
void widening(OperationTable& table) {
  for (const bool ftz : {false, true}) {
    for (const bool saturate : {false, true}) {
      if (ftz && !kSingle<To> && !kSingle<From>) continue;
      const FloatMode mode{FE_TONEAREST, ftz, saturate};
      table.add(std::string("cvt") + (ftz ? ".ftz" : "") + (saturate ? ".sat" : "") + "." + name_of<To>() + "." +
                    name_of<From>() + " $d, $a;",
                [mode](From a) { return to_real<To>(exact(a, mode.ftz), mode); });
    }
  }
}

template <class F>
void integral_values(OperationTable& table) {
  modes("i", kSingle<F>, [&](const std::string& modifiers, FloatMode mode) {
    table.add("cvt" + modifiers + "." + name_of<F>() + "." + name_of<F>() + " $d, $a;", [mode](F a) {
      FloatMode nearest = mode;
      nearest.rounding = FE_TONEAREST;
      return to_real<F>(integral(exact(a, mode.ftz), mode.rounding), nearest);
    });
  });
}

TEST(PtxConvert, FloatsToFloats) {
  OperationTable table;
  narrowing<Half, float>(table);
  narrowing<Half, double>(table);
  narrowing<float, double>(table);
  widening<float, Half>(table);
  widening<double, Half>(table);
  widening<double, float>(table);
  integral_values<Half>(table);
  integral_values<float>(table);
  integral_values<double>(table);
  // Without any modifier, the same type is a move, of NaNs too.
  table.add("cvt.f32.f32 $d, $a;", [](float a) { return a; });
  table.add("cvt.f64.f64 $d, $a;", [](double a) { return a; });
  table.add("cvt.sat.f32.f32 $d, $a;", [](float a) { return to_real<float>(a, {FE_TONEAREST, false, true}); });
  table.add("cvt.ftz.f32.f32 $d, $a;", [](float a) { return to_real<float>(a, {FE_TONEAREST, true, false}); });
  table.add("cvt.sat.f64.f64 $d, $a;", [](double a) { return to_real<double>(a, {FE_TONEAREST, false, true}); });
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
