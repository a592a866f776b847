// Operations that are joined, and what must stay as it is (ptx/backend/peephole.cpp, logic.cpp, clean_up.cpp).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"

namespace heddle::ptx {
namespace {

using ::testing::ElementsAre;

// %r1 to %r4 are what a thread has loaded, %r0 is its place; what is to be seen goes to %r9, or to a predicate %p1.
std::string kernel_of(const std::string& body) {
  std::string loads;
  for (int i = 1; i <= 4; ++i) loads += fmt::format("ld.global.u32 %r{}, [%rd1+{}];\n", i, 4 * (i - 1));
  return ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
         ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %rd<19>; .shared .b8 s[2048];\n"
         "mov.u32 %r0, %tid.x; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
         "mad.wide.u32 %rd1, %r0, 16, %rd1; mad.wide.u32 %rd2, %r0, 4, %rd2;\n" +
         loads + body + "\nst.global.u32 [%rd2], %r9;\nexit; }\n";
}

isa::Module compiled(const std::string& text, bool joined, unsigned unroll = 0) {
  CompileOptions options;
  options.peephole = joined;
  options.unroll = unroll;
  options.if_conversion = 6;
  return compile(text, "k.ptx", options);
}

// The operations between the loads of the operands and the store of the result, without their registers.
std::vector<std::string> operations(const std::string& body, bool joined = true, unsigned unroll = 0) {
  std::vector<std::string> out;
  const isa::Module module = compiled(kernel_of(body), joined, unroll);
  for (const isa::InstructionWord& word : module.kernels.front().words) {
    const isa::Instruction in = isa::decode(word).value();
    const isa::OperationInfo& info = isa::info(in.op);
    if (isa::is_store(in.op) || in.op == isa::Op::EXIT || in.op == isa::Op::S2R || in.op == isa::Op::MOV) continue;
    if (isa::is_load(in.op) && isa::space_of(in.op) != isa::Space::shared) continue;
    if (in.op == isa::Op::MAD_WIDE_U && in.immediate && (in.imm == 16 || in.imm == 4)) continue;
    std::string text(info.mnemonic);
    if (in.op == isa::Op::LOP3) text += fmt::format(" {:02x}", in.lop3_lut());
    if (in.op == isa::Op::SETP_U32 && in.comparison() == isa::Comparison::any) text += " any";
    if (in.immediate) text += fmt::format(" {:x}", in.imm);
    if (in.guard.reg != isa::kPT) text = "@ " + text;
    out.push_back(text);
  }
  return out;
}

constexpr const char* kSelect = "selp.u32 %r9, %r3, %r4, %p1;";

TEST(Peephole, JoinsBitwiseOperationsOfThreeValues) {
  EXPECT_THAT(operations("and.b32 %r5, %r1, %r2; or.b32 %r9, %r5, %r3;", false), ElementsAre("and", "or"));
  EXPECT_THAT(operations("xor.b32 %r5, %r1, %r2; xor.b32 %r9, %r5, %r3;"), ElementsAre("lop3 96"));
  EXPECT_THAT(operations("not.b32 %r5, %r2; and.b32 %r9, %r1, %r5;"), ElementsAre("lop3 30"));
  // A value twice; three operations of three values; four values.
  EXPECT_THAT(operations("and.b32 %r5, %r1, %r2; xor.b32 %r9, %r5, %r1;").size(), 1U);
  EXPECT_THAT(operations("and.b32 %r5, %r1, %r2; or.b32 %r6, %r5, %r3; xor.b32 %r9, %r6, %r1;").size(), 1U);
  EXPECT_THAT(operations("xor.b32 %r5, %r1, %r2; xor.b32 %r6, %r3, %r4; xor.b32 %r9, %r5, %r6;").size(), 2U);
  EXPECT_THAT(operations("lop3.b32 %r5, %r1, %r2, %r3, 0x96; xor.b32 %r9, %r5, %r4;"), ElementsAre("lop3 96", "xor"));
}

TEST(Peephole, LeavesWhatIsNeededElsewhere) {
  EXPECT_THAT(operations("xor.b32 %r5, %r1, %r2; xor.b32 %r6, %r5, %r3; mul.lo.u32 %r9, %r5, %r6;"),
              ElementsAre("xor", "xor", "mul.lo"));
  EXPECT_THAT(operations("xor.b32 %r5, %r1, 7; xor.b32 %r9, %r5, %r3;"), ElementsAre("xor 7", "xor"));
  // Another value of a source; a value that only some threads have.
  EXPECT_THAT(operations("mov.u32 %r7, 5; setp.gt.u32 %p2, %r4, 9; @%p2 add.u32 %r7, %r7, %r1;\n"
                         "xor.b32 %r5, %r7, %r2; @%p2 add.u32 %r7, %r7, %r3; xor.b32 %r9, %r5, %r7;"),
              ElementsAre("setp.u32 9", "@ add", "xor", "@ add", "xor"));
}

TEST(Peephole, TestsBitsByOneComparison) {
  const auto test = [](const std::string& body) { return operations(body + kSelect); };
  EXPECT_THAT(operations(std::string("and.b32 %r5, %r1, 6; setp.ne.u32 %p1, %r5, 0;") + kSelect, false),
              ElementsAre("and 6", "setp.u32 0", "sel"));
  EXPECT_THAT(test("and.b32 %r5, %r1, 6; setp.ne.u32 %p1, %r5, 0;"), ElementsAre("setp.u32 any 6", "sel"));
  EXPECT_THAT(test("and.b32 %r5, %r1, 6; setp.eq.s32 %p1, %r5, 0;"), ElementsAre("setp.u32 any 6", "sel"));
  EXPECT_THAT(test("and.b32 %r5, %r1, 4; setp.eq.u32 %p1, %r5, 4;"), ElementsAre("setp.u32 any 4", "sel"));
  EXPECT_THAT(test("shr.u32 %r6, %r1, 3; and.b32 %r5, %r6, 1; setp.eq.u32 %p1, %r5, 1;"),
              ElementsAre("setp.u32 any 8", "sel"));
  EXPECT_THAT(test("shr.u32 %r6, %r1, 3; shr.u32 %r7, %r6, 4; and.b32 %r5, %r7, 3; setp.eq.u32 %p1, %r5, 0;"),
              ElementsAre("setp.u32 any 180", "sel"));
  // Whether all of two bits are set; bits that the shift has brought in.
  EXPECT_EQ(test("and.b32 %r5, %r1, 6; setp.eq.u32 %p1, %r5, 6;").size(), 3U);
  EXPECT_EQ(test("and.b32 %r5, %r1, 6; setp.lt.u32 %p1, %r5, 1;").size(), 3U);
  // A comparison that is combined with a predicate has no immediate.
  EXPECT_EQ(test("setp.gt.u32 %p2, %r2, 9; and.b32 %r5, %r1, 4; setp.eq.and.u32 %p1, %r5, 0, %p2;").size(), 4U);
  EXPECT_THAT(test("shr.u32 %r6, %r1, 30; and.b32 %r5, %r6, 5; setp.ne.u32 %p1, %r5, 0;"),
              ElementsAre("shr.u32 1e", "setp.u32 any 5", "sel"));
}

TEST(Peephole, TestsWhatALoopShiftsOnAndOnInTheFirstValue) {
  const std::string loop =
      "mov.u32 %r9, 0; mov.u32 %r6, 0;\nL:\nand.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 1;\n"
      "@%p1 xor.b32 %r9, %r9, %r2;\nshr.u32 %r1, %r1, 1; add.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 3;\n"
      "@%p2 bra L;\n";
  EXPECT_THAT(operations(loop, true, 4),
              ElementsAre("setp.u32 any 1", "@ xor", "setp.u32 any 2", "@ xor", "setp.u32 any 4", "@ xor"));
}

TEST(Peephole, LeavesOutMasksOfBitsThatAreNotThere) {
  EXPECT_THAT(operations("ld.shared.u8 %r5, [%r1]; and.b32 %r6, %r5, 255; mul.lo.u32 %r9, %r6, %r2;"),
              ElementsAre("ld.shared 0", "mul.lo"));
  EXPECT_THAT(operations("ld.shared.u8 %h5, [%r1]; cvt.u32.u16 %r6, %h5; mul.lo.u32 %r9, %r6, %r2;"),
              ElementsAre("ld.shared 0", "mul.lo"));
  EXPECT_THAT(operations("ld.shared.s8 %r5, [%r1]; and.b32 %r6, %r5, 255; mul.lo.u32 %r9, %r6, %r2;"),
              ElementsAre("ld.shared 0", "and ff", "mul.lo"));
  EXPECT_THAT(operations("and.b32 %r5, %r1, 255; and.b32 %r6, %r2, 31; shl.b32 %r7, %r5, %r6; and.b32 %r8, %r7, 255;"
                         "mul.lo.u32 %r9, %r8, %r2;"),
              ElementsAre("and ff", "and 1f", "shl", "and ff", "mul.lo"));
  EXPECT_THAT(operations("ld.shared.u16 %r5, [%r1]; and.b32 %r6, %r5, 255; mul.lo.u32 %r9, %r6, %r2;"),
              ElementsAre("ld.shared 0", "and ff", "mul.lo"));
  EXPECT_THAT(operations("bfe.u32 %r5, %r1, 8, 8; mul.lo.u32 %r9, %r5, %r2;"),
              ElementsAre("shr.u32 8", "and ff", "mul.lo"));
  EXPECT_THAT(operations("bfe.u32 %r5, %r1, 24, 8; mul.lo.u32 %r9, %r5, %r2;"), ElementsAre("shr.u32 18", "mul.lo"));
  EXPECT_THAT(operations("bfe.u32 %r5, %r1, 24, 9; mul.lo.u32 %r9, %r5, %r2;").front(), "bfe.u32 18");
}

TEST(Peephole, MultipliesAndAddsForEachSumOfAProduct) {
  EXPECT_THAT(operations("mul.lo.u32 %r5, %r1, 24; add.u32 %r6, %r5, %r2; add.u32 %r7, %r5, %r3; mul.lo.u32 %r9, %r6, "
                         "%r7;"),
              ElementsAre("mad.lo 18", "mad.lo 18", "mul.lo"));
  EXPECT_THAT(operations("mul.lo.u32 %r5, %r1, 24; add.u32 %r6, %r5, %r2; add.u32 %r7, %r6, %r3; mul.lo.u32 %r9, %r5, "
                         "%r7;"),
              ElementsAre("mul.lo 18", "add", "add", "mul.lo"));
}

TEST(Peephole, PutsSumsOfScratchpadAddressesIntoTheOffset) {
  EXPECT_THAT(operations("and.b32 %r5, %r1, 60; cvt.u64.u32 %rd3, %r5; mov.u64 %rd4, s; add.u64 %rd5, %rd3, %rd4;\n"
                         "ld.shared.u32 %r6, [%rd5+64]; ld.shared.u32 %r7, [%rd5+128]; mul.lo.u32 %r9, %r6, %r7;"),
              ElementsAre("and 3c", "ld.shared 40", "ld.shared 80", "mul.lo"));
}

TEST(Peephole, ComputesWithOneWordWhereTheUpperOneIsNotNeeded) {
  const std::string address =
      "mul.wide.s32 %rd3, %r1, 4; cvt.s64.s32 %rd4, %r2; shl.b64 %rd5, %rd4, 6; and.b64 %rd6, %rd3, 1020;\n"
      "sub.s64 %rd7, %rd5, %rd6; add.s64 %rd8, %rd7, 16; ld.shared.u32 %r5, [%rd8];\n";
  EXPECT_THAT(operations(address + "mov.u32 %r9, %r5;"),
              ElementsAre("shl 2", "shl 6", "and 3fc", "sub", "ld.shared 10"));
  EXPECT_THAT(operations(address + "shr.u64 %rd9, %rd6, 40; cvt.u32.u64 %r6, %rd9; add.u32 %r9, %r5, %r6;"),
              ElementsAre("mul.wide.s32 4", "shl 6", "and.b64 3fc", "sub", "ld.shared 10", "shr.u64 28", "add"))
      << "of what goes into the address the upper word is needed elsewhere";
}

// ---- the values

std::vector<std::uint32_t> results(const isa::Module& module, const std::vector<std::uint32_t>& input) {
  isa::DeviceMemory memory;
  load_module(module, memory);
  const std::uint32_t threads = static_cast<std::uint32_t>(input.size() / 4);
  const std::uint64_t pointers[] = {memory.allocate("in", input.size() * 4), memory.allocate("out", input.size())};
  memory.write(pointers[0], std::as_bytes(std::span(input)));
  isa::LaunchRequest request{"k", {1, 1, 1}, {threads, 1, 1}, 0, {}};
  request.parameters.resize(sizeof pointers);
  std::memcpy(request.parameters.data(), pointers, sizeof pointers);
  isa::RetirementHash hash;
  const isa::InterpreterResult result = interpret(module, request, memory, hash);
  EXPECT_FALSE(result.fault) << describe(*result.fault, module);
  std::vector<std::uint32_t> out(threads);
  memory.read(pointers[1], std::as_writable_bytes(std::span(out)));
  return out;
}

// What a value was made of in an earlier round of a loop, which the first round has not: nothing is joined.
TEST(Peephole, LeavesValuesOfEarlierRounds) {
  const std::string begin = "mov.u32 %r20, 0; mov.u32 %r9, 0;\nL:\n";
  const std::string end = "add.u32 %r20, %r20, 1; setp.ne.u32 %p5, %r20, 6; @%p5 bra L;\n";
  const std::string skip = "setp.eq.u32 %p4, %r20, 0; @%p4 bra SKIP;\n";
  const std::string bodies[] = {"mul.lo.u32 %r6, %r20, 5;\n" + skip +
                                    "xor.b32 %r8, %r5, %r3; mad.lo.u32 %r9, %r9, 31, %r8;\nSKIP:\n"
                                    "xor.b32 %r5, %r6, %r2;\n",
                                "cvt.u64.u32 %rd3, %r20;\n" + skip +
                                    "cvt.u32.u64 %r8, %rd5; mad.lo.u32 %r9, %r9, 31, %r8;\nSKIP:\n"
                                    "add.u64 %rd5, %rd3, 12;\n"};
  std::vector<std::uint32_t> input(4 * 64);
  for (std::uint32_t i = 0; i < input.size(); ++i) input[i] = i * 2654435761U;
  for (const std::string& body : bodies) {
    const std::string text = kernel_of(begin + body + end);
    EXPECT_EQ(results(compiled(text, true), input), results(compiled(text, false), input)) << body;
  }
}

// A statement on registers 1 to 8, rather bits than numbers.
std::string statement(std::mt19937& random) {
  const auto reg = [&] { return "%r" + std::to_string(1 + random() % 8); };
  const auto pred = [&] { return "%p" + std::to_string(1 + random() % 3); };
  const auto number = [&] {
    const std::uint32_t kinds[] = {1U << random() % 32, static_cast<std::uint32_t>(random() % 64), 0xFF, 0xFFFF,
                                   static_cast<std::uint32_t>(random())};
    return std::to_string(kinds[random() % 5]);
  };
  const auto value = [&] { return random() % 3 == 0 ? number() : reg(); };
  const std::string guard = random() % 6 == 0 ? fmt::format("@{}{} ", random() % 2 == 0 ? "!" : "", pred()) : "";
  static const char* const kBitwise[] = {"and", "or", "xor"};
  static const char* const kComparisons[] = {"eq.u32", "ne.u32", "eq.s32", "ne.s32", "lt.u32"};
  switch (random() % 12) {
    case 0:
      return guard + fmt::format("not.b32 {}, {};", reg(), reg());
    case 1:
      return guard + fmt::format("lop3.b32 {}, {}, {}, {}, {};", reg(), reg(), reg(), reg(), random() % 256);
    case 2:
      return guard + fmt::format("shr.u32 {}, {}, {};", reg(), reg(), random() % 34);
    case 3:
      return guard + fmt::format("shl.b32 {}, {}, {};", reg(), reg(), random() % 12);
    case 4:
      return guard + fmt::format("bfe.u32 {}, {}, {}, {};", reg(), reg(), random() % 33, random() % 33);
    case 5:
      return guard + fmt::format("setp.{} {}, {}, {};", kComparisons[random() % 5], pred(), reg(),
                                 random() % 2 == 0 ? "0" : number());
    case 6: {
      // What a test of bits looks like.
      const std::uint32_t mask = random() % 2 == 0 ? 1U << random() % 32 : static_cast<std::uint32_t>(random());
      return fmt::format("shr.u32 %r10, {}, {}; and.b32 %r11, %r10, {}; {}setp.{} {}, %r11, {};", reg(), random() % 32,
                         mask, guard, random() % 2 == 0 ? "eq.u32" : "ne.s32", pred(), random() % 2 == 0 ? 0 : mask);
    }
    case 7:
      return guard + fmt::format("selp.b32 {}, {}, {}, {};", reg(), reg(), value(), pred());
    case 8:
      return fmt::format("cvt.u16.u32 %h1, {}; {}cvt.u32.u16 {}, %h1;", reg(), guard, reg());
    case 9:
      return fmt::format("mul.lo.u32 %r12, {}, {}; {}add.u32 {}, %r12, {}; add.u32 {}, {}, %r12;", reg(), value(),
                         guard, reg(), reg(), reg(), reg());
    default:
      return guard + fmt::format("{}.b32 {}, {}, {};", kBitwise[random() % 3], reg(), reg(), value());
  }
}

TEST(Peephole, ChangesNoValue) {
  std::size_t longer = 0, shorter = 0;
  for (unsigned seed = 1; seed <= 400 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    std::string body =
        "mov.u32 %r5, %r1; mov.u32 %r6, 0; mov.u32 %r7, %r0; mov.u32 %r8, 255; mov.u32 %r20, 0;\n"
        "setp.eq.u32 %p1, %r0, 3; setp.gt.u32 %p2, %r1, %r2; setp.ne.u32 %p3, %r3, 0;\n";
    const bool loop = seed % 2 == 0;
    for (unsigned i = 0; i < 6; ++i) body += statement(random) + "\n";
    if (loop) body += "L:\n";
    for (unsigned i = 0; i < 10; ++i) {
      const bool around = seed % 3 == 0 && random() % 4 == 0;
      if (around) body += fmt::format("@%p{} bra S{};\n", 1 + random() % 3, i);
      body += statement(random) + "\n" + statement(random) + "\n";
      if (around) body += fmt::format("S{}:\n", i);
    }
    // A count that is known, and one that each thread has.
    const bool known = seed % 4 == 0;
    if (loop) {
      body += "add.u32 %r20, %r20, 1; and.b32 %r13, %r0, 7; setp.lt.u32 %p4, %r20, " +
              std::string(known ? "5" : "%r13") + "; @%p4 bra L;\n";
    }
    for (unsigned i = 0; i < 6; ++i) body += statement(random) + "\n";
    body +=
        "selp.u32 %r9, 1, 2, %p1; selp.u32 %r10, 4, 8, %p2; selp.u32 %r11, 16, 32, %p3;\n"
        "add.u32 %r9, %r9, %r10; add.u32 %r9, %r9, %r11;\n";
    for (unsigned i = 1; i <= 8; ++i) body += fmt::format("mad.lo.u32 %r9, %r9, 31, %r{};\n", i);
    std::vector<std::uint32_t> input(4 * 64);
    for (std::uint32_t& word : input) word = random() % 3 == 0 ? random() % 16 : static_cast<std::uint32_t>(random());
    const isa::Module plain = compiled(kernel_of(body), false);
    const isa::Module joined = compiled(kernel_of(body), true, loop && seed % 8 < 6 ? 4 : 0);
    EXPECT_EQ(results(joined, input), results(plain, input)) << "seed " << seed << "\n" << body;
    longer += plain.kernels.front().words.size();
    shorter += compiled(kernel_of(body), true).kernels.front().words.size();
  }
  EXPECT_LT(shorter, longer * 9 / 10);
}

}  // namespace
}  // namespace heddle::ptx
