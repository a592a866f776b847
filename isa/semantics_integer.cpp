// 32-bit integer operations, moves and selection, as the PTX ISA defines them (chapters "Integer Arithmetic
// Instructions", "Extended-Precision Integer Arithmetic", "Comparison and Selection", "Data Movement").
#include <algorithm>
#include <limits>

#include "isa/lane_loops.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

constexpr s32 signed_of(u32 x) {
  return static_cast<s32>(x);
}
constexpr u32 unsigned_of(s32 x) {
  return static_cast<u32>(x);
}

constexpr u32 clamp_signed(s64 x) {
  return static_cast<u32>(std::clamp<s64>(x, std::numeric_limits<s32>::min(), std::numeric_limits<s32>::max()));
}
constexpr u64 wide_signed(s32 a, s32 b) {
  return static_cast<u64>(s64{a} * b);
}
constexpr u64 wide_unsigned(u32 a, u32 b) {
  return u64{a} * b;
}
constexpr s32 sign_extend_24(s32 x) {
  return static_cast<s32>(static_cast<u32>(x) << 8U) >> 8;
}
constexpr u32 zero_extend_24(u32 x) {
  return x & 0xFFFFFFU;
}

// 32-bit quotients are exact in double precision: an inexact quotient lies at least 2^-32 (relative) from an integer.
struct DivideSigned {
  static s32 quotient(s32 a, s32 b) { return static_cast<s32>(static_cast<s64>(double(a) / double(b))); }
};
struct DivideUnsigned {
  static u32 quotient(u32 a, u32 b) { return static_cast<u32>(double(a) / double(b)); }
};

template <typename T, typename Divide, bool Remainder>
void divide(const Instruction& /*instruction*/, LaneValues& v) {
  v.fault = mask_of([&](unsigned lane) { return v.b[0][lane] == 0; }) & v.active;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 a = v.a[0][lane];
    const u32 b = v.b[0][lane];
    const u32 safe = b == 0 ? 1 : b;
    const u32 quotient = static_cast<u32>(Divide::quotient(static_cast<T>(a), static_cast<T>(safe)));
    if constexpr (Remainder) {
      v.result[0][lane] = b == 0 ? a : a - quotient * b;
    } else {
      v.result[0][lane] = b == 0 ? ~u32{0} : quotient;
    }
  }
}

// All ones where the lane's predicate is set: selecting by mask vectorises where a conditional load does not.
inline void select(LaneMask mask, const LaneWord& if_set, const LaneWord& otherwise, LaneWord& out) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 chosen = 0U - ((mask >> lane) & 1U);
    out[lane] = (if_set[lane] & chosen) | (otherwise[lane] & ~chosen);
  }
}

void move_pair(const Instruction& /*instruction*/, LaneValues& v) {
  v.result[0] = v.b[0];
  v.result[1] = v.b[1];
}

void select_word(const Instruction& /*instruction*/, LaneValues& v) {
  select(v.predicate_a, v.a[0], v.b[0], v.result[0]);
}

void select_pair(const Instruction& /*instruction*/, LaneValues& v) {
  select(v.predicate_a, v.a[0], v.b[0], v.result[0]);
  select(v.predicate_a, v.a[1], v.b[1], v.result[1]);
}

template <bool Subtract>
void with_carry(const Instruction& /*instruction*/, LaneValues& v) {
  LaneWord carries;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 in = (v.predicate_a >> lane) & 1U;
    const u32 a = v.a[0][lane];
    const u32 b = v.b[0][lane];
    const u32 partial = Subtract ? a - b : a + b;
    const u32 whole = Subtract ? partial - in : partial + in;
    v.result[0][lane] = whole;
    carries[lane] = Subtract ? u32{a < b} | u32{partial < in} : u32{partial < a} | u32{whole < partial};
  }
  v.p = mask_of([&](unsigned lane) { return carries[lane] != 0; });
}

