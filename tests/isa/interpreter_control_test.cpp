#include <gmock/gmock.h>

#include "base/error.hpp"
#include "isa/reference/stack.hpp"
#include "tests/isa/interpreter_fixture.hpp"

namespace heddle::isa {
namespace {

using reference::Stack;
using test::Code;
using test::KernelRun;
using ::testing::HasSubstr;

// ---- the stack, by the states of thesis figure 2.2: A (PC 0) diverges to B (1) and C (5), which meet at D (8)

TEST(Stack, GoesThroughTheStatesOfTheThesis) {
  Stack stack;
  stack.start(0b1111);
  stack.branch(0b1010, 5, 8);  // two threads take the branch to C
  EXPECT_EQ(stack.pc(), 1U);
  EXPECT_EQ(stack.active(), 0b0101U);
  EXPECT_EQ(stack.entries(), (std::vector<Stack::Entry>{{8, 8, 0b1111}, {8, 5, 0b1010}}));
  stack.branch(0b0101, 8, 8);  // the end of B jumps to D: the waiting path takes over
  EXPECT_EQ(stack.pc(), 5U);
  EXPECT_EQ(stack.active(), 0b1010U);
  EXPECT_EQ(stack.entries(), (std::vector<Stack::Entry>{{8, 8, 0b1111}}));
  stack.advance();
  stack.advance();
  EXPECT_EQ(stack.active(), 0b1010U);
  stack.advance();  // C falls into D: all four are together again
  EXPECT_EQ(stack.pc(), 8U);
  EXPECT_EQ(stack.active(), 0b1111U);
  EXPECT_TRUE(stack.entries().empty());
}

TEST(Stack, UniformBranchesPushNothing) {
  Stack stack;
  stack.start(3);
  stack.branch(3, 7, 9);
  EXPECT_EQ(stack.pc(), 7U);
  stack.branch(0, 2, 9);
  EXPECT_EQ(stack.pc(), 8U);
  EXPECT_TRUE(stack.entries().empty());
}

TEST(Stack, ExitLeavesEveryMaskAndDropsEmptyEntries) {
  Stack stack;
  stack.start(0b111);
  stack.branch(0b100, 5, 8);
  stack.exit(0b011);  // the fall-through path ends: the join entry keeps the other thread only
  EXPECT_EQ(stack.pc(), 5U);
  EXPECT_EQ(stack.active(), 0b100U);
  EXPECT_EQ(stack.entries(), (std::vector<Stack::Entry>{{8, 8, 0b100}}));
  stack.exit(0b100);
  EXPECT_EQ(stack.active(), 0U);
  EXPECT_TRUE(stack.entries().empty());
}

TEST(Stack, NestedMergesAtOnePcPopTogether) {
  Stack stack;
  stack.start(0b111);
  stack.branch(0b100, 9, 10);
  stack.branch(0b010, 6, 10);  // the same merge point
  EXPECT_EQ(stack.entries().size(), 4U);
  stack.branch(0b001, 10, 10);
  EXPECT_EQ(stack.active(), 0b010U);
  stack.branch(0b010, 10, 10);  // joins the inner two, which wait for the outer path
  EXPECT_EQ(stack.pc(), 9U);
  EXPECT_EQ(stack.active(), 0b100U);
  stack.advance();
  EXPECT_EQ(stack.pc(), 10U);
  EXPECT_EQ(stack.active(), 0b111U);
}

// ---- programs

TEST(Interpreter, NestedIfElseComputesEachPath) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.rri(Op::AND, 3, 0, 1);
  code.setp(0, Comparison::ne, 3, 0);
  const auto outer = code.when(0).bra();  // odd threads
  code.rri(Op::AND, 3, 0, 2);
  code.setp(1, Comparison::ne, 3, 0);
  const auto inner = code.when(1).bra();
  code.mov(4, 100);
  const auto skip = code.bra();
  const auto two = code.mov(4, 200);
  const auto inner_meet = code.rri(Op::ADD, 4, 4, 1);
  const auto leave = code.bra();
  const auto odd = code.mov(4, 300);
  const auto meet = code.rrr(Op::ADD, 4, 4, 0);
  code.aim(outer, odd, meet);
  code.aim(inner, two, inner_meet);
  code.aim(skip, inner_meet);
  code.aim(leave, meet);
  code.store(Op::ST_GLOBAL, 1, 4);
  code.exit();
  for (const unsigned warp_size : {1U, 4U, 32U}) {
    KernelRun run(code, {2, 1, 1}, {40, 1, 1});
    const auto out = run.output({warp_size});
    for (std::uint32_t i = 0; i < 80; ++i) {
      const std::uint32_t t = i % 40;
      EXPECT_EQ(out[i], (t % 2 != 0 ? 300 : t % 4 == 2 ? 201 : 101) + t) << "thread " << i;
    }
  }
}

// Thread t loops t + 1 times.
Code divergent_loop() {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.mov(3, 0);
  code.mov(4, 0);
  const auto top = code.rri(Op::ADD, 3, 3, 5);
  code.rri(Op::ADD, 4, 4, 1);
  Instruction compare;
  compare.op = Op::SETP_U32;
  compare.dst = pred_pair(0);
  compare.a = 4;
  compare.b = 0;
  compare.c = static_cast<std::uint8_t>(Comparison::le);
  compare.mods = setp_mods(BoolOp::none, {}, false);
  code.add(compare);
  const auto again = code.when(0).bra();
  code.aim(again, top, code.here());
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  return code;
}

TEST(Interpreter, LoopsOfDifferentLengthsMeetAfterwards) {
  KernelRun run(divergent_loop());
  const auto out = run.output();
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[t], 5 * (t + 1));
  }
  // 11 instructions before the loop, 32 rounds of 4, the store and the exit by all threads together.
  EXPECT_EQ(run.result.warp_instructions, 11U + 32U * 4U + 2U);
  EXPECT_EQ(run.result.thread_instructions, 32U * 11U + 4U * (32U * 33U / 2U) + 32U * 2U);
}

