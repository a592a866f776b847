// At which branches the compiler lets warps be subdivided.
#include "ptx/subdivision.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx/backend/re_convergence.hpp"

namespace heddle::ptx {
namespace {

// The PCs that are marked.
std::vector<std::size_t> subdividing(const std::vector<std::string>& lines, unsigned instructions,
                                     bool loop_branches = true) {
  std::vector<isa::Instruction> code;
  for (const std::string& line : lines) code.push_back(isa::assemble(line));
  backend::set_re_convergence(code);
  isa::Module module;
  module.kernels.emplace_back();
  for (const isa::Instruction& in : code) module.kernels[0].words.push_back(isa::encode(in));
  mark_subdivision(module, instructions, loop_branches);
  std::vector<std::size_t> marked;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const isa::Instruction in = isa::decode(module.kernels[0].words[pc]).value();
    if (in.subdivides) marked.push_back(pc);
    code[pc].subdivides = in.subdivides;
    EXPECT_EQ(in, code[pc]) << "nothing else has changed";
  }
  return marked;
}

using Pcs = std::vector<std::size_t>;

TEST(Subdivision, BranchesBeforeAShortBlock) {
  // The if of PC 1 meets at PC 3, whose block has 3 instructions; the loop's branch meets at PC 6, a block of 2.
  const std::vector<std::string> lines = {"s2r r0, %tid.x",         "@p0 bra 3", "add r1, r0, 1", "add r0, r0, 1",
                                          "setp.lt.u32 p0, r0, 10", "@p0 bra 1", "mov r2, 0",     "exit"};
  EXPECT_EQ(subdividing(lines, 50), (Pcs{1, 5}));
  EXPECT_EQ(subdividing(lines, 3), (Pcs{1, 5}));
  EXPECT_EQ(subdividing(lines, 2), (Pcs{5}));
  EXPECT_EQ(subdividing(lines, 1), Pcs{});
  EXPECT_EQ(subdividing(lines, 50, false), (Pcs{1})) << "not the loop's";
}

TEST(Subdivision, ABlockEndsWhereABranchLeadsTo) {
  EXPECT_EQ(subdividing({"@p0 bra 2", "mov r0, 1", "mov r1, 1", "mov r2, 1", "@p1 bra 3", "exit"}, 1), (Pcs{0, 4}));
}

TEST(Subdivision, NotWhereOnlyTheExitIsShared) {
  EXPECT_EQ(subdividing({"@p0 bra 2", "exit", "exit"}, 50), Pcs{});
  EXPECT_EQ(subdividing({"bra 1", "exit"}, 50), Pcs{});
}

}  // namespace
}  // namespace heddle::ptx
