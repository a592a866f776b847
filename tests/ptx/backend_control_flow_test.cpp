// Control-flow graph, re-convergence points and layout, on hand-built intermediate code.
#include <gtest/gtest.h>

#include "ptx/ir.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

// Builds items one after the other. p is a predicate that is not constant.
class Builder {
 public:
  Builder() {
    function_.name = "k";
    tid_ = function_.make(RegClass::word);
    p_ = function_.make(RegClass::predicate);
    IrInstruction& s2r = push(Op::S2R);
    s2r.dst = tid_;
    s2r.immediate = true;
    IrInstruction& setp = push(Op::SETP_U32);
    setp.p = p_;
    setp.a = tid_;
    setp.immediate = true;
    setp.imm = 5;
  }
  IrInstruction& push(Op op) {
    IrBlockItem item;
    item.instruction.op = op;
    item.instruction.at.line = ++line_;
    function_.items.push_back(item);
    return function_.items.back().instruction;
  }
  void label(LabelId id) {
    IrBlockItem item;
    item.is_label = true;
    item.label = id;
    function_.items.push_back(item);
    function_.label_count = std::max(function_.label_count, id + 1);
  }
  void jump(LabelId to) { push(Op::BRA).target = to; }
  void branch(LabelId to) {
    IrInstruction& in = push(Op::BRA);
    in.target = to;
    in.guard.reg = p_;
  }
  // A store of tid at this address: something that stays, and can be recognised.
  void mark(std::uint32_t address) {
    IrInstruction& in = push(Op::ST_GLOBAL);
    in.immediate = true;
    in.imm = address;
    in.elements = {tid_};
  }
  void exit(bool guarded = false) {
    IrInstruction& in = push(Op::EXIT);
    if (guarded) in.guard.reg = p_;
  }
  void finish() {
    // Labels beyond the largest defined one are targets of nothing.
    for (const IrBlockItem& item : function_.items) {
      if (!item.is_label && item.instruction.op == Op::BRA) {
        function_.label_count = std::max(function_.label_count, item.instruction.target + 1);
      }
    }
    kernel_ = generate(function_, "k.ptx");
    for (const isa::InstructionWord& word : kernel_.words) code_.push_back(isa::decode(word).value());
  }
  std::uint32_t pc_of_mark(std::uint32_t address) const {
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      if (code_[pc].op == Op::ST_GLOBAL && code_[pc].imm == address) return pc;
    }
    return ~0U;
  }
  // The n-th branch of the code.
  const isa::Instruction& branch_at(unsigned n) const {
    for (const isa::Instruction& in : code_) {
      if (in.op == Op::BRA && n-- == 0) return in;
    }
    throw std::out_of_range("no such branch");
  }
  unsigned count(Op op) const {
    unsigned result = 0;
    for (const isa::Instruction& in : code_) result += in.op == op ? 1U : 0U;
    return result;
  }
  const std::vector<isa::Instruction>& code() const { return code_; }
  const isa::Kernel& kernel() const { return kernel_; }
  IrFunction& function() { return function_; }
  VReg p() const { return p_; }
  VReg tid() const { return tid_; }

 private:
  IrFunction function_;
  isa::Kernel kernel_;
  std::vector<isa::Instruction> code_;
  VReg tid_ = kNone, p_ = kNone;
  std::uint32_t line_ = 0;
};

TEST(BackendControlFlow, DiamondMeetsAtItsJoin) {
  Builder b;
  b.branch(0);
  b.mark(4);
  b.jump(1);
  b.label(0);
  b.mark(8);
  b.label(1);
  b.mark(12);
  b.exit();
  b.finish();
  EXPECT_EQ(b.branch_at(0).target, b.pc_of_mark(8));
  EXPECT_EQ(b.branch_at(0).reconvergence, b.pc_of_mark(12));
  EXPECT_TRUE(b.branch_at(1).guard.always());
  EXPECT_EQ(b.branch_at(1).target, b.pc_of_mark(12));
  EXPECT_EQ(b.branch_at(1).reconvergence, isa::kNoReconvergence);
  EXPECT_LT(b.pc_of_mark(4), b.pc_of_mark(8));  // source order
}