TEST(Interpreter, PathsWithoutMergePointRunToTheirExit) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::lt, 0, 8);
  const auto branch = code.when(0).bra();
  code.mov(3, 1);
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  code.aim(branch, code.mov(3, 2));
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  KernelRun run(code);
  const auto out = run.output();
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[t], t < 8 ? 2U : 1U);
  }
}

TEST(Interpreter, GuardedExitEndsSomeThreadsOnly) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::ge, 0, 3);
  code.when(0).exit();
  code.mov(3, 9);
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  KernelRun run(code);
  const auto out = run.output();
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[t], t < 3 ? 9U : 0U);
  }
}

TEST(Interpreter, ThreadsOfAThreeDimensionalLaunchKnowTheirPlace) {
  Code code;
  // linear = ((ctaid.z * 2 + ctaid.y) * 3 + ctaid.x) * 8 + (tid.z * 2 + tid.y) * 2 + tid.x
  const auto horner = [&](Special special, std::uint32_t scale) {
    code.rri(Op::MUL_LO, 1, 1, scale);
    code.s2r(2, special);
    code.rrr(Op::ADD, 1, 1, 2);
  };
  code.mov(1, 0);
  horner(Special::ctaid_z, 1);
  horner(Special::ctaid_y, 2);
  horner(Special::ctaid_x, 3);
  horner(Special::tid_z, 2);
  horner(Special::tid_y, 2);
  horner(Special::tid_x, 2);
  code.rri(Op::SHL, 3, 1, 2);
  code.param(4, 0);
  code.rrr(Op::ADD, 3, 3, 4);
  code.rri(Op::ADD, 1, 1, 1000);
  code.store(Op::ST_GLOBAL, 3, 1);
  code.exit();
  KernelRun run(code, {3, 2, 2}, {2, 2, 2});
  const auto out = run.output({3});
  for (std::uint32_t i = 0; i < 96; ++i) {
    EXPECT_EQ(out[i], 1000 + i);
  }
}

TEST(Interpreter, SpecialRegistersDescribeWarpAndLane) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::warpid);
  code.rri(Op::SHL, 0, 0, 24);
  code.s2r(3, Special::laneid);
  code.rri(Op::SHL, 3, 3, 16);
  code.rrr(Op::OR, 0, 0, 3);
  code.s2r(3, Special::lanemask_lt);
  code.rrr(Op::OR, 0, 0, 3);
  code.store(Op::ST_GLOBAL, 1, 0);
  code.exit();
  KernelRun run(code, {}, {40, 1, 1});
  const auto out = run.output({8});
  for (std::uint32_t t = 0; t < 40; ++t) {
    EXPECT_EQ(out[t], (t / 32) << 24U | (t % 8) << 16U | ((1U << (t % 8)) - 1U));
  }
}

TEST(Interpreter, ClockCountsTheThreadsInstructions) {
  Code code;
  code.own_slot(1, 2);  // 8 instructions
  code.s2r(0, Special::clock);
  code.store(Op::ST_GLOBAL, 1, 0);
  code.exit();
  KernelRun run(code, {2, 1, 1});
  for (const std::uint32_t value : run.output()) {
    EXPECT_EQ(value, 9U);
  }
}

// ---- retirement hashes

TEST(Interpreter, HashDoesNotDependOnTheWarpSize) {
  KernelRun wide(divergent_loop());
  KernelRun narrow(divergent_loop());
  wide.output({32});
  narrow.output({1});
  EXPECT_EQ(wide.hash.total(), narrow.hash.total());
  EXPECT_LT(wide.result.warp_instructions, narrow.result.warp_instructions);
}

