// Which instructions the compiler marks as uniform. The oracle executes random code thread by thread, each alone, and
// knows nothing of paths, meeting points or data flow: where a mark is, the k-th execution must have the same operands
// in every thread that comes so far, and only threads that have exited may come less often.
#include "ptx/uniformity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "ptx/backend/re_convergence.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

std::vector<isa::Instruction> assemble(const std::vector<std::string>& lines) {
  std::vector<isa::Instruction> code;
  for (const std::string& line : lines) code.push_back(isa::assemble(line));
  backend::set_re_convergence(code);
  return code;
}

std::string marked(const std::vector<isa::Instruction>& code) {
  std::string text;
  for (const bool mark : uniform_instructions(code)) text += mark ? 'U' : '.';
  return text;
}

// ------------------------------------------------------------------------------- cases made by hand

TEST(Uniformity, ALoopOfAFixedNumberOfRounds) {
  EXPECT_EQ(marked(assemble({"mov r0, 0", "s2r r1, %tid.x", "add r2, r1, r0", "add r0, r0, 1", "setp.lt.u32 p0, r0, 10",
                             "@p0 bra 2", "exit"})),
            "U..UUU.");
}

TEST(Uniformity, WhatALoopWithVaryingExitCarriesRound) {
  // r0 counts; threads leave after different numbers of rounds, so it is the same neither in the loop nor behind it.
  EXPECT_EQ(marked(assemble({"s2r r1, %tid.x", "add r0, r0, 1", "setp.lt.u32 p0, r0, r1", "@p0 bra 1", "mov r3, r0",
                             "mov r4, r2", "exit"})),
            ".....U.");
}

TEST(Uniformity, WrittenOnOneWayOnly) {
  // r0 is 1 on one way and 0 on the other; r2 is written on neither way.
  EXPECT_EQ(marked(assemble({"s2r r1, %tid.x", "setp.lt.u32 p0, r1, 4", "@p0 bra 4", "mov r0, 1", "mov r3, r0",
                             "mov r4, r2", "exit"})),
            ".....U.");
}

TEST(Uniformity, ABranchThatAllTake) {
  EXPECT_EQ(marked(assemble(
                {"ld.param.b32 r1, [rz+0]", "setp.lt.u32 p0, r1, 4", "@p0 bra 4", "mov r0, 1", "mov r3, r0", "exit"})),
            "UUUUU.");
}

TEST(Uniformity, AGuardThatVaries) {
  EXPECT_EQ(marked(assemble({"s2r r1, %tid.x", "setp.lt.u32 p0, r1, 4", "@p0 mov r0, 1", "mov r3, r0", "mov r5, 2",
                             "@p1 mov r5, 3", "mov r6, r5", "exit"})),
            "....UUU.");
}

TEST(Uniformity, MemoryIsNot) {
  EXPECT_EQ(
      marked(assemble({"ld.global.b32 r1, [rz+64]", "mov r0, r1", "ld.const.b32 r2, [rz+0]", "mov r3, r2", "exit"})),
      "..UU.");
}

TEST(Uniformity, MarksAreInTheWordsAndCanBeRead) {
  isa::Module module;
  module.kernels.resize(1);
  for (const isa::Instruction& one : assemble({"mov r0, 7", "s2r r1, %tid.x", "exit"})) {
    module.kernels[0].words.push_back(isa::encode(one));
  }
  mark_uniform(module);
  EXPECT_EQ(isa::disassemble(*isa::decode(module.kernels[0].words[0])).substr(0, 14), "{uniform} mov ");
  EXPECT_FALSE(isa::decode(module.kernels[0].words[1])->uniform);
  isa::Instruction store = isa::assemble("st.global.b32 [r0+0], r1");
  store.uniform = true;
  EXPECT_NE(isa::why_malformed(store), "");
}

// ------------------------------------------------------------------------------- against threads, each alone

constexpr unsigned kThreads = 6;
constexpr unsigned kRegisters = 5;
constexpr unsigned kPredicates = 3;

class Code {
 public:
  explicit Code(std::uint32_t seed) : random_(seed) {}
  std::vector<isa::Instruction> make() {
    const unsigned count = 5 + below(14);
    std::vector<isa::Instruction> code;
    for (unsigned pc = 0; pc + 1 < count; ++pc) code.push_back(instruction(count));
    code.push_back(isa::assemble("exit"));
    backend::set_re_convergence(code);
    return code;
  }

