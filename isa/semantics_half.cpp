// Arithmetic and comparisons of binary16 and bfloat16 (PTX ISA, "Half Precision Floating Point Instructions" and the
// forms for .bf16 beside them): rounded once, to nearest.
#include "isa/instruction_fields.hpp"
#include "isa/lane_half.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

// a + b, which may have more digits than a double, rounded to odd: where digits are lost, the last one that is left is
// one. It has several digits more than a half, so that rounding it to a half rounds the exact sum (Boldo and
// Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). The error
// term is Knuth's TwoSum.
double sum_to_odd(double a, double b) {
  const double s = a + b;
  const double b_part = s - a;
  const double error = (a - (s - b_part)) + (b - b_part);
  if (!(std::fabs(error) > 0) || std::isinf(s) || (bits(s) & 1U) != 0) {
    return s;  // exact, infinite, or odd already; of a NaN the error is one
  }
  return f64((error > 0) == (s > 0) ? bits(s) | 1U : bits(s) - 1);
}

struct HalfAdd {
  static double of(double a, double b, double /*c*/) { return sum_to_odd(a, b); }
};
struct HalfSubtract {
  static double of(double a, double b, double /*c*/) { return sum_to_odd(a, -b); }
};
struct HalfMultiply {
  static double of(double a, double b, double /*c*/) { return a * b; }  // exact
};
struct HalfFused {
  static double of(double a, double b, double c) { return sum_to_odd(a * b, c); }
};

// Subnormals of binary16 to zero of the same sign.
u32 flushed_half(u32 half, bool ftz) {
  return ftz && (half & kInfinity16<Binary16>) == 0 ? half & kSign16 : half;
}

template <class Format>
u32 finished_half(const Instruction& i, double x) {
  if (i.saturate()) {
    x = x > 0 ? x : 0;  // NaN to +0
    x = x < 1 ? x : 1;
  }
  const u32 half = flushed_half(narrowed<Format, Rounding::rn>(x), i.ftz());
  return i.relu() && (half & kSign16) != 0 ? 0 : half;
}

// Applies one(a, b, c) to the halves of each lane: to the low ones, whose result is extended by zeros, or to both.
template <class One>
void each_half(const Instruction& i, LaneValues& v, One one) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 a = v.a[0][lane];
    const u32 b = v.b[0][lane];
    const u32 c = v.c[0][lane];
    const u32 low = one(a & 0xFFFFU, b & 0xFFFFU, c & 0xFFFFU);
    v.result[0][lane] = i.packed() ? low | one(a >> 16U, b >> 16U, c >> 16U) << 16U : low;
  }
}

template <class Format, class Function>
void compute_halves(const Instruction& i, LaneValues& v) {
  const auto operand = [&](u32 half) { return widened<Format>(flushed_half(half, i.ftz())); };
  each_half(i, v, [&](u32 a, u32 b, u32 c) {
    return finished_half<Format>(i, Function::of(operand(a), operand(b), operand(c)));
  });
}

// The other operand for a NaN (.NaN: the canonical NaN), -0 below +0; of magnitudes, with the product of the signs.
template <class Format, bool Maximum>
void extreme_halves(const Instruction& i, LaneValues& v) {
  each_half(i, v, [&](u32 x, u32 y, u32 /*c*/) {
    const u32 sign = i.magnitudes() ? (x ^ y) & kSign16 : 0;
    const u32 kept = i.magnitudes() ? 0x7FFFU : 0xFFFFU;
    const u32 a = flushed_half(x, i.ftz()) & kept;
    const u32 b = flushed_half(y, i.ftz()) & kept;
    const bool a_nan = (a & 0x7FFFU) > kInfinity16<Format>;
    const bool b_nan = (b & 0x7FFFU) > kInfinity16<Format>;
    if ((a_nan && b_nan) || (i.propagate_nan() && (a_nan || b_nan))) {
      return kNan16;
    }
    if (a_nan || b_nan) {
      return (a_nan ? b : a) | sign;
    }
    const double first = widened<Format>(a);
    const double second = widened<Format>(b);
    const bool first_less = first < second || (first == second && (a & kSign16) != 0);
    return (first_less == Maximum ? b : a) | sign;
  });
}

template <u32 Keep, u32 Flip>
void signs_of_halves(const Instruction& i, LaneValues& v) {
  each_half(i, v, [&](u32 /*a*/, u32 b, u32 /*c*/) { return (flushed_half(b, i.ftz()) & Keep) ^ Flip; });
}

template <class Function>
LaneFunction select_half(const Instruction& i) {
  return i.bfloat() ? &compute_halves<Bfloat16, Function> : &compute_halves<Binary16, Function>;
}
template <bool Maximum>
LaneFunction select_extreme_half(const Instruction& i) {
  return i.bfloat() ? &extreme_halves<Bfloat16, Maximum> : &extreme_halves<Binary16, Maximum>;
}

template <class Format, Rounding R>
void pack(const Instruction& i, LaneValues& v) {
  const auto one = [&](u32 single) {
    const u32 half = narrowed<Format, R>(double{f32(single)});
    return i.relu() && (half & kSign16) != 0 ? 0 : half;
  };
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    v.result[0][lane] = one(v.b[0][lane]) | one(v.a[0][lane]) << 16U;
  }
}

}  // namespace

HEDDLE_LANES(HADD) {
  return select_half<HalfAdd>(instruction);
}
HEDDLE_LANES(HSUB) {
  return select_half<HalfSubtract>(instruction);
}
HEDDLE_LANES(HMUL) {
  return select_half<HalfMultiply>(instruction);
}
HEDDLE_LANES(HFMA) {
  return select_half<HalfFused>(instruction);
}
HEDDLE_LANES(HMIN) {
  return select_extreme_half<false>(instruction);
}
HEDDLE_LANES(HMAX) {
  return select_extreme_half<true>(instruction);
}
HEDDLE_LANES(HABS) {
  return &signs_of_halves<0x7FFFU, 0>;
}
HEDDLE_LANES(HNEG) {
  return &signs_of_halves<0xFFFFU, kSign16>;
}
HEDDLE_LANES(CVT_PACK) {
  const bool down = instruction.float_rounding() == Rounding::rz;
  if (instruction.bfloat()) return down ? &pack<Bfloat16, Rounding::rz> : &pack<Bfloat16, Rounding::rn>;
  return down ? &pack<Binary16, Rounding::rz> : &pack<Binary16, Rounding::rn>;
}

}  // namespace heddle::isa::lanes