TEST(Interpreter, HashSeesOneDifferentValueAndOneDifferentInstruction) {
  const auto total = [](std::uint32_t value, bool nop) {
    Code code;
    code.s2r(0, Special::tid_x);
    code.setp(0, Comparison::eq, 0, 17);
    code.when(0).mov(1, value);
    if (nop) {
      code.when(0).plain(Op::NOP);
    }
    code.exit();
    KernelRun run(code);
    run.output();
    return run.hash.total();
  };
  EXPECT_EQ(total(1, false), total(1, false));
  EXPECT_NE(total(1, false), total(2, false));
  EXPECT_NE(total(1, false), total(1, true));
}

TEST(Interpreter, HashIsWhatTheRulesSay) {
  Code code;
  code.mov(1, 7);                      // PC 0
  code.setp(2, Comparison::eq, 1, 7);  // PC 1: p true
  code.when(2, true).mov(3, 1);        // PC 2: guard false, not folded
  code.param(4, 0);                    // PC 3
  code.store(Op::ST_GLOBAL, 4, 1);     // PC 4
  code.exit();                         // PC 5
  KernelRun run(code, {}, {1, 1, 1});
  run.output();
  const auto out = static_cast<std::uint32_t>(run.out);
  std::uint32_t hash = retire_value(retire_pc(0, 0), 7);
  hash = retire_value(retire_pc(hash, 1), 1);
  hash = retire_value(retire_pc(hash, 3), out);
  hash = retire_value(retire_value(retire_pc(hash, 4), out), 7);
  hash = retire_pc(hash, 5);
  ASSERT_EQ(run.hash.threads().size(), 1U);
  EXPECT_EQ(run.hash.threads()[0], hash);
}

// ---- faults of control

TEST(Interpreter, PcPastTheEndIsAnInvalidInstruction) {
  Code code;
  code.mov(1, 7);
  KernelRun run(code);
  EXPECT_THAT(run.faults(Fault::Kind::invalid_instruction), HasSubstr("control ran past its end"));
  EXPECT_EQ(run.result.fault->pc, 1U);
}

TEST(Interpreter, WordThatIsNoInstructionFaults) {
  Code code;
  code.mov(1, 7);
  code.exit();
  Module module = code.module();
  module.kernels[0].words[0] = 0x7fff'ffff'ffff'ffffULL;
  KernelRun run(module);
  EXPECT_THAT(run.faults(Fault::Kind::invalid_instruction), HasSubstr("0x7fffffffffffffff is no instruction"));
}

TEST(Interpreter, TrapNamesKernelLineBlockAndThread) {
  Code code;
  code.s2r(0, Special::tid_x);
  code.s2r(1, Special::ctaid_x);
  code.rrr(Op::ADD, 0, 0, 1);
  code.setp(0, Comparison::eq, 0, 40);
  code.when(0).plain(Op::TRAP);
  code.exit();
  KernelRun run(code, {3, 1, 1}, {40, 1, 1});
  const std::string text = run.faults(Fault::Kind::trap);
  EXPECT_THAT(text, HasSubstr("trap in kernel 'k' at PC 4, test.ptx:105 (test.cu:5), block (1, 0, 0), thread "
                              "(39, 0, 0)"));
}

TEST(Interpreter, DivisionByZeroFaultsOnlyWhenAsked) {
  Code code;
  code.s2r(0, Special::tid_x);
  code.rri(Op::SUB, 1, 0, 5);
  code.setp(0, Comparison::lt, 0, 4);
  code.when(0).rrr(Op::DIV_U, 2, 0, 1);  // thread 5 would divide by zero, but does not execute it
  code.rrr(Op::DIV_U, 2, 0, 1);
  code.exit();
  KernelRun calm(code);
  EXPECT_FALSE(calm.go().fault);
  KernelRun strict(code);
  InterpreterOptions options;
  options.trap_on_division_by_zero = true;
  strict.faults(Fault::Kind::division_by_zero, options);
  EXPECT_EQ(strict.result.fault->thread, (Dim3{5, 0, 0}));
  EXPECT_EQ(strict.result.fault->pc, 4U);
}

TEST(Interpreter, LivelockAtTheLimitExactly) {
  Code code;
  for (unsigned i = 0; i < 1000; ++i) {
    code.plain(Op::NOP);
  }
  code.exit();
  InterpreterOptions options;
  options.max_instructions_per_thread = 1001;
  KernelRun good(code);
  EXPECT_FALSE(good.go(options).fault);
  options.max_instructions_per_thread = 1000;
  KernelRun bad(code);
  EXPECT_THAT(bad.faults(Fault::Kind::livelock, options), HasSubstr("has not finished after 1000 instructions"));
}

TEST(Interpreter, RefusesWarpSizesItCannotRun) {
  KernelRun run(divergent_loop());
  EXPECT_THROW(run.go({0}), InputError);
  EXPECT_THROW(run.go({33}), InputError);
  run.launch.block.x = 0;
  EXPECT_THROW(run.go(), InputError);
  run.launch.block.x = 1025;
  run.faults(Fault::Kind::resources);
}

}  // namespace
}  // namespace heddle::isa
