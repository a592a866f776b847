// The instruction word: layout, refusal of malformed words, and what instructions read and write.
#include "isa/instruction.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "random_instruction.hpp"

namespace heddle::isa {
namespace {

constexpr std::uint64_t at(std::uint64_t value, unsigned shift) {
  return value << shift;
}

std::uint64_t op_bits(Op op) {
  return at(static_cast<std::uint64_t>(op), 54);
}

TEST(Instruction, RegisterFormFollowsTheLayout) {
  Instruction i;
  i.op = Op::FFMA;
  i.guard = {2, true};
  i.dst = 1;
  i.a = 2;
  i.b = 3;
  i.c = 4;
  i.mods = float_mods(Rounding::rm, true, true);
  EXPECT_EQ(encode(i),
            op_bits(Op::FFMA) | at(0b1010, 50) | at(1, 44) | at(2, 38) | at(4, 32) | at(3, 26) | at(63, 20) | 0b1110U);
}

TEST(Instruction, ImmediateFormFollowsTheLayout) {
  Instruction i;
  i.op = Op::ADD;
  i.immediate = true;
  i.dst = 62;
  i.a = 0;
  i.imm = 0xDEADBEEF;
  EXPECT_EQ(encode(i), at(1, 63) | op_bits(Op::ADD) | at(7, 50) | at(62, 44) | at(63, 32) | 0xDEADBEEFU);
}

// Registers from r63 on: two more bits for each in the second 8 bytes, where fields that name predicates have none.
TEST(Instruction, AWideWordNamesMoreRegisters) {
  Instruction i;
  i.op = Op::FFMA;
  i.dst = 254;
  i.a = 63;
  i.b = kRZ;
  i.c = 130;
  EXPECT_EQ(encode(i), (InstructionWord{op_bits(Op::FFMA) | at(7, 50) | at(62, 44) | at(63, 38) | at(2, 32) |
                                            at(63, 26) | at(63, 20),
                                        at(1, 63) | at(3, 8) | at(3, 6) | at(2, 4) | at(0, 2) | 3U}));
  EXPECT_EQ(decode(encode(i)), i);
  Instruction compare;
  compare.op = Op::SETP_S32;
  compare.dst = pred_pair(kPT, 3);
  compare.a = 200;
  compare.b = 1;
  compare.c = static_cast<std::uint8_t>(Comparison::ge);
  compare.mods = setp_mods(BoolOp::none, {}, false);
  EXPECT_EQ(encode(compare).high, at(1, 63) | at(3, 8) | at(3, 2));
  EXPECT_EQ(decode(encode(compare)), compare);
}

TEST(Instruction, AWordIsNoLongerThanItMustBe) {
  Instruction i;
  i.op = Op::MOV;
  i.dst = 62;
  i.b = 7;
  const InstructionWord narrow = encode(i);
  EXPECT_EQ(narrow.high, 0U);
  EXPECT_FALSE(decode({narrow.low, at(1, 63) | at(3, 8) | at(3, 4) | at(3, 2)})) << "it says the same in 16 bytes";
  i.dst = 63;
  const InstructionWord wide = encode(i);
  EXPECT_NE(wide.high, 0U);
  EXPECT_TRUE(decode(wide));
  EXPECT_FALSE(decode({wide.low, wide.high & ~at(1, 63)})) << "nothing says that there are 16 bytes";
  EXPECT_FALSE(decode({wide.low, wide.high | at(1, 10)}));
}

// Where GPUs have them: from the top, wait mask, counter of operands, of results, yield, stall count.
TEST(Instruction, ControlBitsLieInTheSecondHalf) {
  Instruction i;
  i.op = Op::MOV;
  i.dst = 62;
  i.b = 7;
  i.control = {true, true, 11, 3, ControlBits::kNoCounter, 0b100001};
  const InstructionWord word = encode(i);
  EXPECT_EQ(word.high, at(1, 63) | at(1, 62) | at(0b100001, 52) | at(7, 49) | at(3, 46) | at(1, 45) | at(11, 41) |
                           at(3, 8) | at(3, 4) | at(3, 2));
  EXPECT_EQ(decode(word), i);
  Instruction branch;
  branch.op = Op::BRA;
  branch.control = {true, false, 15, ControlBits::kNoCounter, 5, 0};
  EXPECT_EQ(decode(encode(branch)), branch);
  for (const std::uint64_t wrong : {at(6, 49), at(6, 46), at(1, 58), at(1, 61), at(1, 40)}) {
    EXPECT_FALSE(decode({word.low, (word.high & ~(at(7, 49) | at(7, 46))) | wrong})) << wrong;
  }
  EXPECT_FALSE(decode({word.low, word.high & ~at(1, 62)})) << "nothing says that they are control bits";
  EXPECT_FALSE(decode({word.low, word.high & ~at(1, 63)}));
  i.control.stall = 16;
  EXPECT_THROW((void)encode(i), InternalError);
  i.control = {};
  i.control.wait = 1;
  EXPECT_THROW((void)encode(i), InternalError) << "bits of an instruction that has none";
}

TEST(Instruction, BranchCarriesTargetAndReconvergence) {
  Instruction i;
  i.op = Op::BRA;
  i.target = kMaxPc;
  i.reconvergence = 5;
  EXPECT_EQ(encode(i), op_bits(Op::BRA) | at(7, 50) | at(5, 25) | kMaxPc);
  i.reconvergence = kNoReconvergence;
  EXPECT_EQ(encode(i), op_bits(Op::BRA) | at(7, 50) | at(0xFF'FFFF, 25) | kMaxPc);
  i.past_scratchpad = true;
  EXPECT_EQ(encode(i), op_bits(Op::BRA) | at(7, 50) | at(1, 49) | at(0xFF'FFFF, 25) | kMaxPc);
  i.target = kMaxPc + 1;
  EXPECT_THROW((void)encode(i), InternalError);
}

TEST(Instruction, BarriersAndBranchesAloneAreMarkedAsPastTheScratchpad) {
  Instruction i;
  i.op = Op::BAR_SYNC;
  i.past_scratchpad = true;
  EXPECT_EQ(encode(i), at(1, 62) | op_bits(Op::BAR_SYNC) | at(7, 50) | at(63, 44) | at(63, 38) | at(63, 32) |
                           at(63, 26) | at(63, 20));
  i.op = Op::NOP;
  EXPECT_THROW((void)encode(i), InternalError);
}

TEST(Instruction, EveryOperationRoundTrips) {
  test::RandomInstructions random(1);
  for (unsigned op = 0; op < kOperations; ++op) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> words;
    for (int n = 0; n < 200; ++n) {
      const auto i = random.next(static_cast<Op>(op));
      ASSERT_TRUE(i) << info(static_cast<Op>(op)).mnemonic;
      const InstructionWord word = encode(*i);
      const auto back = decode(word);
      ASSERT_TRUE(back) << disassemble(*i);
      EXPECT_EQ(*back, *i) << disassemble(*i);
      EXPECT_EQ(encode(*back), word);
      words.insert({word.high, word.low});
    }
    EXPECT_GE(words.size(), 14U) << info(static_cast<Op>(op)).mnemonic;  // at least the guards differ
  }
}

// Whatever decodes encodes to the same word: no bit of a word is ignored.
TEST(Instruction, DecodingIgnoresNoBit) {
  test::RandomInstructions random(2);
  std::mt19937_64 bits(3);
  unsigned legal = 0;
  for (unsigned op = 0; op < kOperations; ++op) {
    for (int n = 0; n < 20; ++n) {
      const InstructionWord word = encode(*random.next(static_cast<Op>(op)));
      for (unsigned bit = 0; bit < 128; ++bit) {
        const InstructionWord flipped{word.low ^ (bit < 64 ? at(1, bit) : 0),
                                      word.high ^ (bit < 64 ? 0 : at(1, bit - 64))};
        if (const auto i = decode(flipped)) {
          ++legal;
          ASSERT_EQ(encode(*i), flipped);
        }
      }
    }
    if (const auto i = decode(bits())) {
      EXPECT_TRUE(why_malformed(*i).empty());
    }
    if (const auto i = decode({bits(), bits()})) {
      EXPECT_TRUE(why_malformed(*i).empty());
    }
  }
  EXPECT_GT(legal, 10000U);
}

TEST(Instruction, UnknownOperationsDoNotDecode) {
  EXPECT_FALSE(decode(at(kOperations, 54) | at(7, 50)));
  EXPECT_FALSE(decode(at(511, 54)));
  EXPECT_FALSE(decode(~std::uint64_t{0}));
}

Instruction basic(Op op) {
  Instruction i;
  i.op = op;
  i.dst = 2;
  i.a = 4;
  i.b = 6;
  return i;
}

TEST(Instruction, ComparisonsEndWhereTheTypeSaysSo) {
  Instruction i = basic(Op::SETP_S32);
  i.dst = pred_pair(0);
  i.mods = setp_mods(BoolOp::none, {}, false);
  i.c = static_cast<std::uint8_t>(Comparison::ge);
  EXPECT_TRUE(why_malformed(i).empty());
  i.c = static_cast<std::uint8_t>(Comparison::equ);
  EXPECT_FALSE(why_malformed(i).empty());
  i.op = Op::SETP_F32;
  i.c = static_cast<std::uint8_t>(Comparison::nan);
  EXPECT_TRUE(why_malformed(i).empty());
  i.c = static_cast<std::uint8_t>(Comparison::nan) + 1;
  EXPECT_FALSE(why_malformed(i).empty());
}

TEST(Instruction, FloatingPointIsWhatTheUnitsCalculate) {
  for (const char* const text :
       {"add.f32 r0, r1, r2", "fma.f32 r0, r1, r2, r3", "sqrt.f32 r0, r1", "add.f64 r0, r2, r4",
        "setp.lt.f32 p0, r0, r1", "cvt.rn.f32.s32 r0, r1", "cvt.rzi.s32.f32 r0, r1"}) {
    EXPECT_TRUE(is_floating_point(assemble(text))) << text;
  }
  for (const char* const text : {"add r0, r1, r2", "mul.lo r0, r1, r2", "setp.lt.u32 p0, r0, r1", "mov r0, r1",
                                 "ld.global.b32 r0, [r2+0]", "atom.global.add.f32 r0, [r2], r3", "exit"}) {
    EXPECT_FALSE(is_floating_point(assemble(text))) << text;
  }
}

TEST(Instruction, WidthsVectorsAndAlignment) {
  Instruction i;
  i.op = Op::LD_GLOBAL;
  i.immediate = true;
  i.a = 1;
  i.dst = 4;
  i.c = memory_sub(Width::b32, 4, true);
  EXPECT_TRUE(why_malformed(i).empty());
  i.dst = 2;
  EXPECT_FALSE(why_malformed(i).empty());  // a vector of four starts at a multiple of four
  i.dst = 252;
  EXPECT_FALSE(why_malformed(i).empty());  // and must not reach RZ
  i.dst = 56;
  EXPECT_TRUE(why_malformed(i).empty());
  i.dst = 0;
  i.c = 6;
  EXPECT_FALSE(why_malformed(i).empty());  // no such width
  i.c = 4 | 3U << 3U;
  EXPECT_FALSE(why_malformed(i).empty());  // no such vector
  i.op = Op::ST_GLOBAL;
  i.c = memory_sub(Width::b64, 2);
  EXPECT_TRUE(why_malformed(i).empty());
  i.c = memory_sub(Width::b64, 2, true);
  EXPECT_FALSE(why_malformed(i).empty());  // stores carry no hint
}

TEST(Instruction, PairsAreEvenAndBelowTheLastRegister) {
  Instruction i = basic(Op::ADD64);
  EXPECT_TRUE(why_malformed(i).empty());
  i.a = 5;
  EXPECT_FALSE(why_malformed(i).empty());
  i.a = 254;
  EXPECT_FALSE(why_malformed(i).empty());
  i.a = 60;
  EXPECT_TRUE(why_malformed(i).empty());
  i.a = kRZ;
  EXPECT_TRUE(why_malformed(i).empty());
}

TEST(Instruction, UnusedFieldsStayAtTheirDefaults) {
  Instruction i = basic(Op::ADD);
  i.d = 1;
  EXPECT_FALSE(why_malformed(i).empty());
  i = basic(Op::ADD);
  i.c = 0;
  EXPECT_FALSE(why_malformed(i).empty());
  i = basic(Op::ADD);
  i.mods = 1;
  EXPECT_FALSE(why_malformed(i).empty());
  i = basic(Op::ADD);
  i.imm = 1;
  EXPECT_THROW((void)encode(i), InternalError);
  i = basic(Op::ADD);
  i.target = 1;
  EXPECT_FALSE(why_malformed(i).empty());
}

TEST(Instruction, OnlyPlainFormsTakeAnImmediate) {
  EXPECT_TRUE(accepts_immediate(basic(Op::ADD)));
  Instruction i = basic(Op::FADD);
  EXPECT_TRUE(accepts_immediate(i));
  i.mods = float_mods(Rounding::rn, true);
  EXPECT_FALSE(accepts_immediate(i));
  i = basic(Op::SETP_S32);
  i.c = 0;
  i.mods = setp_mods(BoolOp::none, {}, false);
  EXPECT_TRUE(accepts_immediate(i));
  i.mods = setp_mods(BoolOp::and_, {}, false);
  EXPECT_FALSE(accepts_immediate(i));
  for (const Op op : {Op::ADDC, Op::SUBC64, Op::LOP3, Op::BFI, Op::BFI64, Op::CVT, Op::ATOM_SHARED, Op::EXIT}) {
    EXPECT_FALSE(accepts_immediate(basic(op))) << info(op).mnemonic;
  }
}

TEST(Instruction, CanonicalSetpImmediateHasNoModifiers) {
  Instruction i = basic(Op::SETP_S32);
  i.dst = pred_pair(1);
  i.b = kRZ;
  i.c = static_cast<std::uint8_t>(Comparison::lt);
  i.immediate = true;
  i.imm = 3;
  i.mods = setp_mods(BoolOp::none, {}, false);
  const auto back = decode(encode(i));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->mods, 0U);
  EXPECT_EQ(back->setp_combine(), BoolOp::none);
}

TEST(Instruction, RegisterCounts) {
  Instruction i = basic(Op::MAD_WIDE_S);
  EXPECT_EQ(destination_registers(i), 2U);
  EXPECT_EQ(a_registers(i), 1U);
  EXPECT_EQ(b_registers(i), 1U);
  EXPECT_EQ(c_registers(i), 2U);
  EXPECT_EQ(d_registers(basic(Op::BFI)), 1U);
  i = basic(Op::CVT);
  i.mods = cvt_mods(Type::f64, Type::f16, Rounding::none, false, false);
  EXPECT_EQ(destination_registers(i), 2U);
  EXPECT_EQ(b_registers(i), 1U);
  i.mods = cvt_mods(Type::s8, Type::u64, Rounding::none, false, false);
  EXPECT_EQ(destination_registers(i), 1U);
  EXPECT_EQ(b_registers(i), 2U);
  i = basic(Op::LD_GLOBAL_E);
  i.c = memory_sub(Width::b64, 4);
  EXPECT_EQ(destination_registers(i), 8U);
  EXPECT_EQ(a_registers(i), 2U);
  EXPECT_EQ(stored_registers(i), 0U);
  i = basic(Op::ST_SHARED);
  i.c = memory_sub(Width::u8, 2);
  EXPECT_EQ(destination_registers(i), 0U);
  EXPECT_EQ(stored_registers(i), 2U);
  i = basic(Op::ATOM_GLOBAL);
  i.mods = atomic_mods(AtomicOp::cas, Type::b64);
  EXPECT_EQ(destination_registers(i), 2U);
  EXPECT_EQ(b_registers(i), 2U);
  EXPECT_EQ(c_registers(i), 2U);
  i.mods = atomic_mods(AtomicOp::add_halves, Type::b32);
  EXPECT_TRUE(why_malformed(i).empty());
  i.mods = atomic_mods(AtomicOp::add_halves, Type::u32);
  EXPECT_EQ(why_malformed(i), "an atomic addition of halves works on b32");
  i.mods = atomic_mods(AtomicOp::add, Type::f32);
  EXPECT_EQ(b_registers(i), 1U);
  EXPECT_EQ(c_registers(i), 0U);
  EXPECT_EQ(destination_registers(basic(Op::SETP_F64)), 0U);
  EXPECT_EQ(a_registers(basic(Op::SETP_F64)), 2U);
}

TEST(Instruction, GroupsOfOperations) {
  unsigned loads = 0;
  unsigned stores = 0;
  unsigned atomics = 0;
  for (unsigned number = 0; number < kOperations; ++number) {
    const Op op = static_cast<Op>(number);
    const std::string_view name = info(op).mnemonic;
    EXPECT_EQ(is_load(op), name.starts_with("ld.") || name.starts_with("ldv.") || name == "ldmatrix") << name;
    EXPECT_EQ(is_volatile(op), name.starts_with("ldv.")) << name;
    EXPECT_EQ(is_copy(op), name.starts_with("cp_async.") || name.starts_with("bulk_copy.")) << name;
    EXPECT_EQ(is_store(op), name.starts_with("st.") || is_copy(op)) << name;
    EXPECT_EQ(is_atomic(op), name.starts_with("atom.")) << name;
    EXPECT_EQ(is_accumulate(op), name.starts_with("cond_acc.")) << name;
    EXPECT_EQ(is_heap(op), name.starts_with("heap.")) << name;
    EXPECT_EQ(has_wide_address(op), name.ends_with(".e") && !is_heap(op)) << name;
    if (is_load(op) || is_store(op) || is_atomic(op) || is_accumulate(op)) {
      EXPECT_EQ(space_of(op) == Space::shared, name.find(".shared") != name.npos || name == "ldmatrix") << name;
      EXPECT_EQ(space_of(op) == Space::generic, name.find(".generic") != name.npos) << name;
      EXPECT_EQ(space_of(op) == Space::global, name.find(".global") != name.npos) << name;
    }
    loads += is_load(op) ? 1 : 0;
    stores += is_store(op) ? 1 : 0;
    atomics += is_atomic(op) ? 1 : 0;
  }
  EXPECT_EQ(loads, 13U);
  EXPECT_EQ(stores, 12U);
  EXPECT_EQ(atomics, 5U);
}

TEST(Instruction, PredicateWrites) {
  Instruction i = basic(Op::ADDC);
  i.mods = carry_mods({}, kPT);
  EXPECT_FALSE(writes_predicate(i));
  i.mods = carry_mods({}, 0);
  EXPECT_TRUE(writes_predicate(i));
  i = basic(Op::SHFL_IDX);
  i.mods = kPT;
  EXPECT_FALSE(writes_predicate(i));
  i.mods = 3;
  EXPECT_TRUE(writes_predicate(i));
  i.immediate = true;
  EXPECT_FALSE(writes_predicate(i));
  i = basic(Op::VOTE_ALL);
  i.dst = pred_pair(4);
  EXPECT_TRUE(writes_predicate(i));
  EXPECT_FALSE(writes_predicate(basic(Op::ADD)));
}

TEST(Instruction, TypesHaveNamesAndSizes) {
  EXPECT_EQ(size_of(Type::u8), 1U);
  EXPECT_EQ(size_of(Type::f16), 2U);
  EXPECT_EQ(size_of(Type::b32), 4U);
  EXPECT_EQ(size_of(Type::f64), 8U);
  EXPECT_EQ(size_of(Type::pred), 1U);
  EXPECT_EQ(name_of(Type::s16), "s16");
  EXPECT_EQ(name_of(Type::pred), "pred");
}

}  // namespace
}  // namespace heddle::isa
