// Calls: inlined bodies, parameters in registers and in local memory, and the calls that are refused.
#include "tests/ptx/lower_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("LowerCall.StopsBeforeInlining*")

namespace heddle::ptx::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Functions, then a kernel whose statements start at line 6, column 1 if the functions take one line.
std::string module_with(const std::string& functions, const std::string& statements) {
  return header(64) + functions + "\n.entry k() { .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n" + statements +
         "\n}\n";
}
std::vector<std::string> lines_of(const std::string& text) {
  return IrText(lower_module(text).kernels.at(0)).lines();
}

constexpr const char* kScalar =
    ".func (.param .b32 out) f(.param .b32 in) { .reg .b32 %a<3>; ld.param.u32 %a1, [in]; add.u32 %a2, %a1, 1; "
    "st.param.b32 [out], %a2; ret; }";

TEST(LowerCall, PassesScalarsInRegisters) {
  EXPECT_THAT(
      lines_of(module_with(kScalar,
                           "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), f, (x); "
                           "ld.param.b32 %r2, [y]; }")),
      ElementsAre("mov x, %r1", "mov f/%a1, x", "add f/%a2, f/%a1, #1", "mov y, f/%a2", "L0:", "mov %r2, y", "exit"));
}

TEST(LowerCall, PassesRegistersAndConstants) {
  constexpr const char* kRegisters =
      ".func (.reg .b32 %out) f(.reg .b32 %in, .reg .u32 %k) { add.u32 %out, %in, %k; ret; }";
  EXPECT_THAT(
      lines_of(module_with(kRegisters, "call (%r1), f, (%r2, 7);")),
      ElementsAre("mov f/%in, %r2", "mov f/%k, #7", "add f/%out, f/%in, f/%k", "L0:", "mov %r1, f/%out", "exit"));
}

TEST(LowerCall, PutsArraysIntoLocalMemory) {
  constexpr const char* kArray =
      ".func f(.param .align 8 .b8 in[16]) { .reg .b32 %a; ld.param.b32 %a, [in+12]; st.global.u32 [0], %a; ret; }";
  const std::string text = module_with(kArray, "{ .param .align 8 .b8 x[16]; st.param.b64 [x+8], %rd1; call f, (x); }");
  EXPECT_THAT(lines_of(text), ElementsAre("st.local'5 rz, #8, {%rd1}", "ld.local'4 rz, #12, {f/%a}",
                                          "st.global'4 rz, #0, {f/%a}", "L0:", "exit"));
  EXPECT_EQ(lower_module(text).kernels.at(0).local_bytes, 16U);
}

TEST(LowerCall, BranchesAroundAGuardedCallAndToItsEnd) {
  constexpr const char* kEarly =
      ".func f(.reg .b32 %in) { .reg .pred %q; setp.eq.u32 %q, %in, 0; @%q ret; st.global.u32 [0], %in; ret; }";
  EXPECT_THAT(lines_of(module_with(kEarly, "@%p1 call f, (%r1);")),
              ElementsAre("@!%p1 bra L0", "mov f/%in, %r1", "setp.u32 f/%q, f/%in, #0", "@f/%q bra L1",
                          "st.global'4 rz, #0, {f/%in}", "L1:", "L0:", "exit"));
}

TEST(LowerCall, InlinesEachCallAnew) {
  constexpr const char* kNested = ".func g() { trap; ret; } .func f() { call g; call g; ret; }";
  EXPECT_THAT(lines_of(module_with(kNested, "call f;")), ElementsAre("trap", "L1:", "trap", "L2:", "L0:", "exit"));
}

TEST(LowerCall, Refuses) {
  EXPECT_EQ(module_refusal(module_with(".extern .func other(.reg .b64 %n);", "call other, (%rd1);")),
            "t.ptx:6:6: function 'other' has no body in this file; define it here; files are not linked, and of CUDA's "
            "device run-time library there are vprintf, __assertfail, malloc and free");
  EXPECT_EQ(module_refusal(module_with(kScalar, "call (%r1), f, (%r2, %r3);")),
            "t.ptx:6:16: the call has 2 arguments and the function takes 1; compare the call with the function's "
            "declaration");
  EXPECT_EQ(module_refusal(module_with(kScalar, "call f, (%r2);")),
            "t.ptx:6:1: the call has 0 results and the function takes 1; compare the call with the function's "
            "declaration");
  EXPECT_EQ(module_refusal(module_with(kScalar, "call (%r1), f, (%rd2);")),
            "t.ptx:6:17: register '%rd2' has type .b64 where .b32 is expected; use a register of type .b32, or convert "
            "with cvt or mov");
  EXPECT_EQ(module_refusal(module_with(kScalar, "{ .param .b64 x; call (%r1), f, (x); }")),
            "t.ptx:6:34: 'x' and parameter 'in' have different types; declare both alike");
}

// Each level calls the next twice: 2^40 copies of the last body would be needed.
TEST(LowerCall, StopsBeforeInliningExplodes) {
  std::string functions = ".func f0() { trap; ret; }";
  for (int i = 1; i <= 40; ++i) {
    functions += " .func f" + std::to_string(i) + "() { call f" + std::to_string(i - 1) + "; call f" +
                 std::to_string(i - 1) + "; ret; }";
  }
  EXPECT_THAT(module_refusal(module_with(functions, "call f40;")), HasSubstr("grows beyond a million instructions"));
}

TEST(LowerCall, LimitsTheDepthOfCalls) {
  const auto chain = [](int depth) {
    std::string functions = ".func f0() { ret; }";
    for (int i = 1; i < depth; ++i) {
      functions += " .func f" + std::to_string(i) + "() { call f" + std::to_string(i - 1) + "; ret; }";
    }
    return module_with(functions, "call f" + std::to_string(depth - 1) + ";");
  };
  EXPECT_EQ(module_refusal(chain(63)), "accepted");
  EXPECT_THAT(module_refusal(chain(64)), HasSubstr("calls are nested deeper than 64"));
}

}  // namespace
}  // namespace heddle::ptx::test
