// Single and double precision arithmetic against the host under each rounding mode.
#include <cfenv>
#include <cmath>

#include "lane_check.hpp"

namespace heddle::isa {
namespace {

using namespace test;

constexpr Rounding kModes[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};

float f(u64 bits) {
  return std::bit_cast<float>(static_cast<u32>(bits));
}
double d(u64 bits) {
  return std::bit_cast<double>(bits);
}

u32 flush(u32 bits) {
  return (bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits;
}

struct FloatCase {
  Op op;
  float (*host)(float, float, float);
};
struct DoubleCase {
  Op op;
  double (*host)(double, double, double);
};

// Volatile operands keep the host's operation inside the scope of its rounding mode.
template <typename T>
T under_mode(int mode, T (*host)(T, T, T), T a, T b, T c) {
  const volatile T va = a;
  const volatile T vb = b;
  const volatile T vc = c;
  std::fesetround(mode);
  const volatile T result = host(va, vb, vc);
  std::fesetround(FE_TONEAREST);
  return result;
}

const FloatCase kFloatCases[] = {{Op::FADD, [](float a, float b, float) { return a + b; }},
                                 {Op::FSUB, [](float a, float b, float) { return a - b; }},
                                 {Op::FMUL, [](float a, float b, float) { return a * b; }},
                                 {Op::FFMA, [](float a, float b, float c) { return std::fma(a, b, c); }},
                                 {Op::FDIV, [](float a, float b, float) { return a / b; }},
                                 {Op::FRCP, [](float, float b, float) { return 1.0F / b; }},
                                 {Op::FSQRT, [](float, float b, float) { return std::sqrt(b); }}};

u32 expected_float(const FloatCase& c, const Lane& l, unsigned mode, bool ftz, bool saturate) {
  const auto in = [&](u64 x) { return f(ftz ? flush(low(x)) : low(x)); };
  const float r = under_mode(kHostModes[mode], c.host, in(l.a), in(l.b), in(l.c));
  if (std::isnan(r)) return saturate ? 0 : 0x7FFFFFFFU;
  const float kept = ftz ? f(flush(std::bit_cast<u32>(r))) : r;
  if (!saturate) return std::bit_cast<u32>(kept);
  return std::bit_cast<u32>(kept <= 0.0F ? 0.0F : kept >= 1.0F ? 1.0F : kept);
}

TEST(SemanticsFloat, EveryRoundingFlushAndSaturation) {
  for (const FloatCase& c : kFloatCases) {
    const std::vector<Lane> lanes = floats().lanes(c.op == Op::FFMA, 6000);
    const bool saturates = c.op <= Op::FFMA;
    for (unsigned mode = 0; mode < 4; ++mode) {
      for (const bool ftz : {false, true}) {
        for (const bool saturate : {false, true}) {
          if (saturate && !saturates) continue;
          check(operation(c.op, float_mods(kModes[mode], ftz, saturate)), lanes,
                [&](const Lane& l) { return expected_float(c, l, mode, ftz, saturate); });
        }
      }
    }
  }
}

// Sums whose exact value lies just beside a float, far below the first one's last place, and around the subnormals.
TEST(SemanticsFloat, DirectedRoundingOfFusedSumsNearTies) {
  std::mt19937_64 random(5);
  std::vector<Lane> lanes;
  for (int n = 0; n < 8000; ++n) {
    const u32 a = (static_cast<u32>(random()) & 0x807FFFFFU) | static_cast<u32>(1 + random() % 253) << 23U;
    const u32 b = (static_cast<u32>(random()) & 0x807FF000U) | 0x3F800000U;
    const float product = f(a) * f(b);
    u32 c = std::bit_cast<u32>(product) ^ 0x80000000U;
    c += static_cast<u32>(random() % 5) - 2U;                              // cancels nearly everything
    if (n % 3 == 0) c = static_cast<u32>(random()) & 0x80FFFFFFU;          // tiny beside the product
    if (n % 3 == 1) c = (c & 0xFF800000U) - static_cast<u32>(24U << 23U);  // half a unit in the last place
    lanes.push_back({a, b, c, 0});
  }
  const FloatCase& fma = kFloatCases[3];
  for (unsigned mode = 0; mode < 4; ++mode) {
    check(operation(Op::FFMA, float_mods(kModes[mode])), lanes,
          [&](const Lane& l) { return expected_float(fma, l, mode, false, false); });
  }
}

// Division has the exception of PTX's div.approx: of divisors beyond 2^126 the reciprocal is zero.
TEST(SemanticsFloat, ApproximateFormsRoundToNearest) {
  const std::vector<Lane> lanes = floats().lanes(false, 2000);
  for (const FloatCase& c : {kFloatCases[4], kFloatCases[5], kFloatCases[6]}) {
    for (const bool ftz : {false, true}) {
      check(operation(c.op, float_mods(Rounding::rn, ftz, false, true)), lanes, [&](const Lane& l) -> u32 {
        const float a = f(low(l.a)), b = std::fabs(f(low(l.b)));
        if (c.op != Op::FDIV || !(b > 0x1p126F) || std::isinf(b)) return expected_float(c, l, 0, ftz, false);
        return std::isfinite(a) ? low(l.a ^ l.b) & 0x80000000U : 0x7FFFFFFFU;
      });
    }
  }
}

// The larger or smaller by value; -0 below +0; a NaN yields the other operand, or with .NaN a NaN.
u32 expected_extreme(u32 a, u32 b, bool maximum, bool nan) {
  const bool a_nan = std::isnan(f(a));
  const bool b_nan = std::isnan(f(b));
  if ((a_nan && b_nan) || (nan && (a_nan || b_nan))) return 0x7FFFFFFFU;
  if (a_nan) return b;
  if (b_nan) return a;
  if (f(a) == 0.0F && f(b) == 0.0F) return (maximum ? a & b : a | b);
  return (f(a) < f(b)) != maximum ? a : b;
}

TEST(SemanticsFloat, MinimumAndMaximum) {
  const std::vector<Lane> lanes = floats().lanes(false, 4000);
  for (const bool maximum : {false, true}) {
    for (const bool ftz : {false, true}) {
      for (const bool nan : {false, true}) {
        check(operation(maximum ? Op::FMAX : Op::FMIN, float_mods(Rounding::rn, ftz, false, false, nan)), lanes,
              [&](const Lane& l) {
                const u32 a = ftz ? flush(low(l.a)) : low(l.a);
                const u32 b = ftz ? flush(low(l.b)) : low(l.b);
                return expected_extreme(a, b, maximum, nan);
              });
      }
    }
  }
}

TEST(SemanticsFloat, Signs) {
  const std::vector<Lane> lanes = floats().lanes(false, 1000);
  check(operation(Op::FABS), lanes, [](const Lane& l) { return low(l.b) % 0x80000000U; });
  check(operation(Op::FNEG), lanes, [](const Lane& l) { return low(l.b) + 0x80000000U; });
  check(operation(Op::FABS, float_mods(Rounding::rn, true)), lanes,
        [](const Lane& l) { return flush(low(l.b)) % 0x80000000U; });
  check(operation(Op::FNEG, float_mods(Rounding::rn, true)), lanes,
        [](const Lane& l) { return flush(low(l.b)) + 0x80000000U; });
  check(operation(Op::FCOPYSIGN), lanes,
        [](const Lane& l) { return std::bit_cast<u32>(std::copysign(std::fabs(f(l.b)), f(l.a))); });
}

const DoubleCase kDoubleCases[] = {{Op::DADD, [](double a, double b, double) { return a + b; }},
                                   {Op::DSUB, [](double a, double b, double) { return a - b; }},
                                   {Op::DMUL, [](double a, double b, double) { return a * b; }},
                                   {Op::DFMA, [](double a, double b, double c) { return std::fma(a, b, c); }},
                                   {Op::DDIV, [](double a, double b, double) { return a / b; }},
                                   {Op::DRCP, [](double, double b, double) { return 1.0 / b; }},
                                   {Op::DSQRT, [](double, double b, double) { return std::sqrt(b); }}};

u64 canonical_double(double x) {
  return std::isnan(x) ? 0xFFF8000000000000U : std::bit_cast<u64>(x);
}

TEST(SemanticsDouble, EveryRounding) {
  for (const DoubleCase& c : kDoubleCases) {
    const std::vector<Lane> lanes = doubles().lanes(c.op == Op::DFMA, 4000);
    for (unsigned mode = 0; mode < 4; ++mode) {
      check(operation(c.op, float_mods(kModes[mode])), lanes, [&](const Lane& l) {
        return canonical_double(under_mode(kHostModes[mode], c.host, d(l.a), d(l.b), d(l.c)));
      });
    }
  }
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

// Values that need no rounding mode to know: 1 + 2^-60 and its negative, in each direction.
TEST(SemanticsDouble, DirectedRoundingByHand) {
  const u64 one = std::bit_cast<u64>(1.0);
  const u64 tiny = std::bit_cast<u64>(0x1p-60);
  EXPECT_EQ(compute_one(operation(Op::DADD, float_mods(Rounding::rn)), {one, tiny}), one);
  EXPECT_EQ(compute_one(operation(Op::DADD, float_mods(Rounding::rz)), {one, tiny}), one);
  EXPECT_EQ(compute_one(operation(Op::DADD, float_mods(Rounding::rm)), {one, tiny}), one);
  EXPECT_EQ(compute_one(operation(Op::DADD, float_mods(Rounding::rp)), {one, tiny}), one + 1);
  EXPECT_EQ(compute_one(operation(Op::DSUB, float_mods(Rounding::rz)), {one, tiny}), one - 1);
  EXPECT_EQ(compute_one(operation(Op::FADD, float_mods(Rounding::rp)), {0x3F800000, 1}), 0x3F800001U);
  EXPECT_EQ(compute_one(operation(Op::FADD, float_mods(Rounding::rm)), {0x3F800000, 0xBF800000}), 0x80000000U);
  EXPECT_EQ(compute_one(operation(Op::FMUL, float_mods(Rounding::rz)), {0x7F7FFFFF, 0x7F7FFFFF}), 0x7F7FFFFFU);
}

TEST(SemanticsDouble, ReciprocalRootIsWithinTwoUlp) {
  std::mt19937_64 random(7);
  for (int n = 0; n < 4000; ++n) {
    const u64 x = random() >> 1U;
    if (!std::isnormal(d(x))) continue;
    const double got = d(compute_one(operation(Op::DRSQRT), {0, x}));
    const long double exact = 1.0L / std::sqrt(static_cast<long double>(d(x)));
    const long double ulp = std::nextafter(got, INFINITY) - got;
    ASSERT_LE(std::fabs((got - exact) / ulp), 2.0L) << d(x);
  }
  EXPECT_EQ(compute_one(operation(Op::DRSQRT), {0, 0}), 0x7FF0000000000000U);
  EXPECT_EQ(compute_one(operation(Op::DRSQRT), {0, std::bit_cast<u64>(-1.0)}), 0xFFF8000000000000U);
  // Subnormals count as zero with .ftz only.
  EXPECT_NE(compute_one(operation(Op::DRSQRT), {0, 1}), 0x7FF0000000000000U);
}

// The .ftz forms see and give upper words. Whether the result is the nearest upper word is asked of the exact value,
// without a rounding of the test's own.
TEST(SemanticsDouble, UpperWordsAreRoundedToNearest) {
  const u32 mods = float_mods(Rounding::rn, true, false, true);
  std::mt19937_64 random(11);
  for (int n = 0; n < 4000; ++n) {
    const u64 x = random();
    const double operand = d(x & 0xFFFFFFFF00000000U);
    if (!std::isnormal(operand) || std::fabs(operand) > 0x1p1021) continue;
    for (const Op op : {Op::DRCP, Op::DRSQRT}) {
      if (op == Op::DRSQRT && operand < 0) continue;
      const u64 result = compute_one(operation(op, mods), {0, x});
      EXPECT_EQ(result & 0xFFFFFFFFU, 0U);
      const auto magnitude = [](u64 bits) { return static_cast<long double>(std::fabs(d(bits))); };
      const long double wide = std::fabs(operand);
      const long double exact = op == Op::DRCP ? 1.0L / wide : 1.0L / std::sqrt(wide);
      const long double error = std::fabs(magnitude(result) - exact);
      ASSERT_LE(error, std::fabs(magnitude(result + 0x100000000U) - exact)) << std::hex << x;
      ASSERT_LE(error, std::fabs(magnitude(result - 0x100000000U) - exact)) << std::hex << x;
    }
  }
}

// The tables of rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 in the PTX ISA, and what a low word must not do.
TEST(SemanticsDouble, UpperWordsSpecialValues) {
  constexpr u64 kInf = 0x7FF0000000000000U, kMinusInf = 0xFFF0000000000000U, kMinusZero = 0x8000000000000000U;
  constexpr u64 kNan = 0x7FFFFFFF00000000U;
  struct Special {
    u64 in, reciprocal, root;
  };
  for (const Special& s : std::initializer_list<Special>{
           {kMinusInf, kMinusZero, kNan},
           {0x8000000100000000U, kMinusInf, kMinusInf},  // -subnormal
           {0x800FFFFFFFFFFFFFU, kMinusInf, kMinusInf},
           {kMinusZero, kMinusInf, kMinusInf},
           {0x80000000FFFFFFFFU, kMinusInf, kMinusInf},  // its upper word is -0
           {0, kInf, kInf},
           {1, kInf, kInf},
           {0x000FFFFFFFFFFFFFU, kInf, kInf},
           {kInf, 0, 0},
           {0x7FF0000000000001U, 0, 0},  // a NaN whose upper word is an infinity
           {0xFFF0000000000001U, kMinusZero, kNan},
           {0x7FF0000100000000U, kNan, kNan},
           {0xFFF8000000000000U, kNan, kNan},
           {0xBFF0000000000000U, 0xBFF0000000000000U, kNan},
           {0x3FF00000FFFFFFFFU, 0x3FF0000000000000U, 0x3FF0000000000000U},
           {0x4010000000000000U, 0x3FD0000000000000U, 0x3FE0000000000000U},
           {0x4008000012345678U, 0x3FD5555500000000U, 0x3FE279A700000000U},  // of 3
           {0x7FE0000000000000U, 0, 0x1FF6A09E00000000U},                    // 2^-1023 is subnormal
           {0xFFE0000000000000U, kMinusZero, kNan},
           {0x0010000000000000U, 0x7FD0000000000000U, 0x5FE0000000000000U},
       }) {
    const u32 mods = float_mods(Rounding::rn, true, false, true);
    EXPECT_EQ(compute_one(operation(Op::DRCP, mods), {0, s.in}), s.reciprocal) << std::hex << s.in;
    EXPECT_EQ(compute_one(operation(Op::DRSQRT, mods), {0, s.in}), s.root) << std::hex << s.in;
  }
}

TEST(SemanticsDouble, MinimumMaximumAndSigns) {
  const std::vector<Lane> lanes = doubles().lanes(false, 3000);
  for (const bool maximum : {false, true}) {
    check(operation(maximum ? Op::DMAX : Op::DMIN), lanes, [&](const Lane& l) -> u64 {
      if (std::isnan(d(l.a)) && std::isnan(d(l.b))) return 0xFFF8000000000000U;
      if (std::isnan(d(l.a))) return l.b;
      if (std::isnan(d(l.b))) return l.a;
      if (d(l.a) == 0.0 && d(l.b) == 0.0) return maximum ? l.a & l.b : l.a | l.b;
      return (d(l.a) < d(l.b)) != maximum ? l.a : l.b;
    });
  }
  check(operation(Op::DABS), lanes, [](const Lane& l) { return l.b << 1U >> 1U; });
  check(operation(Op::DNEG), lanes, [](const Lane& l) { return l.b + 0x8000000000000000U; });
  check(operation(Op::DCOPYSIGN), lanes, [](const Lane& l) { return (l.b << 1U >> 1U) | (l.a >> 63U << 63U); });
}

}  // namespace
}  // namespace heddle::isa
