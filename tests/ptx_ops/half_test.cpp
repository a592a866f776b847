// Arithmetic on .f16 and .f16x2 against exact sums and products in integers, rounded once.
#include <gtest/gtest.h>

#include "tests/ptx_ops/operation_table.hpp"

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

TEST(PtxHalf, Comparisons) {
  OperationTable table;
  const auto ordered = [](Half a, Half b) { return !is_nan(a) && !is_nan(b); };
  const auto size = [](Half x) { return is_infinite(x) ? (is_negative(x) ? -1 : 1) * (Exact{1} << 60) : steps(x); };
  table.add("setp.lt.f16 $d, $a, $b;", [=](Half a, Half b) { return ordered(a, b) && size(a) < size(b); });
  table.add("setp.eq.f16 $d, $a, $b;", [=](Half a, Half b) { return ordered(a, b) && size(a) == size(b); });
  table.add("setp.neu.f16 $d, $a, $b;", [=](Half a, Half b) { return !ordered(a, b) || size(a) != size(b); });
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
