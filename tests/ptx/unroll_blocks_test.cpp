// Loops of several blocks that become copies of their blocks: which do, what is left of what their counter makes, and
// what must not be taken for a counter, for a value that is there already, or for a word that is not needed.
#include "tests/ptx/unrolling.hpp"

#include <fmt/format.h>

namespace heddle::ptx::unrolling {
namespace {

// Goes through `inside` with %r4 from 0 up to `count`, and stores %r2.
std::string loop_of(const std::string& inside, const std::string& count, const std::string& pragma = {}) {
  return kernel_of("mov.u32 %r2, 0; mov.u32 %r4, 0; and.b32 %r5, %r1, 3; add.u32 %r5, %r5, 4;\nLOOP: " + pragma + "\n" +
                   inside + "\nadd.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, " + count +
                   "; @%p1 bra LOOP;\nOUT: st.global.u32 [%rd2], %r2;");
}

// Adds a word of every iteration where the word before is even, and stores that.
constexpr const char* kSometimes =
    "mad.lo.u32 %r6, %r4, 64, %r1; mul.wide.u32 %rd5, %r6, 4; add.u64 %rd4, %rd1, %rd5;\n"
    "ld.global.u32 %r7, [%rd4+256];\n"
    "and.b32 %r8, %r7, 1; setp.eq.u32 %p2, %r8, 1; @%p2 bra NEXT;\n"
    "ld.global.u32 %r9, [%rd4+512]; add.u32 %r2, %r2, %r9; st.global.u32 [%rd4+8192], %r2;\nNEXT:";

void expect_equal(const std::string& text) {
  CompileOptions predicated = unrolling();
  predicated.if_conversion = 8;
  predicated.peephole = true;
  const std::vector<std::uint32_t> reference = words_of(compiled(text, {}));
  EXPECT_EQ(words_of(compiled(text, unrolling())), reference) << text;
  EXPECT_EQ(words_of(compiled(text, predicated)), reference) << text;
}

TEST(UnrollBlocks, ALoopOfAKnownCountIsItsCopies) {
  const std::string text = loop_of(kSometimes, "5");
  const isa::Module module = compiled(text, unrolling());
  EXPECT_EQ(branches_back(module), 0U);
  EXPECT_EQ(count(module, isa::Op::BRA), 5U) << "one around what is done sometimes, in each copy";
  EXPECT_EQ(count(module, isa::Op::LD_GLOBAL_E), 10U);
  EXPECT_EQ(count(module, isa::Op::ADD), 5U) << "nothing is left of the counter";
  EXPECT_EQ(count(module, isa::Op::MAD_WIDE_U), 6U) << "of 32 bits, which may wrap, no address is another's offset";
  expect_equal(text);
}

TEST(UnrollBlocks, WhatPtxasLeavesStays) {
  const auto stays = [](const std::string& text, unsigned ways = 1) {
    EXPECT_EQ(branches_back(compiled(text, unrolling())), ways) << text;
    expect_equal(text);
  };
  stays(loop_of(kSometimes, "%r5"));
  stays(loop_of(kSometimes, "5", ".pragma \"nounroll\";"));
  stays(loop_of(kSometimes, "40"));
  // The test is in the middle.
  stays(kernel_of("mov.u32 %r2, 0; mov.u32 %r4, 0;\nLOOP: " + std::string(kSometimes) +
                  "\nadd.u32 %r4, %r4, 1; setp.eq.u32 %p1, %r4, 5; @%p1 bra OUT;\nadd.u32 %r2, %r2, %r4;\n"
                  "st.global.u32 [%rd4+8448], %r2; bra LOOP;\nOUT: st.global.u32 [%rd2], %r2;"));
  // Two ways back.
  stays(loop_of("add.u32 %r2, %r2, 3; and.b32 %r8, %r2, 2; setp.eq.u32 %p2, %r8, 2; @%p2 bra LOOP;\n" +
                    std::string(kSometimes),
                "5"),
        2);
}

TEST(UnrollBlocks, NorWhereADivisionIsLeftOver) {
  const std::string text = loop_of(
      "cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r4; add.f32 %f2, %f2, 0f40000000; div.rn.f32 %f3, %f1, %f2;\n"
      "mov.b32 %r6, %f3; add.u32 %r2, %r2, %r6; and.b32 %r8, %r6, 1; setp.eq.u32 %p2, %r8, 1; @%p2 bra NEXT;\n"
      "st.global.u32 [%rd2+512], %r2;\nNEXT:",
      "3");
  CompileOptions options = unrolling();
  EXPECT_EQ(branches_back(compiled(text, options)), 1U) << "an operation that divides, as for a subroutine";
  options.software_division = true;
  EXPECT_EQ(branches_back(compiled(text, options)), 1U);
  expect_equal(text);
}

TEST(UnrollBlocks, WithBarriersAndWaysOut) {
  const std::string sum =
      "add.u32 %r6, %r4, %r1; and.b32 %r6, %r6, 63; shl.b32 %r6, %r6, 2; mov.u32 %r7, s; add.u32 %r6, %r6, %r7;\n"
      "shl.b32 %r8, %r1, 2; add.u32 %r8, %r8, %r7; st.shared.u32 [%r8], %r2; bar.sync 0; ld.shared.u32 %r9, [%r6];\n"
      "bar.sync 0; setp.lt.u32 %p2, %r1, 40; @%p2 bra NEXT; mad.lo.u32 %r2, %r9, 3, %r4;\nNEXT: add.u32 %r2, %r2, %r1;";
  const isa::Module barriers = compiled(loop_of(sum, "4"), unrolling());
  EXPECT_EQ(branches_back(barriers), 0U);
  EXPECT_EQ(count(barriers, isa::Op::BAR_SYNC), 8U);
  expect_equal(loop_of(sum, "4"));
  // A thread leaves with what the iteration has made so far, and with the counter.
  const std::string leaving =
      "mad.lo.u32 %r2, %r2, 5, %r4; mad.lo.u32 %r6, %r4, 11, %r1; and.b32 %r6, %r6, 7; setp.eq.u32 %p2, %r6, 3;\n"
      "@%p2 bra OUT; add.u32 %r2, %r2, %r1;";
  const std::string text = loop_of(leaving, "6") + "";
  EXPECT_EQ(branches_back(compiled(text, unrolling())), 0U);
  EXPECT_EQ(count(compiled(text, unrolling()), isa::Op::BRA), 6U);
  expect_equal(text);
  std::string counted = text;
  counted.replace(counted.find("OUT: "), 5, "OUT: st.global.u32 [%rd2+1024], %r4; ");
  EXPECT_EQ(branches_back(compiled(counted, unrolling())), 0U);
  expect_equal(counted);
}

TEST(UnrollBlocks, ALoopBeforeTheThreadsEnd) {
  const std::string text = kernel_of("mov.u32 %r2, 1; mov.u32 %r4, 0;\nLOOP: " + std::string(kSometimes) +
                                     "\nadd.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 4; @%p1 bra LOOP;");
  EXPECT_EQ(branches_back(compiled(text, unrolling())), 0U);
  expect_equal(text);
}

TEST(UnrollBlocks, WhatTheCounterMakesIsComputedAtOnce) {
  // 2 to the power of the counter, as a number; a branch that it decides.
  const std::string text = loop_of(
      "cvt.rn.f32.u32 %f1, %r4; ex2.approx.ftz.f32 %f2, %f1; cvt.rzi.u32.f32 %r6, %f2; and.b32 %r7, %r4, 1;\n"
      "setp.eq.u32 %p2, %r7, 1; @%p2 bra ODD; xor.b32 %r2, %r2, %r6; bra NEXT;\nODD: mad.lo.u32 %r2, %r2, %r6, %r1;\n"
      "NEXT: st.global.u32 [%rd2+256], %r2;",
      "4");
  const isa::Module module = compiled(text, unrolling());
  EXPECT_EQ(count(module, isa::Op::BRA), 0U);
  EXPECT_EQ(count(module, isa::Op::FEX2), 0U);
  EXPECT_EQ(count(module, isa::Op::CVT), 0U);
  EXPECT_EQ(count(module, isa::Op::XOR), 2U);
  expect_equal(text);
}

// The reciprocal of a number stays, and the conversion before it, as in divisions.
TEST(UnrollBlocks, DivisionsByTheCounterKeepTheirReciprocal) {
  CompileOptions options = unrolling();
  options.software_division = true;
  const std::string text = loop_of(
      "add.u32 %r6, %r4, 3; rem.u32 %r7, %r1, %r6; setp.eq.u32 %p2, %r7, 1; @%p2 bra NEXT;\n"
      "add.u32 %r2, %r2, %r7; st.global.u32 [%rd2+256], %r2;\nNEXT:",
      "3");
  const isa::Module module = compiled(text, options);
  EXPECT_EQ(branches_back(module), 0U);
  EXPECT_EQ(count(module, isa::Op::FRCP), 3U);
  EXPECT_EQ(count(module, isa::Op::CVT), 6U);
  EXPECT_EQ(words_of(module), words_of(compiled(text, {})));
}

TEST(UnrollBlocks, OuterLoopsFollow) {
  const std::string text = kernel_of(
      "mov.u32 %r2, 0; mov.u32 %r10, 0;\nOUTER: mov.u32 %r4, 0;\nLOOP: " + std::string(kSometimes) +
      "\nadd.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 2; @%p1 bra LOOP;\nadd.u32 %r2, %r2, %r10; add.u32 %r10, %r10, 7;\n"
      "setp.lt.s32 %p3, %r10, 20; @%p3 bra OUTER; st.global.u32 [%rd2], %r2;");
  EXPECT_EQ(branches_back(compiled(text, unrolling())), 0U);
  expect_equal(text);
}

// Stores to global memory under a guard: ptxas unrolls such loops in full alone. And atomics: not by four.
TEST(UnrollBlocks, GuardedStoresAndAtomicsKeepLoopsOfAnUnknownCount) {
  CompileOptions options = unrolling();
  options.if_conversion = 6;
  const auto loads = [&](const std::string& inside, const std::string& times) {
    return count(compiled(loop_of(inside, times), options), isa::Op::LD_GLOBAL_E);
  };
  const std::string load =
      "mad.lo.u32 %r6, %r4, 64, %r1; mul.wide.u32 %rd4, %r6, 4; add.u64 %rd4, %rd1, %rd4; ld.global.u32 %r7, [%rd4];\n"
      "add.u32 %r2, %r2, %r7;\n";
  const std::string guarded = load + "setp.eq.u32 %p2, %r7, 1; @%p2 st.global.u32 [%rd4+8192], %r2;";
  const std::string atomic = load + "red.global.add.u32 [%rd1+512], %r7;";
  EXPECT_EQ(loads(load, "%r5"), 5U) << "four at a time, and a rest";
  EXPECT_EQ(loads(guarded, "%r5"), 1U);
  EXPECT_EQ(loads(atomic, "%r5"), 1U);
  EXPECT_EQ(loads(load, "1024"), 32U);
  EXPECT_EQ(loads(guarded, "1024"), 1U);
  EXPECT_GT(loads(atomic, "1024"), 8U);
  EXPECT_EQ(loads(guarded, "6"), 6U);
  EXPECT_EQ(loads(atomic, "6"), 6U);
}

// What looks like a count, or like a test of it, and is none.
TEST(UnrollBlocks, CountersAreWhatEachIterationChanges) {
  const std::string sometimes = "add.u32 %r2, %r2, %r1; and.b32 %r9, %r2, 1; setp.eq.u32 %p2, %r9, 1;\n";
  const std::string end = "setp.lt.u32 %p1, %r4, 6; @%p1 bra L; mad.lo.u32 %r2, %r4, 100, %r2;\n";
  const std::string goes = "@%p2 bra N; add.u32 %r2, %r2, 5;\nN: add.u32 %r4, %r4, 1; ";
  const std::string two = "and.b32 %r9, %r1, 1; setp.eq.u32 %p3, %r9, 0;\n";
  const std::string bodies[] = {
      // Changed in an arm, too.
      "mov.u32 %r4, 0;\nL: " + sometimes +
          "@%p2 bra N; add.u32 %r2, %r2, 5; add.u32 %r4, %r4, 1;\nN: add.u32 %r4, %r4, 1; " + end,
      "mov.u32 %r4, 0;\nL: " + sometimes +
          "@%p2 bra N; add.u32 %r2, %r2, 5; bra M;\nN: add.u32 %r4, %r4, 2;\nM: add.u32 %r4, %r4, 1; " + end,
      // What is compared is changed in an arm: the lower word, or a copy.
      "mov.u64 %rd20, 0;\nL: " + sometimes +
          "add.u64 %rd20, %rd20, 1; cvt.u32.u64 %r20, %rd20; @%p2 bra N; add.u32 %r20, %r20, 2;\nN: add.u32 %r2, %r2, "
          "1;\n"
          "setp.lt.u32 %p1, %r20, 6; @%p1 bra L; mad.lo.u32 %r2, %r20, 100, %r2;\n",
      "mov.u32 %r4, 0;\nL: " + sometimes +
          "add.u32 %r4, %r4, 1; mov.u32 %r20, %r4; @%p2 bra N; add.u32 %r20, %r20, 2;\nN: add.u32 %r2, %r2, 1;\n"
          "setp.lt.u32 %p1, %r20, 6; @%p1 bra L; mad.lo.u32 %r2, %r20, 100, %r2;\n",
      // An arm compares with something else.
      "mov.u32 %r4, 0;\nL: " + sometimes +
          "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 6; @%p2 bra N; setp.lt.u32 %p1, %r4, 3;\nN: add.u32 %r2, %r2, "
          "1;\n"
          "@%p1 bra L; mad.lo.u32 %r2, %r4, 100, %r2;\n",
      // It begins with one of two numbers.
      two + "mov.u32 %r4, 0; @%p3 bra L; mov.u32 %r4, 2; st.global.u32 [%rd2+4096], %r9;\nL: " + sometimes + goes + end,
      two + "@%p3 bra K; mov.u32 %r4, 2; st.global.u32 [%rd2+4096], %r9; bra L;\nK: mov.u32 %r4, 0;\nL: " + sometimes +
          goes + end,
      two + "mov.u32 %r4, 0; @%p3 mov.u32 %r4, 2;\nL: " + sometimes + goes + end};
  for (const std::string& body : bodies) {
    expect_equal(kernel_of("mov.u32 %r2, 0;\n" + body + "st.global.u32 [%rd2], %r2;"));
  }
}

// Code is cleaned up in this way where a loop has been unrolled.
constexpr const char* kUnrolled =
    "mov.u32 %r2, 0; mov.u32 %r4, 0;\n"
    "U: and.b32 %r9, %r2, 1; setp.eq.u32 %p2, %r9, 1; @%p2 bra V; add.u32 %r2, %r2, 7;\n"
    "V: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 3; @%p1 bra U;\n";

TEST(UnrollBlocks, UpperWordsThatAreNeededAreThere) {
  for (const char* const body :
       {// Taken apart.
        "cvt.u64.u32 %rd20, %r1; shl.b64 %rd10, %rd20, 34; add.s64 %rd10, %rd10, %rd20; mov.b64 {%r10, %r11}, %rd10;\n"
        "mov.b64 %rd11, {%r11, %r1}; add.s64 %rd12, %rd11, %rd20; cvt.u32.u64 %r12, %rd12; cvt.u32.u64 %r13, %rd10;\n"
        "add.u32 %r2, %r2, %r12; add.u32 %r2, %r2, %r13;",
        "cvt.u64.u32 %rd20, %r1; mul.lo.u64 %rd10, %rd20, 0x40000000; add.s64 %rd10, %rd10, %rd20;\n"
        "mov.b64 {%r10, %r11}, %rd10; mov.b64 %rd11, {%r11, %r11}; add.s64 %rd12, %rd11, %rd11;\n"
        "cvt.u32.u64 %r12, %rd12; add.u32 %r2, %r2, %r12;",
        // Conversions that change the lower word.
        "mul.lo.u32 %r20, %r1, 1001; cvt.s64.s16 %rd10, %r20; add.s64 %rd11, %rd10, %rd10; cvt.u32.u64 %r12, %rd11;\n"
        "cvt.u64.u8 %rd13, %r20; shl.b64 %rd14, %rd13, 3; cvt.u32.u64 %r14, %rd14; add.u32 %r2, %r2, %r12;\n"
        "mad.lo.u32 %r2, %r2, 3, %r14; cvt.rn.f32.u32 %f1, %r20; cvt.rzi.u64.f32 %rd15, %f1;\n"
        "add.s64 %rd16, %rd15, %rd15; cvt.u32.u64 %r15, %rd16; add.u32 %r2, %r2, %r15;"}) {
    expect_equal(kernel_of(kUnrolled + std::string(body) + " st.global.u32 [%rd2], %r2;"));
  }
}

TEST(UnrollBlocks, ValuesWithTwoResultsAreTwo) {
  expect_equal(kernel_of(kUnrolled + std::string("setp.lt.u32 %p7|%p8, %r1, 9; setp.lt.u32 %p9|%p10, %r1, 9;\n"
                                                 "selp.u32 %r10, 5, 9, %p7; selp.u32 %r11, 50, 90, %p8;\n"
                                                 "selp.u32 %r12, 500, 900, %p9; selp.u32 %r13, 5000, 9000, %p10;\n"
                                                 "add.u32 %r2, %r2, %r10; add.u32 %r2, %r2, %r11;\n"
                                                 "add.u32 %r2, %r2, %r12; add.u32 %r2, %r2, %r13;\n"
                                                 "st.global.u32 [%rd2], %r2;")));
}

TEST(UnrollBlocks, AddressesKeepWhatTheyWereMadeOf) {
  const std::string counted = "and.b32 %r50, %r1, 3; add.u32 %r50, %r50, 4; mov.u32 %r4, 0;\n";
  const std::string round = "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r50; @%p1 bra H; st.global.u32 [%rd2], %r2;";
  // Of an earlier round: its operand has the value of this one.
  for (int length = 4; length != 8; ++length) {
    for (int reads = 1; reads <= length; ++reads) {
      std::string body = kUnrolled + counted +
                         "setp.ne.u32 %p5, %r1, %r1;\nH: mad.lo.u32 %r10, %r4, %r1, %r4; and.b32 %r10, %r10, 31;\n"
                         "mul.wide.u32 %rd10, %r10, 4; add.s64 %rd40, %rd1, %rd10; and.b32 %r11, %r4, 1;\n"
                         "setp.eq.u32 %p6, %r11, 1; @%p6 bra B;\n";
      for (int i = 1; i <= length; ++i) {
        body += fmt::format("add.s64 %rd{}, %rd{}, {}; ld.global.u32 %r20, [%rd{}]; mad.lo.u32 %r2, %r2, 5, %r20;\n",
                            40 + i, 39 + i, i == 1 ? 16 : 4, 40 + i);
      }
      body += fmt::format(
          "setp.eq.u32 %p5, %r1, %r1;\nB: @%p5 ld.global.u32 %r21, [%rd{}];\n"
          "@%p5 mad.lo.u32 %r2, %r2, 3, %r21; st.global.u32 [%rd2+12288], %r2;\n",
          40 + reads);
      expect_equal(kernel_of(body + round));
    }
  }
  // The operand is another value behind the sum.
  expect_equal(kernel_of(
      kUnrolled + counted +
      "mov.u64 %rd40, 0;\nH: and.b32 %r11, %r4, 1; setp.eq.u32 %p6, %r11, 1; @%p6 bra B;\n"
      "mad.lo.u32 %r10, %r4, 7, %r1; and.b32 %r10, %r10, 31; cvt.u64.u32 %rd40, %r10;\n"
      "B: add.s64 %rd41, %rd40, 5; cvt.u64.u32 %rd40, %r4; shl.b64 %rd42, %rd41, 2; add.s64 %rd43, %rd1, %rd42;\n"
      "ld.global.u32 %r21, [%rd43]; mad.lo.u32 %r2, %r2, 3, %r21;\n" +
      round));
  // Too far for an offset.
  expect_equal(kernel_of(
      kUnrolled + std::string("ld.global.u32 %r61, [%rd1+12000]; and.b32 %r61, %r61, 1; cvt.u64.u32 %rd60, %r61;\n"
                              "shl.b64 %rd61, %rd60, 32; sub.s64 %rd62, %rd1, %rd61; and.b32 %r10, %r1, 7;\n"
                              "cvt.u64.u32 %rd10, %r10; add.s64 %rd11, %rd10, 0x20000000;\n"
                              "shl.b64 %rd12, %rd11, 2; add.s64 %rd13, %rd12, %rd62;\n"
                              "add.s64 %rd14, %rd13, 0x7ffffff0; ld.global.u32 %r14, [%rd14+32];\n"
                              "add.u32 %r2, %r2, %r14; st.global.u32 [%rd2], %r2;")));
}

}  // namespace
}  // namespace heddle::ptx::unrolling
