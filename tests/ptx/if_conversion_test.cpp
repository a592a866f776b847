// If-conversion: which regions become predicated code, what the code is, and that it computes what it did.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx/post_dominators.hpp"

namespace heddle::ptx {
namespace {

// %p1: tid is odd; %p2: tid is below 8; %r1: tid; %rd1: the thread's own 8 bytes of `out`.
std::string kernel_text(const std::string& body) {
  return ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
         ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .shared .b32 s[64];\n"
         "mov.u32 %r1, %tid.x; ld.param.u64 %rd2, [out]; mul.wide.u32 %rd3, %r1, 8; add.u64 %rd1, %rd2, %rd3;\n"
         "and.b32 %r2, %r1, 1; setp.ne.u32 %p1, %r2, 0; setp.lt.u32 %p2, %r1, 8;\n" +
         body + "\nexit; }\n";
}

isa::Module compiled(const std::string& body, unsigned most, unsigned registers = isa::kRegisters) {
  CompileOptions options;
  options.if_conversion = most;
  options.max_registers = registers;
  const isa::Module module = compile(kernel_text(body), "k.ptx", options);
  EXPECT_EQ(heddle::test::check_re_convergence(module.kernels.front()).wrong, "");
  return module;
}

unsigned branches(const isa::Module& module) {
  unsigned count = 0;
  for (const isa::InstructionWord& word : module.kernels.front().words) {
    count += isa::decode(word).value().op == isa::Op::BRA ? 1U : 0U;
  }
  return count;
}

// Instructions with a guard, as text; without the guards' numbers, which the allocator chooses.
std::vector<std::string> guarded_code(const isa::Module& module) {
  std::vector<std::string> result;
  for (const isa::InstructionWord& word : module.kernels.front().words) {
    const isa::Instruction instruction = isa::decode(word).value();
    if (instruction.guard.always()) continue;
    result.push_back(std::string(instruction.guard.negated ? "@!p " : "@p ") +
                     std::string(isa::info(instruction.op).mnemonic));
  }
  return result;
}

struct Result {
  std::vector<std::uint32_t> output;
  std::string fault;
};

Result execute(const isa::Module& module) {
  constexpr unsigned kThreads = 64;
  isa::DeviceMemory memory;
  isa::load_module(module, memory);
  const std::uint64_t out = memory.allocate("out", 8 * kThreads, false);
  for (unsigned i = 0; i < 2 * kThreads; ++i) memory.put<std::uint32_t>(out + 4 * i, 1000 + i);
  isa::LaunchRequest launch;
  launch.kernel = "k";
  launch.block = {kThreads, 1, 1};
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &out, 8);
  isa::RetirementHash hash;
  const isa::InterpreterResult result = isa::interpret(module, launch, memory, hash, {});
  Result values;
  if (result.fault) values.fault = isa::describe(*result.fault, module);
  values.output.resize(2 * std::size_t{kThreads});
  memory.read(out, std::as_writable_bytes(std::span(values.output)));
  return values;
}

// The body computes the same values converted and not, with many registers and with few. How many branches are left, of
// how many.
std::pair<unsigned, unsigned> converted(const std::string& body, unsigned most) {
  const isa::Module plain = compiled(body, 0), predicated = compiled(body, most);
  const Result expected = execute(plain);
  EXPECT_EQ(expected.fault, "");
  const Result result = execute(predicated);
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.output, expected.output);
  const Result tight = execute(compiled(body, most, 10));
  EXPECT_EQ(tight.fault, "");
  EXPECT_EQ(tight.output, expected.output);
  return {branches(predicated), branches(plain)};
}

using Counts = std::pair<unsigned, unsigned>;

const char* const kIfThen =
    "mov.u32 %r3, 5; @!%p1 bra SKIP; ld.global.u32 %r4, [%rd1]; add.u32 %r3, %r4, 1;\n"
    "SKIP: st.global.u32 [%rd1], %r3;";

