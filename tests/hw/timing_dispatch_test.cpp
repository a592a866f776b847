// Blocks and barriers by hand: one block per cycle, as resources free; a barrier lets its warps go in the cycle after
// the last one has arrived.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

unsigned resident(GpuBench& bench, unsigned core = 0) {
  const auto& blocks = bench.core(core).blocks;
  return static_cast<unsigned>(
      std::count_if(blocks.begin(), blocks.end(), [](const auto& block) { return block.used; }));
}

// A kernel whose threads go round a loop for a while.
Code busy(std::uint32_t rounds) {
  Code code;
  add_loop(code, rounds, [&] { code.rri(Op::ADD, 1, 1, 1); });
  code.exit();
  return code;
}

TEST(Dispatch, OneBlockPerCycle) {
  GpuBench bench;
  LaunchShape shape;
  shape.grid = {8, 1, 1};
  bench.start(busy(50), shape);
  // CONTROL is written in cycle 0; the dispatcher begins in cycle 1 and hands a block out in each cycle, which the core
  // takes up in the next one.
  bench.step(2);
  EXPECT_EQ(resident(bench), 0U);
  for (unsigned blocks = 1; blocks <= 8; ++blocks) {
    bench.step(1);
    EXPECT_EQ(resident(bench), blocks);
  }
  bench.finish();
}

TEST(Dispatch, CoresTakeTurns) {
  hw::Machine machine;
  machine.gpu.cores = 2;
  machine.l1d.write_policy = "write-through";
  GpuBench bench(machine);
  LaunchShape shape;
  shape.grid = {5, 1, 1};
  bench.start(busy(50), shape);
  bench.step(1 + 1 + 5);
  EXPECT_EQ(resident(bench, 0), 3U);
  EXPECT_EQ(resident(bench, 1), 2U);
  EXPECT_EQ(bench.core(0).block(1).index.x, 2U);
  EXPECT_EQ(bench.core(1).block(1).index.x, 3U);
  bench.finish();
}

struct Room {
  const char* name;
  LaunchShape shape;
  unsigned blocks;
};
void PrintTo(const Room& room, std::ostream* out) {
  *out << room.name;
}
LaunchShape shape_of(std::uint32_t threads, unsigned registers, std::uint32_t shared) {
  LaunchShape shape;
  shape.grid = {12, 1, 1};
  shape.block = {threads, 1, 1};
  shape.registers = registers;
  shape.shared_bytes = shared;
  return shape;
}

class Resident : public ::testing::TestWithParam<Room> {};
TEST_P(Resident, BlocksAreAsManyAsTheResourcesAllow) {
  GpuBench bench;
  const Room& room = GetParam();
  bench.start(busy(40), room.shape);
  unsigned most = 0;
  while (bench.step(1)) {
    most = std::max(most, resident(bench));
  }
  EXPECT_EQ(most, room.blocks);
  EXPECT_EQ(bench.gpu.totals().core.blocks, room.shape.grid.count());
}
INSTANTIATE_TEST_SUITE_P(Dispatch, Resident,
                         ::testing::Values(Room{"slots", shape_of(32, 16, 0), 8},
                                           Room{"threads", shape_of(256, 16, 0), 4},
                                           Room{"whole_warps", shape_of(129, 16, 0), 6},
                                           Room{"registers", shape_of(128, 40, 0), 3},
                                           Room{"scratchpad", shape_of(32, 16, 30000), 4},
                                           Room{"scratchpad_exact", shape_of(32, 16, 131072 / 4), 4},
                                           Room{"scratchpad_over", shape_of(32, 16, 131072 / 4 + 1), 3}),
                         [](const auto& info) { return info.param.name; });

// The second launch is written in cycle c; the dispatcher takes it in c + 1 and tells core 1, which has no block of the
// first, to flush. The core does so in c + 2, and has nothing to write back; the dispatcher hears of it in c + 3, hands
// the core over, and sends the block in c + 4, which the core takes up in c + 5.
TEST(Dispatch, ALaterLaunchTakesACoreThatTheFirstLeavesFree) {
  hw::Machine machine;
  machine.gpu.cores = 2;
  machine.l1d.write_policy = "write-through";
  GpuBench bench(machine);
  LaunchShape shape;
  shape.grid = {1, 1, 1};
  bench.start(busy(200), shape);
  bench.step(50);
  EXPECT_EQ(resident(bench, 0), 1U);
  EXPECT_TRUE(bench.gpu.may_join());
  bench.start(busy(200), shape);
  bench.step(5);
  EXPECT_EQ(resident(bench, 1), 0U);
  bench.step(1);
  EXPECT_EQ(resident(bench, 1), 1U);
  EXPECT_EQ(bench.core(0).launch->id, 0U);
  EXPECT_EQ(bench.core(1).launch->id, 1U);
  bench.finish();
  const std::vector<hw::Gpu::Ended> ended = bench.gpu.take_ended();
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].launch, 0U);
  EXPECT_EQ(ended[1].launch, 1U);
  EXPECT_EQ(ended[0].warp_instructions, ended[1].warp_instructions);
  EXPECT_LT(ended[0].end, ended[1].end);
  EXPECT_LT(ended[1].begin, ended[0].end);
}

