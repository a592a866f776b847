// SIMD video instructions and fns by the words of the manual (PTX ISA, sections 9.7.18.2 and 9.7.1.16).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "tests/ptx_ops/operation_table.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("PtxVideo.Arithmetic")

namespace heddle::ptx_ops {
namespace {

// Element i of a register that holds `parts` of them.
s64 element(u32 packed, unsigned i, unsigned parts, bool is_signed) {
  const u32 raw = parts == 4 ? packed >> (8 * i) & 0xffU : packed >> (16 * i) & 0xffffU;
  if (!is_signed) return raw;
  return parts == 4 ? s64{static_cast<std::int8_t>(raw)} : s64{static_cast<s16>(raw)};
}

enum class Ending : std::uint8_t { merge, saturate, accumulate };
using Step = s64 (*)(s64, s64);

u32 packed_result(u32 a, u32 b, u32 c, unsigned parts, bool signed_a, bool signed_b, bool signed_d, Ending ending,
                  Step step) {
  const unsigned bits = 32 / parts;
  u32 sum = c, merged = 0;
  for (unsigned i = 0; i < parts; ++i) {
    s64 value = step(element(a, i, parts, signed_a), element(b, i, parts, signed_b));
    if (ending == Ending::saturate) {
      const s64 most = (s64{1} << (signed_d ? bits - 1 : bits)) - 1;
      value = std::clamp<s64>(value, signed_d ? -most - 1 : 0, most);
    }
    sum += static_cast<u32>(value);
    merged |= (static_cast<u32>(value) & ((1U << bits) - 1)) << (i * bits);
  }
  return ending == Ending::accumulate ? sum : merged;
}

s64 average(s64 a, s64 b) {
  return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
}

// What a row expects: of so many parts, with signed a, b and result.
auto of(std::uint8_t parts, bool signed_a, bool signed_b, bool signed_d, Ending ending, Step step) {
  return [=](u32 a, u32 b, u32 c) { return packed_result(a, b, c, parts, signed_a, signed_b, signed_d, ending, step); };
}

s64 sum_of(s64 a, s64 b) {
  return a + b;
}
s64 difference_of(s64 a, s64 b) {
  return a - b;
}
s64 distance(s64 a, s64 b) {
  return std::llabs(a - b);
}
s64 least(s64 a, s64 b) {
  return std::min(a, b);
}
s64 greatest(s64 a, s64 b) {
  return std::max(a, b);
}

void add_rows(OperationTable& table, const std::string& name, Step step) {
  const std::string operands = " $d, $a, $b, $c;";
  table.add(name + "2.u32.u32.u32" + operands, of(2, false, false, false, Ending::merge, step));
  table.add(name + "2.s32.s32.u32.sat" + operands, of(2, true, false, true, Ending::saturate, step));
  table.add(name + "2.s32.u32.s32.add" + operands, of(2, false, true, true, Ending::accumulate, step));
  table.add(name + "4.s32.s32.s32" + operands, of(4, true, true, true, Ending::merge, step));
  table.add(name + "4.u32.s32.s32.sat" + operands, of(4, true, true, false, Ending::saturate, step));
  table.add(name + "4.s32.s32.s32.sat" + operands, of(4, true, true, true, Ending::saturate, step));
  table.add(name + "4.u32.u32.u32.add" + operands, of(4, false, false, false, Ending::accumulate, step));
}

TEST(PtxVideo, Arithmetic) {
  OperationTable table;
  add_rows(table, "vadd", sum_of);
  add_rows(table, "vsub", difference_of);
  add_rows(table, "vavrg", average);
  add_rows(table, "vabsdiff", distance);
  add_rows(table, "vmin", least);
  add_rows(table, "vmax", greatest);
  table.run();
}

TEST(PtxVideo, Comparisons) {
  OperationTable table;
  table.add("vset2.u32.u32.lt $d, $a, $b, $c;",
            of(2, false, false, false, Ending::merge, [](s64 a, s64 b) { return s64{a < b}; }));
  table.add("vset2.s32.u32.ge.add $d, $a, $b, $c;",
            of(2, true, false, false, Ending::accumulate, [](s64 a, s64 b) { return s64{a >= b}; }));
  table.add("vset4.u32.u32.eq $d, $a, $b, $c;",
            of(4, false, false, false, Ending::merge, [](s64 a, s64 b) { return s64{a == b}; }));
  table.add("vset4.u32.u32.ne $d, $a, $a, $c;", [](u32, u32, u32) { return u32{0}; });
  table.add("vset4.s32.s32.gt.add $d, $a, $b, $c;",
            of(4, true, true, false, Ending::accumulate, [](s64 a, s64 b) { return s64{a > b}; }));
  table.add("vset4.s32.s32.le $d, $a, $b, $c;",
            of(4, true, true, false, Ending::merge, [](s64 a, s64 b) { return s64{a <= b}; }));
  table.run();
}

// Bit by bit from the base on, as the manual says it.
u32 nth_set(u32 mask, u32 base, s32 offset) {
  if (offset == 0) return (mask >> base & 1U) != 0 ? base : ~0U;
  s64 count = std::llabs(s64{offset}) - 1;
  for (s64 at = base; at >= 0 && at<32; at += offset> 0 ? 1 : -1) {
    if ((mask >> at & 1U) != 0 && count-- == 0) return static_cast<u32>(at);
  }
  return ~0U;
}

TEST(PtxVideo, FindsTheNthOne) {
  OperationTable table;
  table.add("and.b32 $t, $b, 31; fns.b32 $d, $a, $t, $c;", [](u32 a, u32 b, s32 c) { return nth_set(a, b & 31U, c); });
  for (const s32 offset : {-9, -3, -1, 0, 1, 2, 5, 17}) {
    table.add("and.b32 $t, $b, 31; fns.b32 $d, $a, $t, " + std::to_string(offset) + ";",
              [offset](u32 a, u32 b) { return nth_set(a, b & 31U, offset); });
  }
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
