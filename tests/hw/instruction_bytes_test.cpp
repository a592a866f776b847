// Instructions of 16 bytes (icache.instruction_bytes): half as many in a line, and the same program.
#include <gtest/gtest.h>

#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

// 64 instructions, of which each thread takes one way or the other through the first ones.
hw::Totals run_wide_code(hw::Machine machine, unsigned bytes) {
  machine.icache.instruction_bytes = bytes;
  GpuBench bench(machine);
  Code code;
  code.s2r(2, Special::tid_x);
  code.rri(Op::SHL, 3, 2, 2);
  code.param(4, 0);
  code.rrr(Op::ADD, 4, 4, 3);
  while (code.here() != 62) {
    code.rri(Op::ADD, 2, 2, 1);
  }
  code.store(Op::ST_GLOBAL, 4, 2);
  code.exit();
  const hw::Totals totals = bench.run(code);
  for (unsigned thread = 0; thread != 32; ++thread) {
    EXPECT_EQ(bench.word(thread), thread + 58);
  }
  return totals;
}

TEST(InstructionBytes, SayHowManyInstructionsAreInALine) {
  const hw::Totals narrow = run_wide_code({}, 8);
  EXPECT_EQ(narrow.icache.misses, 4U);
}
TEST(InstructionBytes, OfSixteenThereAreHalfAsMany) {
  const hw::Totals wide = run_wide_code({}, 16);
  EXPECT_EQ(wide.icache.misses, 8U);
}

TEST(InstructionBytes, LanesThatFetchForThemselvesFindThem) {
  hw::Machine machine;
  machine.core.divergence = "mimd";
  EXPECT_EQ(run_wide_code(machine, 16).core.warp_instructions, 64U);
}

TEST(InstructionBytes, AnL0HasThemToo) {
  hw::Machine machine;
  machine.core.sub_cores = 4;
  machine.l0i.enabled = true;
  machine.l0i.prefetch = 0;
  machine.icache.hit_latency = 4;
  EXPECT_EQ(run_wide_code(machine, 16).l0i.misses, 8U);
}

}  // namespace
}  // namespace heddle::test