void lop3(const Instruction& instruction, LaneValues& v) {
  const u32 table = instruction.lop3_lut();
  // The look-up table as eight masks, one for each combination of a, b and c.
  std::array<u32, 8> term{};
  for (unsigned i = 0; i < 8; ++i) term[i] = (table >> i & 1U) != 0 ? ~u32{0} : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 a = v.a[0][lane];
    const u32 b = v.b[0][lane];
    const u32 c = v.c[0][lane];
    const u32 without_a = (~b & ((~c & term[0]) | (c & term[1]))) | (b & ((~c & term[2]) | (c & term[3])));
    const u32 with_a = (~b & ((~c & term[4]) | (c & term[5]))) | (b & ((~c & term[6]) | (c & term[7])));
    v.result[0][lane] = (~a & without_a) | (a & with_a);
  }
}

// prmt with one of the selectors that the named modes stand for; index mode takes c itself.
constexpr u32 permute(u32 a, u32 b, u32 selector) {
  const u64 bytes = a | u64{b} << 32U;
  u32 out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const u32 control = selector >> (4 * i);
    const u32 byte = static_cast<u32>(bytes >> (8 * (control & 7U))) & 0xFFU;
    const u32 sign = (byte & 0x80U) != 0 ? 0xFFU : 0U;
    out |= ((control & 8U) != 0 ? sign : byte) << (8 * i);
  }
  return out;
}

// Selectors for c & 3 by mode: f4e, b4e, rc8, ecl, ecr, rc16.
constexpr u32 kPermuteModes[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
                                     {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
                                     {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};

void permute_mode(const Instruction& instruction, LaneValues& v) {
  const u32* const selectors = kPermuteModes[instruction.prmt_mode() - 1];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    v.result[0][lane] = permute(v.a[0][lane], v.b[0][lane], selectors[v.c[0][lane] & 3U]);
  }
}

}  // namespace

HEDDLE_LANES(MOV) {
  return each([](u32 b) { return b; });
}

HEDDLE_LANES(MOV64) {
  return &move_pair;
}
HEDDLE_LANES(SEL) {
  return &select_word;
}
HEDDLE_LANES(SEL64) {
  return &select_pair;
}

HEDDLE_LANES(ADD) {
  return each([](u32 a, u32 b) { return a + b; });
}
HEDDLE_LANES(SUB) {
  return each([](u32 a, u32 b) { return a - b; });
}
HEDDLE_LANES(ADD_SAT) {
  return each([](s32 a, s32 b) { return clamp_signed(s64{a} + b); });
}
HEDDLE_LANES(SUB_SAT) {
  return each([](s32 a, s32 b) { return clamp_signed(s64{a} - b); });
}
HEDDLE_LANES(ADDC) {
  return &with_carry<false>;
}
HEDDLE_LANES(SUBC) {
  return &with_carry<true>;
}
HEDDLE_LANES(MUL_LO) {
  return each([](u32 a, u32 b) { return a * b; });
}
HEDDLE_LANES(MUL_HI_S) {
  return each([](s32 a, s32 b) { return static_cast<u32>(wide_signed(a, b) >> 32U); });
}
HEDDLE_LANES(MUL_HI_U) {
  return each([](u32 a, u32 b) { return static_cast<u32>(wide_unsigned(a, b) >> 32U); });
}
HEDDLE_LANES(MUL_WIDE_S) {
  return each([](s32 a, s32 b) { return wide_signed(a, b); });
}
HEDDLE_LANES(MUL_WIDE_U) {
  return each([](u32 a, u32 b) { return wide_unsigned(a, b); });
}
HEDDLE_LANES(MAD_LO) {
  return each([](u32 a, u32 b, u32 c) { return a * b + c; });
}
HEDDLE_LANES(MAD_HI_S) {
  return each([](s32 a, s32 b, u32 c) { return static_cast<u32>(wide_signed(a, b) >> 32U) + c; });
}
HEDDLE_LANES(MAD_HI_U) {
  return each([](u32 a, u32 b, u32 c) { return static_cast<u32>(wide_unsigned(a, b) >> 32U) + c; });
}
HEDDLE_LANES(MAD_WIDE_S) {
  return each([](s32 a, s32 b, u64 c) { return wide_signed(a, b) + c; });
}
HEDDLE_LANES(MAD_WIDE_U) {
  return each([](u32 a, u32 b, u64 c) { return wide_unsigned(a, b) + c; });
}
HEDDLE_LANES(MUL24_LO_S) {
  return each([](s32 a, s32 b) { return static_cast<u32>(wide_signed(sign_extend_24(a), sign_extend_24(b))); });
}
HEDDLE_LANES(MUL24_LO_U) {
  return each([](u32 a, u32 b) { return static_cast<u32>(wide_unsigned(zero_extend_24(a), zero_extend_24(b))); });
}
HEDDLE_LANES(MUL24_HI_S) {
  return each([](s32 a, s32 b) { return static_cast<u32>(wide_signed(sign_extend_24(a), sign_extend_24(b)) >> 16U); });
}
HEDDLE_LANES(MUL24_HI_U) {
  return each(
      [](u32 a, u32 b) { return static_cast<u32>(wide_unsigned(zero_extend_24(a), zero_extend_24(b)) >> 16U); });
}
HEDDLE_LANES(SAD_S) {
  return each([](s32 a, s32 b, u32 c) {
    return c + (a < b ? unsigned_of(b) - unsigned_of(a) : unsigned_of(a) - unsigned_of(b));
  });
}
HEDDLE_LANES(SAD_U) {
  return each([](u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); });
}
HEDDLE_LANES(DIV_S) {
  return &divide<s32, DivideSigned, false>;
}
HEDDLE_LANES(DIV_U) {
  return &divide<u32, DivideUnsigned, false>;
}
HEDDLE_LANES(REM_S) {
  return &divide<s32, DivideSigned, true>;
}
HEDDLE_LANES(REM_U) {
  return &divide<u32, DivideUnsigned, true>;
}
HEDDLE_LANES(ABS) {
  return each([](u32 b) { return signed_of(b) < 0 ? 0 - b : b; });
}
HEDDLE_LANES(MIN_S) {
  return each([](s32 a, s32 b) { return a < b ? a : b; });
}
HEDDLE_LANES(MIN_U) {
  return each([](u32 a, u32 b) { return a < b ? a : b; });
}
HEDDLE_LANES(MAX_S) {
  return each([](s32 a, s32 b) { return a < b ? b : a; });
}
HEDDLE_LANES(MAX_U) {
  return each([](u32 a, u32 b) { return a < b ? b : a; });
}

