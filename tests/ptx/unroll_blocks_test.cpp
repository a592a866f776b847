// Loops of several blocks that become copies of their blocks: which do, what is left of what their counter makes, and
// that random ones compute what they do as they stand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx/post_dominators.hpp"

namespace heddle::ptx::unroll_blocks_test {
namespace {

constexpr unsigned kThreads = 64;
constexpr unsigned kWords = 4096;  // of the buffer

isa::Module compiled(const std::string& text, const CompileOptions& options) {
  isa::Module module = compile(text, "k.ptx", options);
  EXPECT_EQ(heddle::test::check_re_convergence(module.kernels.front()).wrong, "") << text;
  return module;
}

CompileOptions unrolling() {
  CompileOptions options;
  options.unroll = 4;
  return options;
}

std::vector<isa::Instruction> code_of(const isa::Module& module) {
  std::vector<isa::Instruction> code;
  for (const isa::InstructionWord& word : module.kernels.front().words) code.push_back(isa::decode(word).value());
  return code;
}

unsigned count(const isa::Module& module, isa::Op op) {
  unsigned found = 0;
  for (const isa::Instruction& instruction : code_of(module)) found += instruction.op == op ? 1U : 0U;
  return found;
}

unsigned branches_back(const isa::Module& module) {
  unsigned found = 0;
  std::uint32_t pc = 0;
  for (const isa::Instruction& instruction : code_of(module)) {
    found += instruction.op == isa::Op::BRA && instruction.target <= pc ? 1U : 0U;
    ++pc;
  }
  return found;
}

std::vector<std::uint32_t> ran(const isa::Module& module) {
  isa::DeviceMemory memory;
  isa::load_module(module, memory);
  const std::uint64_t buffer = memory.allocate("buffer", 4 * kWords, false);
  for (unsigned i = 0; i < kWords; ++i) memory.put<std::uint32_t>(buffer + 4 * i, 77 * i * i + 1001 * i + 5);
  isa::LaunchRequest launch;
  launch.kernel = "k";
  launch.block = {kThreads, 1, 1};
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &buffer, 8);
  isa::RetirementHash hash;
  isa::InterpreterOptions limits;
  limits.max_instructions_per_thread = 1'000'000;
  const isa::InterpreterResult result = isa::interpret(module, launch, memory, hash, limits);
  if (result.fault) ADD_FAILURE() << isa::describe(*result.fault, module);
  std::vector<std::uint32_t> words(kWords);
  memory.read(buffer, std::as_writable_bytes(std::span(words)));
  return words;
}

// %r1: thread. %rd1: buffer, %rd2: the thread's word in it. Scratchpad of 512 words from `s` on.
std::string kernel_of(const std::string& body) {
  return ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 buffer) {\n"
         ".reg .pred %p<9>; .reg .b32 %r<60>; .reg .b64 %rd<40>; .reg .f32 %f<9>; .shared .align 4 .b32 s[512];\n"
         "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [buffer]; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd1, %rd3;\n" +
         body + "\nexit; }\n";
}

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
  const std::vector<std::uint32_t> reference = ran(compiled(text, {}));
  EXPECT_EQ(ran(compiled(text, unrolling())), reference) << text;
  EXPECT_EQ(ran(compiled(text, predicated)), reference) << text;
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
  EXPECT_EQ(ran(module), ran(compiled(text, {})));
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

// ---- random loops

class RandomLoop {
 public:
  explicit RandomLoop(unsigned seed) : random_(seed), seed_(seed), barriers_(seed % 3 == 0) {}

