// 64-bit integer operations, as the PTX ISA defines them. Divisions and high products run lane by lane: the host has
// no vector form of them.
#include <limits>

#include "isa/lane_loops.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

template <bool Subtract>
void with_carry(const Instruction& /*instruction*/, LaneValues& v) {
  LaneWord carries;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u64 in = (v.predicate_a >> lane) & 1U;
    const u64 a = get<u64>(v.a, lane);
    const u64 b = get<u64>(v.b, lane);
    const u64 partial = Subtract ? a - b : a + b;
    const u64 whole = Subtract ? partial - in : partial + in;
    put(v, lane, whole);
    carries[lane] = Subtract ? u32{a < b} | u32{partial < in} : u32{partial < a} | u32{whole < partial};
  }
  v.p = mask_of([&](unsigned lane) { return carries[lane] != 0; });
}

// Sums and differences in 32-bit halves, as twice as many lanes fit a host vector. Carry and borrow are 0 or 1.
template <bool Subtract>
void add(const Instruction& /*instruction*/, LaneValues& v) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 a = v.a[0][lane];
    const u32 b = v.b[0][lane];
    const u32 low = Subtract ? a - b : a + b;
    const u32 over = Subtract ? u32{a < b} : u32{low < a};
    const u32 high = Subtract ? v.a[1][lane] - v.b[1][lane] - over : v.a[1][lane] + v.b[1][lane] + over;
    v.result[0][lane] = low;
    v.result[1][lane] = high;
  }
}

// Bitwise operations work on the two words separately.
template <typename F>
constexpr LaneFunction bitwise(F /*function*/) {
  return [](const Instruction& /*instruction*/, LaneValues& v) {
    for (unsigned word = 0; word < 2; ++word) {
      for (unsigned lane = 0; lane < kLanes; ++lane) v.result[word][lane] = F{}(v.a[word][lane], v.b[word][lane]);
    }
  };
}

constexpr u64 high_unsigned(u64 a, u64 b) {
  const u64 a0 = a & 0xFFFFFFFFU;
  const u64 a1 = a >> 32U;
  const u64 b0 = b & 0xFFFFFFFFU;
  const u64 b1 = b >> 32U;
  const u64 middle = a1 * b0 + ((a0 * b0) >> 32U);
  const u64 carry = a0 * b1 + (middle & 0xFFFFFFFFU);
  return a1 * b1 + (middle >> 32U) + (carry >> 32U);
}

constexpr u64 high_signed(u64 a, u64 b) {
  const u64 a_sign = static_cast<u64>(static_cast<s64>(a) >> 63);
  const u64 b_sign = static_cast<u64>(static_cast<s64>(b) >> 63);
  return high_unsigned(a, b) - (a_sign & b) - (b_sign & a);
}

template <bool Signed, bool Remainder>
u64 divide_lane(u64 a, u64 b) {
  if (b == 0) return Remainder ? a : ~u64{0};
  if constexpr (Signed) {
    if (b == ~u64{0}) return Remainder ? 0 : 0 - a;  // also the one quotient that overflows
    const s64 x = static_cast<s64>(a);
    const s64 y = static_cast<s64>(b);
    return static_cast<u64>(Remainder ? x % y : x / y);
  } else {
    return Remainder ? a % b : a / b;
  }
}

template <bool Signed, bool Remainder>
void divide(const Instruction& /*instruction*/, LaneValues& v) {
  v.fault = mask_of([&](unsigned lane) { return (v.b[0][lane] | v.b[1][lane]) == 0; }) & v.active;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    put(v, lane, divide_lane<Signed, Remainder>(get<u64>(v.a, lane), get<u64>(v.b, lane)));
  }
}

}  // namespace

HEDDLE_LANES(ADD64) {
  return &add<false>;
}
HEDDLE_LANES(SUB64) {
  return &add<true>;
}
HEDDLE_LANES(ADDC64) {
  return &with_carry<false>;
}
HEDDLE_LANES(SUBC64) {
  return &with_carry<true>;
}
HEDDLE_LANES(MUL_LO64) {
  return each([](u64 a, u64 b) { return a * b; });
}
HEDDLE_LANES(MUL_HI_S64) {
  return each([](u64 a, u64 b) { return high_signed(a, b); });
}
HEDDLE_LANES(MUL_HI_U64) {
  return each([](u64 a, u64 b) { return high_unsigned(a, b); });
}
HEDDLE_LANES(MAD_LO64) {
  return each([](u64 a, u64 b, u64 c) { return a * b + c; });
}
HEDDLE_LANES(SAD_S64) {
  return each([](u64 a, u64 b, u64 c) { return c + (static_cast<s64>(a) < static_cast<s64>(b) ? b - a : a - b); });
}
HEDDLE_LANES(SAD_U64) {
  return each([](u64 a, u64 b, u64 c) { return c + (a < b ? b - a : a - b); });
}
HEDDLE_LANES(DIV_S64) {
  return &divide<true, false>;
}
HEDDLE_LANES(DIV_U64) {
  return &divide<false, false>;
}
HEDDLE_LANES(REM_S64) {
  return &divide<true, true>;
}
HEDDLE_LANES(REM_U64) {
  return &divide<false, true>;
}
HEDDLE_LANES(ABS64) {
  return each([](u64 b) { return static_cast<s64>(b) < 0 ? 0 - b : b; });
}
HEDDLE_LANES(MIN_S64) {
  return each([](s64 a, s64 b) { return a < b ? a : b; });
}
HEDDLE_LANES(MIN_U64) {
  return each([](u64 a, u64 b) { return a < b ? a : b; });
}
HEDDLE_LANES(MAX_S64) {
  return each([](s64 a, s64 b) { return a < b ? b : a; });
}
HEDDLE_LANES(MAX_U64) {
  return each([](u64 a, u64 b) { return a < b ? b : a; });
}
HEDDLE_LANES(AND64) {
  return bitwise([](u32 a, u32 b) { return a & b; });
}
HEDDLE_LANES(OR64) {
  return bitwise([](u32 a, u32 b) { return a | b; });
}
HEDDLE_LANES(XOR64) {
  return bitwise([](u32 a, u32 b) { return a ^ b; });
}
HEDDLE_LANES(NOT64) {
  return bitwise([](u32 /*a*/, u32 b) { return ~b; });
}
HEDDLE_LANES(CNOT64) {
  return each([](u64 b) { return u64{b == 0}; });
}
HEDDLE_LANES(SHL64) {
  return each([](u64 a, u32 b) { return b > 63 ? u64{0} : a << (b & 63U); });
}
HEDDLE_LANES(SHR_S64) {
  return each([](s64 a, u32 b) { return a >> (b > 63 ? 63U : b); });
}
HEDDLE_LANES(SHR_U64) {
  return each([](u64 a, u32 b) { return b > 63 ? u64{0} : a >> (b & 63U); });
}

}  // namespace heddle::isa::lanes