TEST(BackendControlFlow, LoopMeetsBehindIt) {
  Builder b;
  b.label(0);
  b.mark(4);
  b.branch(0);
  b.mark(8);
  b.exit();
  b.finish();
  EXPECT_EQ(b.branch_at(0).target, b.pc_of_mark(4));
  EXPECT_EQ(b.branch_at(0).reconvergence, b.pc_of_mark(8));
}

TEST(BackendControlFlow, UnstructuredJoinsMeetWhereAllPathsDo) {
  // 0 -> A or B; A -> B or C; B -> C. Branch 0 and A's branch both meet at C only.
  Builder b;
  b.branch(1);
  b.mark(4);
  b.branch(2);
  b.label(1);
  b.mark(8);
  b.label(2);
  b.mark(12);
  b.exit();
  b.finish();
  EXPECT_EQ(b.branch_at(0).reconvergence, b.pc_of_mark(12));
  EXPECT_EQ(b.branch_at(1).reconvergence, b.pc_of_mark(12));
}

TEST(BackendControlFlow, SeparateExitsNeverMeet) {
  Builder b;
  b.branch(0);
  b.mark(4);
  b.exit();
  b.label(0);
  b.mark(8);
  b.exit();
  b.finish();
  EXPECT_EQ(b.branch_at(0).reconvergence, isa::kNoReconvergence);
}

TEST(BackendControlFlow, BranchToALoneExitBecomesAGuardedExit) {
  Builder b;
  b.branch(0);
  b.mark(4);
  b.label(0);
  b.exit();
  b.finish();
  EXPECT_EQ(b.count(Op::BRA), 0U);
  ASSERT_EQ(b.count(Op::EXIT), 2U);
  EXPECT_EQ(b.code()[b.pc_of_mark(4) - 1].op, Op::EXIT);
  EXPECT_FALSE(b.code()[b.pc_of_mark(4) - 1].guard.always());
  EXPECT_TRUE(b.code().back().guard.always());
}

TEST(BackendControlFlow, GuardedExitDoesNotEndItsBlock) {
  Builder b;
  b.mark(4);
  b.exit(true);
  b.mark(8);
  b.exit();
  b.finish();
  EXPECT_EQ(b.pc_of_mark(8), b.pc_of_mark(4) + 2);
}

TEST(BackendControlFlow, ABranchBehindAGuardedExitMeetsAtItsJoin) {
  Builder b;
  b.mark(4);
  b.exit(true);
  b.branch(0);
  b.mark(8);
  b.label(0);
  b.mark(12);
  b.exit();
  b.finish();
  EXPECT_EQ(b.branch_at(0).reconvergence, b.pc_of_mark(12));
}

TEST(BackendControlFlow, AGuardedExitOnTheWayLeavesNowhereElseToMeet) {
  Builder b;
  b.branch(0);
  b.mark(4);
  b.exit(true);
  b.mark(8);
  b.label(0);
  b.mark(12);
  b.exit();
  b.finish();
  EXPECT_EQ(b.branch_at(0).reconvergence, isa::kNoReconvergence);
}

// Around a loop the branch comes to the exit before it.
TEST(BackendControlFlow, AGuardedExitInALoopLeavesNowhereElseToMeet) {
  Builder b;
  b.label(0);
  b.exit(true);
  b.mark(4);
  b.branch(0);
  b.mark(8);
  b.exit();
  b.finish();
  EXPECT_EQ(b.branch_at(0).target, b.pc_of_mark(4) - 1);
  EXPECT_EQ(b.branch_at(0).reconvergence, isa::kNoReconvergence);
}

