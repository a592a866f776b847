// cvt over its whole type matrix (PTX ISA, "Data Movement and Conversion Instructions: cvt").
//
// Integers narrower than 32 bits are the low bits of their register; a result is sign- or zero-extended to 32 bits.
// Half precision is the low 16 bits. Floating-point sources pass through double, which holds each of them exactly.
#include <limits>
#include <tuple>
#include <type_traits>

#include "isa/lane_float.hpp"
#include "isa/lane_half.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

// In the order of Type: u8 s8 u16 s16 u32 s32 u64 s64.
using Integers = std::tuple<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, u32, s32, u64, s64>;
constexpr unsigned kIntegers = 8;
template <unsigned I>
using Integer = std::tuple_element_t<I, Integers>;

template <typename T>
inline T load_integer(const LaneValues& v, unsigned lane) {
  if constexpr (sizeof(T) == 8) {
    return get<T>(v.b, lane);
  } else {
    return static_cast<T>(v.b[0][lane]);
  }
}

template <typename T>
inline void store_integer(LaneValues& v, unsigned lane, T value) {
  if constexpr (sizeof(T) == 8) {
    put(v, lane, value);
  } else {
    v.result[0][lane] = static_cast<u32>(static_cast<std::conditional_t<std::is_signed_v<T>, s32, u32>>(value));
  }
}

// ---- integer to integer

template <typename To, typename From>
constexpr To saturated(From x) {
  constexpr bool kMayBeLow = std::is_signed_v<From> && (std::is_unsigned_v<To> || sizeof(To) < sizeof(From));
  constexpr bool kMayBeHigh = std::numeric_limits<To>::digits < std::numeric_limits<From>::digits;
  if constexpr (kMayBeLow) {
    constexpr From kLow = std::is_unsigned_v<To> ? From{0} : static_cast<From>(std::numeric_limits<To>::min());
    x = x < kLow ? kLow : x;
  }
  if constexpr (kMayBeHigh) {
    constexpr From kHigh = static_cast<From>(std::numeric_limits<To>::max());
    x = x > kHigh ? kHigh : x;
  }
  return static_cast<To>(x);
}

struct IntegerToInteger {
  template <unsigned Index>  // (to * 8 + from) * 2 + saturate
  static void run(const Instruction& /*instruction*/, LaneValues& v) {
    using To = Integer<Index / 16>;
    using From = Integer<Index / 2 % kIntegers>;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const From x = load_integer<From>(v, lane);
      store_integer<To>(v, lane, Index % 2 == 0 ? static_cast<To>(x) : saturated<To>(x));
    }
  }
};

// ---- floating-point formats; their order is that of Type from f16 on

enum class Format : std::uint8_t { half, single, double_ };
constexpr unsigned kFormats = 3;

// Integral value of x in direction R (rni, rzi, rmi, rpi).
template <Rounding R>
inline double integral(double x) {
  switch (R) {
    case Rounding::rni:
      return std::rint(x);
    case Rounding::rmi:
      return std::floor(x);
    case Rounding::rpi:
      return std::ceil(x);
    default:
      return std::trunc(x);
  }
}

template <Format F>
inline double load_float(const LaneValues& v, unsigned lane, bool ftz) {
  if constexpr (F == Format::half) return widened<Binary16>(v.b[0][lane]);
  if constexpr (F == Format::single) {
    const u32 x = v.b[0][lane];
    return f32(ftz ? flushed<true>(x) : x);
  }
  return get<double>(v.b, lane);
}

template <Format F, Rounding R>
inline void store_float(LaneValues& v, unsigned lane, double value, bool ftz) {
  if constexpr (F == Format::half) {
    v.result[0][lane] = narrowed<Binary16, R>(value);
  } else if constexpr (F == Format::single) {
    const float narrow = rounded<R>(value, 0.0);
    v.result[0][lane] = ftz ? finished<true>(narrow) : finished<false>(narrow);
  } else {
    put(v, lane, finished(value));
  }
}

// ---- floating point to floating point

struct FloatToFloat {
  template <unsigned Index>  // (to * 3 + from) * 9 + rounding
  static void run(const Instruction& instruction, LaneValues& v) {
    constexpr auto kTo = static_cast<Format>(Index / 27);
    constexpr auto kFrom = static_cast<Format>(Index / 9 % kFormats);
    constexpr auto kMode = static_cast<Rounding>(Index % 9);
    constexpr bool kIntegral = kMode >= Rounding::rni;
    constexpr Rounding kNarrow = kIntegral || kMode == Rounding::none ? Rounding::rn : kMode;
    const bool ftz = instruction.cvt_ftz();
    const bool saturate = instruction.cvt_saturate();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      double x = load_float<kFrom>(v, lane, ftz);
      if constexpr (kIntegral) x = integral<kMode>(x);
      const double positive = x > 0.0 ? x : 0.0;  // NaN to +0
      const double limited = positive < 1.0 ? positive : 1.0;
      store_float<kTo, kNarrow>(v, lane, saturate ? limited : x, ftz);
    }
  }
};

// ---- floating point to integer: out of range to the nearest bound. NaN gives zero, or, as the PTX ISA has it where
// the source is f64 or the target has 64 bits, the target's most significant bit alone.

template <typename To>
inline To clamp_to_integer(double x, To of_nan) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
  // One more than the largest value, exact in double for every type.
  constexpr double kBeyond = 2.0 * static_cast<double>(u64{1} << (std::numeric_limits<To>::digits - 1));
  using Wide = std::conditional_t<sizeof(To) == 8, To, std::conditional_t<std::is_signed_v<To>, s32, u32>>;
  const bool high = x >= kBeyond;
  const bool low = x <= kLow;
  const bool inside = x > kLow && x < kBeyond;
  const To converted = static_cast<To>(static_cast<Wide>(inside ? x : 0.0));
  const To bounded = high ? std::numeric_limits<To>::max() : low ? std::numeric_limits<To>::min() : converted;
  return x == x ? bounded : of_nan;
}

