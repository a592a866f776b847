// Bad texts and the exact places and words of their messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parse_text.hpp"

namespace heddle::ptx {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the tests' own short words
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Bad {
  std::string_view text;
  std::string_view message;  // from the position on
  std::string_view hint = "";
};

void expect(const Bad& bad, const std::string& error) {
  EXPECT_THAT(error, StartsWith("t.ptx:" + std::string(bad.message))) << bad.text;
  EXPECT_THAT(error, HasSubstr(std::string(bad.hint))) << bad.text;
}

TEST(ParseError, Headers) {
  const std::vector<Bad> all{
      {"", "1:1: expected '.version' at the beginning, found the end of the file", "PTX begins with"},
      {".target sm_60", "1:1: expected '.version' at the beginning, found '.target'"},
      {".version 7", "1:10: expected a version like 7.0, found the number 7"},
      {".version 2.3", "1:10: PTX version 2.3 is not supported", "versions 3.0 to 9.x are"},
      {".version 10.0", "1:10: PTX version 10.0 is not supported"},
      {".version 7.0\n", "2:1: the file has no .target", ".target sm_60"},
      {".version 7.0\n.version 7.0", "2:1: a second .version"},
      {".version 7.0\n.entry k() { }", "2:1: '.entry' stands before .target", "after .version"},
      {".version 7.0\n.target gfx900", "2:9: 'gfx900' is not a target", "e.g. sm_60"},
      {".version 7.0\n.target sm_60, map_f64_to_f32", "2:16: map_f64_to_f32 is not supported"},
      {".version 7.0\n.target sm_60, sm_70", "2:16: the file is for sm_60 already"},
      {".version 7.0\n.target debug\n", "3:1: expected a target like sm_60, found the end"},
      {".version 7.0\n.target sm_60 .address_size 16", "2:29: an address size of 16 is not supported", "32 or 64"},
  };
  for (const Bad& bad : all) {
    expect(bad, error_of(bad.text));
  }
}

TEST(ParseError, Modules) {
  const std::vector<Bad> all{
      {".address_size 64", "4:1: the address size is 32 already"},
      {".global .u32 x;\n.address_size 32", "5:1: .address_size stands behind declarations"},
      {"add.u32 a, b, c;", "4:1: 'add' stands outside of every function", "between the { }"},
      {"}", "4:1: this '}' closes nothing"},
      {".entri k() { }", "4:1: '.entri' is not a directive of a module", "did you mean '.entry'?"},
      {".visible 5", "4:10: expected '.entry', '.func' or a variable after '.visible', found the number 5"},
      {".visible .weak .entry k() { }", "4:10: '.weak' after '.visible'"},
      {".alias a, b;", "4:1: .alias is not supported"},
      {".reg .u32 x;", "4:1: '.reg' variables belong inside functions"},
      {".global .samplerref t;", "4:9: the type '.samplerref' is not supported", "unified mode"},
      {".const .texref t;", "4:8: '.texref' stands in .global only", "a handle elsewhere is a .b64"},
      {".tex .u64 t;", "4:1: '.tex' is not supported", "use .global .texref"},
      {".global .attribute(.unified(1, 2)) .u32 x;", "4:20: expected '.managed', found '.unified'",
       "no unified memory"},
      {".global .b128 x;", "4:9: the type '.b128' is not supported", "use two .b64"},
      {".global .u33 x;", "4:9: '.u33' is not a part of the declaration of a variable"},
      {".global x;", "4:9: expected the type of a variable, found 'x'", "types are"},
      {".global .u32 .f32 x;", "4:14: a second type, '.f32'"},
      {".global .pred x;", "4:9: predicates live in registers only"},
      {".global .v4 .f64 x;", "4:9: a vector has at most 128 bits"},
      {".global .align 3 .u32 x;", "4:16: the alignment 3 is not a power of two"},
      {".global .align 131072 .u32 x;", "4:16: the alignment is 131072, outside 1 to 65536"},
      {".const[2] .u32 x;", "4:7: numbered constant banks are not supported"},
      {".global .u32 x", "4:15: expected ';' after the declaration, found the end of the file"},
      {".global .u32 x<4>;", "4:15: only registers have parameterised names"},
      {".global .u32 x[0];", "4:16: the size of an array is 0, outside 1 to 4294967295"},
      {".global .u32 x[2][];", "4:19: only the first dimension of an array may be empty"},
      {".global .u32 x[1099511627776];", "4:16: the size of an array is 1099511627776, outside"},
      {".global .u32 x[65536][65536];", "4:15: the array is larger than 4294967295 bytes"},
      {".global .u32 x[];", "4:15: the array 'x' has no size", ".extern .shared"},
      {".shared .u32 x = 1;", "4:16: only .global and .const variables have initial values"},
      {".extern .global .u32 x = 1;", "4:24: an .extern variable has no initial value here"},
      {".global .u32 x;\n.global .u32 x;", "5:14: 'x' is already declared as a variable at line 4, column 14"},
      {".extern .global .u32 x;\n.global .f32 x;", "5:14: 'x' is declared differently at line 4, column 22"},
      {".global .u32 %tid;", "4:14: '%tid' is predefined"},
      {".loc 3 1 1\n", "4:1: .loc names source file 3, but there is no .file 3"},
      {".loc 1 1 1, function_nam x", "4:13: 'function_nam' is not a part of .loc"},
      {".file 99999 \"x\"", "4:7: the number of a source file is 99999, outside 1 to 65535"},
      {".file 1 \"x\" .file 1 \"y\"", "4:19: source file 1 is \"x\" already"},
      {".file 1 x", "4:9: expected the name of the source file in quotes, found 'x'"},
      {".section .text { }", "4:10: section '.text' is not supported"},
      {".section .debug_str\n{ { }", "5:1: this '{' is never closed"},
      {".pragma nounroll;", "4:9: expected the text of the pragma in quotes, found 'nounroll'"},
      {".pragma \"nounroll\"", "4:19: expected ';' after the pragma, found the end"},
  };
  for (const Bad& bad : all) {
    expect(bad, module_error(bad.text));
  }
}

TEST(ParseError, InitialValues) {
  const std::vector<Bad> all{
      {".global .u32 x[2] = 1;", "4:21: expected '{' at the beginning of the initial value"},
      {".global .u32 x[2] = {1, 2, 3};", "4:28: more initial values than the 2 that fit here"},
      {".global .u32 x[2][2] = {1, {2}};", "4:28: '{' in the middle of a row"},
      {".global .u32 x[2] = {{1}};", "4:22: '{' where a single value belongs"},
      {".global .u32 x[2] = {1 2};", "4:24: expected ',' or '}' in the initial value, found the number 2",
       "its '{' is at line 4, column 21"},
      {".global .u8 x = 256;", "4:17: the value 256 does not fit .u8"},
      {".global .s8 x = -129;", "4:17: the value -129 does not fit .s8"},
      {".global .u32 x = 1.0;", "4:18: a floating-point value for a .u32 variable"},
      {".global .f16 x = 1.0;", "4:18: .f16 variables take no initial values", "declare it .b16"},
      {".global .u32 x = y;", "4:18: 'y' is not declared"},
      {".global .u32 value;\n.global .u32 x = valeu;", "5:18: 'valeu' is not declared", "did you mean 'value'?"},
      {".global .u32 y;\n.global .u16 x = y;", "5:18: an address does not fit .u16"},
      {".global .u32 y;\n.global .u32 x = generic(y;", "5:27: expected ')' after the name in generic(...), found ';'"},
      {".global .u32 y;\n.global .b8 x[4] = {0xFF(y)};", "5:21: the mask operator of initial values"},
      {".global .b8 x[3] = \"ab\";", "4:20: expected '{'"},
      {".global .b8 x[3] = {\"ab\"};", "4:21: strings are no initial values in PTX"},
      {".global .u32 x = 1 / 0;", "4:20: division by zero in a constant expression"},
      {".global .u32 x = 089;", "4:18: the number 089 is not an octal number"},
      {".global .u64 x = 18446744073709551616;", "4:18: the number 18446744073709551616 does not fit 64 bits"},
      {".global .f64 x = 1e999;", "4:18: the number 1e999 is out of .f64's range"},
      {".global .u32 x = ~1.5;", "4:18: '~' needs an integer"},
      {".global .u32 x = 1.5 % 2;", "4:22: '%' needs integers on both sides"},
      {".global .u32 x = 1.5 ? 2 : 3;", "4:22: the condition of '?' is a floating-point number"},
      {".global .u32 x = 1 ? 2;", "4:23: expected ':' between the two values of '?', found ';'"},
      {".global .u32 x = (1;", "4:20: expected ')' at the end of the expression in parentheses, found ';'"},
      {".global .f32 x = (.s64)1.5;", "4:18: casts take integers only"},
      {".global .f32 x = .5;", "4:18: '.5' is not a number", "digit before the decimal point"},
      {".global .b8 x[4000000000] = {1};", "4:29: the initial values take more than 67108864 bytes"},
      {".global .u32 x[] = {};", "4:20: the initial value gives the array no size"},
  };
  for (const Bad& bad : all) {
    expect(bad, module_error(bad.text));
  }
}

TEST(ParseError, FunctionHeaders) {
  const std::vector<Bad> all{
      {".entry k(.param .u32) { }", "4:21: expected the name of a parameter, found ')'"},
      {".entry k(.param .u32 a, .param .u32 a) { }",
       "4:37: 'a' is already declared as a parameter at line 4, column 22"},
      {".entry k(.param .u32 a .param .u32 b) { }", "4:24: expected ',' or ')' after a parameter, found '.param'"},
      {".entry k(.reg .u32 a) { }", "4:10: a kernel's parameters are not registers"},
      {".func f(.u32 a) { }", "4:9: expected '.param' or '.reg', found '.u32'"},
      {".func f(.param .b8 a[]) { }", "4:21: parameters without a size (variadic functions) are not supported"},
      {".entry k(.param .v2 .u32 a) { }", "4:17: vector parameters are not supported"},
      {".entry k(.param .pred a) { }", "4:17: predicates live in registers only"},
      {".entry { }", "4:8: expected the name of a kernel, found '{'"},
      {".entry k()", "4:11: expected '{' or ';' after the header of 'k', found the end of the file"},
      {".entry k() .maxntid 1, 2, 3, 4 { }", "4:30: '.maxntid' takes 1 to 3 numbers"},
      {".entry k() .maxntid 0 { }", "4:21: a number of threads for '.maxntid' is 0, outside 1"},
      {".entry k() .maxntid 1 .reqntid 1 { }", "4:23: .maxntid and .reqntid exclude each other"},
      {".entry k() .maxnreg 1 .maxnreg 2 { }", "4:23: a second '.maxnreg'"},
      {".entry k() .maxnrog 1 { }", "4:12: '.maxnrog' is not a directive of a function's header", "'.maxnreg'?"},
      {".entry k() .reqnctapercluster 2 { }", "4:12: '.reqnctapercluster' is not supported", "cluster is one block"},
      {".func f .maxntid 32 { }", "4:9: '.maxntid' belongs to kernels"},
      {".extern .func f { ret; }", "4:1: the .extern function 'f' has a body"},
      {".entry k() { }\n.entry k() { }", "5:8: 'k' already has a body at line 4, column 8"},
      {".func f(.param .b32 a);\n.func f(.param .b64 a) { }", "5:7: 'f' is declared differently at line 4, column 7"},
      {".global .u32 f;\n.func f { }", "5:7: 'f' is already declared as a variable at line 4, column 14"},
      {".entry k() {\n ret;", "4:12: this '{' is never closed"},
      {".entry k() { {\n ret; }", "4:12: this '{' is never closed"},
      {".entry k() {\n .entry j() { }", "5:2: '.entry' inside of the function 'k'", "line 4, column 12"},
  };
  for (const Bad& bad : all) {
    expect(bad, module_error(bad.text));
  }
}

TEST(ParseError, Declarations) {
  const std::vector<Bad> all{
      {".reg .u32 %r1;", "6:11: '%r1' is already declared as a register at line 5, column"},
      {".reg .u32 %x<5>, %x3;", "6:18: '%x3' is already declared as a register at line 6, column 11"},
      {".reg .u32 %x<999999999>;", "6:14: 999999999 registers are too many", "at most 131072"},
      {".reg .u32 %x<99999999999999999999999>;", "6:14: 99999999999999999999999 registers are too many"},
      {".reg .u32 %x<0x10>;", "6:14: the number 0x10 is not a count of registers"},
      {".reg .v2 .u32 %x<4>;", "6:15: vector registers have no parameterised names"},
      {".reg .u32 x[4];", "6:12: registers form no arrays"},
      {".reg .u32 x = 4;", "6:13: registers have no initial value", "set it with mov"},
      {".reg .u32 x", "7:1: expected ';' after the declaration of registers, found '}'"},
      {".reg .u32 %laneid;", "6:11: '%laneid' is predefined"},
      {".reg .bf16 x;", "6:6: the type '.bf16' is not supported", "no bfloat16"},
      {".rag .u32 x;", "6:1: '.rag' is not a directive of a function's body", "did you mean '.reg'?"},
      {".extern .shared .u32 x[];", "6:1: '.extern' inside of a function"},
      {".local .u32 n;", "6:13: 'n' is already declared as a parameter at line 5, column 22"},
      {".branchtargets L;", "6:1: '.branchtargets' has no name"},
      {"L: ret;\nL: ret;", "7:1: 'L' is already declared as a label at line 6, column 1"},
      {"p: .callprototype f;", "6:19: expected '_' in the place of the function's name, found 'f'"},
      {"p: .calltargets f;", "6:17: the function 'f' is not declared"},
      {"p: .branchtargets Q;", "6:19: the label 'Q' is not defined"},
  };
  for (const Bad& bad : all) {
    expect(bad, body_error(bad.text));
  }
}

TEST(ParseError, Instructions) {
  const std::vector<Bad> all{
      {"add.u32 %r0, %r1, %r4;", "6:19: the register '%r4' is not declared", "%r<4> declares %r0 to %r3"},
      {"add.u32 %r0, %r1, %q1;", "6:19: the register '%q1' is not declared", "did you mean '"},
      {"mov.u32 %r0, %landid;", "6:14: the register '%landid' is not declared", "did you mean '%laneid'?"},
      {"mov.u32 %r0, unknown_thing;", "6:14: 'unknown_thing' is not declared", "declare it before its use"},
      {"mov.u32 %r0, %tid;", "6:14: '%tid' has three components", "write %tid.x, %tid.y or %tid.z"},
      {"mov.u32 %r0, %tid.w;", "6:18: '%tid' has no component '.w'"},
      {"mov.u32 %r0, %envreg32;", "6:14: the register '%envreg32' is not declared"},
      {"mov.u32 %r0, %pm0;", "6:14: the special register '%pm0' is not supported"},
      {"mov.u32 %r0.x, 1;", "6:12: '%r0' is no vector register"},
      {"vadd2.u32.u32.u32 %r0, %r0.h10, %r0, %r0;", "6:27: selectors of bytes and halves are not supported; extract"},
      {".reg .v2 .u32 v; mov.u32 v.z, 1;", "6:27: 'v' has no component '.z'", ".x and .y"},
      {"bra NOWHERE;", "6:5: the label 'NOWHERE' is not defined"},
      {"LOOP1: bra LOPO1;", "6:12: the label 'LOPO1' is not defined", "did you mean 'LOOP1'?"},
      {"bra %r0;", "6:5: '%r0' is a register, not a label"},
      {"bra k;", "6:5: 'k' is a function, not a label"},
      {"{ L: ret; } bra L;", "6:17: the label 'L' is not defined"},
      {"brx.idx %r0, L;\nL: ret;", "6:14: 'L' is a label, not a list of branch targets"},
      {"call foo, (%r0);", "6:6: the function or call prototype 'foo' is not declared"},
      {"L: mov.u32 %r0, L;", "6:17: 'L' is a label, which is no operand here"},
      {"@%r0 ret;", "6:2: '%r0' is a .b32 register, the guard must be a predicate"},
      {"@!n ret;", "6:3: 'n' is a parameter, the guard must be a predicate register"},
      {"@%p9 ret;", "6:2: the register '%p9' is not declared", "%p<4> declares %p0 to %p3"},
      {"@ ret;", "6:3: 'ret' is not declared"},
      {"@%p0 L: ret;", "6:7: expected"},
      {"and.pred %p0, %p1, !%r0;", "6:21: '%r0' is a .b32 register, the operand of '!' must be a predicate"},
      {"setp.eq.u32 %p0|%r1, %r0, 1;", "6:17: '%r1' is a .b32 register, the second destination must be"},
      {"op 1|%p0;", "6:6: expected a constant, found '%p0'"},
      {"op g|%p0;", "6:5: '|' joins two destinations"},
      {"add.u32 %r0, %r1, -%r2;", "6:19: '-' before '%r2' is no operand", "use neg or not"},
      {"add.u32 %r0, %r1\nsub.u32 %r0, %r1, 1;", "7:1: expected ',' or ';' after the operand, found 'sub'",
       "the instruction at line 6 needs a ';' at its end"},
      {"add.u32 %r0 %r1;", "6:13: expected ',' or ';' after the operand, found '%r1'"},
      {"add.u32 %r0,, %r1;", "6:13: expected an operand, found ','"},
      {"add.u32 %r0, ;", "6:14: expected an operand, found ';'"},
      {"ret", "7:1: expected an operand or ';', found '}'", "the instruction at line 6 may need a ';'"},
      {"ret\nadd.u32 %r0, %r1, 1;", "7:1: expected an operand or ';', found 'add'", "line 6 may need a ';'"},
      {"add.u32 %r0, 1 %r1;", "6:16: expected ',' or ';' after the operand, found '%r1'"},
      {"ld.u32 %r0, [%f0];", "6:14: '%f0' is a .f32 register, an address is an integer"},
      {"ld.u32 %r0, [%h0];", "6:14: '%h0' is a .b16 register, an address is an integer"},
      {"ld.u32 %r0, [%r1+%r2];", "6:18: expected a constant, found '%r2'"},
      {"ld.u32 %r0, [%r1+1.5];", "6:17: an offset must be an integer"},
      {"ld.u32 %r0, [%r1;", "6:17: expected ']' at the end of the address, found ';'"},
      {"ld.u32 %r0, [];", "6:14: expected a register, a variable or a number in the address, found ']'"},
      {"ld.u32 %r0, [%tid.x];", "6:14: '%tid' is no base of an address"},
      {"ld.u32 %r0, [g, {%r0}];", "6:15: addresses of several parts"},
      {"ld.u32 %r0, g[1];", "6:14: array elements in operands are not supported", "[g+4]"},
      {"mov.b64 {%r0, %r1, %rd0;", "6:24: expected ',' or '}' in the vector that line 6, column 9 opens, found ';'"},
      {"mov.b64 {}, %rd0;", "6:9: an empty vector"},
      {"mov.b64 {{%r0}}, %rd0;", "6:10: '{' inside of a vector"},
      {"op \"text\";", "6:4: expected an operand or ';', found the string \"text\""},
      {"op (%r0);", "6:5: expected a constant, found '%r0'"},
      {"%r0 1;", "6:1: expected an instruction, found '%r0'"},
      {"5;", "6:1: expected an instruction, a label, a declaration or '}', found the number 5"},
      {"_: ret;", "6:1: '_' cannot name a label"},
  };
  for (const Bad& bad : all) {
    expect(bad, body_error(bad.text));
  }
}

// Cutting or damaging a good text anywhere must give a result or an InputError, never anything else.
TEST(ParseError, DamagedTextsEndInInputErrors) {
  const std::string good =
      in_kernel(
          ".reg .v2 .f32 v; .local .b8 x[2][3];\nl: .branchtargets A;\nA: @!%p0 ld.global.v2.f32 v, [%r1+-8];\n"
          "{ .param .b32 q; call k, (q, 0f3F800000, (.s64)3 << 2 ? 1 : 2); brx.idx %r0, l; bra A; }\n.loc 1 2 "
          "3\nret;") +
      ".global .s32 t[][2] = {{1, -2}, {3}};\n.global .u32 a = generic(g)+4;\n.file 1 \"f\"\n";
  ASSERT_EQ(error_of(good), "no error");
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_NO_THROW(error_of(good.substr(0, i))) << i;
    for (const char damage : {'\0', '{', '}', '"', '%', '.', ';', '9', '\xff'}) {
      std::string bad = good;
      bad[i] = damage;
      EXPECT_NO_THROW(error_of(bad)) << i;
    }
  }
}

}  // namespace
}  // namespace heddle::ptx
