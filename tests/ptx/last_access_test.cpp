// Which branches and barriers the compiler marks as past the last access to the scratchpad.
#include "ptx/last_access.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ptx/last_access.hpp"

namespace heddle::ptx {
namespace {

using Marked = std::vector<std::size_t>;

// The PCs that are marked.
Marked past_scratchpad(const std::vector<std::string>& lines) {
  isa::Module module;
  isa::Kernel& kernel = module.kernels.emplace_back();
  std::vector<isa::Instruction> code;
  for (const std::string& line : lines) {
    code.push_back(isa::assemble(line));
    kernel.words.push_back(isa::encode(code.back()));
  }
  mark_past_scratchpad(module);
  Marked marked;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const isa::Instruction in = isa::decode(kernel.words[pc]).value();
    if (in.past_scratchpad) marked.push_back(pc);
    code[pc].past_scratchpad = in.past_scratchpad;
    EXPECT_EQ(in, code[pc]) << "nothing else has changed";
  }
  EXPECT_EQ(heddle::test::check_last_access(kernel).wrong, "");
  return marked;
}

TEST(LastAccess, WhatComesBehindIt) {
  EXPECT_EQ(past_scratchpad({"@p0 bra 2", "st.shared.b32 [r0], r1", "bar.sync r0, 0x0", "ld.shared.b32 r1, [r0]",
                             "@p1 bra 6", "bar.sync r0, 0x0", "exit"}),
            (Marked{4, 5}));
}

TEST(LastAccess, ALoopComesBackToIt) {
  EXPECT_EQ(past_scratchpad({"@p0 bra 3", "ld.shared.b32 r1, [r0]", "bra 3", "@p1 bra 0", "@p2 bra 4", "exit"}),
            Marked{4});
}

TEST(LastAccess, OneSideOfABranchMayBePastIt) {
  EXPECT_EQ(past_scratchpad({"@p0 bra 4", "st.shared.b32 [r0], r1", "@p1 bra 2", "exit", "@p1 bra 4", "exit"}),
            (Marked{2, 4}));
}

TEST(LastAccess, EveryKindOfAccess) {
  for (const char* access :
       {"ld.shared.b32 r1, [r0]", "@p3 st.shared.b32 [r0], r1", "atom.shared.add.u32 rz, [r0], r1",
        "cond_acc.shared.b32 r1, [r0], p0, r2", "ld.generic.b32 r1, [r0]", "ldv.generic.e.b32 r1, [r2]",
        "st.generic.e.b32 [r2], r1", "atom.generic.add.u32 r1, [r0], r1"}) {
    EXPECT_EQ(past_scratchpad({"@p0 bra 1", access, "@p0 bra 3", "exit"}), Marked{2}) << access;
  }
  for (const char* other : {"ld.global.b32 r1, [r0]", "st.local.b32 [r0], r1", "atom.global.add.u32 rz, [r0], r1",
                            "ld.const.b32 r1, [r0]", "membar"}) {
    EXPECT_EQ(past_scratchpad({"@p0 bra 1", other, "@p0 bra 3", "exit"}), (Marked{0, 2})) << other;
  }
}

TEST(LastAccess, GuardedEndsGoOn) {
  EXPECT_EQ(past_scratchpad({"bar.sync r0, 0x0", "@p0 exit", "ld.shared.b32 r1, [r0]", "exit"}), Marked{});
  EXPECT_EQ(past_scratchpad({"bar.sync r0, 0x0", "exit", "ld.shared.b32 r1, [r0]", "exit"}), Marked{0});
  EXPECT_EQ(past_scratchpad({"bar.sync r0, 0x0", "trap", "ld.shared.b32 r1, [r0]", "exit"}), Marked{0});
}

}  // namespace
}  // namespace heddle::ptx