// A block's last exit is written back in cycle t; the dispatcher sees it in t + 1 and hands the next block out, whose
// warps may be fetched in t + 2.
TEST(Dispatch, AFreeSlotIsTakenInTheNextCycle) {
  hw::Machine machine;
  machine.core.blocks = 1;
  GpuBench bench(machine);
  LaunchShape shape;
  shape.grid = {2, 1, 1};
  bench.start(busy(3), shape);
  const auto until = [&](auto condition) {
    while (!condition()) {
      ASSERT_TRUE(bench.step(1));
    }
  };
  until([&] { return resident(bench) == 1; });
  until([&] { return resident(bench) == 0; });
  EXPECT_EQ(bench.core().groups.count(hw::GroupState::free), 32U);
  bench.step(1);
  EXPECT_EQ(resident(bench), 0U);
  EXPECT_FALSE(bench.core().groups.any_ready());
  bench.step(1);
  EXPECT_EQ(resident(bench), 1U);
  EXPECT_EQ(bench.core().block(0).index.x, 1U);
  // Fetched in this cycle: the code is in the I-cache.
  EXPECT_EQ(bench.core().groups.count(hw::GroupState::in_flight), 1U);
  EXPECT_EQ(bench.core().statistics.fetched, bench.core().statistics.warp_instructions + 1);
  bench.finish();
}

// Each warp reads the clock, waits, reads the clock again and stores both; warp 1 comes late.
Code barrier_kernel(unsigned delay) {
  Code code;
  code.param(9, 0);
  code.s2r(0, Special::tid_x);
  code.rri(Op::SHR_U, 1, 0, 5);
  code.mov(15, 2);
  const Code::Pc top = code.here();
  const Code::Pc skip = [&] {
    code.setp(0, isa::Comparison::eq, 1, 0);
    return code.when(0).bra();
  }();
  for (unsigned i = 0; i < delay; ++i) {
    code.rri(Op::ADD, 2, 2, 1);
  }
  code.aim(skip, code.here(), code.here());
  while (code.here() % 16 != 0) {
    code.plain(Op::NOP);
  }
  code.s2r(10, Special::clock);
  code.barrier(Op::BAR_SYNC, isa::kRZ);
  code.s2r(11, Special::clock);
  code.rri(Op::ADD, 15, 15, ~std::uint32_t{0});
  code.setp(6, isa::Comparison::ne, 15, 0);
  const Code::Pc branch = code.when(6).bra();
  code.aim(branch, top, code.here());
  code.rri(Op::SHL, 1, 1, 3);
  code.rrr(Op::ADD, 9, 9, 1);
  code.store(Op::ST_GLOBAL, 9, 10, 0);
  code.store(Op::ST_GLOBAL, 9, 11, 4);
  code.exit();
  return code;
}

TEST(Barrier, LetsItsWarpsGoInTheCycleAfterTheLastArrival) {
  GpuBench bench;
  LaunchShape shape;
  shape.block = {64, 1, 1};
  const hw::Totals totals = bench.run(barrier_kernel(9), shape);
  EXPECT_EQ(totals.core.barriers, 2U);
  const std::uint32_t early[] = {bench.word(0), bench.word(1)};
  const std::uint32_t late[] = {bench.word(2), bench.word(3)};
  EXPECT_GT(late[0], early[0] + 14);
  // For the last warp the barrier is an instruction like any other (7 cycles), and both warps are ready in the same
  // cycle; fetch takes one of them per cycle.
  const std::uint32_t first = std::min(early[1], late[1]);
  const std::uint32_t second = std::max(early[1], late[1]);
  EXPECT_EQ(first, late[0] + 14);
  EXPECT_EQ(second, first + 1);
}

TEST(Barrier, ItsImbalanceIsFromTheFirstToTheLastArrival) {
  GpuBench bench;
  LaunchShape shape;
  shape.block = {64, 1, 1};
  const hw::Totals totals = bench.run(barrier_kernel(9), shape);
  EXPECT_EQ(totals.core.barriers, 2U);
  // In the first round both warps wait for the same lines of code and come one behind the other. In the second warp 1
  // has nine instructions more, which the clocks have seen.
  const std::uint32_t second = bench.word(2) - bench.word(0);
  EXPECT_GE(second, 9U * 7);
  EXPECT_EQ(totals.core.barrier_imbalance, 1 + second);
}

// A warp's progress register goes up once, whatever its rows, if any thread's guard is true.
class Progress : public ::testing::TestWithParam<unsigned> {};
TEST_P(Progress, CountsOncePerWarp) {
  const unsigned warp = GetParam();
  hw::Machine machine;
  machine.core.warp_size = warp;
  GpuBench bench(machine);
  Code code;
  code.s2r(0, Special::tid_x);
  code.setp(0, isa::Comparison::ge, 0, 96);
  code.setp(1, isa::Comparison::ge, 0, 1000);
  code.plain(Op::PROGRESS);
  code.when(0).plain(Op::PROGRESS);
  code.when(1).plain(Op::PROGRESS);
  code.barrier(Op::BAR_SYNC, isa::kRZ);
  code.exit();
  LaunchShape shape;
  shape.block = {128, 1, 1};
  EXPECT_EQ(bench.run(code, shape).core.progress, 128 / warp + 1);
  EXPECT_EQ(bench.core().groups[128 / warp - 1].progress, 2U) << "that of threads 96 to 127";
  EXPECT_EQ(bench.core().groups[0].progress_before, warp == 32 ? 1U : 2U);
}
INSTANTIATE_TEST_SUITE_P(Warps, Progress, ::testing::Values(32, 128));

}  // namespace
}  // namespace heddle::test
