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
  for (const isa::InstructionWord& word : module.kernels.at(0).words) {
    count += isa::decode(word)->op == isa::Op::PRINT ? 1 : 0;
  }
  for (const isa::LineInfo& line : module.kernels.at(0).lines) {
    EXPECT_LE(line.ptx_line, 9U);  // lines of the program, none of the library's text
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

// The operations on the device heap in a kernel, of which no line is the library's.
std::vector<std::string> heap_operations(const std::string& bits, const std::string& declaration,
                                         const std::string& call) {
  const isa::Module module = compile(".version 7.0\n.target sm_60\n.address_size " + bits + "\n" + declaration +
                                         "\n.visible .entry k() {\n.reg .b" + bits + " %a<4>;\nmov.u" + bits +
                                         " %a1, 40;\n" + call + "\nret;\n}\n",
                                     "t.ptx");
  std::vector<std::string> found;
  const isa::Kernel& kernel = module.kernels.at(0);
  for (std::size_t pc = 0; pc < kernel.words.size(); ++pc) {
    const isa::Instruction instruction = isa::decode(kernel.words[pc]).value();
    if (isa::is_heap(instruction.op)) {
      found.emplace_back(isa::info(instruction.op).mnemonic);
      EXPECT_EQ(kernel.lines[pc].ptx_line, 8U);
    }
  }
  EXPECT_EQ(isa::uses_heap(kernel), !found.empty());
  return found;
}

TEST(LowerLibrary, AllocatesAndFrees) {
  using Operations = std::vector<std::string>;
  const auto returns = [](const std::string& name, const std::string& bits) {
    return ".extern .func (.param .b" + bits + " r) " + name + "(.param .b" + bits + " n);";
  };
  EXPECT_EQ(heap_operations("64", returns("malloc", "64"), "call.uni (%a2), malloc, (%a1);"),
            Operations{"heap.alloc.e"});
  EXPECT_EQ(heap_operations("32", returns("malloc", "32"), "call.uni (%a2), malloc, (%a1);"),
            Operations{"heap.alloc"});  // though the result is not used
  EXPECT_EQ(heap_operations("64", returns("_Znam", "64"), "call.uni (%a2), _Znam, (%a1);"), Operations{"heap.alloc.e"});
  EXPECT_EQ(heap_operations("64", ".extern .func free(.param .b64 p);", "call.uni free, (%a1);"),
            Operations{"heap.free.e"});
  EXPECT_EQ(
      heap_operations("32", ".extern .func _ZdlPvj(.param .b32 p, .param .b32 n);", "call.uni _ZdlPvj, (%a1, %a1);"),
      Operations{"heap.free"});
  EXPECT_EQ(heap_operations("64", returns("malloc", "64"), ""), Operations());
  // One of the program's own stays.
  EXPECT_EQ(heap_operations("64", ".func free(.reg .b64 p) { ret; }", "call.uni free, (%a1);"), Operations());
}

}  // namespace
}  // namespace heddle::ptx
