// BSSY and BSYNC: where ptxas was seen to put them, and on all ways through code.
#include "ptx/backend/convergence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "ptx/backend/re_convergence.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx/post_dominators.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;
using Lines = std::vector<std::string>;

std::vector<isa::Instruction> code_of(const Lines& lines) {
  std::vector<isa::Instruction> code;
  for (const std::string& line : lines) code.push_back(isa::assemble(line));
  backend::set_re_convergence(code);
  return code;
}

// What stands in the new code, in front of which of the old instructions.
Lines put_in(const Lines& lines) {
  std::vector<isa::Instruction> code = code_of(lines);
  const std::vector<backend::Origin> origins = backend::put_in_convergence(code);
  EXPECT_EQ(code.size(), origins.size());
  Lines found;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    if (origins[pc].put_in) {
      found.push_back(std::to_string(origins[pc].pc) + ": " + isa::disassemble(code[pc]));
    } else if (code[pc].op != Op::BRA) {
      EXPECT_EQ(isa::disassemble(code[pc]), isa::disassemble(isa::assemble(lines[origins[pc].pc])));
    }
  }
  return found;
}

TEST(Convergence, AroundWhatSomeThreadsExecute) {
  const Lines lines = {"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "@p0 bra 4", "add r1, r0, 1", "mov r2, 0", "exit"};
  EXPECT_EQ(put_in(lines), (Lines{"2: bssy 6", "4: bsync"}));
  std::vector<isa::Instruction> code = code_of(lines);
  (void)backend::put_in_convergence(code);
  EXPECT_EQ(isa::disassemble(code[3]), "@p0 bra 5, reconverge 6") << "threads that jump execute the bsync too";
}

TEST(Convergence, NotWhereThreadsAgree) {
  EXPECT_EQ(put_in({"s2r r0, %ctaid.x", "setp.lt.u32 p0, r0, 10", "@p0 bra 4", "add r1, r0, 1", "exit"}), Lines{});
  // From one address all get one value.
  EXPECT_EQ(
      put_in({"mov r0, 64", "ld.global r0, [r0]", "setp.lt.u32 p0, r0, 10", "@p0 bra 5", "add r1, r0, 1", "exit"}),
      Lines{});
  EXPECT_EQ(
      put_in({"s2r r1, %tid.x", "setp.lt.u32 p0, r1, 10", "vote.any p1, -1, p0", "@p1 bra 5", "mov r2, 0", "exit"}),
      Lines{});
}

TEST(Convergence, LocalMemoryAndVotesOfDifferentLanesAreOfEachThread) {
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "st.local [rz], r0", "ld.local r1, [rz]", "setp.lt.u32 p0, r1, 10", "@p0 bra 6",
                    "add r1, r1, 1", "exit"}),
            (Lines{"4: bssy 8", "6: bsync"}));
  EXPECT_EQ(
      put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "vote.any p1, r0, p0", "@p1 bra 5", "mov r2, 0", "exit"}),
      (Lines{"3: bssy 7", "5: bsync"}));
}

TEST(Convergence, CodeThatNothingLeadsToIsNoWay) {
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "@p0 bra 6", "add r1, r1, 1", "bra 6", "nop",
                    "mov r2, 1", "exit"}),
            (Lines{"2: bssy 8", "6: bsync"}));
}

TEST(Convergence, ThreadsThatAgreeInsideOfADivergentRegion) {
  // Only the outer branch parts a warp.
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "s2r r1, %ctaid.x", "@p0 bra 7",
                    "setp.lt.u32 p1, r1, 3", "@p1 bra 7", "mov r2, 1", "exit"}),
            (Lines{"3: bssy 9", "7: bsync"}));
}

TEST(Convergence, WhatWasWrittenOnOneWayDiffersBehindIt) {
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "mov r1, 0", "@p0 bra 5", "mov r1, 1",
                    "setp.lt.u32 p1, r1, 1", "@p1 bra 8", "mov r2, 1", "exit"}),
            (Lines{"3: bssy 7", "5: bsync", "6: bssy 12", "8: bsync"}));
}

