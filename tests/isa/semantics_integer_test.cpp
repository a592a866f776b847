// 32-bit integer operations against host computations.
#include <algorithm>
#include <cstdlib>

#include "lane_check.hpp"

namespace heddle::isa {
namespace {

using namespace test;

s32 sa(const Lane& l) {
  return static_cast<s32>(low(l.a));
}
s32 sb(const Lane& l) {
  return static_cast<s32>(low(l.b));
}
u32 ua(const Lane& l) {
  return low(l.a);
}
u32 ub(const Lane& l) {
  return low(l.b);
}
u32 uc(const Lane& l) {
  return low(l.c);
}
u32 word(s64 x) {
  return static_cast<u32>(x);
}
s64 product(const Lane& l) {
  return s64{sa(l)} * sb(l);
}
u64 product_u(const Lane& l) {
  return u64{ua(l)} * ub(l);
}
s64 signed24(u32 x) {
  return (x & 0x800000U) != 0 ? s64{x & 0xFFFFFFU} - 0x1000000 : s64{x & 0xFFFFFFU};
}

// One table row: an operation and what it computes.
struct IntegerCase {
  Op op;
  u64 (*expected)(const Lane&);
};

TEST(SemanticsInteger, TwoOperands) {
  const std::vector<Lane> lanes = words().lanes(false, 4000);
  for (const IntegerCase& c : std::initializer_list<IntegerCase>{
           {Op::MOV, [](const Lane& l) -> u64 { return ub(l); }},
           {Op::ADD, [](const Lane& l) -> u64 { return word(s64{ua(l)} + ub(l)); }},
           {Op::SUB, [](const Lane& l) -> u64 { return word(s64{ua(l)} - ub(l)); }},
           {Op::ADD_SAT,
            [](const Lane& l) -> u64 { return word(std::clamp<s64>(s64{sa(l)} + sb(l), INT32_MIN, INT32_MAX)); }},
           {Op::SUB_SAT,
            [](const Lane& l) -> u64 { return word(std::clamp<s64>(s64{sa(l)} - sb(l), INT32_MIN, INT32_MAX)); }},
           {Op::MUL_LO, [](const Lane& l) -> u64 { return low(product_u(l)); }},
           {Op::MUL_HI_S, [](const Lane& l) -> u64 { return word(product(l) >> 32); }},
           {Op::MUL_HI_U, [](const Lane& l) -> u64 { return product_u(l) >> 32; }},
           {Op::MUL_WIDE_S, [](const Lane& l) -> u64 { return static_cast<u64>(product(l)); }},
           {Op::MUL_WIDE_U, [](const Lane& l) -> u64 { return product_u(l); }},
           {Op::MUL24_LO_S, [](const Lane& l) -> u64 { return word(signed24(ua(l)) * signed24(ub(l))); }},
           {Op::MUL24_HI_S, [](const Lane& l) -> u64 { return word((signed24(ua(l)) * signed24(ub(l))) >> 16); }},
           {Op::MUL24_LO_U, [](const Lane& l) -> u64 { return low(u64{ua(l) % 0x1000000} * (ub(l) % 0x1000000)); }},
           {Op::MUL24_HI_U,
            [](const Lane& l) -> u64 { return low(u64{ua(l) % 0x1000000} * (ub(l) % 0x1000000) / 0x10000); }},
           {Op::DIV_S, [](const Lane& l) -> u64 { return sb(l) == 0 ? 0xFFFFFFFFU : word(s64{sa(l)} / s64{sb(l)}); }},
           {Op::REM_S, [](const Lane& l) -> u64 { return sb(l) == 0 ? ua(l) : word(s64{sa(l)} % s64{sb(l)}); }},
           {Op::DIV_U, [](const Lane& l) -> u64 { return ub(l) == 0 ? 0xFFFFFFFFU : ua(l) / ub(l); }},
           {Op::REM_U, [](const Lane& l) -> u64 { return ub(l) == 0 ? ua(l) : ua(l) % ub(l); }},
           {Op::ABS, [](const Lane& l) -> u64 { return word(std::llabs(sb(l))); }},
           {Op::MIN_S, [](const Lane& l) -> u64 { return word(std::min(sa(l), sb(l))); }},
           {Op::MAX_S, [](const Lane& l) -> u64 { return word(std::max(sa(l), sb(l))); }},
           {Op::MIN_U, [](const Lane& l) -> u64 { return std::min(ua(l), ub(l)); }},
           {Op::MAX_U, [](const Lane& l) -> u64 { return std::max(ua(l), ub(l)); }},
           {Op::AND, [](const Lane& l) -> u64 { return ua(l) & ub(l); }},
           {Op::OR, [](const Lane& l) -> u64 { return ua(l) | ub(l); }},
           {Op::XOR, [](const Lane& l) -> u64 { return ua(l) ^ ub(l); }},
           {Op::NOT, [](const Lane& l) -> u64 { return u32{~ub(l)}; }},
           {Op::CNOT, [](const Lane& l) -> u64 { return ub(l) == 0 ? 1 : 0; }},
           {Op::SHL, [](const Lane& l) -> u64 { return ub(l) >= 32 ? 0 : low(u64{ua(l)} << ub(l)); }},
           {Op::SHR_U, [](const Lane& l) -> u64 { return ub(l) >= 32 ? 0 : ua(l) >> ub(l); }},
           {Op::SHR_S, [](const Lane& l) -> u64 { return word(s64{sa(l)} >> std::min(ub(l), 32U)); }},
           {Op::SEL, [](const Lane& l) -> u64 { return l.predicate_a ? ua(l) : ub(l); }},
       }) {
    check(operation(c.op), lanes, c.expected);
  }
}

// (b:a) shifted as one 64-bit value, bit by bit.
u32 funnel(const Lane& l, bool left, u32 count) {
  u32 out = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const int from = left ? static_cast<int>(32 + bit - count) : static_cast<int>(bit + count);
    const u32 source = from < 32 ? ua(l) >> from : ub(l) >> (from - 32);
    out |= (source & 1U) << bit;
  }
  return out;
}

TEST(SemanticsInteger, ThreeOperands) {
  const std::vector<Lane> lanes = words().lanes(true, 4000);
  for (const IntegerCase& c : std::initializer_list<IntegerCase>{
           {Op::MAD_LO, [](const Lane& l) -> u64 { return low(product_u(l) + uc(l)); }},
           {Op::MAD_HI_S, [](const Lane& l) -> u64 { return word((product(l) >> 32) + uc(l)); }},
           {Op::MAD_HI_U, [](const Lane& l) -> u64 { return low((product_u(l) >> 32) + uc(l)); }},
           {Op::MAD_WIDE_S, [](const Lane& l) -> u64 { return static_cast<u64>(product(l)) + l.c; }},
           {Op::MAD_WIDE_U, [](const Lane& l) -> u64 { return product_u(l) + l.c; }},
           {Op::SAD_S, [](const Lane& l) -> u64 { return word(std::llabs(s64{sa(l)} - sb(l)) + uc(l)); }},
           {Op::SAD_U, [](const Lane& l) -> u64 { return word(std::llabs(s64{ua(l)} - ub(l)) + uc(l)); }},
           {Op::SHF_L_CLAMP, [](const Lane& l) -> u64 { return funnel(l, true, std::min(uc(l), 32U)); }},
           {Op::SHF_L_WRAP, [](const Lane& l) -> u64 { return funnel(l, true, uc(l) % 32); }},
           {Op::SHF_R_CLAMP, [](const Lane& l) -> u64 { return funnel(l, false, std::min(uc(l), 32U)); }},
           {Op::SHF_R_WRAP, [](const Lane& l) -> u64 { return funnel(l, false, uc(l) % 32); }},
       }) {
    check(operation(c.op), lanes, c.expected);
  }
}

TEST(SemanticsInteger, Lop3LooksUpEveryTable) {
  const std::vector<Lane> lanes = words().lanes(false, 64);
  for (u32 table = 0; table < 256; ++table) {
    check(operation(Op::LOP3, table), lanes, [&](const Lane& l) {
      u32 out = 0;
      for (unsigned bit = 0; bit < 32; ++bit) {
        const u32 index = (ua(l) >> bit & 1U) * 4 + (ub(l) >> bit & 1U) * 2 + (uc(l) >> bit & 1U);
        out |= (table >> index & 1U) << bit;
      }
      return out;
    });
  }
}

TEST(SemanticsInteger, PermuteIndexMode) {
  check(operation(Op::PRMT), words().lanes(false, 20000), [](const Lane& l) {
    const u64 bytes = ua(l) | u64{ub(l)} << 32U;
    u32 out = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const u32 control = uc(l) >> (4 * i) & 15U;
      u32 byte = static_cast<u32>(bytes >> (8 * (control % 8))) & 255U;
      if (control >= 8) byte = byte >= 128 ? 255 : 0;
      out |= byte << (8 * i);
    }
    return out;
  });
}

