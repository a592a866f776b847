// Independent thread scheduling in a core: what it costs beside the stack, locks between threads of a warp, barriers of
// blocks, threads that wait for each other in vain.
#include "hw/divergence/barriers.hpp"

#include <gmock/gmock.h>

#include <tuple>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

using ::testing::HasSubstr;

hw::Machine diverging_by(const char* divergence, const char* issue = "strict") {
  hw::Machine machine;
  machine.core.divergence = divergence;
  machine.core.issue = issue;
  return machine;
}

// A branch that parts each warp by the thread's number, paths of different lengths, within a loop.
Code parting_loop() {
  Code code;
  code.s2r(1, Special::tid_x);
  add_loop(code, 20, [&code] {
    code.rri(Op::ADD, 2, 2, 1);
    code.rri(Op::AND, 3, 1, 3);
    code.setp(0, isa::Comparison::eq, 3, 1);
    const Code::Pc branch = code.when(0).bra();
    code.rri(Op::ADD, 2, 2, 3);
    const Code::Pc jump = code.bra();
    const Code::Pc other = code.rri(Op::ADD, 2, 2, 5);
    code.rri(Op::XOR, 2, 2, 9);
    code.aim(branch, other, code.here());
    code.aim(jump, code.here());
    code.rri(Op::ADD, 4, 4, 1);
  });
  code.exit();
  return code;
}

class BarriersBesideTheStack : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Issue, BarriersBesideTheStack, ::testing::Values("strict", "scoreboard"));

// Where no thread waits for another, threads run in the stack's order: as many instructions and cycles.
TEST_P(BarriersBesideTheStack, TakeAsLong) {
  GpuBench of_stack(diverging_by("stack", GetParam()), "stack");
  GpuBench of_barriers(diverging_by("barriers", GetParam()), "barriers");
  const LaunchShape shape{{2, 1, 1}, {96, 1, 1}};
  for (const bool parts : {false, true}) {
    Code code;
    if (parts) {
      code = parting_loop();
    } else {
      add_loop(code, 50, [&code] { code.rri(Op::ADD, 2, 2, 1); });
      code.exit();
    }
    const hw::Totals stack = of_stack.run(code, shape);
    const hw::Totals barriers = of_barriers.run(code, shape);
    EXPECT_EQ(barriers.cycles, stack.cycles);
    EXPECT_EQ(barriers.core.warp_instructions, stack.core.warp_instructions);
    EXPECT_EQ(barriers.core.divergent_branches, stack.core.divergent_branches);
    EXPECT_EQ(barriers.convergence.set, parts ? 6U * 20 : 0U);
    EXPECT_EQ(barriers.convergence.completed, barriers.convergence.set);
  }
}

// lock: while (cas(lock, 0, 1) != 0) {}; ++count; lock = 0. The threads of a warp one after the other.
class BarriersCoreWith : public ::testing::TestWithParam<std::tuple<const char*, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(IssueAndRounds, BarriersCoreWith,
                         ::testing::Combine(::testing::Values("strict", "scoreboard"), ::testing::Values(1U, 4U)));

TEST_P(BarriersCoreWith, ALockBetweenThreadsOfAWarpIsPassedOn) {
  const auto [issue, yield_after] = GetParam();
  hw::Machine machine = diverging_by("barriers", issue);
  machine.core.policies.of<hw::BarriersParameters>().yield_after = yield_after;
  GpuBench bench(machine);
  Code code;
  code.param(1, 0);
  code.mov(2, 1);
  const Code::Pc loop = code.atomic(Op::ATOM_GLOBAL, isa::AtomicOp::cas, isa::Type::b32, 3, 1, isa::kRZ, 2);
  code.setp(0, isa::Comparison::ne, 3, 0);
  const Code::Pc back = code.when(0).bra();
  code.aim(back, loop, code.here());
  code.mark_yields(back);
  code.load(Op::LDV_GLOBAL, 4, 1, 4);
  code.rri(Op::ADD, 4, 4, 1);
  code.store(Op::ST_GLOBAL, 1, 4, 4);
  code.plain(Op::MEMBAR);
  code.atomic(Op::ATOM_GLOBAL, isa::AtomicOp::exch, isa::Type::b32, isa::kRZ, 1, isa::kRZ);
  code.exit();
  const hw::Totals totals = bench.run(code, {{2, 1, 1}, {40, 1, 1}});
  EXPECT_EQ(bench.word(1), 80U);
  EXPECT_EQ(bench.word(0), 0U);
  EXPECT_GE(totals.convergence.left_behind, 2 * 31U) << "each but the last of a warp leaves others behind";
  EXPECT_GE(totals.convergence.yields, totals.convergence.left_behind);
}

// Threads of both paths of a branch wait at one barrier of the block, each path at its own instruction.
TEST(BarriersCore, ThreadsOfBothPathsMeetAtABlocksBarrier) {
  GpuBench bench(diverging_by("barriers"));
  Code code;
  code.own_slot(1, 2);
  code.s2r(3, Special::tid_x);
  code.setp(0, isa::Comparison::lt, 3, 10);
  const Code::Pc branch = code.when(0).bra();
  code.barrier(Op::BAR_SYNC, isa::kRZ);
  code.mov(4, 7);
  const Code::Pc jump = code.bra();
  const Code::Pc other = code.barrier(Op::BAR_SYNC, isa::kRZ);
  code.mov(4, 8);
  code.aim(branch, other, code.here());
  code.aim(jump, code.here());
  code.store(Op::ST_GLOBAL, 1, 4);
  code.exit();
  const hw::Totals totals = bench.run(code, {{1, 1, 1}, {64, 1, 1}});
  for (unsigned thread = 0; thread < 64; ++thread) {
    EXPECT_EQ(bench.word(thread), thread < 10 ? 8U : 7U) << thread;
  }
  EXPECT_EQ(totals.core.barriers, 1U);
  EXPECT_EQ(totals.convergence.completed, 1U);
}