HEDDLE_LANES(AND) {
  return each([](u32 a, u32 b) { return a & b; });
}
HEDDLE_LANES(OR) {
  return each([](u32 a, u32 b) { return a | b; });
}
HEDDLE_LANES(XOR) {
  return each([](u32 a, u32 b) { return a ^ b; });
}
HEDDLE_LANES(NOT) {
  return each([](u32 b) { return ~b; });
}
HEDDLE_LANES(CNOT) {
  return each([](u32 b) { return u32{b == 0}; });
}
HEDDLE_LANES(LOP3) {
  return &lop3;
}

HEDDLE_LANES(SHL) {
  return each([](u32 a, u32 b) { return b > 31 ? u32{0} : a << (b & 31U); });
}
HEDDLE_LANES(SHR_S) {
  return each([](s32 a, u32 b) { return a >> (b > 31 ? 31U : b); });
}
HEDDLE_LANES(SHR_U) {
  return each([](u32 a, u32 b) { return b > 31 ? u32{0} : a >> (b & 31U); });
}
HEDDLE_LANES(SHF_L_CLAMP) {
  return each([](u32 a, u32 b, u32 c) { return static_cast<u32>(((a | u64{b} << 32U) << (c > 32 ? 32 : c)) >> 32U); });
}
HEDDLE_LANES(SHF_L_WRAP) {
  return each([](u32 a, u32 b, u32 c) { return static_cast<u32>(((a | u64{b} << 32U) << (c & 31U)) >> 32U); });
}
HEDDLE_LANES(SHF_R_CLAMP) {
  return each([](u32 a, u32 b, u32 c) { return static_cast<u32>((a | u64{b} << 32U) >> (c > 32 ? 32 : c)); });
}
HEDDLE_LANES(SHF_R_WRAP) {
  return each([](u32 a, u32 b, u32 c) { return static_cast<u32>((a | u64{b} << 32U) >> (c & 31U)); });
}
HEDDLE_LANES(PRMT) {
  return instruction.prmt_mode() == 0 ? each([](u32 a, u32 b, u32 c) { return permute(a, b, c); }) : &permute_mode;
}

}  // namespace heddle::isa::lanes
