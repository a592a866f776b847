// Predicates that come round through a register, and comparisons whose inverse is there: the back end keeps one.
#include <gtest/gtest.h>

#include <string>

#include "isa/module.hpp"
#include "ptx/compile.hpp"

namespace heddle::ptx {
namespace {

// How often an operation stands in a kernel with these statements; %r1 and %r2 are loaded, %r3 and %r4 stored.
unsigned count(isa::Op op, const std::string& statements) {
  const isa::Module module = compile(
      ".version 7.0\n.target sm_60\n.address_size 32\n.entry k(.param .u32 data) {\n.reg .b32 %r<9>; .reg .pred %p<5>; "
      ".reg .f32 %f<3>; ld.param.u32 %r0, [data]; ld.global.v2.u32 {%r1, %r2}, [%r0]; mov.u32 %r3, 0; mov.u32 %r4, "
      "0;\n" +
          statements + "\nst.global.v2.u32 [%r0], {%r3, %r4}; exit; }\n",
      "k.ptx");
  unsigned found = 0;
  for (const isa::InstructionWord& word : module.kernels.at(0).words) {
    found += isa::decode(word)->op == op ? 1 : 0;
  }
  return found;
}

TEST(Predicates, ComeBackFromARegister) {
  const std::string select = "setp.lt.u32 %p1, %r1, %r2; selp.u32 %r5, 1, 0, %p1;\n";
  for (const char* back :
       {"setp.ne.u32 %p2, %r5, 0; vote.ballot.b32 %r3, %p2;", "setp.eq.s32 %p2, %r5, 0; vote.ballot.b32 %r3, !%p2;"}) {
    EXPECT_EQ(count(isa::Op::SEL, select + back), 0U) << back;
    EXPECT_EQ(count(isa::Op::SETP_U32, select + back) + count(isa::Op::SETP_S32, select + back), 1U) << back;
    EXPECT_EQ(count(isa::Op::PLOP, select + back), 0U) << back;
  }
  // Neither arm is zero, or both are; another comparison; a predicate that is written again before the use.
  for (const std::string& kept :
       {std::string("setp.lt.u32 %p1, %r1, %r2; selp.u32 %r5, 1, 2, %p1; setp.ne.u32 %p2, %r5, 0;"),
        select + "setp.gt.u32 %p2, %r5, 0;", select + "setp.lt.u32 %p1, %r2, 7; setp.ne.u32 %p2, %r5, 0;"}) {
    EXPECT_EQ(count(isa::Op::SEL, kept + " vote.ballot.b32 %r3, %p2; vote.ballot.b32 %r4, %p1;"), 1U) << kept;
  }
}

TEST(Predicates, InverseIntegerComparisonsAreOne) {
  const std::string votes = "vote.ballot.b32 %r3, %p1; vote.ballot.b32 %r4, %p2;";
  EXPECT_EQ(count(isa::Op::SETP_S32, "setp.lt.s32 %p1, %r1, %r2; setp.ge.s32 %p2, %r1, %r2;" + votes), 1U);
  EXPECT_EQ(count(isa::Op::SETP_U32, "setp.gt.u32 %p1, %r1, 5; setp.le.u32 %p2, %r1, 5;" + votes), 1U);
  EXPECT_EQ(count(isa::Op::SETP_S32, "setp.lt.s32 %p1, %r1, %r2; setp.gt.s32 %p2, %r1, %r2;" + votes), 2U);
  EXPECT_EQ(count(isa::Op::SETP_S32, "setp.lt.s32 %p1, %r1, %r2; setp.ge.s32 %p2, %r2, %r1;" + votes), 2U);
  EXPECT_EQ(count(isa::Op::SETP_U32, "setp.gt.u32 %p1, %r1, 5; setp.le.u32 %p2, %r1, 6;" + votes), 2U);
  // A value that changes between the two.
  EXPECT_EQ(
      count(isa::Op::SETP_S32, "setp.lt.s32 %p1, %r1, %r2; add.u32 %r1, %r1, 1; setp.ge.s32 %p2, %r1, %r2;" + votes),
      2U);
  // Floats may be unordered.
  EXPECT_EQ(count(isa::Op::SETP_F32,
                  "mov.b32 %f1, %r1; mov.b32 %f2, %r2; setp.lt.f32 %p1, %f1, %f2; setp.ge.f32 %p2, "
                  "%f1, %f2;" +
                      votes),
            2U);
}

}  // namespace
}  // namespace heddle::ptx
