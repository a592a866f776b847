// How long arithmetic on 16-bit floating point and conversions take, in cycles by a thread's own clock.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/model/child.hpp"
#include "tests/model/words_left.hpp"

namespace heddle {
namespace {

// An operation of three sources, the first of which is the result's register; or a whole text with $ for that.
std::string operation_text(const std::string& operation, unsigned result) {
  if (operation.find('$') == std::string::npos) {
    return fmt::format("{0} %r{1}, %r{1}, %r8, %r9;\n", operation, result);
  }
  std::string text;
  for (const char c : operation) {
    text += c == '$' ? "%r" + std::to_string(result) : std::string(1, c);
  }
  return text + "\n";
}

// A warp's cycles of the last of many passes over `count` operations, whose parameter has come from memory by then.
double cycles_of_pass(const std::string& machine, const std::vector<std::string>& settings,
                      const std::string& operation, unsigned count, bool dependent) {
  const std::string counted = test::in_child([&] {
    std::string body;
    for (unsigned i = 0; i != count; ++i) {
      const unsigned result = dependent ? 0 : i % 8;
      body += "  " + operation_text(operation, result);
    }
    const std::string text = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry chain(.param .u64 out)
{
  .reg .pred %p0;
  .reg .b32 %r<12>;
  .reg .u64 %a<2>;
  .reg .u64 %t<3>;
  ld.param.u64 %a0, [out];
  mov.u32 %r10, 24;
PASS:
  mov.u64 %t0, %clock64;
)" + body + R"(
  mov.u64 %t1, %clock64;
  sub.u32 %r10, %r10, 1;
  setp.ne.u32 %p0, %r10, 0;
  @%p0 bra PASS;
  sub.u64 %t2, %t1, %t0;
  st.global.u64 [%a0], %t2;
  xor.b32 %r0, %r0, %r1; xor.b32 %r0, %r0, %r2; xor.b32 %r0, %r0, %r3; xor.b32 %r0, %r0, %r4;
  xor.b32 %r0, %r0, %r5; xor.b32 %r0, %r0, %r6; xor.b32 %r0, %r0, %r7;
  st.global.u32 [%a0+8], %r0;
  ret;
}
)";
    const std::vector<std::uint32_t> words =
        test::words_left_by(machine, settings, text, {"chain", {1, 1, 1}, {32, 1, 1}, 0, {}, 0, false},
                            std::vector<std::uint32_t>(16), false);
    const std::uint64_t cycles = words[0] | std::uint64_t{words[1]} << 32U;
    return std::to_string(cycles);
  });
  return std::stod(counted);
}

// What is around the operations falls out.
double cycles_of_one(const std::string& machine, const std::vector<std::string>& settings, const std::string& operation,
                     bool dependent) {
  return (cycles_of_pass(machine, settings, operation, 72, dependent) -
          cycles_of_pass(machine, settings, operation, 8, dependent)) /
         64;
}

// As NVIDIA's table of latencies for SM80 and SM86 has it, and the throughput of the programming guide.
TEST(GpuHalf, LatencyAndThroughputAreThePublishedOnes) {
  EXPECT_EQ(cycles_of_one("rtx-a6000-8sm", {}, "fma.rn.f16x2", true), 5);
  EXPECT_EQ(cycles_of_one("rtx-a6000-8sm", {}, "fma.rn.f16x2", false), 2);
  EXPECT_EQ(cycles_of_one("rtx-a6000-8sm", {}, "fma.rn.bf16x2", true), 5);
  EXPECT_EQ(cycles_of_one("rtx-a6000-8sm", {}, "fma.rn.f32", true), 4);
  EXPECT_EQ(cycles_of_one("a100-8sm", {}, "fma.rn.f16x2", true), 5);
  EXPECT_EQ(cycles_of_one("a100-8sm", {}, "fma.rn.f16x2", false), 1);
}

// Conversions and counts of bits go where special functions go, at their rate.
// f16 and integers among themselves are not among them.
TEST(GpuConversions, TakeTheUnitOfSpecialFunctions) {
  const auto of_one = [](const std::string& operation, const std::vector<std::string>& settings) {
    return cycles_of_one("rtx-a6000-8sm", settings, operation, false);
  };
  for (const char* slow : {"cvt.rn.f32.s32 $, %r8;", "cvt.rzi.u32.f32 $, %r8;", "popc.b32 $, %r8;",
                           "cvt.rni.f32.f32 $, %r8;", "clz.b32 $, %r8;", "brev.b32 $, %r8;"}) {
    EXPECT_EQ(of_one(slow, {}), 8) << slow;
    EXPECT_LE(of_one(slow, {"core.complex_conversions=false"}), 2) << slow;
  }
  EXPECT_LE(of_one("cvt.s32.s8 $, %r8;", {}), 2);
}

// A machine without lanes of their own for halves takes them as other simple operations, and one with a warp that
// waits for memory accesses lets no result pass an earlier one.
TEST(GpuHalf, IsASimpleOperationElsewhere) {
  EXPECT_EQ(cycles_of_one("baseline", {}, "fma.rn.f16x2", true), cycles_of_one("baseline", {}, "fma.rn.f32", true));
  EXPECT_EQ(cycles_of_one("baseline", {"core.half_latency=6"}, "fma.rn.f16x2", true),
            cycles_of_one("baseline", {}, "fma.rn.f32", true) + 4);  // execute_stages is 2
  const std::vector<std::string> on_access = {"core.issue=scoreboard", "scoreboard.stall=on-access"};
  EXPECT_GT(cycles_of_one("rtx-a6000-8sm", on_access, "fma.rn.f16x2", false), 5);
}

// Results that are read at once, written over at once, decide a branch, or are the last that a thread does: the same
// memory, and the same retired instructions, on every machine.
constexpr const char* kMixed = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry mixed(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b16 %h<4>;
  .reg .u64 %a<3>;
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  mad.lo.u32 %r1, %r0, 0x01010011, 0x3c003800;
  mov.u32 %r2, 0x38003c00;
  mov.u32 %r9, 5;
AGAIN:
  fma.rn.f16x2 %r3, %r1, %r2, %r2;
  add.f16x2 %r3, %r3, %r2;
  add.u32 %r4, %r3, %r0;
  mul.f16x2 %r5, %r1, %r3;
  mov.u32 %r5, %r4;
  max.f16x2 %r6, %r5, %r1;
  add.u32 %r6, %r6, 1;
  setp.lt.f16x2 %p0|%p1, %r3, %r6;
  @%p0 bra LESS;
  sub.bf16x2 %r1, %r6, %r3;
  bra JOIN;
LESS:
  fma.rn.relu.bf16x2 %r1, %r6, %r2, %r3;
JOIN:
  xor.b32 %r1, %r1, %r0;
  selp.u32 %r7, 1, 2, %p1;
  add.u32 %r1, %r1, %r7;
  sub.u32 %r9, %r9, 1;
  setp.ne.u32 %p2, %r9, 0;
  @%p2 bra AGAIN;
  mul.wide.u32 %a1, %r0, 4;
  add.u64 %a1, %a0, %a1;
  st.global.u32 [%a1], %r1;
  cvt.u16.u32 %h1, %r1;
  fma.rn.bf16 %h2, %h1, %h1, %h1;
  st.global.u16 [%a1+4096], %h2;
  ret;
}
)";

