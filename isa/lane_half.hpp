// Floating point of 16 bits: binary16 and bfloat16. Internal to isa/.
#pragma once

#include "isa/lane_float.hpp"

namespace heddle::isa::lanes {

// A format of 16 bits with the sign on top. A NaN result is 0x7fff in both (kNan16).
struct Binary16 {
  static constexpr unsigned kFraction = 10;
  static constexpr s64 kLeast = -14, kBeyond = 16;  // exponent of the least normal number, and the first too large
};
struct Bfloat16 {
  static constexpr unsigned kFraction = 7;
  static constexpr s64 kLeast = -126, kBeyond = 128;
};
template <class Format>
inline constexpr u32 kInfinity16 = static_cast<u32>(Format::kBeyond - Format::kLeast + 1) << Format::kFraction;
inline constexpr u32 kSign16 = 0x8000U;

// The value of the low 16 bits, exact. Exponent and fraction, taken as a double's, are a power of two too small:
// scaling is exact, of subnormals too.
template <class Format>
inline double widened(u32 half) {
  constexpr u64 kBias = static_cast<u64>(1023 - (1 - Format::kLeast));  // 1023 less the format's own
  const double scale = f64((1023 + kBias) << 52U);
  const u64 magnitude = half & 0x7FFFU;
  const double scaled = f64(magnitude << (52U - Format::kFraction)) * scale;
  const double special = magnitude == kInfinity16<Format> ? f64(kInfinity64) : f64(kNan64);
  const double value = magnitude < kInfinity16<Format> ? scaled : special;
  return f64(bits(value) | u64{half & kSign16} << 48U);
}

// x rounded in direction R. x is an integer multiple n of the format's quantum at x's exponent (at least the subnormal
// one); rounding n to an integer and adding it to the exponent carries correctly into the next binade.
template <class Format, Rounding R>
inline u32 narrowed(double x) {
  const u64 magnitude_bits = bits(x) & ~kSign64;
  const u32 sign = static_cast<u32>(bits(x) >> 48U) & kSign16;
  const double magnitude = f64(magnitude_bits);
  const s64 exponent = static_cast<s64>(magnitude_bits >> 52U) - 1023;
  const s64 clamped = exponent < Format::kLeast    ? Format::kLeast
                      : exponent > Format::kBeyond ? Format::kBeyond
                                                   : exponent;
  const double per_quantum = f64(static_cast<u64>(1023 + s64{Format::kFraction} - clamped) << 52U);
  const double most = f64(static_cast<u64>(1023 + Format::kBeyond + 1) << 52U);
  const double limited = magnitude < most ? magnitude : most;  // NaN too: the cast below must be defined
  const bool down = toward_zero<R>(sign != 0);
  const double scaled = limited * per_quantum;
  const double n = R == Rounding::rn ? std::rint(scaled) : down ? std::floor(scaled) : std::ceil(scaled);
  const u32 raw =
      (static_cast<u32>(clamped - Format::kLeast) << Format::kFraction) + static_cast<u32>(static_cast<s32>(n));
  const bool infinite = magnitude_bits == kInfinity64;
  const u32 overflowed = R != Rounding::rn && down && !infinite ? kInfinity16<Format> - 1 : kInfinity16<Format>;
  const u32 rounded = raw >= kInfinity16<Format> ? overflowed : raw;
  return magnitude_bits > kInfinity64 ? kNan16 : sign | rounded;
}

}  // namespace heddle::isa::lanes
