// Single-precision arithmetic, as the PTX ISA defines it: correctly rounded in the four directions, with .ftz and .sat.
#include "isa/instruction_fields.hpp"
#include "isa/lane_float.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

template <unsigned Mods>
inline constexpr bool kFtz = (Mods & kFtzBit) != 0;
template <unsigned Mods>
inline constexpr bool kSaturate = (Mods & kSaturateBit) != 0;

struct Add {
  template <Rounding R>
  static float of(float a, float b) {
    if constexpr (R == Rounding::rn) return a + b;
    return rounded_sum<R>(double{a}, double{b});
  }
};
struct Subtract {
  template <Rounding R>
  static float of(float a, float b) {
    return Add::of<R>(a, -b);
  }
};
struct Multiply {
  template <Rounding R>
  static float of(float a, float b) {
    if constexpr (R == Rounding::rn) return a * b;
    return rounded<R>(double{a} * double{b}, 0.0);
  }
};
struct MultiplyAdd {
  template <Rounding R>
  static float of(float a, float b, float c) {
    if constexpr (R == Rounding::rn) return std::fma(a, b, c);
    return rounded_sum<R>(double{a} * double{b}, double{c});
  }
};

template <typename Function>
struct Binary {
  template <unsigned Mods>
  static void run(const Instruction& /*instruction*/, LaneValues& v) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const float a = f32(flushed<kFtz<Mods>>(v.a[0][lane]));
      const float b = f32(flushed<kFtz<Mods>>(v.b[0][lane]));
      v.result[0][lane] = finished<kFtz<Mods>, kSaturate<Mods>>(Function::template of<kRounding<Mods>>(a, b));
    }
  }
};

struct Fused {
  template <unsigned Mods>
  static void run(const Instruction& /*instruction*/, LaneValues& v) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const float a = f32(flushed<kFtz<Mods>>(v.a[0][lane]));
      const float b = f32(flushed<kFtz<Mods>>(v.b[0][lane]));
      const float c = f32(flushed<kFtz<Mods>>(v.c[0][lane]));
      v.result[0][lane] = finished<kFtz<Mods>, kSaturate<Mods>>(MultiplyAdd::of<kRounding<Mods>>(a, b, c));
    }
  }
};

// Division, reciprocal and square root. The approximate forms give correctly rounded results too (PTX allows 2 ulp for
// div, 1 ulp for rcp, a relative error of 2^-23 for sqrt), but for a division by a very large number.
// The residuals are exact products of floats, subtracted with one rounding that keeps the sign.
struct Divide {
  template <Rounding R>
  static float of(float a, float b) {
    const float nearest = a / b;
    if constexpr (R == Rounding::rn) return nearest;
    const double rest = std::fabs(double{a}) - std::fabs(double{nearest} * double{b});
    return corrected<R>(nearest, rest);
  }
};
// div.approx is a * (1 / b), and 1 / b counts as zero where it would be subnormal, for 2^126 < |b| < 2^128: the result
// is zero with the sign of the quotient, and NaN where a is infinite (PTX ISA, "Floating Point Instructions: div").
struct ApproximateDivide {
  template <Rounding R>
  static float of(float a, float b) {
    constexpr u32 kTwoTo126 = 0x7E800000U;
    const u32 magnitude = bits(b) & ~kSign32;
    const bool large = magnitude > kTwoTo126 && magnitude < kInfinity32;
    const bool finite = (bits(a) & ~kSign32) < kInfinity32;
    const float zero = f32((bits(a) ^ bits(b)) & kSign32);
    const float quotient = a / b;
    return large ? (finite ? zero : f32(kNan32)) : quotient;
  }
};
struct Reciprocal {
  template <Rounding R>
  static float of(float b) {
    return Divide::of<R>(1.0F, b);
  }
};
struct SquareRoot {
  template <Rounding R>
  static float of(float b) {
    const float nearest = std::sqrt(b);
    if constexpr (R == Rounding::rn) return nearest;
    return corrected<R>(nearest, double{b} - double{nearest} * double{nearest});
  }
};

