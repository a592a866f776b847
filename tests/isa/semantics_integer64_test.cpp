// 64-bit integer operations, bit fields and bit counts against host computations.
#include <algorithm>
#include <cstdlib>

#include "lane_check.hpp"

namespace heddle::isa {
namespace {

using namespace test;
using s128 = __int128;
using u128 = unsigned __int128;

s64 s(u64 x) {
  return static_cast<s64>(x);
}

struct WideCase {
  Op op;
  u64 (*expected)(const Lane&);
};

u64 distance(s128 a, s128 b) {
  return static_cast<u64>(a < b ? b - a : a - b);
}

TEST(SemanticsInteger64, Arithmetic) {
  const std::vector<Lane> lanes = longs().lanes(false, 4000);
  for (const WideCase& c : std::initializer_list<WideCase>{
           {Op::MOV64, [](const Lane& l) { return l.b; }},
           {Op::SEL64, [](const Lane& l) { return l.predicate_a ? l.a : l.b; }},
           {Op::ADD64, [](const Lane& l) { return l.a + l.b; }},
           {Op::SUB64, [](const Lane& l) { return l.a - l.b; }},
           {Op::MUL_LO64, [](const Lane& l) { return l.a * l.b; }},
           {Op::MUL_HI_U64, [](const Lane& l) { return static_cast<u64>(u128{l.a} * l.b >> 64U); }},
           {Op::MUL_HI_S64, [](const Lane& l) { return static_cast<u64>(s128{s(l.a)} * s(l.b) >> 64); }},
           {Op::MAD_LO64, [](const Lane& l) { return l.a * l.b + l.c; }},
           {Op::SAD_S64, [](const Lane& l) { return l.c + distance(s(l.a), s(l.b)); }},
           {Op::SAD_U64, [](const Lane& l) { return l.c + distance(l.a, l.b); }},
           {Op::DIV_S64, [](const Lane& l) { return l.b == 0 ? ~u64{0} : static_cast<u64>(s128{s(l.a)} / s(l.b)); }},
           {Op::REM_S64, [](const Lane& l) { return l.b == 0 ? l.a : static_cast<u64>(s128{s(l.a)} % s(l.b)); }},
           {Op::DIV_U64, [](const Lane& l) { return l.b == 0 ? ~u64{0} : l.a / l.b; }},
           {Op::REM_U64, [](const Lane& l) { return l.b == 0 ? l.a : l.a % l.b; }},
           {Op::ABS64, [](const Lane& l) { return s(l.b) < 0 ? ~l.b + 1 : l.b; }},
           {Op::MIN_S64, [](const Lane& l) { return static_cast<u64>(std::min(s(l.a), s(l.b))); }},
           {Op::MAX_S64, [](const Lane& l) { return static_cast<u64>(std::max(s(l.a), s(l.b))); }},
           {Op::MIN_U64, [](const Lane& l) { return std::min(l.a, l.b); }},
           {Op::MAX_U64, [](const Lane& l) { return std::max(l.a, l.b); }},
           {Op::AND64, [](const Lane& l) { return l.a & l.b; }},
           {Op::OR64, [](const Lane& l) { return l.a | l.b; }},
           {Op::XOR64, [](const Lane& l) { return l.a ^ l.b; }},
           {Op::NOT64, [](const Lane& l) { return ~l.b; }},
           {Op::CNOT64, [](const Lane& l) { return l.b == 0 ? u64{1} : u64{0}; }},
           {Op::SHL64, [](const Lane& l) { return low(l.b) >= 64 ? u64{0} : l.a << low(l.b); }},
           {Op::SHR_U64, [](const Lane& l) { return low(l.b) >= 64 ? u64{0} : l.a >> low(l.b); }},
           {Op::SHR_S64, [](const Lane& l) { return static_cast<u64>(s128{s(l.a)} >> std::min(low(l.b), 64U)); }},
       }) {
    check(operation(c.op), lanes, c.expected);
  }
}

TEST(SemanticsInteger64, CarriesChain) {
  for (const Lane& l : longs().lanes(false, 2000)) {
    const u128 in = l.predicate_a ? 1 : 0;
    const LaneResult sum = compute(operation(Op::ADDC64), {l}).front();
    ASSERT_EQ(sum.value, static_cast<u64>(u128{l.a} + l.b + in));
    ASSERT_EQ(sum.p, (u128{l.a} + l.b + in) >> 64U != 0);
    const LaneResult difference = compute(operation(Op::SUBC64), {l}).front();
    ASSERT_EQ(difference.value, static_cast<u64>(u128{l.a} - l.b - in));
    ASSERT_EQ(difference.p, u128{l.a} < u128{l.b} + in);
  }
}

// ---- bit fields, written as the PTX ISA's loops over bits

template <unsigned Bits>
u64 extract(u64 a, u32 b, u32 c, bool is_signed) {
  const unsigned position = b & 255U;
  const unsigned length = c & 255U;
  const unsigned top = Bits - 1;
  const bool sign = is_signed && length != 0 && (a >> std::min(position + length - 1, top) & 1U) != 0;
  u64 out = 0;
  for (unsigned i = 0; i < Bits; ++i) {
    const bool bit = i < length && position + i <= top ? (a >> (position + i) & 1U) != 0 : sign;
    out |= bit ? u64{1} << i : 0;
  }
  return out;
}

template <unsigned Bits>
u64 insert(u64 a, u64 b, u32 c, u32 d) {
  const unsigned position = c & 255U;
  const unsigned length = d & 255U;
  u64 out = b;
  for (unsigned i = 0; i < length && position + i < Bits; ++i) {
    const u64 mask = u64{1} << (position + i);
    out = (a >> i & 1U) != 0 ? out | mask : out & ~mask;
  }
  return out;
}

template <unsigned Bits>
u64 find(u64 b, bool is_signed, bool shift_amount) {
  const bool negative = is_signed && (b >> (Bits - 1) & 1U) != 0;
  for (unsigned i = Bits; i-- > 0;) {
    if (((b >> i & 1U) != 0) != negative) return shift_amount ? Bits - 1 - i : i;
  }
  return 0xFFFFFFFFU;
}

template <unsigned Bits>
u64 reversed(u64 b) {
  u64 out = 0;
  for (unsigned i = 0; i < Bits; ++i) out |= (b >> i & 1U) << (Bits - 1 - i);
  return out;
}

template <unsigned Bits>
u64 leading_zeros(u64 b) {
  u64 count = 0;
  while (count < Bits && (b >> (Bits - 1 - count) & 1U) == 0) ++count;
  return count;
}

template <unsigned Bits>
u64 ones(u64 b) {
  u64 count = 0;
  for (unsigned i = 0; i < Bits; ++i) count += b >> i & 1U;
  return count;
}

TEST(SemanticsBits, Words) {
  const std::vector<Lane> triples = words().lanes(true, 4000);
  check(operation(Op::BFE_S), triples, [](const Lane& l) { return extract<32>(low(l.a), low(l.b), low(l.c), true); });
  check(operation(Op::BFE_U), triples, [](const Lane& l) { return extract<32>(low(l.a), low(l.b), low(l.c), false); });
  check(operation(Op::BFI), triples, [](const Lane& l) { return insert<32>(low(l.a), low(l.b), low(l.c), l.d); });
  for (const u32 amount : {0U, 1U}) {
    check(operation(Op::BFIND_S, amount), triples,
          [&](const Lane& l) { return find<32>(low(l.b), true, amount != 0); });
    check(operation(Op::BFIND_U, amount), triples,
          [&](const Lane& l) { return find<32>(low(l.b), false, amount != 0); });
  }
  check(operation(Op::BREV), triples, [](const Lane& l) { return reversed<32>(low(l.b)); });
  check(operation(Op::CLZ), triples, [](const Lane& l) { return leading_zeros<32>(low(l.b)); });
  check(operation(Op::POPC), triples, [](const Lane& l) { return ones<32>(low(l.b)); });
}

TEST(SemanticsBits, Longs) {
  const std::vector<Lane> triples = longs().lanes(true, 4000);
  check(operation(Op::BFE_S64), triples, [](const Lane& l) { return extract<64>(l.a, low(l.b), low(l.c), true); });
  check(operation(Op::BFE_U64), triples, [](const Lane& l) { return extract<64>(l.a, low(l.b), low(l.c), false); });
  check(operation(Op::BFI64), triples, [](const Lane& l) { return insert<64>(l.a, l.b, low(l.c), l.d); });
  for (const u32 amount : {0U, 1U}) {
    check(operation(Op::BFIND_S64, amount), triples, [&](const Lane& l) { return find<64>(l.b, true, amount != 0); });
    check(operation(Op::BFIND_U64, amount), triples, [&](const Lane& l) { return find<64>(l.b, false, amount != 0); });
  }
  check(operation(Op::BREV64), triples, [](const Lane& l) { return reversed<64>(l.b); });
  check(operation(Op::CLZ64), triples, [](const Lane& l) { return leading_zeros<64>(l.b); });
  check(operation(Op::POPC64), triples, [](const Lane& l) { return ones<64>(l.b); });
}

// Every position and length, on a pattern without symmetry.
TEST(SemanticsBits, EveryField) {
  for (u32 position = 0; position < 256; position += position < 70 ? 1 : 37) {
    std::vector<Lane> lanes;
    for (u32 length = 0; length < 256; length += length < 70 ? 1 : 37) {
      lanes.push_back({0x9A3C5E7181B2D4F6U, position, length, length});
      lanes.push_back({0x1A3C5E7171B2D4F6U, position | 0x100U, length | 0x300U, length});
    }
    check(operation(Op::BFE_S), lanes, [](const Lane& l) { return extract<32>(low(l.a), low(l.b), low(l.c), true); });
    check(operation(Op::BFE_S64), lanes, [](const Lane& l) { return extract<64>(l.a, low(l.b), low(l.c), true); });
    check(operation(Op::BFE_U64), lanes, [](const Lane& l) { return extract<64>(l.a, low(l.b), low(l.c), false); });
  }
}

}  // namespace
}  // namespace heddle::isa