std::string mixed_results(const std::string& machine, const std::vector<std::string>& settings) {
  return test::in_child([&] {
    const std::vector<std::uint32_t> words =
        test::words_left_by(machine, settings, kMixed, {"mixed", {2, 1, 1}, {256, 1, 1}, 0, {}, 0, false},
                            std::vector<std::uint32_t>(2048), false);
    std::string text;
    for (const std::uint32_t word : words) {
      text += fmt::format("{:08x} ", word);
    }
    return text;
  });
}

TEST(GpuHalf, ResultsAreThoseOfTheBaseline) {
  const std::string expected = mixed_results("baseline", {});
  ASSERT_EQ(expected.size(), 9U * 2048) << expected;
  EXPECT_EQ(mixed_results("rtx-a6000-8sm", {}), expected);
  EXPECT_EQ(mixed_results("h100-8sm", {"core.half_latency=40", "core.half_interval=7"}), expected);
  EXPECT_EQ(mixed_results("rtx-a6000-8sm", {"core.issue=scoreboard"}), expected);
  EXPECT_EQ(mixed_results("rtx-a6000-8sm", {"core.issue=scoreboard", "scoreboard.stall=on-access"}), expected);
  EXPECT_EQ(mixed_results("rtx-a6000-8sm", {"core.issue=scoreboard", "scoreboard.forwarding=false"}), expected);
  EXPECT_EQ(mixed_results("tbc", {"core.half_latency=9"}), expected);
}

}  // namespace
}  // namespace heddle
