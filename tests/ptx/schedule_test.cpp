// Loads ahead: in which order the instructions of a block come out, what keeps its place, and within how many
// registers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ptx/compile.hpp"

namespace heddle::ptx {
namespace {

using ::testing::ElementsAre;

// %rd1: an address in global memory, %r1: one in shared memory.
std::string block_of(const std::string& body) {
  return ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 at) {\n"
         ".reg .pred %p<9>; .reg .b32 %r<100>; .reg .b64 %rd<9>; .shared .b32 s[64];\n"
         "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [at];\n" +
         body + "\nexit; }\n";
}

// The accesses, sums and what else `marked` names, in their order: "ld 0" is one from address 0 on.
std::vector<std::string> order_of(const std::string& body, unsigned within) {
  CompileOptions options;
  options.schedule_within = within;
  const isa::Module module = compile(block_of(body), "k.ptx", options);
  std::vector<std::string> out;
  for (const isa::InstructionWord& word : module.kernels.front().words) {
    const isa::Instruction instruction = isa::decode(word).value();
    const std::string mnemonic(isa::info(instruction.op).mnemonic);
    const isa::Op op = instruction.op;
    if ((isa::is_load(op) && isa::space_of(op) != isa::Space::param) || isa::is_store(op)) {
      out.push_back((isa::is_load(op) ? "ld" : "st") +
                    std::string(isa::space_of(op) == isa::Space::shared ? ".s " : " ") +
                    std::to_string(instruction.imm));
    } else if (mnemonic == "mul.lo" || mnemonic == "xor" || mnemonic == "bar.sync" || mnemonic == "s2r.b64" ||
               mnemonic == "membar") {
      out.push_back(mnemonic);
    }
  }
  return out;
}

constexpr const char* kTwoSums =
    "ld.global.u32 %r2, [%rd1]; mul.lo.u32 %r3, %r2, %r2; ld.global.u32 %r4, [%rd1+8]; mul.lo.u32 %r5, %r4, %r4;\n"
    "xor.b32 %r6, %r3, %r5; st.global.u32 [%rd1+64], %r6;";

TEST(Schedule, LoadsGoAheadOfWhatDoesNotNeedThem) {
  EXPECT_THAT(order_of(kTwoSums, 0), ElementsAre("ld 0", "mul.lo", "ld 8", "mul.lo", "xor", "st 64"));
  EXPECT_THAT(order_of(kTwoSums, 32), ElementsAre("ld 0", "ld 8", "mul.lo", "mul.lo", "xor", "st 64"));
}

TEST(Schedule, ALoadStaysBehindAStoreThatMayBeToItsBytes) {
  const std::string body =
      "ld.global.u32 %r2, [%rd1]; mul.lo.u32 %r3, %r2, %r2; st.global.u32 [%rd1+4], %r3;\n"
      "ld.global.u32 %r4, [%rd1+8]; mul.lo.u32 %r5, %r4, %r4; st.global.u32 [%rd1+64], %r5;";
  EXPECT_EQ(order_of(body, 32), order_of(body, 0));
}

TEST(Schedule, ButNotBehindOneToOtherMemory) {
  const std::string body =
      "ld.global.u32 %r2, [%rd1]; mul.lo.u32 %r3, %r2, %r2; st.shared.u32 [%r1+4], %r3;\n"
      "ld.global.u32 %r4, [%rd1+8]; mul.lo.u32 %r5, %r4, %r4; st.shared.u32 [%r1+8], %r5;";
  EXPECT_THAT(order_of(body, 32), ElementsAre("ld 0", "ld 8", "mul.lo", "mul.lo", "st.s 4", "st.s 8"));
}

TEST(Schedule, NoAccessPassesABarrierAFenceOrAClock) {
  for (const char* const wall :
       {"bar.sync 0;", "membar.gl;", "mov.u64 %rd2, %clock64; st.global.u64 [%rd1+16], %rd2;"}) {
    const std::string body = "ld.global.u32 %r2, [%rd1]; mul.lo.u32 %r3, %r2, %r2; st.shared.u32 [%r1+4], %r3;\n" +
                             std::string(wall) +
                             "ld.global.u32 %r4, [%rd1+8]; mul.lo.u32 %r5, %r4, %r4; st.shared.u32 [%r1+8], %r5;";
    const std::vector<std::string> order = order_of(body, 32);
    EXPECT_EQ(order, order_of(body, 0)) << wall;
    EXPECT_EQ(order.front(), "ld 0");
  }
}

// What reads and writes registers alone passes barriers and fences, but no clock and no exit.
TEST(Schedule, LongSumsBeginBeforeBarriers) {
  const auto order = [](const std::string& wall) {
    return order_of("ld.global.u32 %r2, [%rd1]; st.shared.u32 [%r1+4], %r2;\n" + wall +
                        "mul.lo.u32 %r3, %r1, %r1; mul.lo.u32 %r4, %r3, %r3; st.shared.u32 [%r1+8], %r4;",
                    32);
  };
  EXPECT_THAT(order("bar.sync 0;"), ElementsAre("ld 0", "mul.lo", "mul.lo", "st.s 4", "bar.sync", "st.s 8"));
  EXPECT_THAT(order("membar.gl;"), ElementsAre("ld 0", "mul.lo", "mul.lo", "st.s 4", "membar", "st.s 8"));
  EXPECT_THAT(order("mov.u64 %rd2, %clock64; st.global.u64 [%rd1+16], %rd2;"),
              ElementsAre("ld 0", "st.s 4", "s2r.b64", "mul.lo", "st 16", "mul.lo", "st.s 8"));
  EXPECT_THAT(order("setp.eq.u32 %p1, %r1, 0; @%p1 exit;"),
              ElementsAre("ld 0", "st.s 4", "mul.lo", "mul.lo", "st.s 8"));
}

// Also where nothing is loaded: of two chains, one goes on while the other's operation is under way.
TEST(Schedule, ChainsTakeTurns) {
  const std::string body =
      "xor.b32 %r2, %r1, 3; xor.b32 %r3, %r2, 5; xor.b32 %r4, %r3, 7;\n"
      "mul.lo.u32 %r5, %r1, 3; mul.lo.u32 %r6, %r5, 5; mul.lo.u32 %r7, %r6, 7;\n"
      "st.global.u32 [%rd1], %r4; st.global.u32 [%rd1+4], %r7;";
  EXPECT_THAT(order_of(body, 32), ElementsAre("xor", "mul.lo", "xor", "mul.lo", "xor", "mul.lo", "st 0", "st 4"));
}

TEST(Schedule, VolatileLoadsKeepTheirOrder) {
  const std::string body =
      "ld.volatile.global.u32 %r2, [%rd1]; mul.lo.u32 %r3, %r2, %r2; st.shared.u32 [%r1+4], %r3;\n"
      "ld.volatile.global.u32 %r4, [%rd1+8]; mul.lo.u32 %r5, %r4, %r4; st.shared.u32 [%r1+8], %r5;";
  const std::vector<std::string> order = order_of(body, 32);
  const auto at = [&order](const char* what) { return std::find(order.begin(), order.end(), what) - order.begin(); };
  EXPECT_LT(at("ld 0"), at("ld 8"));
}

// Sums of many products: all loads at once would keep as many values.
std::string many_sums(unsigned count) {
  std::string body = "mov.b32 %r2, 0;\n";
  for (unsigned i = 0; i != count; ++i) {
    body += fmt::format("ld.global.u32 %r{0}, [%rd1+{2}]; mul.lo.u32 %r{1}, %r{0}, %r{0}; xor.b32 %r2, %r2, %r{1};\n",
                        3 + 2 * i, 4 + 2 * i, 8 * i);
  }
  return body + "st.global.u32 [%rd1+512], %r2;";
}

unsigned registers_of(const std::string& body, unsigned within) {
  CompileOptions options;
  options.schedule_within = within;
  return compile(block_of(body), "k.ptx", options).kernels.front().registers;
}

TEST(Schedule, AsManyLoadsAreAheadAsTheRegistersAllow) {
  const auto ahead = [](unsigned within) {
    const std::vector<std::string> order = order_of(many_sums(30), within);
    return static_cast<unsigned>(std::find(order.begin(), order.end(), "mul.lo") - order.begin());
  };
  EXPECT_EQ(ahead(0), 1U);
  EXPECT_GT(ahead(12), 4U);
  EXPECT_GT(ahead(24), ahead(12));
  EXPECT_GT(ahead(60), 25U);
  EXPECT_LE(registers_of(many_sums(30), 12), 16U);
  EXPECT_LE(registers_of(many_sums(30), 24), 28U);
}

}  // namespace
}  // namespace heddle::ptx
