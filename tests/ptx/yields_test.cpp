// At which branches the compiler has threads let others run.
#include "ptx/yields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx/backend/re_convergence.hpp"

namespace heddle::ptx {
namespace {

// The PCs that are marked.
std::vector<std::size_t> yielding(const std::vector<std::string>& lines) {
  std::vector<isa::Instruction> code;
  for (const std::string& line : lines) code.push_back(isa::assemble(line));
  backend::set_re_convergence(code);
  isa::Module module;
  module.kernels.emplace_back();
  for (const isa::Instruction& in : code) module.kernels[0].words.push_back(isa::encode(in));
  mark_yields(module);
  std::vector<std::size_t> marked;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const isa::Instruction in = isa::decode(module.kernels[0].words[pc]).value();
    if (in.yields) marked.push_back(pc);
    code[pc].yields = in.yields;
    EXPECT_EQ(in, code[pc]) << "nothing else has changed";
  }
  return marked;
}

using YieldPcs = std::vector<std::size_t>;

TEST(Yields, WhereALoopEndsByALock) {
  EXPECT_EQ(yielding({"atom.global.cas.b32 r0, [r1], r2, r3", "setp.ne.u32 p0, r0, 0", "@p0 bra 0", "exit"}),
            (YieldPcs{2}));
}

// A loop around it that counts waits for nobody; the branch that leads forward leads to no beginning.
TEST(Yields, NotInLoopsThatCount) {
  EXPECT_EQ(yielding({"mov r4, 10", "@p1 bra 3", "add r5, r5, 1", "atom.global.add.u32 r0, [r1], r2", "sub r4, r4, 1",
                      "setp.ne.u32 p0, r4, 0", "@p0 bra 1", "exit"}),
            YieldPcs{});
}

TEST(Yields, AtEachBranchThatLeadsBack) {
  // while (!done) { if (cas() != 0) continue; done = true; }
  EXPECT_EQ(yielding({"@p1 bra 6", "atom.global.cas.b32 r0, [r1], r2, r3", "setp.ne.u32 p0, r0, 0", "@p0 bra 0",
                      "setp.eq.u32 p1, rz, 0", "bra 0", "exit"}),
            (YieldPcs{3, 5}));
}

}  // namespace
}  // namespace heddle::ptx
