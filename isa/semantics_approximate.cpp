// The approximate functions of single precision: rsqrt, sin, cos, ex2, lg2, tanh.
//
// Computed in double precision with nothing but + - * / fma and sqrt, so that every host gives the same bits, and
// rounded to single at the end. The double value is within 2^-40 (relative) of the exact one, so that the result is
// within 0.5001 ulp, far inside what PTX asks of its approximations (2 ulp for ex2, 2^-20.5 absolute for sin and cos).
#include "base/set_bits.hpp"
#include "isa/instruction_fields.hpp"
#include "isa/lane_float.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPiHigh = 0x1.921fb54442d18p+0;
constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;
// Adding it rounds a double of magnitude below 2^51 to an integer, which then stands in the sum's low bits.
constexpr double kRoundingShift = 0x1.8p52;

// Evaluates coefficient[0] + x (coefficient[1] + x (...)). Recursive, not a loop: vectorising the loop over lanes
// needs straight code inside.
template <std::size_t First = 0, std::size_t N>
inline double polynomial(double x, const double (&coefficient)[N]) {
  if constexpr (First + 1 == N) {
    return coefficient[First];
  } else {
    return std::fma(polynomial<First + 1>(x, coefficient), x, coefficient[First]);
  }
}

// 2^x for |x| <= 1000 and NaN. The Taylor series of exp on [-ln 2 / 2, ln 2 / 2] to degree 11: remainder below 2^-46.
constexpr double kExp[] = {1.0,       1.0,        1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,
                           1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800};
inline double power_of_two(double x) {
  const double shifted = x + kRoundingShift;
  const double fraction = x - (shifted - kRoundingShift);
  const u64 exponent = (bits(shifted) + 1023U) << 52U;
  return polynomial(fraction * kLn2, kExp) * f64(exponent);
}

struct ReciprocalRoot {
  static double of(double x) { return 1.0 / std::sqrt(x); }
};

// Beyond +-200 the result is infinite or zero in single precision anyway.
struct PowerOfTwo {
  static double of(double x) {
    const double low = x < -200.0 ? -200.0 : x;
    return power_of_two(low > 200.0 ? 200.0 : low);
  }
};

// x = 2^e m with m in [sqrt(1/2), sqrt(2)); log2 m = 2 / ln 2 * artanh(s), s = (m - 1) / (m + 1), |s| < 0.1716: the
// series to s^17 leaves a relative remainder below 2^-49.
struct Log2 {
  static constexpr double kScale = 0x1.71547652b82fep+1;  // 2 / ln 2
  static constexpr double kArtanh[] = {kScale,      kScale / 3,  kScale / 5,  kScale / 7, kScale / 9,
                                       kScale / 11, kScale / 13, kScale / 15, kScale / 17};
  static double of(double x) {
    constexpr u64 kRootHalf = 0x3FE6A09E667F3BCDU;
    const u64 exponent_bits = (bits(x) - kRootHalf) & 0xFFF0000000000000U;
    const double m = f64(bits(x) - exponent_bits);
    const double e = static_cast<double>(static_cast<s32>(static_cast<u32>(exponent_bits >> 32U)) >> 20);
    const double s = (m - 1.0) / (m + 1.0);
    const double log = std::fma(s, polynomial(s * s, kArtanh), e);
    const double of_positive = x < f64(kInfinity64) ? log : x;
    const double of_zero = x == 0.0 ? -f64(kInfinity64) : of_positive;
    return x < 0.0 ? f64(kNan64) : of_zero;
  }
};

// tanh |x| = (1 - t) / (1 + t), t = e^(-2 |x|); near zero, where that cancels, the Taylor series (remainder below
// 2^-48 for |x| < 2^-5).
struct Tanh {
  static constexpr double kSeries[] = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835};
  static double of(double x) {
    const double magnitude = std::fabs(x);
    const double limited = magnitude > 40.0 ? 40.0 : magnitude;
    const double t = power_of_two(limited * -0x1.71547652b82fep+1);
    const double far = (1.0 - t) / (1.0 + t);
    const double near = magnitude * polynomial(x * x, kSeries);
    const double result = magnitude < 0x1p-5 ? near : far;
    return f64(bits(result) | (bits(x) & kSign64));
  }
};

template <typename Function>
struct Approximate {
  template <unsigned Ftz>
  static void run(const Instruction& /*instruction*/, LaneValues& v) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const double x = f32(flushed<Ftz != 0>(v.b[0][lane]));
      v.result[0][lane] = finished<Ftz != 0>(static_cast<float>(Function::of(x)));
    }
  }
};

// ---- sine and cosine: x = quadrant * pi / 2 + rest with |rest| <= pi / 4

struct Reduced {
  double rest;
  u32 quadrant;
};

// 2 / pi, 320 bits after the binary point.
constexpr u64 kTwoOverPiBits[5] = {0xA2F9836E4E441529U, 0xFC2757D1F534DDC0U, 0xDB6295993C439041U, 0xFE5163ABDEBBC561U,
                                   0xB7246E3A424DD2E0U};