TEST(IfConversion, AnIfThenIsGuarded) {
  EXPECT_EQ(converted(kIfThen, 8), Counts(0, 1));
  EXPECT_EQ(guarded_code(compiled(kIfThen, 8)), (std::vector<std::string>{"@p ld.global.e", "@p add"}));
  EXPECT_EQ(guarded_code(compiled(kIfThen, 0)).size(), 1U) << "the branch";
}

TEST(IfConversion, CountsTheInstructionsOfASide) {
  EXPECT_EQ(converted(kIfThen, 2), Counts(0, 1));
  EXPECT_EQ(converted(kIfThen, 1), Counts(1, 1));
}

TEST(IfConversion, AnIfThenElseIsGuardedBothWaysAndTheFallThroughSideComesFirst) {
  const std::string body =
      "@%p1 bra ELSE; add.u32 %r3, %r1, 10; bra.uni DONE; ELSE: mul.lo.u32 %r3, %r1, 3; xor.b32 %r3, %r3, 1;\n"
      "DONE: st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 2), Counts(0, 2));
  EXPECT_EQ(guarded_code(compiled(body, 2)), (std::vector<std::string>{"@!p add", "@p mul.lo", "@p xor"}));
  EXPECT_EQ(converted(body, 1), Counts(2, 2)) << "the longer side counts";
}

TEST(IfConversion, SidesThatWaitForMemoryMayBeLeftOut) {
  const auto count = [](const std::string& side, bool loads) {
    CompileOptions options;
    options.if_conversion = 8;
    options.predicated_loads = loads;
    const std::string body = "mov.u32 %r3, 5; @!%p1 bra SKIP; " + side + " SKIP: st.global.u32 [%rd1], %r3;";
    return branches(compile(kernel_text(body), "k.ptx", options));
  };
  for (const std::string side : {"ld.global.u32 %r3, [%rd1];", "ld.local.u32 %r3, [%r1];", "ld.u32 %r3, [%rd1];",
                                 "atom.global.add.u32 %r3, [%rd1], 1;", "red.shared.add.u32 [s], 1;"}) {
    EXPECT_EQ(count(side, false), 1U) << side;
    EXPECT_EQ(count(side, true), 0U) << side;
  }
  for (const std::string side : {"ld.shared.u32 %r3, [s];", "st.global.u32 [%rd1], %r2;", "add.u32 %r3, %r1, 1;"}) {
    EXPECT_EQ(count(side, false), 0U) << side;
  }
}

TEST(IfConversion, TheSideMayBeTheBranchesTarget) {
  const std::string body =
      "mov.u32 %r3, 5; bra.uni HEAD; SIDE: add.u32 %r3, %r3, %r1; bra.uni DONE; HEAD: @%p1 bra SIDE;\n"
      "DONE: st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8).first, 0U);
}

TEST(IfConversion, AnInnerRegionsGuardsAreCombinedWithTheOuterOnes) {
  const std::string body =
      "mov.u32 %r3, 5; @!%p1 bra DONE; add.u32 %r3, %r1, 1; setp.gt.u32 %p3, %r1, 20; @%p3 bra DONE2;\n"
      "add.u32 %r3, %r3, 100; DONE2: xor.b32 %r3, %r3, 3; DONE: st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8), Counts(0, 2));
  // Of the outer side: add, setp and the combination (for every thread), xor; of the inner one: add.
  EXPECT_EQ(guarded_code(compiled(body, 8)), (std::vector<std::string>{"@p add", "@p add", "@p xor"}));
  const isa::Module module = compiled(body, 8);
  const auto& words = module.kernels.front().words;
  EXPECT_EQ(std::count_if(words.begin(), words.end(),
                          [](const isa::InstructionWord& word) { return isa::decode(word)->op == isa::Op::PLOP; }),
            1);
}

// Without the combination, %p3 of an earlier round would let the store through.
TEST(IfConversion, AStalePredicateDoesNotLetAThreadThrough) {
  const std::string body =
      "mov.u32 %r5, 0; mov.u32 %r3, 0; ROUND: setp.eq.u32 %p2, %r5, 1; and.b32 %r6, %r1, %r5; setp.ne.u32 %p1, %r6, "
      "0;\n"
      "@%p1 bra DONE; setp.lt.u32 %p3, %r1, 40; @%p3 add.u32 %r3, %r3, 7; DONE:\n"
      "add.u32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, 4; @%p4 bra ROUND; st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8), Counts(1, 2));
}