template <typename Function>
struct Unary {
  template <unsigned Mods>
  static void run(const Instruction& /*instruction*/, LaneValues& v) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const float b = f32(flushed<kFtz<Mods>>(v.b[0][lane]));
      v.result[0][lane] = finished<kFtz<Mods>>(Function::template of<kRounding<Mods>>(b));
    }
  }
};

// Index of a form that rounds to nearest when it is approximate.
unsigned exact_form(const Instruction& i) {
  return i.approximate() ? i.mods & kFtzBit : i.mods & 7U;
}

// min and max return the other operand for a NaN (.NaN: the canonical NaN), and order -0 below +0.
template <bool Maximum>
struct Extreme {
  template <unsigned Mods>  // bit 0: ftz, bit 1: NaN
  static void run(const Instruction& /*instruction*/, LaneValues& v) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const u32 a = flushed<(Mods & 1U) != 0>(v.a[0][lane]);
      const u32 b = flushed<(Mods & 1U) != 0>(v.b[0][lane]);
      const u32 equal = Maximum ? a & b : a | b;  // equal values differ at most in a zero's sign
      const u32 less = Maximum ? b : a;
      const u32 greater = Maximum ? a : b;
      const u32 ordered = f32(a) < f32(b) ? less : f32(a) > f32(b) ? greater : equal;
      const bool a_nan = (a & ~kSign32) > kInfinity32;
      const bool b_nan = (b & ~kSign32) > kInfinity32;
      if constexpr ((Mods & 2U) != 0) {
        v.result[0][lane] = a_nan || b_nan ? kNan32 : ordered;
      } else {
        const u32 other = b_nan ? kNan32 : b;
        v.result[0][lane] = a_nan ? other : b_nan ? a : ordered;
      }
    }
  }
};

template <bool Maximum>
LaneFunction select_extreme(const Instruction& i) {
  return pick<Extreme<Maximum>, 4>((i.ftz() ? 1U : 0U) | (i.propagate_nan() ? 2U : 0U));
}

}  // namespace

HEDDLE_LANES(FADD) {
  return pick<Binary<Add>, 16>(instruction.mods & 15U);
}
HEDDLE_LANES(FSUB) {
  return pick<Binary<Subtract>, 16>(instruction.mods & 15U);
}
HEDDLE_LANES(FMUL) {
  return pick<Binary<Multiply>, 16>(instruction.mods & 15U);
}
HEDDLE_LANES(FFMA) {
  return pick<Fused, 16>(instruction.mods & 15U);
}
HEDDLE_LANES(FDIV) {
  if (instruction.approximate()) return pick<Binary<ApproximateDivide>, 8>(exact_form(instruction));
  return pick<Binary<Divide>, 8>(exact_form(instruction));
}
HEDDLE_LANES(FRCP) {
  return pick<Unary<Reciprocal>, 8>(exact_form(instruction));
}
HEDDLE_LANES(FSQRT) {
  return pick<Unary<SquareRoot>, 8>(exact_form(instruction));
}
HEDDLE_LANES(FMIN) {
  return select_extreme<false>(instruction);
}
HEDDLE_LANES(FMAX) {
  return select_extreme<true>(instruction);
}

// abs, neg and copysign work on the sign alone, of NaNs too.
HEDDLE_LANES(FABS) {
  return instruction.ftz() ? each([](u32 b) { return flushed<true>(b) & ~kSign32; })
                           : each([](u32 b) { return b & ~kSign32; });
}
HEDDLE_LANES(FNEG) {
  return instruction.ftz() ? each([](u32 b) { return flushed<true>(b) ^ kSign32; })
                           : each([](u32 b) { return b ^ kSign32; });
}
// copysign.f32 d, a, b: the sign of a on the magnitude of b.
HEDDLE_LANES(FCOPYSIGN) {
  return each([](u32 a, u32 b) { return (a & kSign32) | (b & ~kSign32); });
}

}  // namespace heddle::isa::lanes