// Reduction of large finite arguments after Payne and Hanek (Radian Reduction for Trigonometric Functions, SIGNUM
// Newsletter 18, 1983): x = m 2^e with a 24-bit m; of 2 / pi * 2^e only the bits of weight 2^1 and below matter, since
// higher bits add multiples of 4 quadrants. 128 of them leave an error of 2^-102 quadrants.
Reduced reduce_large(float x) {
  const u32 magnitude = bits(x) & ~kSign32;
  const unsigned first = (magnitude >> 23U) - 150U - 2U;  // bit of 2 / pi that has weight 2^1 after scaling by 2^e
  const u64 m = (magnitude & 0x7FFFFFU) | 0x800000U;
  const auto window = [](unsigned bit) {
    const unsigned word = bit / 64;
    const unsigned shift = bit % 64;
    return shift == 0 ? kTwoOverPiBits[word] : kTwoOverPiBits[word] << shift | kTwoOverPiBits[word + 1] >> (64 - shift);
  };
  const u64 high = window(first);
  const u64 low = window(first + 64);
  // m * (high:low) modulo 2^128, in two words.
  const u64 low_product = (low & 0xFFFFFFFFU) * m;
  const u64 middle = (low >> 32U) * m + (low_product >> 32U);
  const u64 product_low = middle << 32U | (low_product & 0xFFFFFFFFU);
  const u64 product_high = high * m + (middle >> 32U);
  // Two bits of quadrant, then the fraction, taken as signed so that it lies in [-1/2, 1/2).
  u32 quadrant = static_cast<u32>(product_high >> 62U);
  const u64 fraction_high = product_high << 2U | product_low >> 62U;
  const u64 fraction_low = product_low << 2U;
  if ((fraction_high >> 63U) != 0) ++quadrant;
  const double fraction = static_cast<double>(static_cast<s64>(fraction_high)) * 0x1p-64 +
                          static_cast<double>(fraction_low >> 11U) * 0x1p-117;
  const double rest = fraction * kHalfPiHigh;
  return (bits(x) & kSign32) != 0 ? Reduced{-rest, 0U - quadrant} : Reduced{rest, quadrant};
}

// Below this the two-part reduction is exact but for its last step; the low part's own error adds 2^-80.
constexpr float kLargeArgument = 0x1p30F;

inline Reduced reduce(double x) {
  const double shifted = std::fma(x, kTwoOverPi, kRoundingShift);
  const double k = shifted - kRoundingShift;
  return {std::fma(-k, kHalfPiLow, std::fma(-k, kHalfPiHigh, x)), static_cast<u32>(bits(shifted))};
}

// Taylor series on [-pi/4, pi/4]: remainders below 2^-46 (sine, relative) and 2^-49 (cosine, relative).
constexpr double kSine[] = {1.0,          -1.0 / 6,        1.0 / 120,          -1.0 / 5040,
                            1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
constexpr double kCosine[] = {1.0,         -1.0 / 2,       1.0 / 24,          -1.0 / 720,
                              1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600.0, -1.0 / 87178291200.0};

template <bool Ftz, bool Cosine>
void circular(const Instruction& /*instruction*/, LaneValues& v) {
  alignas(64) std::array<double, kLanes> rest;
  alignas(64) LaneWord quadrant;
  LaneWord large;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const float x = f32(flushed<Ftz>(v.b[0][lane]));
    const Reduced reduced = reduce(x);
    rest[lane] = reduced.rest;
    quadrant[lane] = reduced.quadrant;
    large[lane] = std::fabs(x) >= kLargeArgument ? 1 : 0;
  }
  LaneMask left = mask_of([&](unsigned lane) { return large[lane] != 0; });
  for (const unsigned lane : set_bits(left)) {
    const float x = f32(v.b[0][lane]);
    if (std::fabs(x) < f32(kInfinity32)) {
      const Reduced reduced = reduce_large(x);
      rest[lane] = reduced.rest;
      quadrant[lane] = reduced.quadrant;
    } else {
      rest[lane] = f64(kNan64);
    }
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double r = rest[lane];
    const u32 turn = quadrant[lane] + (Cosine ? 1U : 0U);
    const double sine = r * polynomial(r * r, kSine);
    const double cosine = polynomial(r * r, kCosine);
    const double magnitude = (turn & 1U) != 0 ? cosine : sine;
    const double result = (turn & 2U) != 0 ? -magnitude : magnitude;
    v.result[0][lane] = finished<Ftz>(static_cast<float>(result));
  }
}

}  // namespace

HEDDLE_LANES(FRSQRT) {
  return pick<Approximate<ReciprocalRoot>, 2>(instruction.ftz() ? 1 : 0);
}
HEDDLE_LANES(FEX2) {
  return pick<Approximate<PowerOfTwo>, 2>(instruction.ftz() ? 1 : 0);
}
HEDDLE_LANES(FLG2) {
  return pick<Approximate<Log2>, 2>(instruction.ftz() ? 1 : 0);
}
HEDDLE_LANES(FTANH) {
  return pick<Approximate<Tanh>, 2>(instruction.ftz() ? 1 : 0);
}
HEDDLE_LANES(FSIN) {
  return instruction.ftz() ? &circular<true, false> : &circular<false, false>;
}
HEDDLE_LANES(FCOS) {
  return instruction.ftz() ? &circular<true, true> : &circular<false, true>;
}

}  // namespace heddle::isa::lanes