// What an address is computed by needs no guard, but a value that the side reads in a later round has one, also where
// nothing is in it at first.
TEST(IfConversion, WhatALaterRoundReadsIsLeftAloneInThisOne) {
  const std::string body =
      "mov.u32 %r4, 0; mov.u32 %r5, 1; mov.u32 %r6, 0;\n"
      "LOOP: add.u32 %r7, %r1, %r4; and.b32 %r7, %r7, 1; setp.ne.u32 %p3, %r7, 0; @!%p3 bra SKIP;\n"
      "setp.ne.u32 %p4, %r6, 0; selp.b32 %r8, %r3, 7, %p4; mad.lo.u32 %r5, %r5, 31, %r8;\n"
      "xor.b32 %r3, %r4, %r1; mov.u32 %r6, 1;\n"
      "SKIP: add.u32 %r4, %r4, 1; setp.lt.u32 %p5, %r4, 9; @%p5 bra LOOP;\n"
      "st.global.u32 [%rd1], %r5;";
  EXPECT_EQ(execute(compiled(body, 8)).output, execute(compiled(body, 0)).output);
  const std::vector<std::string> guarded = guarded_code(compiled(body, 8));
  EXPECT_THAT(guarded, ::testing::Contains("@p xor"));
  EXPECT_THAT(guarded, ::testing::Not(::testing::Contains("@p setp.u32")));
}

TEST(IfConversion, APredicateThatItsOwnSideChangesIsKept) {
  const std::string body =
      "mov.u32 %r3, 5; @%p1 bra ELSE; setp.gt.u32 %p1, %r1, 9; add.u32 %r3, %r3, 1; bra.uni DONE;\n"
      "ELSE: add.u32 %r3, %r3, 2; setp.lt.u32 %p1, %r1, 30; add.u32 %r3, %r3, 4;\n"
      "DONE: @%p1 add.u32 %r3, %r3, 32; st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8), Counts(0, 2));
}

TEST(IfConversion, GuardsOfTheSameConditionNeedNoCombination) {
  const std::string body =
      "mov.u32 %r3, 5; @!%p1 bra DONE; @%p1 add.u32 %r3, %r3, 1; @!%p1 add.u32 %r3, %r3, 64; DONE:\n"
      "st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8), Counts(0, 1));
  EXPECT_EQ(guarded_code(compiled(body, 8)), (std::vector<std::string>{"@p add"}));
}

TEST(IfConversion, ALoadOfTheOtherSideDoesNotFault) {
  const std::string body =
      "mov.u32 %r3, 5; mov.u64 %rd4, 0; @%p1 bra DONE; mov.u64 %rd4, %rd1; DONE:\n"
      "@%p1 bra END; ld.global.u32 %r3, [%rd4]; st.global.u32 [%rd4+4], %r3; END: st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8), Counts(0, 2));
}

TEST(IfConversion, OldValuesLastPastASideThatDoesNotWriteThem) {
  // %r3 is a temporary of the inner side, but the threads that skip the outer one still want its old value.
  const std::string body =
      "mov.u32 %r3, %r1; @!%p1 bra DONE; setp.lt.u32 %p3, %r1, 20; mov.u32 %r4, 0; @!%p3 bra IN; add.u32 %r3, %r1, 9;\n"
      "mul.lo.u32 %r4, %r3, %r3; IN: add.u32 %r3, %r4, 50; DONE: st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8), Counts(0, 2));
}

TEST(IfConversion, AtomicsAreGuarded) {
  const std::string body = "@!%p1 bra DONE; atom.global.add.u32 %r3, [%rd2], 1; DONE: bar.sync 0;";
  EXPECT_EQ(converted(body, 8), Counts(0, 1));
}

