#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "parse_text.hpp"

namespace heddle::ptx {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the tests' own short words
using isa::Space;
using isa::Type;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::int64_t> words(const VariableDecl& variable) {
  std::vector<std::int64_t> out;
  const std::size_t size = isa::size_of(variable.type);
  for (std::size_t i = 0; i + size <= variable.initial.size(); i += size) {
    std::uint64_t value = 0;
    std::memcpy(&value, &variable.initial[i], size);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
    out.push_back(static_cast<std::int64_t>(value << unused) >> unused);
  }
  return out;
}

VariableDecl only_variable(std::string_view text) {
  return parse_module(text).variables.at(0);
}

TEST(ParseModule, ReadsTheHeader) {
  const File file = parse(".version 8.3 .target sm_90a, texmode_independent, debug .address_size 64", "x.ptx");
  EXPECT_EQ(file.name, "x.ptx");
  EXPECT_EQ(file.version_major, 8U);
  EXPECT_EQ(file.version_minor, 3U);
  EXPECT_EQ(file.target, "sm_90a");
  EXPECT_EQ(file.address_size, 64U);
  EXPECT_EQ(parse(".version 3.0\n.target sm_20", "x").address_size, 32U);
  EXPECT_EQ(parse(".version 9.0\n.target sm_75", "x").version_major, 9U);
}

TEST(ParseModule, SourceFilesStandAtTheirNumbers) {
  const File file = parse_module(".file 2 \"b.cu\"\n.file 1 \"a.cu\", 1700000000, 99\n");
  EXPECT_THAT(file.source_files, ElementsAre("", "a.cu", "b.cu"));
  EXPECT_THAT(parse_module("").source_files, ElementsAre(""));
}

TEST(ParseModule, VariablesOfEverySpace) {
  const File file = parse_module(
      ".visible .global .align 16 .b8 a[20];\n.const .f64 b;\n.shared .v4 .f32 c[2][3];\n"
      ".extern .shared .align 8 .b8 d[];\n.weak .global .u16 e, f[7];");
  ASSERT_EQ(file.variables.size(), 6U);
  EXPECT_EQ(file.variables[0].name, "a");
  EXPECT_EQ(file.variables[0].space, Space::global);
  EXPECT_EQ(file.variables[0].alignment, 16U);
  EXPECT_EQ(file.variables[0].size(), 20U);
  EXPECT_TRUE(file.variables[0].is_array);
  EXPECT_EQ(file.variables[0].at.line, 4U);
  EXPECT_EQ(file.variables[0].at.column, 32U);
  EXPECT_EQ(file.variables[1].space, Space::constant);
  EXPECT_EQ(file.variables[1].alignment, 8U);
  EXPECT_FALSE(file.variables[1].is_array);
  EXPECT_EQ(file.variables[2].vector, 4U);
  EXPECT_EQ(file.variables[2].count, 6U);
  EXPECT_EQ(file.variables[2].alignment, 16U);
  EXPECT_EQ(file.variables[2].size(), 96U);
  EXPECT_TRUE(file.variables[3].is_extern);
  EXPECT_EQ(file.variables[3].count, 0U);
  EXPECT_EQ(file.variables[4].size(), 2U);
  EXPECT_EQ(file.variables[5].size(), 14U);
  for (const auto& variable : file.variables) {
    EXPECT_THAT(variable.initial, IsEmpty()) << variable.name;
  }
}

TEST(ParseModule, InitialValuesFillRowsWithZeros) {
  EXPECT_THAT(words(only_variable(".global .s32 x[2][3] = {{1}, {-2, 3}};")), ElementsAre(1, 0, 0, -2, 3, 0));
  EXPECT_THAT(words(only_variable(".global .s32 x[2][3] = {1, 2, 3, 4};")), ElementsAre(1, 2, 3, 4, 0, 0));
  EXPECT_THAT(words(only_variable(".global .s16 x[4] = {};")), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(words(only_variable(".global .v2 .s32 x[2] = {{1, 2}, {3}};")), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(words(only_variable(".const .s8 x = -128;")), ElementsAre(-128));
  EXPECT_THAT(words(only_variable(".const .u8 x = 255;")), ElementsAre(-1));
}

TEST(ParseModule, TheFirstDimensionFollowsFromTheValue) {
  const VariableDecl x = only_variable(".global .s32 x[][2] = {{1, 0}, {0, -1}, {1}};");
  EXPECT_EQ(x.count, 6U);
  EXPECT_THAT(words(x), ElementsAre(1, 0, 0, -1, 1, 0));
  EXPECT_EQ(only_variable(".global .b8 y[] = {1, 2, 3};").size(), 3U);
  EXPECT_EQ(only_variable(".global .s32 z[][2] = {1, 2, 3};").count, 4U);
}

TEST(ParseModule, RealInitialValues) {
  EXPECT_THAT(words(only_variable(".global .f32 x[4] = {0f3F800000, 1.5, -2e1, 0f7FA00001};")),
              ElementsAre(0x3F800000, 0x3FC00000, static_cast<std::int32_t>(0xC1A00000), 0x7FA00001));
  EXPECT_THAT(words(only_variable(".global .f64 x[2] = {-0d3FF0000000000000, 3};")),
              ElementsAre(std::bit_cast<std::int64_t>(-1.0), std::bit_cast<std::int64_t>(3.0)));
  EXPECT_THAT(words(only_variable(".global .b32 x = 0f3F800000;")), ElementsAre(0x3F800000));
}

TEST(ParseModule, AddressesInInitialValues) {
  const File file = parse_module(
      ".global .u32 g; .func f();\n.global .u32 x[5] = {g, generic(g), generic(g)+8, g-4, 7};\n.global .u64 y = f;");
  const VariableDecl& x = file.variables.at(1);
  ASSERT_EQ(x.relocations.size(), 4U);
  EXPECT_EQ(x.relocations[0].symbol, "g");
  EXPECT_EQ(x.relocations[0].offset, 0U);
  EXPECT_EQ(x.relocations[0].size, 4U);
  EXPECT_FALSE(x.relocations[0].generic);
  EXPECT_TRUE(x.relocations[1].generic);
  EXPECT_EQ(x.relocations[1].offset, 4U);
  EXPECT_TRUE(x.relocations[2].generic);
  EXPECT_EQ(x.relocations[2].addend, 8);
  EXPECT_EQ(x.relocations[3].addend, -4);
  EXPECT_EQ(x.relocations[3].at.line, 5U);
  EXPECT_THAT(words(x), ElementsAre(0, 0, 0, 0, 7));
  EXPECT_EQ(file.variables.at(2).relocations.at(0).symbol, "f");
  EXPECT_EQ(file.variables.at(2).relocations.at(0).size, 8U);
}

TEST(ParseModule, ConstantExpressionsFollowC) {
  const auto value = [](const std::string& text) {
    return words(only_variable(".global .s64 x = " + text + ";")).at(0);
  };
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("1 << 2 + 1"), 8);
  EXPECT_EQ(value("7 & 3 == 3"), 1);
  EXPECT_EQ(value("1 | 6 ^ 2 & 3"), 5);
  EXPECT_EQ(value("-7 / 2"), -3);
  EXPECT_EQ(value("-7 % 3"), -1);
  EXPECT_EQ(value("10%3"), 1);
  EXPECT_EQ(value("-8 >> 1"), -4);
  EXPECT_EQ(value("0x8000000000000000 >> 63"), 1);
  EXPECT_EQ(value("(.s64)0x8000000000000000 >> 63"), -1);
  EXPECT_EQ(value("(.u64)-1 > 1"), 1);
  EXPECT_EQ(value("-1 > 1"), 0);
  EXPECT_EQ(value("-1 > 1U"), 1);
  EXPECT_EQ(value("!5 + ~0"), -1);
  EXPECT_EQ(value("1 ? 2 : 3 ? 4 : 5"), 2);
  EXPECT_EQ(value("0 ? 1 / 0 : 6"), 6);
  EXPECT_EQ(value("0 && 1 / 0"), 0);
  EXPECT_EQ(value("1 || 1 / 0"), 1);
  EXPECT_EQ(value("017 + 0b11 + 0xAU"), 28);
  EXPECT_EQ(value("WARP_SZ * 2"), 64);
  EXPECT_EQ(value("1 << 64"), 0);
  EXPECT_EQ(value("-1 >> 99"), -1);
  EXPECT_EQ(value("1.5 < 2"), 1);
  EXPECT_EQ(value("(-0x7FFFFFFFFFFFFFFF - 1) / -1"), INT64_MIN);
  EXPECT_EQ(value("(-0x7FFFFFFFFFFFFFFF - 1) % -1"), 0);
  EXPECT_EQ(value("18446744073709551615"), -1);
}

TEST(ParseModule, ADefinitionTakesThePlaceOfItsDeclaration) {
  const File file = parse_module(
      ".extern .global .u32 v[];\n.func f(.param .b32 a);\n.entry k() { ret; }\n.func f(.param .b32 b) { ret; }\n"
      ".global .u32 v[3] = {1, 2, 3};\n.extern .global .u32 v[3];\n.func f(.param .u32 c);");
  ASSERT_EQ(file.functions.size(), 2U);
  EXPECT_EQ(file.functions[0].name, "f");
  EXPECT_TRUE(file.functions[0].has_body);
  EXPECT_EQ(file.functions[0].parameters.at(0).name, "b");
  ASSERT_EQ(file.variables.size(), 1U);
  EXPECT_FALSE(file.variables[0].is_extern);
  EXPECT_EQ(file.variables[0].count, 3U);
}

TEST(ParseModule, KernelHeaders) {
  const File file = parse_module(
      ".pragma \"all\";\n.visible .entry k(.param .u32 a, .param .align 8 .b8 s[24], .param .u64 .ptr .global .align 4 "
      "p,\n"
      " .param .u64 .ptr .align 1 q)\n.maxnreg 16 .maxntid 8, 4 .minnctapersm 2 .maxnctapersm 3\n.pragma \"own\";\n{ "
      "ret; }");
  const Function& k = file.functions.at(0);
  EXPECT_TRUE(k.is_entry);
  EXPECT_TRUE(k.has_body);
  ASSERT_EQ(k.parameters.size(), 4U);
  EXPECT_EQ(k.parameters[0].type, Type::u32);
  EXPECT_EQ(k.parameters[0].alignment, 0U);
  EXPECT_EQ(k.parameters[0].count, 1U);
  EXPECT_FALSE(k.parameters[0].is_array);
  EXPECT_EQ(k.parameters[1].name, "s");
  EXPECT_EQ(k.parameters[1].alignment, 8U);
  EXPECT_EQ(k.parameters[1].count, 24U);
  EXPECT_TRUE(k.parameters[1].is_array);
  EXPECT_EQ(k.parameters[2].type, Type::u64);
  EXPECT_EQ(k.parameters[3].name, "q");
  EXPECT_EQ(k.maxnreg, 16U);
  EXPECT_THAT(k.maxntid, ElementsAre(8U, 4U));
  EXPECT_THAT(k.reqntid, IsEmpty());
  ASSERT_EQ(k.pragmas.size(), 2U);
  EXPECT_EQ(k.pragmas[0].first, "all");
  EXPECT_EQ(k.pragmas[1].first, "own");
  EXPECT_EQ(k.pragmas[1].second.line, 8U);
  EXPECT_THAT(parse_module(".entry k .reqntid 1,2,3 { }").functions.at(0).reqntid, ElementsAre(1U, 2U, 3U));
}

TEST(ParseModule, DeviceFunctions) {
  const File file = parse_module(
      ".extern .func (.param .b32 r) e(.param .b64 a);\n"
      ".func (.reg .u32 out) f(.reg .u32 x, .reg .pred p) .noreturn { mov.u32 out, x; ret; }\n.func g { ret; }");
  ASSERT_EQ(file.functions.size(), 3U);
  EXPECT_FALSE(file.functions[0].has_body);
  EXPECT_EQ(file.functions[0].returns.at(0).name, "r");
  const Function& f = file.functions[1];
  EXPECT_FALSE(f.is_entry);
  EXPECT_TRUE(f.returns.at(0).is_register);
  EXPECT_EQ(f.registers.at(f.returns[0].reg).name, "out");
  EXPECT_EQ(f.registers.at(f.parameters.at(0).reg).name, "x");
  EXPECT_EQ(f.registers.at(f.parameters.at(1).reg).type, Type::pred);
  EXPECT_EQ(f.body.at(0).operands.at(0).reg, f.returns[0].reg);
  EXPECT_EQ(f.body.at(0).operands.at(1).reg, f.parameters[0].reg);
}

TEST(ParseModule, SkipsDebugSections) {
  const File file = parse_module(".section .debug_str\n{\n$L:\n.b8 1,2\n}\n.section .debug_info { .b32 $L+4 {} }\n");
  EXPECT_THAT(file.functions, IsEmpty());
  EXPECT_THAT(file.variables, IsEmpty());
}

}  // namespace
}  // namespace heddle::ptx