// A launch ends with a trap: no thread waits for threads that go there.
TEST(BackendControlFlow, TrapsAreNoExits) {
  Builder b;
  b.branch(0);
  b.mark(4);
  b.push(Op::TRAP).guard.reg = b.p();
  b.mark(8);
  b.branch(1);
  b.label(0);
  b.mark(12);
  b.exit();
  b.label(1);
  b.branch(2);
  b.mark(16);
  b.label(2);
  b.mark(20);
  b.push(Op::TRAP);
  b.finish();
  EXPECT_EQ(b.branch_at(0).reconvergence, b.pc_of_mark(12));
  EXPECT_EQ(b.branch_at(1).reconvergence, b.pc_of_mark(12));
  EXPECT_EQ(b.branch_at(2).reconvergence, b.pc_of_mark(20));  // to one another they do
}

// The end of a loop whose code goes on elsewhere: the jump there is an instruction that all come to.
TEST(BackendControlFlow, ThreadsMeetAtTheJumpBehindABranch) {
  Builder b;
  b.branch(2);
  b.label(0);
  b.mark(4);
  b.branch(0);
  b.jump(1);
  b.label(2);
  b.mark(8);
  b.label(1);
  b.mark(12);
  b.exit();
  b.finish();
  EXPECT_EQ(b.branch_at(0).reconvergence, b.pc_of_mark(12));
  EXPECT_EQ(b.branch_at(1).target, b.pc_of_mark(4));
  EXPECT_EQ(b.branch_at(1).reconvergence, b.pc_of_mark(4) + 2);
  EXPECT_EQ(b.branch_at(2).target, b.pc_of_mark(12));
}

TEST(BackendControlFlow, EndlessLoopHasPostDominators) {
  Builder b;
  b.label(0);
  b.branch(1);
  b.mark(4);
  b.label(1);
  b.mark(8);
  b.jump(0);
  b.finish();
  EXPECT_EQ(b.branch_at(0).reconvergence, b.pc_of_mark(8));
  EXPECT_EQ(b.count(Op::EXIT), 0U);
}

TEST(BackendControlFlow, EmptyEndlessLoopIsKept) {
  Builder b;
  b.label(0);
  b.jump(1);
  b.label(1);
  b.jump(0);
  b.finish();
  ASSERT_EQ(b.count(Op::BRA), 1U);
  EXPECT_EQ(b.branch_at(0).target + 1, b.code().size());
}

TEST(BackendControlFlow, JumpsToJumpsAndUnreachableCodeGo) {
  Builder b;
  b.branch(0);
  b.mark(4);
  b.jump(2);
  b.mark(100);  // unreachable
  b.label(0);
  b.jump(1);
  b.label(1);
  b.mark(8);
  b.label(2);
  b.mark(12);
  b.exit();
  b.finish();
  EXPECT_EQ(b.pc_of_mark(100), ~0U);
  EXPECT_EQ(b.branch_at(0).target, b.pc_of_mark(8));
  EXPECT_EQ(b.count(Op::BRA), 2U);
}

TEST(BackendControlFlow, LinesAreThoseOfTheText) {
  Builder b;
  b.mark(4);
  b.exit();
  b.finish();
  // s2r is line 1, setp (unused) line 2 and gone, the store line 3.
  ASSERT_EQ(b.kernel().lines.size(), 3U);
  EXPECT_EQ(b.kernel().lines[0].ptx_line, 1U);
  EXPECT_EQ(b.kernel().lines[1].ptx_line, 3U);
  EXPECT_EQ(b.kernel().lines[2].ptx_line, 4U);
  EXPECT_EQ(b.kernel().lines[0].live_registers, 0U);
  EXPECT_EQ(b.kernel().lines[1].live_registers, 1U);
  EXPECT_EQ(b.kernel().registers, 1U);
  EXPECT_EQ(b.kernel().predicates, 0U);
}

}  // namespace
}  // namespace heddle::ptx
