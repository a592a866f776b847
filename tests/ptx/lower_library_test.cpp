// The device library: the operation that its functions speak by, and how they come into a program.
#include "isa/instruction.hpp"
#include "ptx/compile.hpp"
#include "ptx/lower/library.hpp"
#include "tests/ptx/lower_cases.hpp"

namespace heddle::ptx {
namespace {

using test::expect_lowered;
using test::expect_refused;

TEST(LowerLibrary, Print) {
  expect_lowered({
      {"print.begin 2;", {"mov t0, #2", "print t0, #0"}},
      {"print.b8 %r1;", {"print %r1, #1"}},
      {"@%p1 print.b32 %r1;", {"@%p1 print %r1, #4"}},
  });
  expect_refused({
      {"print.b16 %r1;", "t.ptx:8:1: 'print' expects what is printed where .b16 stands; write one of .begin .b8 .b32"},
  });
}

std::size_t prints(const std::string& declarations, const std::string& call) {
  const isa::Module module = compile(".version 7.0\n.target sm_60\n.address_size 32\n" + declarations +
                                         "\n.visible .entry k() {\n.reg .b32 %r<4>;\n" + call + "\nret;\n}\n",
                                     "t.ptx");
  std::size_t count = 0;
  for (const std::uint64_t word : module.kernels.at(0).words) {
    count += isa::decode(word)->op == isa::Op::PRINT ? 1 : 0;
  }
  for (const isa::LineInfo& line : module.kernels.at(0).lines) {
    EXPECT_LE(line.ptx_line, 9U);  // those of the program, none of the library's text
  }
  return count;
}

TEST(LowerLibrary, GivesDeclaredFunctionsTheirBodies) {
  const std::string declared = ".extern .func (.param .b32 r) vprintf(.param .b32 f, .param .b32 a);";
  const std::string call = "mov.u32 %r1, 16; call.uni (%r3), vprintf, (%r1, %r2);";
  EXPECT_GT(prints(declared, call), 5U);
  EXPECT_EQ(prints(declared, ""), 0U);
  // One of the program's own stays.
  EXPECT_EQ(prints(".func (.reg .b32 r) vprintf(.reg .b32 f, .reg .b32 a) { mov.u32 r, f; ret; }", call), 0U);
}

TEST(LowerLibrary, Advises) {
  EXPECT_TRUE(library_advice("malloc").has_value());
  EXPECT_FALSE(library_advice("other").has_value());
}

}  // namespace
}  // namespace heddle::ptx