  std::string text() {
    std::string body;
    // %r10 to %r15, %rd10 to %rd13 have values before the loop, %r16 to %r19, %rd14 and %rd15 only in it.
    for (unsigned i = 10; i != 16; ++i) body += fmt::format("mad.lo.u32 %r{}, %r1, {}, {};\n", i, number(), number());
    for (unsigned i = 16; i != 20; ++i) body += fmt::format("mov.u32 %r{}, {};\n", i, number());
    for (unsigned i = 10; i != 16; ++i) body += fmt::format("mul.wide.u32 %rd{}, %r{}, {};\n", i, i, number());
    for (unsigned i = 2; i != 5; ++i) body += fmt::format("setp.lt.u32 %p{}, %r{}, {};\n", i, 10 + i, number());
    for (unsigned i = 1; i != 4; ++i) body += fmt::format("cvt.rn.f32.s32 %f{}, %r{};\n", i, 10 + i);
    const unsigned iterations = 1 + pick(5), step = 1 + pick(9);
    const std::uint32_t begin = pick(2) == 0 ? pick(5) : number() & 0xffffffU;
    const bool down = pick(3) == 0, wide = pick(4) == 0;
    const auto sign = static_cast<std::int64_t>(down ? -1 : 1) * step;
    const std::int64_t end = static_cast<std::int32_t>(begin) + sign * iterations;
    const char* const type = wide ? "64" : "32";
    const std::string counter = wide ? "%rd20" : "%r20";
    body += fmt::format("mov.b{} {}, {};\n", type, counter, static_cast<std::int32_t>(begin));
    if (wide) body += "cvt.u32.u64 %r20, %rd20;\n";
    body += "LOOP:\n";
    const unsigned statements = 1 + pick(5);
    for (unsigned i = 0; i != statements; ++i) body += statement(0);
    if (pick(4) != 0) body += region(1);
    body += fmt::format("add.s{} {}, {}, {};\n", type, counter, counter, sign);
    if (wide) body += "cvt.u32.u64 %r20, %rd20;\n";
    if (pick(3) == 0) body += statement(0);
    const char* const goes_on = (step & (step - 1)) == 0 ? "ne" : down ? "gt" : "lt";
    body += fmt::format("setp.{}.s{} %p1, {}, {}; @%p1 bra LOOP;\nOUT:\n", goes_on, type, counter,
                        wide ? end : static_cast<std::int32_t>(end));
    body += "mov.u32 %r2, 1;\n";
    for (unsigned i = 10; i != 21; ++i) body += fmt::format("mad.lo.u32 %r2, %r2, 31, %r{};\n", i);
    // In every other program of the lower words alone.
    const char* const upper = seed_ % 2 == 0 ? "shr.u64 %rd30, %rd{0}, 32; xor.b64 %rd30, %rd30, %rd{0};\n" : "";
    for (unsigned i = 10; i != 16; ++i) {
      body += fmt::format(fmt::runtime(upper), i);
      body += fmt::format("cvt.u32.u64 %r3, %rd{}; mad.lo.u32 %r2, %r2, 33, %r3;\n", *upper != 0 ? 30 : i);
    }
    for (unsigned i = 1; i != 4; ++i) body += fmt::format("mov.b32 %r3, %f{}; mad.lo.u32 %r2, %r2, 35, %r3;\n", i);
    for (unsigned i = 2; i != 5; ++i)
      body += fmt::format("selp.u32 %r3, 5, 9, %p{}; mad.lo.u32 %r2, %r2, 7, %r3;\n", i);
    return kernel_of(body + "st.global.u32 [%rd2+8192], %r2;");
  }

 private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  std::uint32_t number() {
    static constexpr std::array<std::uint32_t, 10> kEdges{0, 1, 2, 3, 4, 16, 31, 64, 255, 0x7fffffff};
    return pick(3) == 0 ? static_cast<std::uint32_t>(random_()) & 0x7fffffffU : kEdges[pick(kEdges.size())];
  }
  std::string reg() { return fmt::format("%r{}", pick(4) == 0 ? 20 : pick(5) == 0 ? 1 : 10 + pick(10)); }
  std::string to() { return fmt::format("%r{}", 10 + pick(10)); }
  std::string source() { return pick(3) == 0 ? fmt::format("{}", number()) : reg(); }
  std::string wide() { return fmt::format("%rd{}", 10 + pick(6)); }
  std::string real() { return fmt::format("%f{}", 1 + pick(3)); }
  std::string predicate() { return fmt::format("%p{}", 2 + pick(3)); }