isa::Instruction sync_of(std::uint32_t members) {
  isa::Instruction sync;
  sync.op = Op::WARP_SYNC;
  sync.immediate = true;
  sync.imm = members;
  return sync;
}

// The two paths wait for each other at instructions of their own.
TEST_P(BarriersBesideTheStack, WaitForEachOtherOnBothPaths) {
  GpuBench bench(diverging_by("barriers", GetParam()));
  Code code;
  code.param(1, 0);
  code.s2r(3, Special::tid_x);
  code.setp(0, isa::Comparison::ge, 3, 16);
  const Code::Pc branch = code.when(0).bra();
  code.add(sync_of(~0U));
  code.load(Op::LDV_GLOBAL, 4, 1);  // what the others have stored
  const Code::Pc jump = code.bra();
  const Code::Pc other = code.mov(5, 99);
  code.store(Op::ST_GLOBAL, 1, 5);
  code.plain(Op::MEMBAR);
  code.add(sync_of(~0U));
  code.aim(branch, other, code.here());
  code.aim(jump, code.here());
  code.setp(1, isa::Comparison::eq, 3, 0);
  code.when(1).store(Op::ST_GLOBAL, 1, 4, 4);
  code.exit();
  const hw::Totals totals = bench.run(code, {{1, 1, 1}, {32, 1, 1}});
  EXPECT_EQ(bench.word(1), 99U);
  EXPECT_EQ(totals.convergence.warp_syncs, 2U);
  EXPECT_EQ(totals.convergence.warp_sync_waits, 2U);
  EXPECT_EQ(totals.convergence.completed, 1U);
}

TEST(BarriersCore, WarpSyncWaitsForNobodyOnAStack) {
  GpuBench bench(diverging_by("stack"));
  Code code;
  code.param(1, 0);
  code.s2r(3, Special::tid_x);
  code.setp(0, isa::Comparison::ge, 3, 16);
  const Code::Pc branch = code.when(0).bra();
  code.add(sync_of(~0U));
  code.aim(branch, code.here(), code.here());
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  EXPECT_EQ(bench.run(code).core.branches, 1U);
}

TEST(BarriersCore, AMoveOfABarrierKeepsItsWarp) {
  hw::Machine machine = diverging_by("barriers");
  machine.core.policies.of<hw::BarriersParameters>().registers = 1;
  Code code;  // an if within an if
  code.s2r(1, Special::tid_x);
  code.setp(0, isa::Comparison::lt, 1, 16);
  code.setp(1, isa::Comparison::lt, 1, 24);
  const Code::Pc outer = code.when(0).bra();
  const Code::Pc inner = code.when(1).bra();
  code.mov(2, 1);
  code.aim(inner, code.here(), code.here());
  code.mov(2, 2);
  code.aim(outer, code.here(), code.here());
  code.exit();
  machine.core.policies.of<hw::BarriersParameters>().move_cycles = 0;
  GpuBench free(machine, "free");
  machine.core.policies.of<hw::BarriersParameters>().move_cycles = 10;
  GpuBench dear(machine, "dear");
  const hw::Totals fast = free.run(code);
  const hw::Totals slow = dear.run(code);
  EXPECT_EQ(fast.convergence.spills, 2U) << "the outer barrier leaves its register and comes back";
  EXPECT_EQ(slow.convergence.spills, 2U);
  EXPECT_EQ(slow.cycles, fast.cycles + 20);
}

// ---- what goes wrong

std::string detail_of_fault(GpuBench& bench, const Code& code, const LaunchShape& shape) {
  bench.start(code, shape);
  while (bench.step()) {
  }
  return bench.gpu.fault() ? bench.gpu.fault()->detail : "none";
}

TEST(BarriersCore, ThreadsThatWaitForEachOtherInVainAreNamed) {
  GpuBench bench(diverging_by("barriers"));
  Code code;
  code.s2r(3, Special::tid_x);
  code.setp(0, isa::Comparison::ge, 3, 16);
  const Code::Pc branch = code.when(0).bra();
  code.add(sync_of(~0U));
  code.exit();
  code.aim(branch, code.add(sync_of(0xffff8000U)));
  code.exit();
  EXPECT_EQ(detail_of_fault(bench, code, {}),
            "the threads of a warp wait for each other (__syncwarp, operations between lanes): lanes 0000ffff at PC 3 "
            "for lanes ffffffff; lanes ffff0000 at PC 5 for lanes ffff8000");
}

TEST(BarriersCore, IsRefusedWhereItHasNoMeaning) {
  hw::Machine machine = diverging_by("barriers");
  machine.core.scalar = "compiler";
  const auto found = hw::check(machine);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "core.scalar");
  EXPECT_EQ(found[0].message,
            "core.scalar = \"compiler\" has one lane execute for all threads of a warp, which core.divergence = "
            "\"barriers\" does not keep together where the compiler expects them; use core.divergence = \"stack\"");
  machine.core.scalar = "none";
  EXPECT_TRUE(hw::check(machine).empty());
  machine.core.warp_size = 64;
  ASSERT_EQ(hw::check(machine).size(), 1U);
  EXPECT_THAT(hw::check(machine)[0].message, HasSubstr("barriers"));
  machine.core.warp_size = 32;
  machine.core.issue = "relaxed";
  ASSERT_EQ(hw::check(machine).size(), 1U);
  EXPECT_THAT(hw::check(machine)[0].message, HasSubstr("barriers"));
}

}  // namespace
}  // namespace heddle::test