TEST(Convergence, BranchesThatMeetShareBoth) {
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "@p0 bra 6", "setp.lt.u32 p1, r0, 20", "@p1 bra 6",
                    "mov r2, 1", "exit"}),
            (Lines{"2: bssy 8", "6: bsync"}));
}

TEST(Convergence, WhereASharedBlockLeadsToAllBranches) {
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "s2r r1, %ctaid.x", "setp.lt.u32 p1, r1, 3",
                    "@p1 bra 9", "add r2, r2, 1", "@p0 bra 12", "mov r3, 1", "bra 12", "add r2, r2, 1", "@p0 bra 12",
                    "mov r4, 1", "exit"}),
            (Lines{"4: bssy 14", "12: bsync"}));
}

TEST(Convergence, WhatDiffersWhereSomeOfThePathsMeet) {
  // To PC 9 come threads of two branches, with different values of r1.
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "setp.lt.u32 p1, r0, 20", "mov r1, 0", "@p0 bra 9",
                    "mov r1, 1", "@p1 bra 9", "mov r2, 1", "bra 13", "setp.eq.u32 p2, r1, 0", "@p2 bra 12", "mov r3, 1",
                    "mov r4, 1", "exit"}),
            (Lines{"4: bssy 17", "10: bssy 15", "12: bsync", "13: bsync"}));
}

TEST(Convergence, WhatAGuardLeavesAsItWas) {
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "s2r r1, %ctaid.x", "setp.lt.u32 p1, r1, 3", "@p1 mov r0, 5",
                    "setp.lt.u32 p0, r0, 10", "@p0 bra 7", "mov r2, 1", "exit"}),
            (Lines{"5: bssy 9", "7: bsync"}));
  // Only some threads ask the vote.
  EXPECT_EQ(
      put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "@p0 vote.any p1, -1, p0", "@p1 bra 5", "mov r2, 1", "exit"}),
      (Lines{"3: bssy 7", "5: bsync"}));
}

TEST(Convergence, InFrontOfTheLoopThatThreadsLeave) {
  // A guard that all threads agree on goes around both: to the exit at once.
  const Lines lines = {"s2r r0, %tid.x",
                       "s2r r1, %ctaid.x",
                       "setp.eq.u32 p1, r1, 0",
                       "@p1 bra 7",
                       "add r0, r0, 1",
                       "setp.lt.u32 p0, r0, 40",
                       "@p0 bra 4",
                       "exit"};
  EXPECT_EQ(put_in(lines), (Lines{"4: bssy 9", "7: bsync"}));
  std::vector<isa::Instruction> code = code_of(lines);
  (void)backend::put_in_convergence(code);
  EXPECT_EQ(isa::disassemble(code[3]), "@p1 bra 9, reconverge 9") << "it passes the bsync by";
  EXPECT_EQ(isa::disassemble(code[7]), "@p0 bra 5, reconverge 9") << "it goes round without the bssy";
}

TEST(Convergence, CountsAgreeInALoopThatAllOfARegionLeave) {
  // In what some threads execute, and in a loop that threads leave in different rounds.
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "@p0 bra 7", "mov r1, 0", "add r1, r1, 1",
                    "setp.lt.u32 p1, r1, 4", "@p1 bra 4", "exit"}),
            (Lines{"2: bssy 9", "7: bsync"}));
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "add r0, r0, 1", "mov r1, 0", "add r1, r1, 1", "setp.lt.u32 p1, r1, 4",
                    "@p1 bra 3", "setp.lt.u32 p0, r0, 40", "@p0 bra 1", "exit"}),
            (Lines{"1: bssy 10", "8: bsync"}));
}

