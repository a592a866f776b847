// The approximate functions against long double, over dense samples.
#include <cmath>
#include <numbers>

#include "lane_check.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("SemanticsApproximate.*OverAllBinades")

namespace heddle::isa {
namespace {

using namespace test;

struct Function {
  Op op;
  long double (*exact)(long double);
  const char* name;
};

const Function kFunctions[] = {
    {Op::FRSQRT, [](long double x) { return 1.0L / std::sqrt(x); }, "rsqrt"},
    {Op::FSIN, [](long double x) { return std::sin(x); }, "sin"},
    {Op::FCOS, [](long double x) { return std::cos(x); }, "cos"},
    {Op::FEX2, [](long double x) { return std::exp2(x); }, "ex2"},
    {Op::FLG2, [](long double x) { return std::log2(x); }, "lg2"},
    {Op::FTANH, [](long double x) { return std::tanh(x); }, "tanh"},
};

// Error in units of the last place of the exact value's binade (at least the subnormal one).
long double error_in_ulp(float got, long double exact) {
  int exponent = 0;
  (void)std::frexp(exact, &exponent);
  const long double ulp = std::ldexp(1.0L, std::max(exponent - 24, -149));
  return std::fabs((static_cast<long double>(got) - exact) / ulp);
}

// Finite results of finite inputs; special values are tested by themselves.
long double worst_error(const Function& function, const std::vector<u32>& inputs) {
  long double worst = 0;
  for (std::size_t begin = 0; begin < inputs.size(); begin += kLanes) {
    std::vector<Lane> lanes;
    for (std::size_t i = begin; i < std::min(begin + kLanes, inputs.size()); ++i) lanes.push_back({0, inputs[i]});
    const std::vector<LaneResult> results = compute(operation(function.op), lanes);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const long double exact = function.exact(std::bit_cast<float>(low(lanes[i].b)));
      const float got = std::bit_cast<float>(low(results[i].value));
      if (!std::isfinite(exact)) {
        EXPECT_EQ(std::isnan(exact), std::isnan(got)) << function.name << std::hex << lanes[i].b;
        continue;
      }
      if (std::fabs(exact) >= 0x1.ffffffp127L) {
        EXPECT_TRUE(std::isinf(got)) << function.name;
        continue;
      }
      worst = std::max(worst, error_in_ulp(got, exact));
    }
  }
  return worst;
}

TEST(SemanticsApproximate, WithinOneUlpOverAllBinades) {
  std::vector<u32> inputs;
  for (u64 bits = 0; bits < 0x100000000; bits += 9973) {
    if ((bits & 0x7F800000U) != 0x7F800000U) inputs.push_back(static_cast<u32>(bits));
  }
  for (const Function& function : kFunctions) {
    EXPECT_LE(worst_error(function, inputs), 0.5001L) << function.name;
  }
}

TEST(SemanticsApproximate, WithinOneUlpWhereItIsHard) {
  const auto around = [](std::vector<u32>& out, float x) {
    const u32 bits = std::bit_cast<u32>(x);
    for (int step = -8; step <= 8; ++step) out.push_back(bits + static_cast<u32>(step));
  };
  std::vector<u32> multiples;  // of pi / 2: sine or cosine near zero, up to the largest arguments
  for (int k = 1; k < 3000; ++k) around(multiples, static_cast<float>(k * std::numbers::pi / 2));
  for (int e = 12; e < 127; ++e) {
    for (int k = 3; k < 7; ++k) around(multiples, static_cast<float>(std::ldexp(k * std::numbers::pi / 8, e)));
  }
  // 16367173 * 2^72 is, of all floats, the nearest to a multiple of pi / 2.
  around(multiples, 0x1.f37c8ap95F);
  EXPECT_LE(worst_error(kFunctions[1], multiples), 0.5001L);
  EXPECT_LE(worst_error(kFunctions[2], multiples), 0.5001L);

  std::vector<u32> near_one;
  for (int step = -20000; step < 20000; ++step) near_one.push_back(0x3F800000U + static_cast<u32>(step));
  for (int n = -10; n < 10; ++n) around(near_one, std::ldexp(std::numbers::sqrt2_v<float>, n));
  EXPECT_LE(worst_error(kFunctions[4], near_one), 0.5001L);
  EXPECT_LE(worst_error(kFunctions[0], near_one), 0.5001L);

  std::vector<u32> range;  // of ex2 and tanh, with their limits
  for (int n = -160 * 64; n < 130 * 64; ++n) around(range, static_cast<float>(n) / 64.0F);
  around(range, 0x1p-5F);
  EXPECT_LE(worst_error(kFunctions[3], range), 0.5001L);
  EXPECT_LE(worst_error(kFunctions[5], range), 0.5001L);
}

TEST(SemanticsApproximate, SpecialValues) {
  constexpr u32 kInf = 0x7F800000;
  constexpr u32 kMinusInf = 0xFF800000;
  constexpr u32 kNan = 0x7FFFFFFF;
  constexpr u32 kOne = 0x3F800000;
  constexpr u32 kMinusZero = 0x80000000;
  struct Special {
    Op op;
    u32 in, out;
  };
  for (const Special& s : std::initializer_list<Special>{
           {Op::FRSQRT, 0, kInf},
           {Op::FRSQRT, kMinusZero, kMinusInf},
           {Op::FRSQRT, kInf, 0},
           {Op::FRSQRT, 0xBF800000, kNan},
           {Op::FRSQRT, kNan, kNan},
           {Op::FSIN, 0, 0},
           {Op::FSIN, kMinusZero, kMinusZero},
           {Op::FSIN, kInf, kNan},
           {Op::FSIN, kMinusInf, kNan},
           {Op::FSIN, 0x7F800001, kNan},
           {Op::FCOS, 0, kOne},
           {Op::FCOS, kMinusZero, kOne},
           {Op::FCOS, kInf, kNan},
           {Op::FEX2, 0, kOne},
           {Op::FEX2, kMinusZero, kOne},
           {Op::FEX2, kInf, kInf},
           {Op::FEX2, kMinusInf, 0},
           {Op::FEX2, 0xFFC00001, kNan},
           {Op::FEX2, 1, kOne},
           {Op::FEX2, 0xC3150000, 1},
           {Op::FEX2, 0x43000000, kInf},
           {Op::FEX2, 0x7F7FFFFF, kInf},
           {Op::FEX2, 0xFF7FFFFF, 0},
           {Op::FLG2, 0, kMinusInf},
           {Op::FLG2, kMinusZero, kMinusInf},
           {Op::FLG2, kInf, kInf},
           {Op::FLG2, kMinusInf, kNan},
           {Op::FLG2, 0xBF800000, kNan},
           {Op::FLG2, kOne, 0},
           {Op::FLG2, kNan, kNan},
           {Op::FLG2, 1, 0xC3150000},
           {Op::FTANH, 0, 0},
           {Op::FTANH, kMinusZero, kMinusZero},
           {Op::FTANH, kInf, kOne},
           {Op::FTANH, kMinusInf, 0xBF800000},
           {Op::FTANH, kNan, kNan},
           {Op::FTANH, 1, 1},
       }) {
    EXPECT_EQ(compute_one(operation(s.op), {0, s.in}), s.out) << info(s.op).mnemonic << std::hex << " " << s.in;
  }
  // .ftz: subnormal inputs and results are zeros of their sign.
  const u32 ftz = float_mods(Rounding::rn, true);
  EXPECT_EQ(compute_one(operation(Op::FSIN, ftz), {0, 0x80000001}), 0x80000000U);
  EXPECT_EQ(compute_one(operation(Op::FCOS, ftz), {0, 1}), kOne);
  EXPECT_EQ(compute_one(operation(Op::FLG2, ftz), {0, 1}), kMinusInf);
  EXPECT_EQ(compute_one(operation(Op::FRSQRT, ftz), {0, 0x80000001}), kMinusInf);
  EXPECT_EQ(compute_one(operation(Op::FEX2, ftz), {0, 0xC3150000}), 0U);
  EXPECT_EQ(compute_one(operation(Op::FTANH, ftz), {0, 1}), 0U);
}

}  // namespace
}  // namespace heddle::isa
