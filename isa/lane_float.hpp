// Floating-point rules of PTX that the host does not share: canonical NaNs, flushing of subnormals, saturation, and
// rounding in a given direction. Internal to isa/.
//
// Everything is built from correctly rounded IEEE 754 operations, so that results are equal on every host.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "isa/lane_loops.hpp"

namespace heddle::isa::lanes {

// PTX ISA, "Floating Point Instructions": single-precision NaN results are 0x7fffffff. For doubles the ISA leaves the
// payload open; one fixed pattern keeps results independent of the host's operand order.
inline constexpr u32 kNan32 = 0x7FFFFFFFU;
inline constexpr u64 kNan64 = 0xFFF8000000000000U;
inline constexpr u32 kNan16 = 0x7FFFU;

inline constexpr u32 kSign32 = 0x80000000U;
inline constexpr u64 kSign64 = 0x8000000000000000U;
inline constexpr u32 kInfinity32 = 0x7F800000U;
inline constexpr u64 kInfinity64 = 0x7FF0000000000000U;

// Sum of two halves (the low 16 bits), rounded to nearest.
[[nodiscard]] u32 half_sum(u32 a, u32 b);

inline float f32(u32 bits) {
  return std::bit_cast<float>(bits);
}
inline u32 bits(float x) {
  return std::bit_cast<u32>(x);
}
inline double f64(u64 bits) {
  return std::bit_cast<double>(bits);
}
inline u64 bits(double x) {
  return std::bit_cast<u64>(x);
}

// Subnormals to zero of the same sign.
template <bool Ftz>
inline u32 flushed(u32 x) {
  return Ftz && (x & kInfinity32) == 0 ? x & kSign32 : x;
}
template <bool Ftz>
inline float flushed(float x) {
  return f32(flushed<Ftz>(bits(x)));
}
template <bool Ftz>
inline double flushed(double x) {
  return Ftz && (bits(x) & kInfinity64) == 0 ? f64(bits(x) & kSign64) : x;
}

// The last step of every operation with a single-precision result: flush, saturate to [0, 1] (NaN to +0), else make
// NaNs canonical.
template <bool Ftz, bool Saturate = false>
inline u32 finished(float x) {
  const u32 kept = flushed<Ftz>(bits(x));
  const bool number = x == x;
  if constexpr (Saturate) {
    const u32 low = f32(kept) > 0.0F ? kept : 0U;
    const u32 high = f32(low) < 1.0F ? low : 0x3F800000U;
    return number ? high : 0U;
  } else {
    return number ? kept : kNan32;
  }
}
inline u64 finished(double x) {
  return x == x ? bits(x) : kNan64;
}

// Whether a directed rounding takes the neighbour nearer to zero.
template <Rounding R>
inline bool toward_zero(bool negative) {
  return R == Rounding::rz || (R == Rounding::rm && !negative) || (R == Rounding::rp && negative);
}

// Rounds s + e to single precision, where s is s + e rounded to double precision and e the exact error (or NaN where s
// is infinite). The nearest float f of s is one of the two neighbours of the exact value, or the value itself: between
// f and the value lies no other float, since that float would be a double and s could not have been rounded past it.
// So one step of f's bit pattern, which orders magnitudes, corrects it.
template <Rounding R>
inline float rounded(double s, double e) {
  const float nearest = static_cast<float>(s);
  if constexpr (R == Rounding::rn || R == Rounding::none) {
    return nearest;
  } else {
    const bool negative = (bits(s) & kSign64) != 0;
    const double magnitude = std::fabs(s);
    const double found = std::fabs(static_cast<double>(nearest));
    const double error = negative ? -e : e;
    const bool above = found > magnitude || (found == magnitude && error < 0.0);
    const bool below = found < magnitude || (found == magnitude && error > 0.0);
    const bool down = toward_zero<R>(negative);
    const u32 step_down = down && above ? 1U : 0U;
    const u32 step_up = !down && below ? 1U : 0U;
    const float stepped = f32(bits(nearest) - step_down + step_up);
    return nearest == nearest ? stepped : nearest;
  }
}

// a + b rounded to single precision in direction R; a and b are exact (products of floats, or floats).
// The error term is Knuth's TwoSum (The Art of Computer Programming vol. 2, 4.2.2, theorem B).
template <Rounding R>
inline float rounded_sum(double a, double b) {
  const double s = a + b;
  const double b_part = s - a;
  const double e = (a - (s - b_part)) + (b - b_part);
  const float f = rounded<R>(s, e);
  if constexpr (R == Rounding::rm) {
    // x + (-x) is -0 when rounding down.
    const bool opposite = ((bits(a) ^ bits(b)) & kSign64) != 0;
    return s == 0.0 && opposite ? -0.0F : f;
  } else {
    return f;
  }
}

// Corrects nearest, the result of a correctly rounded division or square root, into direction R. residual has the sign
// of (exact magnitude - |nearest|), 0 when exact, NaN when nearest stands as it is.
template <Rounding R>
inline float corrected(float nearest, double residual) {
  const bool down = toward_zero<R>((bits(nearest) & kSign32) != 0);
  const u32 step_down = down && residual < 0.0 ? 1U : 0U;
  const u32 step_up = !down && residual > 0.0 ? 1U : 0U;
  return f32(bits(nearest) - step_down + step_up);
}

// Rounding number i of the modifiers' two bits.
template <unsigned Mods>
inline constexpr Rounding kRounding = static_cast<Rounding>(1U + (Mods & 3U));

}  // namespace heddle::isa::lanes