TEST(Convergence, CountsDifferInALoopThatThreadsLeave) {
  // r1 is counted alike by all that go round, but as ptxas has it they may be in different rounds.
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "mov r1, 0", "add r1, r1, 1", "setp.eq.u32 p1, r1, 5", "@p1 bra 6", "mov r2, 1",
                    "add r0, r0, 1", "setp.lt.u32 p0, r0, 40", "@p0 bra 2", "exit"}),
            (Lines{"2: bssy 13", "4: bssy 9", "6: bsync", "9: bsync"}));
  // Also where the code begins with the loop.
  EXPECT_EQ(put_in({"add r1, r1, 1", "setp.eq.u32 p1, r1, 5", "@p1 bra 4", "mov r2, 1", "s2r r3, %tid.x",
                    "add r0, r0, r3", "setp.lt.u32 p0, r0, 40", "@p0 bra 0", "exit"}),
            (Lines{"0: bssy 12", "2: bssy 7", "4: bsync", "8: bsync"}));
}

TEST(Convergence, NoneWhereThreadsMeetNoMore) {
  EXPECT_EQ(put_in({"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "@p0 bra 4", "exit", "mov r1, 1", "exit"}), Lines{});
}

TEST(Convergence, NoneWhereTheBsyncWouldHaveToBeJumpedAround) {
  // What comes from the front falls through to where the loop's inner paths meet.
  const Lines lines = {"s2r r0, %tid.x", "add r0, r0, 1",          "s2r r1, %ctaid.x", "setp.lt.u32 p1, r1, 3",
                       "@p1 exit",       "setp.lt.u32 p0, r0, 10", "@p0 bra 1",        "add r1, r1, 1",
                       "bra 1"};
  EXPECT_EQ(put_in(lines), Lines{});
  EXPECT_EQ(isa::disassemble(code_of(lines)[6]), "@p0 bra 1, reconverge 1");
  // It does not where it jumps there.
  Lines jumps = lines;
  jumps[0] = "bra 9";
  jumps.emplace_back("s2r r0, %tid.x");
  jumps.emplace_back("bra 1");
  EXPECT_EQ(put_in(jumps), (Lines{"1: bsync", "6: bssy 2"}));
}

// ---- on all ways

// Walks through the old and the new code alike, where a branch's outcome is a matter of its PC and of how often it has
// been there.
class Walk {
 public:
  Walk(const std::vector<isa::Instruction>& old, const std::vector<isa::Instruction>& made,
       const std::vector<backend::Origin>& origins, std::uint32_t seed)
      : old_(old), made_(made), origins_(origins), random_(seed) {}

  std::string wrong() {
    std::size_t at = 0, in_old = 0;
    std::set<std::size_t> open;  // where the regions end that the walk is in
    for (unsigned steps = 0; steps < 400; ++steps) {
      const isa::Instruction& in = made_[at];
      if (in.op == Op::BSSY) {
        if (!in.immediate || in.imm == 0 || in.imm > made_.size() || made_[in.imm - 1].op != Op::BSYNC) {
          return place(at) + "leads behind no bsync";
        }
        if (!open.insert(in.imm).second) return place(at) + "begins a region anew";
        ++regions;
      } else if (in.op == Op::BSYNC) {
        if (open.erase(at + 1) == 0) return place(at) + "ends no region";
      } else {
        if (origins_[at].pc != in_old) return place(at) + "is another instruction than in the old code";
        const bool jumps = in.op == Op::BRA && (in.guard.always() || random_() % 2 == 0);
        if (in.op == Op::BRA && !in.guard.always() && in.reconvergence != isa::kNoReconvergence) {
          const bool behind = in.reconvergence != 0 && made_[in.reconvergence - 1].op == Op::BSYNC;
          if (behind && open.contains(in.reconvergence)) ++met;
        }
        if (in.op == Op::EXIT && (in.guard.always() || random_() % 8 == 0)) return {};
        if (in.op == Op::TRAP) return {};
        in_old = jumps ? old_[in_old].target : in_old + 1;
        at = jumps ? in.target : at + 1;
        continue;
      }
      ++at;
    }
    return {};
  }
  unsigned regions = 0, met = 0;

 private:
  static std::string place(std::size_t pc) { return "PC " + std::to_string(pc) + ": "; }
  const std::vector<isa::Instruction>& old_;
  const std::vector<isa::Instruction>& made_;
  const std::vector<backend::Origin>& origins_;
  std::mt19937 random_;
};

// Jumps to anywhere, so that loops have several ways in and out.
std::vector<isa::Instruction> random_code(std::mt19937& random) {
  const unsigned size = 6 + random() % 30;
  Lines lines = {"s2r r0, %tid.x", "setp.lt.u32 p0, r0, 10", "s2r r1, %ctaid.x", "setp.lt.u32 p1, r1, 10"};
  while (lines.size() + 1 < size) {
    const std::string to = std::to_string(random() % size);
    switch (random() % 9) {
      case 0:
        lines.push_back("bra " + to);
        break;
      case 1:
      case 2:
        lines.push_back("@p0 bra " + to);
        break;
      case 3:
        lines.push_back("@p1 bra " + to);
        break;
      case 4:
        lines.push_back(random() % 4 == 0 ? "@p0 exit" : "add r1, r1, r0");
        break;
      default:
        lines.push_back("add r0, r0, 1");
        break;
    }
  }
  lines.emplace_back("exit");
  return code_of(lines);
}

class ConvergenceOfRandomCode : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ConvergenceOfRandomCode, EveryWayIsAsBeforeWithBothOfEachPair) {
  unsigned regions = 0, met = 0, changed = 0;
  for (std::uint32_t seed = GetParam() * 400; seed < GetParam() * 400 + 400; ++seed) {
    std::mt19937 random(seed);
    const std::vector<isa::Instruction> old = random_code(random);
    std::vector<isa::Instruction> made = old;
    const std::vector<backend::Origin> origins = backend::put_in_convergence(made);
    ASSERT_EQ(made.size(), origins.size());
    changed += made.size() != old.size() ? 1 : 0;
    for (unsigned way = 0; way < 20; ++way) {
      Walk walk(old, made, origins, seed * 20 + way);
      ASSERT_EQ(walk.wrong(), "") << "seed " << seed;
      regions += walk.regions;
      met += walk.met;
    }
    isa::Kernel kernel;
    for (const isa::Instruction& in : made) kernel.words.push_back(isa::encode(in));
    ASSERT_EQ(heddle::test::check_re_convergence(kernel).wrong, "") << "seed " << seed;
  }
  EXPECT_GT(changed, 100U);
  EXPECT_GT(regions, 1000U);
  EXPECT_GT(met, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConvergenceOfRandomCode, testing::Range(1U, 5U));

TEST(Convergence, LinesOfWhatIsPutInAreThoseOfTheSource) {
  CompileOptions options;
  options.convergence_instructions = true;
  const isa::Module module = compile(
      ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out];\n"
      "setp.lt.u32 %p1, %r1, 8;\n"
      "@%p1 bra L;\n"
      "atom.global.add.u32 %r2, [%rd1], 1; st.global.u32 [%rd1+4], %r2;\n"
      "L: st.global.u32 [%rd1+8], %r1; exit; }\n",
      "k.ptx", options);
  const isa::Kernel& kernel = module.kernels.front();
  ASSERT_EQ(kernel.lines.size(), kernel.words.size());
  unsigned found = 0;
  for (std::size_t pc = 0; pc < kernel.words.size(); ++pc) {
    const Op op = isa::decode(kernel.words[pc]).value().op;
    if (op != Op::BSSY && op != Op::BSYNC) continue;
    ++found;
    EXPECT_EQ(kernel.lines[pc].ptx_line, 0U);
    EXPECT_EQ(kernel.lines[pc].live_registers, kernel.lines[pc + 1].live_registers);
  }
  EXPECT_EQ(found, 2U);
}

}  // namespace
}  // namespace heddle::ptx
