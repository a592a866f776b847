#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <sstream>
#include <string>

#include "parse_text.hpp"

namespace heddle::ptx {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the tests' own short words
using isa::Special;
using isa::Type;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using OperandKind = Operand::Kind;

const std::string& register_name(const Function& function, RegisterId id) {
  return function.registers.at(id).name;
}

TEST(ParseBody, ExpandsParameterisedRegisters) {
  const Function k = parse_module(".entry k() { .reg .b32 %r<3>, x; .reg .f16x2 h; .reg .pred p; }").functions.at(0);
  ASSERT_EQ(k.registers.size(), 6U);
  EXPECT_EQ(k.registers[0].name, "%r0");
  EXPECT_EQ(k.registers[2].name, "%r2");
  EXPECT_EQ(k.registers[2].type, Type::b32);
  EXPECT_EQ(k.registers[3].name, "x");
  EXPECT_EQ(k.registers[4].type, Type::b32);
  EXPECT_EQ(k.registers[5].type, Type::pred);
}

TEST(ParseBody, SplitsOpcodesAndKeepsTheModifiersOrder) {
  const Function k = parse_body("@!%p1 ld.relaxed.gpu.global.L1::evict_last.L2::128B.v2.f32 {%f0, _}, [%r1+-8];");
  const Statement& ld = k.body.at(0);
  EXPECT_EQ(ld.kind, Statement::Kind::instruction);
  EXPECT_TRUE(ld.guarded);
  EXPECT_TRUE(ld.guard_negated);
  EXPECT_EQ(register_name(k, ld.guard), "%p1");
  EXPECT_EQ(ld.opcode, "ld");
  EXPECT_THAT(ld.modifiers, ElementsAre("relaxed", "gpu", "global", "L1::evict_last", "L2::128B", "v2", "f32"));
  ASSERT_EQ(ld.operands.size(), 2U);
  EXPECT_EQ(ld.operands[0].kind, OperandKind::vector);
  ASSERT_EQ(ld.operands[0].elements.size(), 2U);
  EXPECT_EQ(ld.operands[0].elements[0].kind, OperandKind::reg);
  EXPECT_EQ(register_name(k, ld.operands[0].elements[0].reg), "%f0");
  EXPECT_EQ(ld.operands[0].elements[1].kind, OperandKind::sink);
  EXPECT_EQ(ld.operands[1].kind, OperandKind::address);
  EXPECT_TRUE(ld.operands[1].base_is_register);
  EXPECT_EQ(register_name(k, ld.operands[1].reg), "%r1");
  EXPECT_EQ(ld.operands[1].offset, -8);
  EXPECT_EQ(ld.at.line, 6U);
  EXPECT_EQ(ld.at.column, 7U);
  EXPECT_EQ(ld.operands[1].at.column, 70U);
}

TEST(ParseBody, GuardsNeedNoPercent) {
  const Function k = parse_body(".reg .pred q; @q ret;");
  EXPECT_TRUE(k.body.at(0).guarded);
  EXPECT_FALSE(k.body.at(0).guard_negated);
  EXPECT_EQ(register_name(k, k.body.at(0).guard), "q");
}

TEST(ParseBody, Addresses) {
  EXPECT_EQ(parse_operand("[%rd1]").offset, 0);
  EXPECT_EQ(parse_operand("[%r1-8+4]").offset, -4);
  EXPECT_EQ(parse_operand("[%r1+4*3]").offset, 12);
  const Operand symbol = parse_operand("[g+0x10]");
  EXPECT_EQ(symbol.kind, OperandKind::address);
  EXPECT_FALSE(symbol.base_is_register);
  EXPECT_EQ(symbol.name, "g");
  EXPECT_EQ(symbol.offset, 16);
  EXPECT_EQ(parse_operand("[n]").name, "n");
  const Operand number = parse_operand("[4096]");
  EXPECT_EQ(number.kind, OperandKind::address);
  EXPECT_EQ(number.name, "");
  EXPECT_EQ(number.offset, 4096);
  EXPECT_EQ(parse_operand("g").kind, OperandKind::symbol);
  EXPECT_EQ(parse_operand("g+4").offset, 4);
  EXPECT_EQ(parse_operand("k").name, "k");
}

TEST(ParseBody, Constants) {
  EXPECT_EQ(parse_operand("-5").integer, static_cast<std::uint64_t>(-5));
  EXPECT_FALSE(parse_operand("-5").is_unsigned);
  EXPECT_TRUE(parse_operand("5U").is_unsigned);
  EXPECT_FALSE(parse_operand("0x7FFFFFFFFFFFFFFF").is_unsigned);
  EXPECT_TRUE(parse_operand("0x8000000000000000").is_unsigned);
  EXPECT_EQ(parse_operand("(1 << 4) | 3").integer, 19U);
  EXPECT_EQ(parse_operand("WARP_SZ").kind, OperandKind::integer);
  EXPECT_EQ(parse_operand("WARP_SZ").integer, 32U);
  const Operand single = parse_operand("0fBF800000");
  EXPECT_EQ(single.kind, OperandKind::real);
  EXPECT_TRUE(single.is_f32);
  EXPECT_EQ(single.integer, 0xBF800000U);
  EXPECT_EQ(parse_operand("-0f3F800000").integer, 0xBF800000U);
  const Operand decimal = parse_operand("0.1");
  EXPECT_EQ(decimal.kind, OperandKind::real);
  EXPECT_FALSE(decimal.is_f32);
  EXPECT_EQ(decimal.integer, std::bit_cast<std::uint64_t>(0.1));
  EXPECT_EQ(parse_operand("0d4008000000000000").integer, std::bit_cast<std::uint64_t>(3.0));
  EXPECT_EQ(parse_operand("1.0 / 4").integer, std::bit_cast<std::uint64_t>(0.25));
}

TEST(ParseBody, EverySpecialRegister) {
  // In the order of Special's declaration.
  std::istringstream names(
      "tid.x tid.y tid.z ntid.x ntid.y ntid.z ctaid.x ctaid.y ctaid.z nctaid.x nctaid.y nctaid.z laneid warpid nwarpid "
      "smid nsmid gridid clock clock_hi clock64 lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt "
      "dynamic_smem_size total_smem_size is_cooperative envreg1 envreg2");
  unsigned next = 0;
  for (std::string name; names >> name; ++next) {
    const Operand operand = parse_operand("%" + name);
    EXPECT_EQ(operand.kind, OperandKind::special) << name;
    EXPECT_EQ(operand.special, static_cast<Special>(next)) << name;
  }
  EXPECT_EQ(next, isa::kSpecials);
  EXPECT_EQ(parse_operand("%nctaid.y").special, Special::nctaid_y);
  EXPECT_EQ(parse_operand("%lanemask_ge").special, Special::lanemask_ge);
}

TEST(ParseBody, PredicatePairsSinksAndNegation) {
  const Function k = parse_body(
      "setp.lt.u32 %p0|%p1, %r0, 1, !%p2;\nshfl.sync.idx.b32 %r1|_, %r0, 0, 31, -1;\nsetp.ne.u32 _|%p3, %r0, 0;\n"
      "atom.global.exch.b32 _, [g], 1;");
  const Operand& pair = k.body.at(0).operands.at(0);
  EXPECT_EQ(pair.kind, OperandKind::reg);
  EXPECT_EQ(register_name(k, pair.paired_predicate.value()), "%p1");
  EXPECT_FALSE(pair.paired_sink);
  const Operand& negated = k.body.at(0).operands.at(3);
  EXPECT_EQ(negated.kind, OperandKind::predicate);
  EXPECT_TRUE(negated.negated);
  EXPECT_EQ(register_name(k, negated.reg), "%p2");
  EXPECT_TRUE(k.body.at(1).operands.at(0).paired_sink);
  EXPECT_TRUE(k.body.at(1).operands.at(0).paired());
  EXPECT_EQ(k.body.at(2).operands.at(0).kind, OperandKind::sink);
  EXPECT_EQ(register_name(k, k.body.at(2).operands.at(0).paired_predicate.value()), "%p3");
  EXPECT_EQ(k.body.at(3).operands.at(0).kind, OperandKind::sink);
  EXPECT_FALSE(k.body.at(3).operands.at(0).paired());
}

TEST(ParseBody, VectorRegistersBecomeTheirComponents) {
  const Function k = parse_body(
      ".reg .v4 .f32 v; .reg .v2 .u32 w; ld.global.v4.f32 v, [%r0]; add.f32 v.w, v.y, v.r;\n"
      "mov.b64 %rd0, w;");
  const Operand& whole = k.body.at(0).operands.at(0);
  ASSERT_EQ(whole.kind, OperandKind::vector);
  ASSERT_EQ(whole.elements.size(), 4U);
  EXPECT_EQ(register_name(k, whole.elements[2].reg), "v.z");
  EXPECT_EQ(register_name(k, k.body.at(1).operands.at(0).reg), "v.w");
  EXPECT_EQ(register_name(k, k.body.at(1).operands.at(1).reg), "v.y");
  EXPECT_EQ(register_name(k, k.body.at(1).operands.at(2).reg), "v.x");
  EXPECT_EQ(k.body.at(2).operands.at(1).elements.size(), 2U);
}

TEST(ParseBody, LabelsAndBranchLists) {
  const Function k = parse_body("list: .branchtargets $L__1, B;\nbra.uni $L__1;\n$L__1: brx.idx %r0, list;\nB: ret;");
  ASSERT_EQ(k.body.size(), 6U);
  EXPECT_EQ(k.body[0].kind, Statement::Kind::branch_targets);
  EXPECT_EQ(k.body[0].name, "list");
  EXPECT_THAT(k.body[0].labels, ElementsAre("$L__1", "B"));
  EXPECT_EQ(k.body[1].operands.at(0).kind, OperandKind::label);
  EXPECT_EQ(k.body[1].operands.at(0).name, "$L__1");
  EXPECT_EQ(k.body[2].kind, Statement::Kind::label);
  EXPECT_EQ(k.body[2].name, "$L__1");
  EXPECT_EQ(k.body[3].operands.at(0).kind, OperandKind::reg);
  EXPECT_EQ(k.body[3].operands.at(1).kind, OperandKind::label);
  EXPECT_EQ(k.body[3].operands.at(1).name, "list");
}

TEST(ParseBody, NestedScopesGetUniqueNames) {
  const Function k = parse_body(
      "{ .reg .b32 %r<2>; .param .b32 p; mov.u32 %r1, 0; L: bra L; bra M; st.param.b32 [p], %r1; }\n"
      "{ .param .b32 p; .shared .u32 g; mov.u32 %r1, g; bra L; L: st.param.b32 [p+0], %r2; }\nM: L: ret;");
  EXPECT_EQ(register_name(k, k.body.at(0).operands.at(0).reg), "%r1$2");
  EXPECT_EQ(k.body[1].name, "L");
  EXPECT_EQ(k.body[2].operands.at(0).name, "L");
  EXPECT_EQ(k.body[3].operands.at(0).name, "M");
  EXPECT_EQ(k.body[4].operands.at(0).name, "p");
  ASSERT_EQ(k.variables.size(), 3U);
  EXPECT_EQ(k.variables[0].name, "p");
  EXPECT_EQ(k.variables[0].space, isa::Space::param);
  EXPECT_EQ(k.variables[1].name, "p$2");
  EXPECT_EQ(k.variables[2].name, "g$2");  // the module has a g
  EXPECT_EQ(register_name(k, k.body[5].operands.at(0).reg), "%r1");
  EXPECT_EQ(k.body[5].operands.at(1).name, "g$2");
  EXPECT_EQ(k.body[6].operands.at(0).name, "L$2");
  EXPECT_EQ(k.body[7].name, "L$2");
  EXPECT_EQ(k.body[8].operands.at(0).name, "p$2");
  EXPECT_EQ(k.body[9].name, "M");
  EXPECT_EQ(k.body[10].name, "L$3");
}

TEST(ParseBody, CallSequences) {
  const File file = parse_module(
      ".func (.param .b32 r) f(.param .b32 a, .param .b32 b);\n.func h();\n"
      ".entry k() { .reg .b32 %r<2>; .reg .b64 %rd; .param .b32 x; .param .b32 y;\n"
      "call.uni (y), f, (x, 5);\ncall h;\ncall f, (%r1, %r1);\n"
      "proto : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 4 .b8 _[20]) .noreturn;\n"
      "call (y), %rd, (x), proto;\n}");
  const auto& body = file.functions.at(2).body;
  ASSERT_EQ(body.size(), 5U);
  EXPECT_THAT(body[0].modifiers, ElementsAre("uni"));
  ASSERT_EQ(body[0].operands.size(), 3U);
  EXPECT_EQ(body[0].operands[0].kind, OperandKind::call_list);
  EXPECT_EQ(body[0].operands[0].elements.at(0).kind, OperandKind::symbol);
  EXPECT_EQ(body[0].operands[0].elements.at(0).name, "y");
  EXPECT_EQ(body[0].operands[1].kind, OperandKind::symbol);
  EXPECT_EQ(body[0].operands[1].name, "f");
  EXPECT_EQ(body[0].operands[2].elements.at(1).integer, 5U);
  ASSERT_EQ(body[1].operands.size(), 1U);
  EXPECT_EQ(body[1].operands[0].name, "h");
  EXPECT_EQ(body[2].operands.at(1).elements.at(0).kind, OperandKind::reg);
  EXPECT_EQ(body[3].kind, Statement::Kind::call_prototype);
  EXPECT_EQ(body[3].name, "proto");
  EXPECT_EQ(body[4].operands.at(1).kind, OperandKind::reg);
  EXPECT_EQ(body[4].operands.at(3).kind, OperandKind::label);
  EXPECT_EQ(body[4].operands.at(3).name, "proto");
}

TEST(ParseBody, PragmasInBodiesAreStatements) {
  const Function k = parse_body(".pragma \"row_hint\";\nld.global.u32 %r0, [%r1];");
  EXPECT_THAT(k.pragmas, IsEmpty());
  EXPECT_EQ(k.body.at(0).kind, Statement::Kind::pragma);
  EXPECT_EQ(k.body.at(0).name, "row_hint");
  EXPECT_EQ(k.body.at(1).opcode, "ld");
}

TEST(ParseBody, StatementsCarryTheLatestLoc) {
  const File file = parse_module(
      ".entry k() {\ntrap;\n.loc 1 7 3\nL: trap;\n.loc 1 9 1, function_name $n, inlined_at 1 8 2\ntrap; }\n"
      ".entry j() { trap; }\n.file 1 \"a.cu\"");
  const auto& body = file.functions.at(0).body;
  EXPECT_EQ(body.at(0).at.source_file, 0U);
  EXPECT_EQ(body.at(1).at.source_line, 7U);
  EXPECT_EQ(body.at(2).at.source_file, 1U);
  EXPECT_EQ(body.at(3).at.source_line, 9U);
  EXPECT_EQ(body.at(3).at.line, 9U);
  EXPECT_EQ(file.functions.at(1).body.at(0).at.source_file, 0U);
}

TEST(ParseBody, FunctionLevelVariables) {
  const Function k = parse_body(".local .align 8 .b8 frame[80]; .shared .f32 tile[4][8]; .const .u32 c[2] = {1, 2};");
  ASSERT_EQ(k.variables.size(), 3U);
  EXPECT_EQ(k.variables[0].space, isa::Space::local);
  EXPECT_EQ(k.variables[0].alignment, 8U);
  EXPECT_EQ(k.variables[1].count, 32U);
  EXPECT_THAT(k.variables[2].initial, ElementsAre(1, 0, 0, 0, 2, 0, 0, 0));
}

TEST(ParseBody, ParametersMayHideNamesOfTheModule) {
  const File file = parse_module(".global .u32 n;\n.entry k(.param .u32 n) { .reg .u32 r; ld.param.u32 r, [n]; }");
  EXPECT_EQ(file.functions.at(0).parameters.at(0).name, "n");
  EXPECT_EQ(file.functions.at(0).body.at(0).operands.at(1).name, "n");
}

// Limits: good at the limit, refused one past it.
TEST(ParseBody, LimitsOfNestingAndCounts) {
  const auto scopes = [](std::size_t n) { return body_error(std::string(n, '{') + std::string(n, '}')); };
  EXPECT_EQ(scopes(127), "no error");
  EXPECT_THAT(scopes(128), ::testing::StartsWith("t.ptx:6:128: scopes nest deeper than 128"));
  const auto parentheses = [](std::size_t n) {
    return body_error("op " + std::string(n, '(') + "1" + std::string(n, ')') + ";");
  };
  EXPECT_EQ(parentheses(31), "no error");
  EXPECT_THAT(parentheses(32), ::testing::HasSubstr("constant expressions nest deeper than 64"));
  EXPECT_THAT(parentheses(100'000), ::testing::HasSubstr("constant expressions nest deeper than 64"));
  const auto registers = [](std::size_t n) {
    return module_error(".entry k() { .reg .b32 %r<" + std::to_string(n) + ">; }");
  };
  EXPECT_EQ(registers(131'072), "no error");
  EXPECT_THAT(registers(131'073), ::testing::StartsWith("t.ptx:4:27: 131073 registers are too many"));
}

}  // namespace
}  // namespace heddle::ptx
