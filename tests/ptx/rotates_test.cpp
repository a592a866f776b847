// Rotates of 64 bits as clang prints them: recognised, taken modulo 64, and noted; and nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"

namespace heddle::ptx {
namespace {

struct Rotated {
  std::uint64_t value = 0;
  std::vector<std::string> notes;
};

// The value that the statements leave in %rd2, from %rd1 = 0x123456789abcdef1 and the amount %r1.
Rotated rotated(const std::string& statements, std::uint32_t amount) {
  Rotated result;
  CompileOptions options;
  options.notes = &result.notes;
  const isa::Module module = compile(
      ".version 6.4\n.target sm_60\n.address_size 64\n.file 1 \"k.cu\"\n"
      ".visible .entry k(.param .u64 out, .param .u64 value, .param .u64 amount) {\n"
      ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<2>; ld.param.u64 %rd1, [value];\n"
      "ld.param.u32 %r1, [amount]; ld.param.u64 %rd8, [out]; mov.b64 %rd2, 0; setp.ne.u32 %p1, %r1, 0;\n"
      ".loc 1 7 3\n" +
          statements + "\nst.global.b64 [%rd8], %rd2; ret; }\n",
      "k.ptx", options);
  isa::DeviceMemory memory;
  isa::load_module(module, memory);
  const std::uint64_t words[] = {memory.allocate("out", 8), 0x1234'5678'9abc'def1U, amount};
  isa::LaunchRequest launch{"k", {1}, {1}, 0, std::vector<std::uint8_t>(24)};
  std::memcpy(launch.parameters.data(), words, 24);
  isa::RetirementHash hash;
  EXPECT_FALSE(isa::interpret(module, launch, memory, hash).fault);
  result.value = memory.get<std::uint64_t>(words[0]);
  return result;
}

std::string clangs(const std::string& first, const std::string& second) {
  return "{\n.reg .b64 %lhs;\n.reg .b64 %rhs;\n.reg .u32 %amt2;\n" + first +
         ".b64 %lhs, %rd1, %r1;\nsub.u32 %amt2, 64, %r1;\n" + second +
         ".b64 %rhs, %rd1, %amt2;\nadd.u64 %rd2, %lhs, %rhs;\n}\n";
}

TEST(Rotates, OfClangAreTakenModulo64) {
  constexpr std::uint64_t kValue = 0x1234'5678'9abc'def1U;
  for (const std::uint32_t amount : {0U, 1U, 13U, 63U, 64U, 65U, 127U, 128U, 1000U, 0xffff'ffffU}) {
    EXPECT_EQ(rotated(clangs("shl", "shr"), amount).value, std::rotl(kValue, static_cast<int>(amount % 64))) << amount;
    EXPECT_EQ(rotated(clangs("shr", "shl"), amount).value, std::rotr(kValue, static_cast<int>(amount % 64))) << amount;
  }
}

TEST(Rotates, AreNotedOnceAFile) {
  EXPECT_THAT(rotated(clangs("shl", "shr"), 1).notes,
              testing::ElementsAre("k.ptx:13 (k.cu:7): one 64-bit rotate takes its amount modulo 64, as C++ means it; "
                                   "clang's code gives 0 above 64"));
  const Rotated three =
      rotated(clangs("shl", "shr") + clangs("shr", "shl") + "mov.b64 %rd1, %rd2;\n" + clangs("shl", "shr"), 70);
  EXPECT_THAT(three.notes, testing::ElementsAre(testing::HasSubstr("k.ptx:13 (k.cu:7): 3 64-bit rotates take their")));
  EXPECT_EQ(three.value, std::rotl(std::rotr(std::uint64_t{0x1234'5678'9abc'def1U}, 6), 6));
}

// Shifts that were written by hand are what PTX says.
TEST(Rotates, OfOthersAreLeftAlone) {
  const auto expect_zero = [](const std::string& statements) {
    const Rotated result = rotated(statements, 70);
    EXPECT_EQ(result.value, 0U) << statements;
    EXPECT_TRUE(result.notes.empty()) << statements;
  };
  expect_zero(
      ".reg .b64 %a, %b; .reg .u32 %c; shl.b64 %a, %rd1, %r1; sub.u32 %c, 64, %r1; shr.b64 %b, %rd1, %c;\n"
      "add.u64 %rd2, %a, %b;");
  expect_zero(clangs("shl", "shl"));
  std::string other = clangs("shl", "shr");
  expect_zero(other.replace(other.find("sub.u32 %amt2, 64"), 17, "sub.u32 %amt2, 63"));
  other = clangs("shl", "shr");
  expect_zero(other.replace(other.find("shl.b64"), 7, "@%p1 shl.b64"));
}

}  // namespace
}  // namespace heddle::ptx
