// Assembler and disassembler: known texts, round trips over every operation, errors with their columns.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "isa/instruction.hpp"
#include "random_instruction.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("Assembler.EveryOperation*")

namespace heddle::isa {
namespace {

TEST(Assembler, EveryOperationRoundTrips) {
  test::RandomInstructions random(11);
  for (unsigned op = 0; op < kOperations; ++op) {
    for (int n = 0; n < 200; ++n) {
      const auto i = random.next(static_cast<Op>(op));
      ASSERT_TRUE(i) << info(static_cast<Op>(op)).mnemonic;
      const std::string text = disassemble(*i);
      ASSERT_NO_THROW({ EXPECT_EQ(assemble(text), *i) << text; }) << text;
    }
  }
}

// Texts in the disassembler's own form.
TEST(Assembler, KnownTexts) {
  for (const std::string_view text : {
           "@!p0 add r3, r4, 0x10",
           "setp.lt.s32 p0|p1, r2, r3, and, !p2",
           "setp.geu.ftz.f32 p3, r2, rz",
           "ld.global.v2.b32.hint r4, [r2+16]",
           "ld.param.b64 r6, [rz+8]",
           "st.global.e.u8 [r2-1], r7",
           "bra 12, reconverge 20",
           "{yields} @p1 bra 12, reconverge 20",
           "[B0-2--5:R5:W-:Y:S15] {yields} @p1 bra 12, reconverge 20",
           "[B------:R-:W4:-:S01] ld.global.b32 r4, [r2]",
           "warp.sync 0xff",
           "@!p2 warp.sync r9",
           "@p6 bra 0",
           "cvt.rni.ftz.s32.f32 r1, r2",
           "cvt.sat.u8.s64 r1, r2",
           "fma.rz.ftz.sat.f32 r1, r2, r3, r4",
           "div.approx.ftz.f32 r1, r2, r3",
           "max.nan.f32 r1, r2, r3",
           "addc r1|p0, r2, r3, !pt",
           "subc.b64 r2, r4, r6, p1",
           "lop3 r1, r2, r3, r4, 0xe8",
           "prmt.rc16 r1, r2, r3, r4",
           "bfi r1, r2, r3, r4, r5",
           "bfind.shiftamt.u64 r1, r2",
           "shfl.bfly r1|p2, r2, r3, r4, r5",
           "shfl.idx r1, r2, 0x3, r4",
           "match.all.b64 r1|p0, r2, r4",
           "vote.ballot r1, 0xffffffff, !p1",
           "plop p0|p1, p2, xor, !p3",
           "plop p0, !p2",
           "testp.subnormal.f64 p1, r2",
           "isspacep.e.const p1, r2",
           "atom.shared.cas.b32 r1, [r2], r3, r4",
           "atom.global.e.add.f64 rz, [r2], r4",
           "atom.shared.add16x2.b32 r1, [r2], r3",
           "s2r r1, %ctaid.x",
           "s2r.b64 r2, %clock64",
           "sel.b64 r2, r4, r6, p0",
           "bar.red.popc r1, rz, 0x0, !p0",
           "cond_acc.shared.b8 r1, [r2], p0, r3",
           "@!p1 cond_acc.global.b32 rz, [r5], !p0, r3",
           "cond_acc.global.e.b64 r1, [r2], pt, r4",
           "tree_traverse r1, r2, !p3, 0x5",
           "tree_traverse r1, rz, p3, r4",
           "tree_traverse.size r1, r2, !p3, 0x20",
           "membar",
           "progress",
           "@!p2 progress",
           "exit",
       }) {
    EXPECT_EQ(disassemble(assemble(text)), text);
  }
}

TEST(Assembler, AcceptsOtherSpellings) {
  EXPECT_EQ(assemble("  add   r1,r2,16 ;"), assemble("add r1, r2, 0x10"));
  EXPECT_EQ(assemble("add r1, r2, -1").imm, 0xFFFFFFFFU);
  EXPECT_EQ(assemble("fma.sat.ftz.rn.f32 r1, r2, r3, r4"), assemble("fma.ftz.sat.f32 r1, r2, r3, r4"));
  EXPECT_EQ(assemble("ld.global.hint.b32.v2 r4, [r2 + 0x10]"), assemble("ld.global.v2.b32.hint r4, [r2+16]"));
}

TEST(Assembler, TextMeansWhatItSays) {
  const Instruction i = assemble("@!p3 setp.lt.s32 p0|p1, r2, r3, and, !p2");
  EXPECT_EQ(i.op, Op::SETP_S32);
  EXPECT_EQ(i.guard, (Pred{3, true}));
  EXPECT_EQ(i.pred_p(), 0U);
  EXPECT_EQ(i.pred_q(), 1U);
  EXPECT_EQ(i.comparison(), Comparison::lt);
  EXPECT_EQ(i.setp_combine(), BoolOp::and_);
  EXPECT_EQ(i.setp_predicate(), (Pred{2, true}));
  const Instruction st = assemble("st.shared.v4.u16 [r9-4], r8");
  EXPECT_EQ(st.dst, 8);
  EXPECT_EQ(st.a, 9);
  EXPECT_EQ(st.imm, static_cast<std::uint32_t>(-4));
  EXPECT_EQ(st.vector(), 4U);
  EXPECT_EQ(st.width(), Width::u16);
  const Instruction cvt = assemble("cvt.rpi.u16.f64 r1, r2");
  EXPECT_EQ(cvt.cvt_to(), Type::u16);
  EXPECT_EQ(cvt.cvt_from(), Type::f64);
  EXPECT_EQ(cvt.cvt_rounding(), Rounding::rpi);
}

struct Wrong {
  std::string_view text;
  unsigned column;
  std::string_view part;  // of the message
};

TEST(Assembler, ErrorsNameTheColumn) {
  for (const Wrong& wrong : {
           Wrong{"", 1, "expected an operation"},
           Wrong{"frob r1", 1, "unknown operation 'frob'"},
           Wrong{"add.foo r1, r2, r3", 1, "unknown operation"},
           Wrong{"add.foo.f32 r1, r2, r3", 5, "'foo' is no suffix of add.f32"},
           Wrong{"add.rz.rm.f32 r1, r2, r3", 8, "contradicts"},
           Wrong{"ld.global.v3.b32 r1, [r2]", 11, "'v3' is no suffix"},
           Wrong{"add r1 r2, r3", 8, "expected ','"},
           Wrong{"add r1, r255, r3", 9, "expected a register"},
           Wrong{"add r255, r1, r3", 5, "expected a register"},
           Wrong{"add r1, r2", 11, "text ends"},
           Wrong{"add r1, r2, r3, r4", 15, "unexpected text"},
           Wrong{"add r1, r2, 0x100000000", 13, "out of range"},
           Wrong{"add r1, r2, -2147483649", 13, "out of range"},
           Wrong{"add r1, r2, 12q", 13, "expected a number"},
           Wrong{"add.b64 r1, r2, r4", 9, "2 registers"},
           Wrong{"add.b64 r2, r254, r4", 13, "2 registers"},
           Wrong{"ld.global.v4.b32 r2, [r1]", 18, "4 registers"},
           Wrong{"@p7 add r1, r2, r3", 2, "expected a predicate"},
           Wrong{"setp.s32 p0, r1, r2", 1, "comparison"},
           Wrong{"setp.equ.s32 p0, r1, r2", 1, "comparison"},
           Wrong{"setp.lt.s32 p0, r1, r2, nand, p1", 25, "and, or, xor"},
           Wrong{"setp.lt.s32 p0, r1, 0x3, and, p1", 21, "modifiers"},
           Wrong{"addc r1, r2, 0x1, p0", 14, "modifiers"},
           Wrong{"shfl.idx r1|p0, r2, 0x3, r4", 13, "predicate"},
           Wrong{"add.ftz.f32 r1, r2, 0x3f800000", 21, "modifiers"},
           Wrong{"cvt.s32 r1, r2", 1, "source type"},
           Wrong{"cvt.rn.s32.f32 r1, r2", 1, "rni"},
           Wrong{"atom.global.u32 r1, [r2], r3", 1, "operation and a type"},
           Wrong{"atom.global.min.f32 r1, [r2], r3", 1, "only add"},
           Wrong{"s2r r1, %tid", 10, "unknown special"},
           Wrong{"ld.global.b32 r1, r2", 19, "expected '['"},
           Wrong{"ld.global.b32 r1, [r2+4", 24, "expected ']'"},
           Wrong{"bra 16777215", 5, "out of range"},
           Wrong{"bra 1, merge 2", 8, "reconverge"},
           Wrong{"lop3 r1, r2, r3, r4, 256", 22, "out of range"},
       }) {
    try {
      (void)assemble(wrong.text);
      ADD_FAILURE() << wrong.text << " was accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(error.where().column, wrong.column) << wrong.text << ": " << error.what();
      EXPECT_NE(std::string_view(error.what()).find(wrong.part), std::string_view::npos) << error.what();
    }
  }
}

// Cutting and damaging texts gives an error or an instruction, never anything else.
TEST(Assembler, DamagedTextsAreRefusedOrRead) {
  test::RandomInstructions random(12);
  std::mt19937 damage(13);
  for (unsigned op = 0; op < kOperations; ++op) {
    const std::string text = disassemble(*random.next(static_cast<Op>(op)));
    for (int n = 0; n < 50; ++n) {
      std::string damaged = text;
      damaged[damage() % damaged.size()] = static_cast<char>(damage() % 96 + 32);
      if (n % 2 == 0) damaged.resize(damage() % (damaged.size() + 1));
      try {
        EXPECT_TRUE(why_malformed(assemble(damaged)).empty()) << damaged;
      } catch (const InputError& error) {
        EXPECT_GE(error.where().column, 1U);
        EXPECT_LE(error.where().column, damaged.size() + 1) << damaged;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::isa