 private:
  unsigned below(unsigned limit) { return random_() % limit; }
  std::uint8_t reg() { return static_cast<std::uint8_t>(below(kRegisters)); }
  isa::Instruction instruction(unsigned count) {
    isa::Instruction i;
    if (below(3) == 0) i.guard = {static_cast<std::uint8_t>(below(kPredicates)), below(2) != 0};
    switch (below(10)) {
      case 0:
        i = isa::assemble("s2r r0, %tid.x");
        i.dst = reg();
        return i;
      case 1:
        if (below(4) != 0) break;
        i.op = Op::EXIT;
        if (i.guard.always()) i.guard = {0, false};
        return i;
      case 2:
      case 3:
      case 4:
        i.op = Op::BRA;
        i.target = below(count);
        if (i.guard.always() && below(4) != 0) i.guard = {static_cast<std::uint8_t>(below(kPredicates)), below(2) != 0};
        return i;
      case 5:
      case 6: {
        const isa::Pred guard = i.guard;
        i = isa::assemble("setp.lt.u32 p0, r0, 3");
        i.guard = guard;
        i.dst = isa::pred_pair(below(kPredicates));
        i.a = reg();
        i.imm = below(8);
        return i;
      }
      case 7: {
        const isa::Pred guard = i.guard;
        i = isa::assemble("add r0, r0, r1");
        i.guard = guard;
        i.dst = reg();
        i.a = reg();
        i.b = reg();
        return i;
      }
      default:
        break;
    }
    const isa::Pred guard = i.guard;
    i = isa::assemble("add r0, r0, 1");
    i.guard = guard;
    i.dst = reg();
    i.a = reg();
    i.imm = below(3);
    return i;
  }
  std::mt19937 random_;
};

struct Thread {
  std::array<std::uint32_t, kRegisters> registers{};
  std::array<bool, kPredicates> predicates{};
  bool left_early = false;
  std::map<std::size_t, std::vector<std::string>> operands;  // by PC, of each execution
};

// False: it does not end.
bool run(const std::vector<isa::Instruction>& code, unsigned number, Thread& thread) {
  std::size_t pc = 0;
  for (unsigned step = 0; step < 500; ++step) {
    const isa::Instruction& i = code[pc];
    const bool guard = i.guard.reg == isa::kPT || thread.predicates[i.guard.reg] != i.guard.negated;
    const std::uint32_t a = i.a < kRegisters ? thread.registers[i.a] : 0;
    const std::uint32_t b = i.immediate ? i.imm : i.b < kRegisters ? thread.registers[i.b] : 0;
    thread.operands[pc].push_back(std::to_string(guard) + ' ' + std::to_string(a) + ' ' + std::to_string(b));
    ++pc;
    if (!guard) continue;
    if (i.op == Op::EXIT) {
      thread.left_early = pc != code.size();
      return true;
    }
    if (i.op == Op::BRA) {
      pc = i.target;
    } else if (i.op == Op::S2R) {
      thread.registers[i.dst] = number;
    } else if (i.op == Op::SETP_U32) {
      thread.predicates[i.pred_p()] = a < b;
    } else {
      thread.registers[i.dst] = a + b;
    }
  }
  return false;
}

TEST(Uniformity, HoldsInThreadsThatRunAlone) {
  unsigned judged = 0;
  unsigned marks_seen = 0;
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    const std::vector<isa::Instruction> code = Code(seed).make();
    std::array<Thread, kThreads> threads;
    bool ends = true;
    for (unsigned number = 0; number < kThreads && ends; ++number) ends = run(code, number, threads[number]);
    if (!ends) continue;
    ++judged;
    const std::vector<bool> marks = uniform_instructions(code);
    for (std::size_t pc = 0; pc < code.size(); ++pc) {
      if (!marks[pc]) continue;
      for (unsigned other = 1; other < kThreads; ++other) {
        const std::vector<std::string>& one = threads[0].operands[pc];
        const std::vector<std::string>& two = threads[other].operands[pc];
        marks_seen += one.empty() ? 0 : 1;
        const std::size_t common = std::min(one.size(), two.size());
        ASSERT_TRUE(std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(common), two.begin()))
            << "seed " << seed << ", PC " << pc;
        ASSERT_TRUE(one.size() <= common || threads[other].left_early) << "seed " << seed << ", PC " << pc;
        ASSERT_TRUE(two.size() <= common || threads[0].left_early) << "seed " << seed << ", PC " << pc;
      }
    }
  }
  EXPECT_GT(judged, 500U);
  EXPECT_GT(marks_seen, 1000U);
}

}  // namespace
}  // namespace heddle::ptx