// Bytes are numbered 0..3 in a, 4..7 in b; the expected digits are the result's bytes 3..0 (PTX ISA, prmt's table).
TEST(SemanticsInteger, PermuteNamedModes) {
  struct Mode {
    u32 mode;
    u32 digits[4];
  };
  for (const Mode& mode : {Mode{1, {0x3210, 0x4321, 0x5432, 0x6543}}, Mode{2, {0x5670, 0x6701, 0x7012, 0x0123}},
                           Mode{3, {0x0000, 0x1111, 0x2222, 0x3333}}, Mode{4, {0x3210, 0x3211, 0x3222, 0x3333}},
                           Mode{5, {0x0000, 0x1110, 0x2210, 0x3210}}, Mode{6, {0x1010, 0x3232, 0x1010, 0x3232}}}) {
    for (u32 control = 0; control < 4; ++control) {
      u64 want = 0;
      for (unsigned i = 0; i < 4; ++i) want |= u64{mode.digits[control] >> (4 * i) & 15U} << (8 * i);
      EXPECT_EQ(compute_one(operation(Op::PRMT, mode.mode), {0x83020100 & 0x7F7F7F7F, 0x07060504, control + 8, 0}),
                want)
          << mode.mode << " " << control;
    }
  }
}

TEST(SemanticsInteger, CarriesChain) {
  for (const bool subtract : {false, true}) {
    for (const Lane& l : words().lanes(false, 2000)) {
      const LaneResult got = compute(operation(subtract ? Op::SUBC : Op::ADDC), {l}).front();
      const s64 exact =
          subtract ? s64{ua(l)} - ub(l) - (l.predicate_a ? 1 : 0) : s64{ua(l)} + ub(l) + (l.predicate_a ? 1 : 0);
      ASSERT_EQ(got.value, word(exact));
      ASSERT_EQ(got.p, exact < 0 || exact > s64{UINT32_MAX}) << ua(l) << " " << ub(l);
    }
  }
}

TEST(SemanticsInteger, DivisionByZeroFaultsActiveLanesOnly) {
  for (const Op op : {Op::DIV_S, Op::DIV_U, Op::REM_S, Op::REM_U, Op::DIV_S64, Op::DIV_U64, Op::REM_S64, Op::REM_U64}) {
    LaneValues v{};
    v.active = 0x0000FFF0;
    v.b[0].fill(3);
    v.b[0][0] = v.b[0][4] = v.b[0][15] = v.b[0][31] = 0;
    if (info(op).a == OperandKind::w) v.b[1][4] = 1;  // not zero as a 64-bit divisor
    lane_function(operation(op))(operation(op), v);
    EXPECT_EQ(v.fault, info(op).a == OperandKind::w ? 0x8000U : 0x8010U) << info(op).mnemonic;
  }
}

TEST(SemanticsInteger, OverflowingQuotientWraps) {
  EXPECT_EQ(compute_one(operation(Op::DIV_S), {0x80000000, 0xFFFFFFFF}), 0x80000000U);
  EXPECT_EQ(compute_one(operation(Op::REM_S), {0x80000000, 0xFFFFFFFF}), 0U);
}

}  // namespace
}  // namespace heddle::isa