struct FloatToInteger {
  template <unsigned Index>  // (to * 3 + from) * 4 + rounding
  static void run(const Instruction& instruction, LaneValues& v) {
    using To = Integer<Index / 12>;
    constexpr auto kFrom = static_cast<Format>(Index / 4 % kFormats);
    constexpr auto kMode = static_cast<Rounding>(static_cast<unsigned>(Rounding::rni) + Index % 4);
    constexpr bool kTopBit = kFrom == Format::double_ || sizeof(To) == 8;
    constexpr To kOfNan = kTopBit ? static_cast<To>(u64{1} << (8 * sizeof(To) - 1)) : To{0};
    const bool ftz = instruction.cvt_ftz();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const double x = integral<kMode>(load_float<kFrom>(v, lane, ftz));
      store_integer<To>(v, lane, clamp_to_integer<To>(x, kOfNan));
    }
  }
};

// ---- integer to floating point

// The nearest value of x's magnitude, stepped into direction R by comparing it, converted back, with the magnitude.
template <Rounding R, typename F, typename Int>
inline F from_integer(Int x) {
  const F nearest = static_cast<F>(x);
  if constexpr (R == Rounding::rn) {
    return nearest;
  } else {
    const bool negative = x < Int{0};
    const u64 magnitude = negative ? u64{0} - static_cast<u64>(x) : static_cast<u64>(x);
    const F found = std::fabs(nearest);
    const bool beyond = found >= static_cast<F>(0x1p64);
    const u64 back = beyond ? 0 : static_cast<u64>(found);
    const bool above = beyond || back > magnitude;
    const bool below = !beyond && back < magnitude;
    const bool down = toward_zero<R>(negative);
    auto pattern = bits(nearest);
    if (down && above) --pattern;
    if (!down && below) ++pattern;
    return std::bit_cast<F>(pattern);
  }
}

struct IntegerToFloat {
  template <unsigned Index>  // (to * 8 + from) * 4 + rounding
  static void run(const Instruction& instruction, LaneValues& v) {
    constexpr auto kTo = static_cast<Format>(Index / 32);
    using From = Integer<Index / 4 % kIntegers>;
    // Narrow types convert as 32-bit ones.
    using Int = std::conditional_t<sizeof(From) == 8, From, std::conditional_t<std::is_signed_v<From>, s32, u32>>;
    constexpr auto kMode = static_cast<Rounding>(1U + Index % 4);
    const bool saturate = instruction.cvt_saturate();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const Int source = +load_integer<From>(v, lane);
      const Int limited = source > Int{0} ? Int{1} : Int{0};
      const Int x = saturate ? limited : source;
      if constexpr (kTo == Format::single) {
        put(v, lane, from_integer<kMode, float>(x));
      } else if constexpr (kTo == Format::double_) {
        put(v, lane, from_integer<kMode, double>(x));
      } else {
        // Beyond +-2^17 every direction overflows alike.
        constexpr s64 kLimit = 1 << 17;
        const bool high = x > Int{0} && static_cast<u64>(x) > u64{kLimit};
        const bool low = std::is_signed_v<Int> && static_cast<s64>(x) < -kLimit;
        const s64 bounded = high ? kLimit : low ? -kLimit : static_cast<s64>(x);
        v.result[0][lane] = narrowed<Binary16, kMode>(static_cast<double>(bounded));
      }
    }
  }
};

bool is_float(Type type) {
  return type >= Type::f16;
}
unsigned format_index(Type type) {
  return static_cast<unsigned>(type) - static_cast<unsigned>(Type::f16);
}

// Roundings by their direction, 0..3 for n, z, m, p; `none` is the default given.
unsigned direction(Rounding rounding, Rounding default_rounding) {
  const Rounding chosen = rounding == Rounding::none ? default_rounding : rounding;
  const Rounding first = chosen >= Rounding::rni ? Rounding::rni : Rounding::rn;
  return static_cast<unsigned>(chosen) - static_cast<unsigned>(first);
}

}  // namespace

HEDDLE_LANES(CVT) {
  const Type to = instruction.cvt_to();
  const Type from = instruction.cvt_from();
  const Rounding rounding = instruction.cvt_rounding();
  const auto to_integer = static_cast<unsigned>(to);
  const auto from_integer = static_cast<unsigned>(from);
  if (!is_float(to) && !is_float(from)) {
    return pick<IntegerToInteger, 128>((to_integer * 8 + from_integer) * 2 + (instruction.cvt_saturate() ? 1 : 0));
  }
  if (!is_float(to)) {
    return pick<FloatToInteger, 96>((to_integer * 3 + format_index(from)) * 4 + direction(rounding, Rounding::rzi));
  }
  if (!is_float(from)) {
    return pick<IntegerToFloat, 96>((format_index(to) * 8 + from_integer) * 4 + direction(rounding, Rounding::rn));
  }
  return pick<FloatToFloat, 81>((format_index(to) * 3 + format_index(from)) * 9 + static_cast<unsigned>(rounding));
}

// The sum of two halves has no more digits than a double.
u32 half_sum(u32 a, u32 b) {
  return narrowed<Binary16, Rounding::rn>(widened<Binary16>(a) + widened<Binary16>(b));
}

}  // namespace heddle::isa::lanes
