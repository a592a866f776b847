// What warp-splits are counted as, on kernels small enough to be counted by hand: one warp of four lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/divergence/dws.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::hw {
namespace {

using heddle::test::Code;
using heddle::test::GpuBench;
using isa::Op;
using isa::Special;

Machine splitting(const char* memory, unsigned entries, unsigned slots) {
  Machine machine;
  machine.core.simd_width = machine.core.warp_size = 4;
  machine.core.threads = 8;
  machine.core.thread_misses = true;
  machine.core.divergence = "dws";
  auto& own = machine.core.policies.of<DwsParameters>();
  own.memory = memory;
  own.entries = entries;
  own.slots = slots;
  return machine;
}

// Two loads: of a line that is absent for all, and of that line by two threads, of another by two. Threads that
// have theirs go on to a barrier, where the others join them. Then a branch around one instruction: with one slot the
// thread that takes it waits for one, and is met by the others at its PC.
TEST(SplitCounts, OfAccessBranchAndBarrier) {
  Code code;
  code.s2r(1, Special::tid_x);
  code.param(9, 0);
  code.load(Op::LD_GLOBAL, 2, 9);
  code.rri(Op::SHR_U, 3, 1, 1);
  code.rri(Op::SHL, 3, 3, 7);
  code.rrr(Op::ADD, 3, 3, 9);
  code.load(Op::LD_GLOBAL, 4, 3);
  code.mov(5, 0);
  code.barrier(Op::BAR_SYNC, 5);
  code.setp(1, isa::Comparison::eq, 1, 2);
  const Code::Pc branch = code.when(1).bra();
  code.rri(Op::ADD, 6, 6, 1);
  const Code::Pc meet = code.rri(Op::ADD, 7, 7, 1);
  code.exit();
  code.aim(branch, meet, meet);
  code.mark(branch);
  GpuBench bench(splitting("aggressive", 16, 1));
  const Totals totals = bench.run(code, {{1, 1, 1}, {4, 1, 1}});
  const CoreStatistics& count = bench.core().statistics;
  EXPECT_EQ(count.splits_memory, 1U);
  EXPECT_EQ(count.splits_branch, 1U);
  EXPECT_EQ(count.splits_revived, 0U);
  EXPECT_EQ(count.merges_barrier, 1U);
  EXPECT_EQ(count.merges_pc, 1U);
  EXPECT_EQ(count.merges_stack, 0U);
  EXPECT_EQ(count.split_table_full, 0U);
  EXPECT_EQ(count.split_slots_full, 1U);
  EXPECT_EQ(count.missed_accesses, 2U);
  EXPECT_EQ(count.partly_missed_accesses, 1U);
  EXPECT_THAT(count.thread_misses, ::testing::ElementsAre(1, 1, 2, 2, 0, 0, 0, 0));
  EXPECT_EQ(totals.l1d.misses, 2U);
  // Nothing but the two lines keeps the core waiting for memory: 300 cycles, and 100 as the row is open by then, and a
  // few each to the memory and back.
  const std::uint64_t waited = count.idle[static_cast<std::size_t>(IdleCause::memory)];
  EXPECT_GE(waited, 400U);
  EXPECT_LT(waited, 412U);
}

// Two branches, one behind the other, and a table for two splits: the third waits for an entry.
TEST(SplitCounts, OfAFullTableAndOfLanes) {
  Code code;
  code.s2r(1, Special::tid_x);
  code.setp(1, isa::Comparison::lt, 1, 2);
  const Code::Pc outer = code.when(1).bra();
  code.setp(2, isa::Comparison::eq, 1, 2);
  const Code::Pc inner = code.when(2).bra();
  code.exit();
  const Code::Pc third = code.exit();
  const Code::Pc second = code.here();
  for (unsigned i = 0; i < 4; ++i) {  // they are still there when the others part
    code.rri(Op::ADD, 6, 6, 1);
  }
  code.exit();
  code.aim(outer, second);
  code.aim(inner, third);
  code.mark(outer);
  GpuBench bench(splitting("none", 2, 16));
  bench.run(code, {{1, 1, 1}, {4, 1, 1}});
  const CoreStatistics& count = bench.core().statistics;
  EXPECT_EQ(count.splits_branch, 2U);
  EXPECT_EQ(count.split_table_full, 1U);
  EXPECT_EQ(count.split_slots_full, 0U);
  EXPECT_EQ(count.merges_pc + count.merges_stack + count.merges_barrier, 0U);
  EXPECT_EQ(count.warp_instructions, 12U);
  EXPECT_EQ(count.lane_instructions, 3U * 4 + 2 * 2 + 1 + 1 + 4 * 2 + 2);
}

// The map is there only if it is wanted.
TEST(SplitCounts, NoMapWithoutTheParameter) {
  Machine machine;
  GpuBench bench(machine);
  EXPECT_TRUE(bench.core().statistics.thread_misses.empty());
}

}  // namespace
}  // namespace heddle::hw