  std::string compute() {
    static constexpr std::array<const char*, 17> kTwo{
        "add.u32", "sub.u32", "mul.lo.u32", "and.b32", "or.b32",  "xor.b32", "shl.b32", "shr.u32",   "shr.s32",
        "min.s32", "max.u32", "mul.hi.u32", "min.u32", "max.s32", "sub.s32", "rem.u32", "mul.hi.s32"};
    static constexpr std::array<const char*, 7> kOne{"popc.b32", "clz.b32", "brev.b32", "not.b32",
                                                     "abs.s32",  "neg.s32", "cnot.b32"};
    static constexpr std::array<const char*, 6> kWide{"add.u64", "sub.u64", "mul.lo.u64",
                                                      "and.b64", "or.b64",  "xor.b64"};
    static constexpr std::array<const char*, 4> kReal{"add.f32", "mul.f32", "min.f32", "sub.f32"};
    static constexpr std::array<const char*, 3> kComparison{"lt.u32", "ge.s32", "eq.u32"};
    switch (pick(30)) {
      case 0:
        return fmt::format("mad.lo.u32 {}, {}, {}, {};", to(), reg(), source(), reg());
      case 1:
        return fmt::format("bfe.u32 {}, {}, {}, {};", to(), reg(), pick(32), pick(33));
      case 2:
        return fmt::format("bfi.b32 {}, {}, {}, {}, {};", to(), reg(), reg(), pick(32), pick(33));
      case 3:
        return fmt::format("prmt.b32 {}, {}, {}, {};", to(), reg(), reg(), pick(65536));
      case 4:
        return fmt::format("selp.u32 {}, {}, {}, {};", to(), reg(), source(), predicate());
      case 5:
        return fmt::format("{} {}, {};", kOne[pick(kOne.size())], to(), reg());
      case 6:
        return fmt::format("setp.{} {}, {}, {};", kComparison[pick(3)], predicate(), reg(), source());
      case 7:
        return fmt::format("setp.{}.and.u32 {}, {}, {}, {};", pick(2) == 0 ? "lt" : "ne", predicate(), reg(), source(),
                           predicate());
      case 8:
        return fmt::format("xor.pred {}, {}, {};", predicate(), predicate(), predicate());
      case 9:
        return fmt::format("{} {}, {}, {};", kWide[pick(kWide.size())], wide(), wide(), wide());
      case 10:
        return fmt::format("mad.wide.{} {}, {}, {}, {};", pick(2) == 0 ? "u32" : "s32", wide(), reg(), source(),
                           wide());
      case 11:
        return fmt::format("shl.b64 {}, {}, {};", wide(), wide(), pick(70));
      case 12:
        return fmt::format("cvt.{} {}, {};", pick(2) == 0 ? "u64.u32" : "s64.s32", wide(), reg());
      case 13:
        return fmt::format("cvt.u32.u64 {}, {};", to(), wide());
      case 14:
        return fmt::format("cvt.{} {}, {};", pick(2) == 0 ? "rn.f32.u32" : "rp.f32.s32", real(), reg());
      case 15:
        return fmt::format("cvt.rzi.s32.f32 {}, {};", to(), real());
      case 16:
        return fmt::format("{} {}, {}, {};", kReal[pick(kReal.size())], real(), real(), real());
      case 17:
        return fmt::format("{} {}, {};", pick(2) == 0 ? "ex2.approx.ftz.f32" : "sin.approx.f32", real(), real());
      default:
        return fmt::format("{} {}, {}, {};", kTwo[pick(kTwo.size())], to(), reg(), source());
    }
  }

