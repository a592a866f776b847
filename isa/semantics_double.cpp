// Double-precision arithmetic. To nearest it is the host's own; the directed roundings, rare in kernels, run lane by
// lane under the host's rounding mode.
#include <cfenv>

#include "isa/instruction_fields.hpp"
#include "isa/lane_float.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

struct Add {
  static double of(double a, double b, double /*c*/) { return a + b; }
};
struct Subtract {
  static double of(double a, double b, double /*c*/) { return a - b; }
};
struct Multiply {
  static double of(double a, double b, double /*c*/) { return a * b; }
};
struct MultiplyAdd {
  static double of(double a, double b, double c) { return std::fma(a, b, c); }
};
struct Divide {
  static double of(double a, double b, double /*c*/) { return a / b; }
};
struct Reciprocal {
  static double of(double /*a*/, double b, double /*c*/) { return 1.0 / b; }
};
struct SquareRoot {
  static double of(double /*a*/, double b, double /*c*/) { return std::sqrt(b); }
};
// Within 2 ulp: two correctly rounded steps, each with a relative error of at most 2^-53, make at most 2^-52, which is
// below two units in the last place.
struct ReciprocalRoot {
  static double of(double /*a*/, double b, double /*c*/) { return 1.0 / std::sqrt(b); }
};

template <typename Function>
void nearest(const Instruction& /*instruction*/, LaneValues& v) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double r = Function::of(get<double>(v.a, lane), get<double>(v.b, lane), get<double>(v.c, lane));
    put(v, lane, finished(r));
  }
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 (PTX ISA, sections of these names): upper words, whose low 32 bits count
// as zero, in and out. What the operand's low word holds makes no NaN of an infinity and no subnormal of a zero. The
// result is the exact one rounded to the 20 bits of an upper word's fraction; its NaN has a pattern of its own.
template <typename Function>
void upper_words(const Instruction& /*instruction*/, LaneValues& v) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double b = flushed<true>(f64(u64{v.b[1][lane]} << 32U));
    const double r = flushed<true>(Function::of(0.0, b, 0.0));
    // To the nearest upper word, halves to even; a carry goes into the exponent, as it should.
    const u64 odd = (bits(r) >> 32U) & 1U;
    const u32 upper = static_cast<u32>((bits(r) + 0x7FFFFFFFU + odd) >> 32U);
    v.result[0][lane] = 0;
    v.result[1][lane] = r == r ? upper : kNan32;
  }
}

int host_mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz:
      return FE_TOWARDZERO;
    case Rounding::rm:
      return FE_DOWNWARD;
    case Rounding::rp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

// Sets the host's rounding mode for a scope.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(std::fegetround()) { std::fesetround(host_mode(rounding)); }
  ~RoundingScope() { std::fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

// The volatile copies keep each operation between the two changes of the rounding mode, which compilers may otherwise
// move it across.
template <typename Function>
void directed(const Instruction& instruction, LaneValues& v) {
  const RoundingScope scope(instruction.float_rounding());
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const volatile double a = get<double>(v.a, lane);
    const volatile double b = get<double>(v.b, lane);
    const volatile double c = get<double>(v.c, lane);
    const volatile double r = Function::of(a, b, c);
    put(v, lane, finished(double{r}));
  }
}

template <typename Function>
LaneFunction select(const Instruction& instruction) {
  return instruction.float_rounding() == Rounding::rn ? &nearest<Function> : &directed<Function>;
}

template <bool Maximum>
u64 extreme(u64 a, u64 b) {
  const u64 equal = Maximum ? a & b : a | b;
  const u64 ordered = f64(a) < f64(b) ? (Maximum ? b : a) : f64(a) > f64(b) ? (Maximum ? a : b) : equal;
  const bool a_nan = (a & ~kSign64) > kInfinity64;
  const bool b_nan = (b & ~kSign64) > kInfinity64;
  const u64 other = b_nan ? kNan64 : b;
  return a_nan ? other : b_nan ? a : ordered;
}

}  // namespace

HEDDLE_LANES(DADD) {
  return select<Add>(instruction);
}
HEDDLE_LANES(DSUB) {
  return select<Subtract>(instruction);
}
HEDDLE_LANES(DMUL) {
  return select<Multiply>(instruction);
}
HEDDLE_LANES(DFMA) {
  return select<MultiplyAdd>(instruction);
}
HEDDLE_LANES(DDIV) {
  return select<Divide>(instruction);
}
HEDDLE_LANES(DSQRT) {
  return select<SquareRoot>(instruction);
}
HEDDLE_LANES(DRCP) {
  if (instruction.ftz()) return &upper_words<Reciprocal>;
  return instruction.approximate() ? &nearest<Reciprocal> : select<Reciprocal>(instruction);
}
HEDDLE_LANES(DRSQRT) {
  return instruction.ftz() ? &upper_words<ReciprocalRoot> : &nearest<ReciprocalRoot>;
}
HEDDLE_LANES(DMIN) {
  return each([](u64 a, u64 b) { return extreme<false>(a, b); });
}
HEDDLE_LANES(DMAX) {
  return each([](u64 a, u64 b) { return extreme<true>(a, b); });
}
HEDDLE_LANES(DABS) {
  return each([](u64 b) { return b & ~kSign64; });
}
HEDDLE_LANES(DNEG) {
  return each([](u64 b) { return b ^ kSign64; });
}
HEDDLE_LANES(DCOPYSIGN) {
  return each([](u64 a, u64 b) { return (a & kSign64) | (b & ~kSign64); });
}

}  // namespace heddle::isa::lanes
