// Arithmetic on .f16, .bf16 and pairs of them against exact sums and products in integers, rounded once.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/ptx_ops/operation_table.hpp"
#include "tests/ptx_ops/program.hpp"
#include "tests/support/exact_half.hpp"

namespace heddle::ptx_ops {
namespace {

using Exact = __int128;  // counts 2^-48: what the product of two halves counts in

bool is_nan(Half x) {
  return (x.bits & 0x7fffU) > 0x7c00U;
}
bool is_infinite(Half x) {
  return (x.bits & 0x7fffU) == 0x7c00U;
}
bool is_negative(Half x) {
  return (x.bits & 0x8000U) != 0;
}
bool is_zero(Half x) {
  return (x.bits & 0x7fffU) == 0;
}

// In counts of 2^-24.
Exact steps(Half x) {
  const unsigned exponent = x.bits >> 10U & 31U;
  const Exact fraction = x.bits & 0x3ffU;
  const Exact value = exponent == 0 ? fraction : (fraction + 1024) << (exponent - 1);
  return is_negative(x) ? -value : value;
}

// To nearest, ties to even.
Half rounded(Exact x, bool negative_zero) {
  if (x == 0) return {static_cast<u16>(negative_zero ? 0x8000U : 0)};
  const unsigned sign = x < 0 ? 0x8000U : 0;
  const Exact size = x < 0 ? -x : x;
  int exponent = -48;
  while ((size >> (exponent + 49)) != 0) ++exponent;  // 2^exponent <= size
  exponent = std::max(exponent, -14);
  const int shift = exponent - 10 + 48;
  Exact kept = size >> shift;
  const Exact rest = size - (kept << shift), tie = Exact{1} << (shift - 1);
  if (rest > tie || (rest == tie && (kept & 1) != 0)) ++kept;
  const Exact bits = (static_cast<Exact>(exponent + 14) << 10) + kept;
  return {static_cast<u16>(sign | static_cast<unsigned>(bits >= 0x7c00 ? 0x7c00 : bits))};
}

Half infinity(bool negative) {
  return {static_cast<u16>(negative ? 0xfc00U : 0x7c00U)};
}
constexpr Half kNan{0x7fff};

Half fused(Half a, Half b, Half c) {
  const bool negative = is_negative(a) != is_negative(b);  // the product
  const bool endless = is_infinite(a) || is_infinite(b);
  if (is_nan(a) || is_nan(b) || is_nan(c) || (endless && (is_zero(a) || is_zero(b)))) return kNan;
  if (endless && is_infinite(c) && negative != is_negative(c)) return kNan;
  if (endless) return infinity(negative);
  if (is_infinite(c)) return c;
  const Exact product = steps(a) * steps(b);
  const bool zeros = product == 0 && is_zero(c);
  return rounded(product + (steps(c) << 24), zeros && negative && is_negative(c));
}
constexpr Half kOne{0x3c00}, kMinusZero{0x8000};

Half sum(Half a, Half b) {
  return fused(a, kOne, b);
}
Half negated(Half a) {
  return {static_cast<u16>(a.bits ^ 0x8000U)};
}
Half difference(Half a, Half b) {
  return sum(a, negated(b));
}
Half product(Half a, Half b) {
  if (is_zero(a) || is_zero(b)) {
    if (is_nan(a) || is_nan(b) || is_infinite(a) || is_infinite(b)) return kNan;
    return {static_cast<u16>((a.bits ^ b.bits) & 0x8000U)};
  }
  const Half positive_zero{0};
  return fused(a, b, is_negative(a) != is_negative(b) ? kMinusZero : positive_zero);
}
Half saturated_half(Half a) {
  if (is_nan(a) || is_negative(a)) return {0};
  return a.bits > kOne.bits ? kOne : a;
}

Half low(u32 x) {
  return {static_cast<u16>(x)};
}
Half high(u32 x) {
  return {static_cast<u16>(x >> 16U)};
}
u32 both(Half first, Half second) {
  return first.bits | static_cast<u32>(second.bits) << 16U;
}

TEST(PtxHalf, Arithmetic) {
  OperationTable table;
  table.add("add.f16 $d, $a, $b;", [](Half a, Half b) { return sum(a, b); });
  table.add("add.rn.sat.f16 $d, $a, $b;", [](Half a, Half b) { return saturated_half(sum(a, b)); });
  table.add("sub.f16 $d, $a, $b;", [](Half a, Half b) { return difference(a, b); });
  table.add("mul.rn.f16 $d, $a, $b;", [](Half a, Half b) { return product(a, b); });
  table.add("fma.rn.f16 $d, $a, $b, $c;", [](Half a, Half b, Half c) { return fused(a, b, c); });
  table.add("fma.rn.sat.f16 $d, $a, $b, $c;", [](Half a, Half b, Half c) { return saturated_half(fused(a, b, c)); });
  table.add("neg.f16 $d, $a;", [](Half a) { return negated(a); });
  table.add("abs.f16 $d, $a;", [](Half a) { return Half{static_cast<u16>(a.bits & 0x7fffU)}; });
  table.run();
}

TEST(PtxHalf, Pairs) {
  OperationTable table;
  table.add("add.rn.f16x2 $d, $a, $b;", [](u32 a, u32 b) { return both(sum(low(a), low(b)), sum(high(a), high(b))); });
  table.add("sub.f16x2 $d, $a, $b;",
            [](u32 a, u32 b) { return both(difference(low(a), low(b)), difference(high(a), high(b))); });
  table.add("mul.f16x2 $d, $a, $b;",
            [](u32 a, u32 b) { return both(product(low(a), low(b)), product(high(a), high(b))); });
  table.add("fma.rn.f16x2 $d, $a, $b, $c;",
            [](u32 a, u32 b, u32 c) { return both(fused(low(a), low(b), low(c)), fused(high(a), high(b), high(c))); });
  table.add("neg.f16x2 $d, $a;", [](u32 a) { return a ^ 0x8000'8000U; });
  table.add("abs.f16x2 $d, $a;", [](u32 a) { return a & 0x7fff'7fffU; });
  table.run();
}

TEST(PtxHalf, Bfloats) {
  using Exact = heddle::test::ExactBfloat16;
  const auto half = [](u32 bits) { return Half{static_cast<u16>(bits)}; };
  OperationTable table;
  table.add("add.bf16 $d, $a, $b;", [=](Half a, Half b) { return half(Exact::sum(a.bits, b.bits)); });
  table.add("sub.rn.bf16 $d, $a, $b;", [=](Half a, Half b) { return half(Exact::difference(a.bits, b.bits)); });
  table.add("mul.bf16 $d, $a, $b;", [=](Half a, Half b) { return half(Exact::product(a.bits, b.bits)); });
  table.add("fma.rn.relu.bf16 $d, $a, $b, $c;",
            [=](Half a, Half b, Half c) { return half(Exact::relu(Exact::fused(a.bits, b.bits, c.bits))); });
  table.add("fma.rn.bf16x2 $d, $a, $b, $c;", [=](u32 a, u32 b, u32 c) {
    return both(half(Exact::fused(a & 0xffffU, b & 0xffffU, c & 0xffffU)),
                half(Exact::fused(a >> 16U, b >> 16U, c >> 16U)));
  });
  table.add("neg.bf16 $d, $a;", [](Half a) { return negated(a); });
  table.add("setp.lt.bf16 $d, $a, $b;", [](Half a, Half b) {
    const bool zeros = Exact::is_zero(a.bits) && Exact::is_zero(b.bits);
    return !zeros && !Exact::is_nan(a.bits) && !Exact::is_nan(b.bits) && Exact::order(a.bits, b.bits) < 0;
  });
  table.run();
}

TEST(PtxHalf, Extremes) {
  using Exact = heddle::test::ExactBinary16;
  using Bfloat = heddle::test::ExactBfloat16;
  const auto half = [](u32 bits) { return Half{static_cast<u16>(bits)}; };
  OperationTable table;
  table.add("min.f16 $d, $a, $b;", [=](Half a, Half b) { return half(Exact::extreme(a.bits, b.bits, false, false)); });
  table.add("max.NaN.f16 $d, $a, $b;",
            [=](Half a, Half b) { return half(Exact::extreme(a.bits, b.bits, true, true)); });
  table.add("max.ftz.f16 $d, $a, $b;", [=](Half a, Half b) {
    return half(Exact::extreme(Exact::flushed(a.bits), Exact::flushed(b.bits), true, false));
  });
  table.add("min.bf16x2 $d, $a, $b;", [=](u32 a, u32 b) {
    return both(half(Bfloat::extreme(a & 0xffffU, b & 0xffffU, false, false)),
                half(Bfloat::extreme(a >> 16U, b >> 16U, false, false)));
  });
  table.run();
}

TEST(PtxHalf, FlushesSubnormals) {
  using Exact = heddle::test::ExactBinary16;
  const auto half = [](u32 bits) { return Half{static_cast<u16>(bits)}; };
  const auto flushed = [](Half x) { return Exact::flushed(x.bits); };
  OperationTable table;
  table.add("mul.ftz.f16 $d, $a, $b;",
            [=](Half a, Half b) { return half(Exact::flushed(Exact::product(flushed(a), flushed(b)))); });
  table.add("fma.rn.ftz.sat.f16 $d, $a, $b, $c;", [=](Half a, Half b, Half c) {
    return half(Exact::flushed(Exact::saturated(Exact::fused(flushed(a), flushed(b), flushed(c)))));
  });
  table.add("setp.eq.ftz.f16 $d, $a, $b;", [=](Half a, Half b) {
    const bool numbers = !is_nan(a) && !is_nan(b);
    return numbers && (flushed(a) == flushed(b) || ((flushed(a) | flushed(b)) & 0x7fffU) == 0);
  });
  table.run();
}

// Packed from two singles, and a bfloat back as the single that it is.
TEST(PtxHalf, Conversions) {
  OperationTable table;
  table.add("cvt.rz.bf16x2.f32 $d, $a, $b;", [](float a, float b) {
    const auto cut = [](float x) -> u32 { return x == x ? std::bit_cast<u32>(x) >> 16U : 0x7fffU; };
    return cut(a) << 16U | cut(b);
  });
  table.add("cvt.f32.bf16 $d, $a;", [](Half a) { return std::bit_cast<float>(static_cast<u32>(a.bits) << 16U); });
  table.run();
}

TEST(PtxHalf, Comparisons) {
  OperationTable table;
  const auto ordered = [](Half a, Half b) { return !is_nan(a) && !is_nan(b); };
  const auto size = [](Half x) { return is_infinite(x) ? (is_negative(x) ? -1 : 1) * (Exact{1} << 60) : steps(x); };
  table.add("setp.lt.f16 $d, $a, $b;", [=](Half a, Half b) { return ordered(a, b) && size(a) < size(b); });
  table.add("setp.eq.f16 $d, $a, $b;", [=](Half a, Half b) { return ordered(a, b) && size(a) == size(b); });
  table.add("setp.neu.f16 $d, $a, $b;", [=](Half a, Half b) { return !ordered(a, b) || size(a) != size(b); });
  table.add("set.lt.f16.f16 $d, $a, $b;",
            [=](Half a, Half b) { return ordered(a, b) && size(a) < size(b) ? kOne : Half{0}; });
  table.add("set.eq.u32.f16 $d, $a, $b;",
            [=](Half a, Half b) { return ordered(a, b) && size(a) == size(b) ? ~0U : 0U; });
  table.add("set.gt.f16x2.f16x2 $d, $a, $b;", [=](u32 a, u32 b) {
    const auto greater = [=](Half x, Half y) { return ordered(x, y) && size(x) > size(y) ? kOne : Half{0}; };
    return both(greater(low(a), low(b)), greater(high(a), high(b)));
  });
  table.add("set.neu.u32.f16x2 $d, $a, $b;", [=](u32 a, u32 b) {
    const auto other = [=](Half x, Half y) { return !ordered(x, y) || size(x) != size(y); };
    return (other(low(a), low(b)) ? 0xffffU : 0U) | (other(high(a), high(b)) ? 0xffff'0000U : 0U);
  });
  table.run();
}

// Every half as an operand, through the machine's own functions: each result is the double's, rounded, within one unit
// of its last digit, and both halves of a pair are what the single ones are.
double value_of(Half x) {
  return is_nan(x)        ? std::numeric_limits<double>::quiet_NaN()
         : is_infinite(x) ? (is_negative(x) ? -1 : 1) * std::numeric_limits<double>::infinity()
                          : static_cast<double>(static_cast<long long>(steps(x))) / 0x1p24;
}

TEST(PtxHalf, FunctionsOfEveryHalf) {
  for (const bool tanh : {false, true}) {
    Program program;
    program.block = 1024;
    program.grid = 64;
    program.output_words = 65536 * 2;
    const std::string name = tanh ? "tanh.approx" : "ex2.approx";
    program.body = R"(
  .reg .u32 %i, %n, %pair; .reg .u$p %o; .reg .b16 %h, %r;
  mov.u32 %i, %tid0;
  cvt.u16.u32 %h, %i;
  )" + name + ".f16 %r, %h;\n" +
                   R"(
  not.b32 %n, %i; and.b32 %n, %n, 65535; shl.b32 %n, %n, 16; or.b32 %pair, %n, %i;
  )" + name + ".f16x2 %pair, %pair;\n" +
                   R"(
  cvt.u$p.u32 %o, %i; shl.b$p %o, %o, 3; add.u$p %o, %o, %out;
  cvt.u32.u16 %n, %r; st.global.u32 [%o], %n; st.global.u32 [%o+4], %pair;)";
    const std::vector<u32> output = run(program);
    ASSERT_EQ(output.size(), program.output_words);
    for (u32 i = 0; i < 65536 && !testing::Test::HasFailure(); ++i) {
      const Half got = low(output[2 * i]);
      const double x = value_of({static_cast<u16>(i)});
      const double exact = tanh ? std::tanh(x) : std::exp2(x);
      if (std::isnan(exact)) {
        EXPECT_TRUE(is_nan(got)) << name << " of " << i;
      } else if (exact >= 65520) {
        EXPECT_TRUE(is_infinite(got)) << name << " of " << i;
      } else {
        const double unit = std::ldexp(1.0, std::max(-24, std::ilogb(exact == 0 ? 1e-30 : exact) - 10));
        EXPECT_NEAR(value_of(got), exact, unit) << name << " of " << i;
      }
      EXPECT_EQ(low(output[2 * i + 1]).bits, got.bits) << "lower half of a pair";
      EXPECT_EQ(high(output[2 * i + 1]).bits, low(output[2 * (65535 - i)]).bits) << "upper half of a pair";
    }
  }
}

TEST(PtxHalf, PairsCompareIntoTwoPredicates) {
  // Operands: 1.0 and 2.0 in all combinations, -0 and 0, NaN in one half; the third column combines.
  const std::vector<u32> words = {0x3c003c00, 0x3c004000, 0x40003c00, 0x40004000, 0x80000000, 0x00008000, 0x7e003c00};
  Program program;
  program.block = static_cast<unsigned>(words.size() * words.size());
  for (const u32 a : words) {
    for (const u32 b : words) {
      program.input.push_back(a);
      program.input.push_back(b);
    }
  }
  program.output_words = program.block;
  // Bit 0, 1: lt; 2, 3: lt and (b = 1.0|1.0), whose predicate is also the result for the lower half.
  program.body = R"(
  .reg .u32 %a, %b, %d, %x; .reg .u$p %o; .reg .pred %p, %q;
  cvt.u$p.u32 %o, %tid0; shl.b$p %o, %o, 3; add.u$p %o, %o, %in;
  ld.global.u32 %a, [%o]; ld.global.u32 %b, [%o+4];
  setp.lt.f16x2 %p|%q, %a, %b;
  selp.u32 %d, 1, 0, %p; selp.u32 %x, 2, 0, %q; or.b32 %d, %d, %x;
  setp.eq.u32 %p, %b, 0x3c004000;
  setp.lt.and.f16x2 %p|%q, %a, %b, %p;
  selp.u32 %x, 4, 0, %p; or.b32 %d, %d, %x; selp.u32 %x, 8, 0, %q; or.b32 %d, %d, %x;
  cvt.u$p.u32 %o, %tid0; shl.b$p %o, %o, 2; add.u$p %o, %o, %out;
  st.global.u32 [%o], %d;)";
  const std::vector<u32> output = run(program);
  for (unsigned i = 0; i < program.block; ++i) {
    const u32 a = program.input[2 * i], b = program.input[2 * i + 1];
    const u32 less =
        (value_of(low(a)) < value_of(low(b)) ? 1U : 0U) | (value_of(high(a)) < value_of(high(b)) ? 2U : 0U);
    EXPECT_EQ(output[i], less | (b == 0x3c004000 ? less << 2U : 0U)) << std::hex << a << " " << b;
  }
}

// 16-bit atomics leave the other half of their word alone, whatever is in it: here a NaN with a payload.
TEST(PtxHalf, Atomics) {
  Program program;
  program.block = 64;
  program.output_words = 64 * 6;
  program.body = R"(
  .reg .u32 %w, %d; .reg .u$p %o; .reg .b16 %h, %old;
  mul.lo.u32 %w, %tid0, 24; cvt.u$p.u32 %o, %w; add.u$p %o, %o, %out;
  st.global.u32 [%o], 0x3c007d55;
  mov.b16 %h, 0x4000;
  atom.global.add.noftz.f16 %old, [%o+2], %h;
  cvt.u32.u16 %d, %old; st.global.u32 [%o+4], %d;
  st.global.u32 [%o+8], 0x12345678;
  mov.b16 %h, 0x5678; mov.b16 %old, 0x4321;
  atom.global.cas.b16 %h, [%o+8], %h, %old;
  cvt.u32.u16 %d, %h; st.global.u32 [%o+12], %d;
  st.global.u32 [%o+16], 0x3c004000; mov.u32 %d, 0x40003c00;
  red.global.add.noftz.f16x2 [%o+16], %d;
  atom.global.add.noftz.f16x2 %d, [%o+16], %d;
  st.global.u32 [%o+20], %d;)";
  const std::vector<u32> output = run(program);
  for (unsigned i = 0; i < program.block; ++i) {
    const std::vector<u32> got(output.begin() + 6 * i, output.begin() + 6 * i + 6);
    // 1 + 2 = 3 above the payload; 0x5678 becomes 0x4321 below 0x1234; (1, 2) + (2, 1) = (3, 3), + (2, 1) = (5, 4).
    EXPECT_EQ(got, (std::vector<u32>{0x42007d55, 0x3c00, 0x12344321, 0x5678, 0x45004400, 0x42004200}))
        << "thread " << i;
  }
}

}  // namespace
}  // namespace heddle::ptx_ops