  // Words of the buffer below 1024 words are read, words of the scratchpad by their thread alone.
  std::string access() {
    const std::string shared = "mov.u64 %rd31, s; add.u64 %rd31, %rd31, %rd32;";
    switch (pick(4)) {
      case 0:
        return fmt::format(
            "and.b32 %r30, {}, 1023; mul.wide.u32 %rd30, %r30, 4; add.u64 %rd30, %rd1, %rd30;\n"
            "ld.global.u32 {}, [%rd30+{}];",
            reg(), to(), 4 * pick(64));
      case 1:
        return fmt::format(
            "and.b32 %r30, {}, 7; shl.b32 %r30, %r30, 6; add.u32 %r30, %r30, %r1;\n"
            "cvt.u64.u32 %rd32, %r30; shl.b64 %rd32, %rd32, 2; {} st.shared.u32 [%rd31], {};",
            reg(), shared, reg());
      case 2:
        return fmt::format(
            "and.b32 %r30, {}, 7; mad.lo.u32 %r30, %r30, 64, %r1; mul.wide.u32 %rd32, %r30, 4; {}\n"
            "ld.shared.u32 {}, [%rd31];",
            reg(), shared, to());
      default:
        return fmt::format(
            "add.u32 %r31, %r1, {}; and.b32 %r31, %r31, 63; shl.b32 %r31, %r31, 2;\n"
            "cvt.u64.u32 %rd33, %r31; add.u64 %rd33, %rd1, %rd33; st.global.u32 [%rd33+12288], %r1;",
            64 * pick(4));
    }
  }

  std::string statement(unsigned depth) {
    if (depth < 2 && pick(5) == 0) return region(depth);
    if (depth == 0 && barriers_ && pick(6) == 0) return "bar.sync 0;\n";
    if (pick(4) == 0) return access() + "\n";
    const std::string guard = pick(5) == 0 ? fmt::format("@{}{} ", pick(2) == 0 ? "!" : "", predicate()) : "";
    return guard + compute() + "\n";
  }

  std::string region(unsigned depth) {
    const unsigned label = labels_++;
    std::string out = fmt::format("@{}{} bra ELSE{};\n", pick(2) == 0 ? "!" : "", predicate(), label);
    for (unsigned i = 0, many = 1 + pick(3); i != many; ++i) out += statement(depth + 1);
    if (!barriers_ && pick(6) == 0) {
      out += "bra OUT;\n";
    } else if (pick(2) == 0) {
      out += fmt::format("bra NEXT{};\n", label);
    }
    out += fmt::format("ELSE{}:\n", label);
    for (unsigned i = 0, many = pick(3); i != many; ++i) out += statement(depth + 1);
    return out + fmt::format("NEXT{}:\n", label);
  }

  std::mt19937 random_;
  unsigned seed_;
  bool barriers_;
  unsigned labels_ = 0;
};

TEST(UnrollBlocks, RandomLoopsComputeWhatTheyDoAsTheyStand) {
  unsigned loops = 0, gone = 0;
  for (unsigned seed = 1; seed <= 400 && !testing::Test::HasFailure(); ++seed) {
    const std::string text = RandomLoop(seed).text();
    SCOPED_TRACE(text);
    const isa::Module plain = compiled(text, {});
    const std::vector<std::uint32_t> reference = ran(plain);
    for (const bool today : {false, true}) {
      CompileOptions options = unrolling();
      options.if_conversion = today || seed % 2 == 0 ? 6 : 0;
      options.predicated_loads = !today;
      options.peephole = today;
      options.software_division = today;
      options.schedule_within = today ? 48 : 0;
      options.max_registers = seed % 5 == 0 ? 20 : isa::kNarrowRegisters;
      const isa::Module module = compiled(text, options);
      EXPECT_EQ(ran(module), reference) << "today: " << today << ", seed " << seed;
      loops += branches_back(plain) != 0 ? 1U : 0U;
      gone += branches_back(plain) != 0 && branches_back(module) == 0 ? 1U : 0U;
    }
  }
  EXPECT_GT(gone, loops / 2) << "of " << loops;
}

}  // namespace
}  // namespace heddle::ptx::unroll_blocks_test
