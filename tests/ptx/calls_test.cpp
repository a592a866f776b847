// Calls through pointers and recursion, against the same functions compiled for the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx/kernels/calls.cu"
#include "tests/ptx/post_dominators.hpp"

namespace heddle::ptx::calls_test {
namespace {

using ::testing::HasSubstr;

constexpr unsigned kThreads = 64, kResults = 9;

isa::Module compiled(std::uint32_t stack_bytes, unsigned registers = isa::kRegisters) {
  CompileOptions options;
  options.stack_bytes = stack_bytes;
  options.max_registers = registers;
  isa::Module module = compile_file(HEDDLE_SOURCE_DIR "/tests/ptx/kernels/calls.64.ptx", options);
  for (const isa::Kernel& kernel : module.kernels) EXPECT_EQ(heddle::test::check_re_convergence(kernel).wrong, "");
  return module;
}

// What the kernel has written, or the fault.
struct Ran {
  std::vector<int> out;
  std::string fault;
  std::uint32_t local_bytes = 0;
};
Ran run(const isa::Module& module, const std::string& kernel, unsigned warp, std::uint64_t argument = 0) {
  isa::DeviceMemory memory;
  isa::load_module(module, memory);
  const std::uint64_t out = memory.allocate("out", sizeof(int) * kThreads * kResults);
  isa::LaunchRequest launch;
  launch.kernel = kernel;
  launch.block = {kThreads, 1, 1};
  launch.parameters.resize(module.find(kernel)->parameter_bytes);
  std::memcpy(launch.parameters.data(), &out, sizeof out);
  std::memcpy(launch.parameters.data() + sizeof out, &argument, launch.parameters.size() - sizeof out);
  isa::InterpreterOptions options;
  options.warp_size = warp;
  options.max_instructions_per_thread = 2'000'000;
  isa::RetirementHash hash;
  const isa::InterpreterResult result = isa::interpret(module, launch, memory, hash, options);
  Ran ran;
  if (result.fault) ran.fault = isa::describe(*result.fault, module);
  ran.local_bytes = module.find(kernel)->local_bytes;
  ran.out.resize(kThreads * kResults);
  memory.read(out, std::as_writable_bytes(std::span(ran.out)));
  return ran;
}

TEST(Calls, ThroughPointersAndToThemselvesGiveWhatTheHostGets) {
  std::vector<int> expected(kThreads * kResults);
  for (unsigned t = 0; t < kThreads; ++t) calls::all(static_cast<int>(t), &expected[t * kResults]);
  for (const unsigned registers : {isa::kRegisters, 20U}) {  // with few, values are spilled, too
    const isa::Module module = compiled(4096, registers);
    for (const unsigned warp : {1U, 4U, 32U}) {
      const Ran ran = run(module, "calls_all", warp);
      EXPECT_EQ(ran.fault, "");
      EXPECT_EQ(ran.out, expected) << registers << " registers, warps of " << warp;
    }
  }
}

// Frames are multiples of 16 bytes: there is room for a whole number of them, at N - 1 there is not.
TEST(Calls, AThreadWithoutRoomOnItsStackFaultsAndNoOtherDoes) {
  std::uint32_t least = 16;
  while (!run(compiled(least), "too_deep", 32, 5).fault.empty()) {
    least += 16;
    ASSERT_LT(least, 4096U);
  }
  EXPECT_EQ(run(compiled(least), "too_deep", 32, 5).out[3], calls::fibonacci(5));
  EXPECT_GE(least, 4 * 16U);  // a call of each of 5, 4, 3, 2
  const std::string fault = run(compiled(least - 1), "too_deep", 32, 5).fault;
  EXPECT_THAT(fault, HasSubstr("trap in kernel 'too_deep' at PC "));
  EXPECT_THAT(fault, HasSubstr("block (0, 0, 0), thread (3, 0, 0)"));
  EXPECT_EQ(run(compiled(0), "too_deep", 32, 1).out[0], 0);  // not even the first call has room
}

TEST(Calls, APointerToNoFunctionIsATrap) {
  const isa::Module module = compiled(1024);
  std::uint64_t pointers[3] = {};
  for (const isa::Variable& variable : module.variables) {
    if (variable.name.find("table") != std::string::npos) std::memcpy(pointers, variable.initial.data(), 24);
  }
  EXPECT_EQ(run(module, "through", 32, pointers[0]).out[5], 7);
  EXPECT_EQ(run(module, "through", 32, pointers[1]).out[5], 10);
  EXPECT_EQ(run(module, "through", 32, pointers[2]).out[5], 3);
  for (const std::uint64_t wrong : {std::uint64_t{0}, pointers[0] + 1, ~std::uint64_t{0}}) {
    EXPECT_THAT(run(module, "through", 32, wrong).fault, HasSubstr("trap in kernel 'through'"));
  }
}

// ---- what PTX can say and clang does not

const std::string kHeader = ".version 7.0\n.target sm_60\n.address_size 64\n";
const std::string kTwo =
    ".func (.reg .u32 %o) twice(.reg .u32 %i) { add.u32 %o, %i, %i; ret; }\n"
    ".func (.reg .u32 %o) next(.reg .u32 %i) { add.u32 %o, %i, 1; ret; }\n";

Ran run_text(const std::string& functions, const std::string& body) {
  const isa::Module module =
      compile(kHeader + functions +
                  ".entry k(.param .u64 out) { .reg .u32 %r<9>; .reg .u64 %rd<9>; .reg .pred %p;\n"
                  "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
                  "add.u64 %rd1, %rd1, %rd2; and.b32 %r2, %r1, 1; setp.ne.u32 %p, %r2, 0;\n" +
                  body + " st.global.u32 [%rd1], %r3; }",
              "t.ptx");
  return run(module, "k", 8);
}

TEST(Calls, AListOrATableOfFunctionsSaysWhichAreMeant) {
  const std::string choose = "mov.u64 %rd3, twice; @%p mov.u64 %rd3, next;\n";
  for (const char* const end : {"call (%r3), %rd3, (%r1), list; list: .calltargets twice, next;",
                                "call (%r3), %rd3, (%r1), form; form: .callprototype (.reg .u32 _) _ (.reg .u32 _);",
                                "call (%r3), %rd3, (%r1), table;"}) {
    const std::string table = ".global .u64 table[2] = {twice, next};\n";
    const Ran ran = run_text(kTwo + table, choose + end);
    EXPECT_EQ(ran.fault, "") << end;
    EXPECT_EQ(ran.out[6], 12) << end;
    EXPECT_EQ(ran.out[7], 8) << end;
    EXPECT_EQ(ran.local_bytes, 0U) << end;  // no stack without recursion
  }
  EXPECT_THAT(run_text(kTwo, choose + "call (%r3), %rd3, (%r1), list; list: .calltargets twice;").fault,
              HasSubstr("thread (1, 0, 0)"));
}

TEST(Calls, AGuardedOneIsMadeByThreadsOfTheGuardOnly) {
  const Ran ran = run_text(
      ".func (.reg .u32 %o) down(.reg .u32 %i) { .reg .pred %q; .reg .u32 %n; mov.u32 %o, 0; setp.eq.u32 %q, %i, 0;\n"
      "@%q ret; sub.u32 %n, %i, 1; call (%o), down, (%n); add.u32 %o, %o, 2; ret; }\n",
      "mov.u32 %r3, 77; @%p call (%r3), down, (%r1);");
  EXPECT_EQ(ran.fault, "");
  EXPECT_EQ(ran.out[8], 77);
  EXPECT_EQ(ran.out[9], 18);
}

// What is needed behind the last of several calls only is overwritten by arguments of the earlier ones.
TEST(Calls, SeveralInTurnEachKeepWhatTheNextOnesNeed) {
  const Ran ran = run_text(
      ".func (.reg .u32 %o) f(.reg .u32 %i) { .reg .pred %q; .reg .u32 %n, %a, %b, %c; mov.u32 %o, 1;\n"
      "setp.eq.u32 %q, %i, 0; @%q ret; sub.u32 %n, %i, 1; call (%a), f, (%n); call (%b), f, (%n);\n"
      "shr.u32 %n, %n, 1; call (%c), f, (%n); mad.lo.u32 %o, %a, 2, %b; add.u32 %o, %o, %c; add.u32 %o, %o, %i; ret; "
      "}\n",
      "and.b32 %r1, %r1, 7; call (%r3), f, (%r1);");
  EXPECT_EQ(ran.fault, "");
  std::vector<int> expected = {1};
  for (int i = 1; i < 8; ++i) expected.push_back(3 * expected[i - 1] + expected[(i - 1) / 2] + i);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(ran.out[t], expected[t % 8]) << t;
}

}  // namespace
}  // namespace heddle::ptx::calls_test