TEST(IfConversion, WhatMustNotBeGuardedStaysABranch) {
  const struct {
    const char* what;
    const char* side;
    const char* rest;
  } cases[] = {
      {"barrier", "bar.arrive 1, 64;", "bar.arrive 1, 32;"},
      {"vote", "vote.sync.ballot.b32 %r4, 1, -1; st.global.u32 [%rd1], %r4;", "st.global.u32 [%rd1+4], 2;"},
      {"active mask", "activemask.b32 %r4; st.global.u32 [%rd1], %r4;", "st.global.u32 [%rd1+4], 2;"},
      {"shuffle", "shfl.sync.idx.b32 %r4, %r1, 1, 31, -1; st.global.u32 [%rd1], %r4;", "st.global.u32 [%rd1+4], 2;"},
      {"exit", "st.global.u32 [%rd1], 1; exit;", "st.global.u32 [%rd1], 2;"},
      {"guarded exit", "@%p2 exit; st.global.u32 [%rd1], 1;", "st.global.u32 [%rd1+4], 2;"},
      {"trap", "st.global.u32 [%rd1], 1; @%p2 trap;", "st.global.u32 [%rd1+4], 2;"},
      {"loop", "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 9; @%p3 bra L;", "st.global.u32 [%rd1], %r3;"},
  };
  for (const auto& one : cases) {
    const std::string body = fmt::format("mov.u32 %r3, 0; @!%p1 bra DONE; {} DONE: {}", one.side, one.rest);
    EXPECT_EQ(branches(compiled(body, 64)), branches(compiled(body, 0))) << one.what;
    EXPECT_GT(branches(compiled(body, 64)), 0U) << one.what;
  }
}

TEST(IfConversion, ASideWithAnotherEntryStaysABranch) {
  const std::string body =
      "mov.u32 %r3, 0; @%p2 bra IN; add.u32 %r3, %r3, 2; @!%p1 bra DONE; IN: add.u32 %r3, %r3, 1;\n"
      "DONE: st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8), Counts(2, 2));
}

// Temporaries of a predicated side in a loop need no register while it is not executed.
TEST(IfConversion, TemporariesOfASideDoNotLiveAroundTheLoop) {
  std::string body = "mov.u32 %r3, 0; mov.u32 %r5, 0; ROUND: and.b32 %r6, %r5, 1; setp.eq.u32 %p3, %r6, 0;\n";
  for (int i = 0; i < 4; ++i) {
    body += fmt::format(
        "@%p3 bra S{0}; ld.global.u32 %r{1}, [%rd1]; mul.lo.u32 %r{1}, %r{1}, {1};\n"
        "add.u32 %r3, %r3, %r{1}; S{0}:\n",
        i, 10 + i);
  }
  body += "add.u32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, 4; @%p4 bra ROUND; st.global.u32 [%rd1], %r3;";
  EXPECT_EQ(converted(body, 8), Counts(1, 5));
  EXPECT_LE(compiled(body, 8).kernels.front().registers, compiled(body, 0).kernels.front().registers);
}

// A thread hardly ever comes to what is left of a division in software.
TEST(IfConversion, LeavesBranchesAroundDivisions) {
  const auto branches = [](const std::string& division, bool software) {
    CompileOptions options;
    options.if_conversion = 30;
    options.software_division = software;
    const isa::Module module = compile(
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .pred %p; .reg .f32 %a, %b; .reg .b64 %rd;\nld.param.u64 %rd, [p]; ld.global.f32 %a, [%rd];\n"
        "ld.global.f32 %b, [%rd+4]; setp.gt.f32 %p, %a, 0f00000000; @%p bra L;\n" +
            division + " %a, %a, %b;\nL:\nst.global.f32 [%rd], %a; ret; }\n",
        "k.ptx", options);
    unsigned found = 0;
    for (const isa::InstructionWord& word : module.kernels.front().words) {
      found += isa::decode(word).value().op == isa::Op::BRA ? 1 : 0;
    }
    return found;
  };
  for (const char* division : {"div.rn.f32", "div.rn.ftz.f32"}) {
    EXPECT_EQ(branches(division, false), 0U) << division;
    EXPECT_EQ(branches(division, true), 2U) << division;
  }
  EXPECT_EQ(branches("div.approx.ftz.f32", true), 0U);
}

}  // namespace
}  // namespace heddle::ptx
