// What an instruction does with its operands (hw/effects/perform.hpp).
#include "hw/effects/perform.hpp"

#include <gtest/gtest.h>

#include "isa/device_heap.hpp"
#include "tests/hw/effects_bench.hpp"

namespace heddle::hw::test {
namespace {

using isa::Op;
using isa::test::Code;

struct PerformBench : EffectsBench {
  using EffectsBench::EffectsBench;

  // A sub-warp of `lanes`, all of which execute, with operands of its own in each lane.
  template <class Emit>
  link::SubWarp ready(Emit emit, LaneMask lanes = ~LaneMask{0}, Shape shape = Shape::displaced) {
    link::SubWarp out = sub_warp(shape, lanes, decoded(emit));
    out.values.active = lanes;
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      out.values.a[0][lane] = 0xffff'fff0U + lane;
      out.values.a[1][lane] = lane;
      out.values.b[0][lane] = 100 * lane;
    }
    return out;
  }

  Performer performer{state};
};

TEST(Perform, ComputesLaneByLane) {
  PerformBench bench;
  link::SubWarp add = bench.ready([](Code& code) { code.rrr(Op::ADD, 5, 2, 3); });
  bench.performer.perform(add);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    EXPECT_EQ(add.values.result[0][lane], 0xffff'fff0U + lane + 100 * lane) << lane;
  }
  link::SubWarp nobody = bench.ready([](Code& code) { code.rrr(Op::ADD, 5, 2, 3); });
  nobody.values.result[0].fill(77);
  nobody.executing = 0;
  bench.performer.perform(nobody);
  EXPECT_EQ(nobody.values.result[0][3], 77U);
}

TEST(Perform, GeneratesAddresses) {
  PerformBench bench;
  link::SubWarp narrow = bench.ready([](Code& code) { code.load(Op::LD_GLOBAL, 5, 2, 0x20); });
  bench.performer.perform(narrow);
  link::SubWarp wide = bench.ready([](Code& code) { code.load(Op::LD_GLOBAL_E, 5, 2, 0xffff'fff0U); });
  bench.performer.perform(wide);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    EXPECT_EQ(narrow.address[lane], 0x10U + lane) << "32 bits wrap";
    EXPECT_EQ(narrow.address_low[lane], 0x10U + lane);
    EXPECT_EQ(wide.address[lane], (std::uint64_t{lane} << 32U) + std::uint32_t{0xffff'fff0U + lane} - 0x10U)
        << "the offset has a sign";
    EXPECT_EQ(wide.address_low[lane], 0xffff'ffe0U + lane);
  }
}

TEST(Perform, AccumulatesOverTheLanesWhosePredicateIsTrue) {
  PerformBench bench;
  link::SubWarp all = bench.ready(
      [](Code& code) {
        code.accumulate(Op::COND_ACC_GLOBAL_E, 8, 5, 2, {1, false}, 4);
      },
      0b1111'0110);
  all.values.predicate_a = 0b1010'1111;
  bench.performer.perform(all);
  EXPECT_EQ(all.values.result[0][1], 4U);
  const std::uint64_t base = (std::uint64_t{1} << 32U) + 0xffff'fff1U;  // the lowest executing lane's
  for (const auto& [lane, before] : {std::pair{1U, 0U}, std::pair{2U, 1U}, std::pair{5U, 2U}, std::pair{7U, 3U}}) {
    EXPECT_EQ(all.address[lane], base + 8 * before) << lane;
  }
}

TEST(Perform, ReadsWhoAThreadIsWhereverItRuns) {
  PerformBench bench;
  for (const Shape shape : kShapes) {
    link::SubWarp number = bench.ready([](Code& code) { code.s2r(5, isa::Special::tid_x); }, 0x0ff0'a55aU, shape);
    bench.performer.perform(number);
    link::SubWarp block = bench.ready([](Code& code) { code.s2r(5, isa::Special::ctaid_x); }, 0x0ff0'a55aU, shape);
    bench.performer.perform(block);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      if (has(number.lanes, lane)) {
        EXPECT_EQ(number.values.result[0][lane],
                  EffectsBench::row(number, lane) * isa::kLanes + EffectsBench::home(number, lane))
            << where(number, lane);
        EXPECT_EQ(block.values.result[0][lane], 3U);
      }
    }
  }
  bench.state.now = 1234;
  link::SubWarp clock = bench.ready([](Code& code) { code.s2r(5, isa::Special::clock); });
  bench.performer.perform(clock);
  EXPECT_EQ(clock.values.result[0][9], 1234U);
  EXPECT_FALSE(bench.state.fault);
  link::SubWarp unknown = bench.ready([](Code& code) { code.s2r(5, isa::Special::clock); }, 0b100);
  bench.instructions.back()->instruction.imm = 200;
  bench.performer.perform(unknown);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::invalid_instruction);
  EXPECT_EQ(bench.state.fault->detail, "there is no special register 200");
}

TEST(Perform, PrintsInTheShareOfTheThreadsCore) {
  PerformBench bench;
  isa::PrintBuffer prints;
  prints.share_among(2);
  isa::LaunchRequest request;
  request.block = bench.launch.block;
  request.grid = {1, 1, 1};
  prints.begin_launch(request);
  bench.launch.prints = &prints;
  link::SubWarp says = bench.ready([](Code& code) { code.rrr(Op::PRINT, isa::kRZ, 2, 3); }, 0b1010);
  std::vector<Performer::Printed> told;
  bench.performer.printed_by_guest = [&](const Performer::Printed& said) { told.push_back(said); };
  bench.performer.perform(says);
  EXPECT_TRUE(told.empty()) << "the block has begun here";
  bench.state.homes[0].core = 1;
  bench.performer.perform(says);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1].share, &prints.share(1));
  EXPECT_EQ(told[1].block, 0U);
  EXPECT_EQ(told[1].thread, EffectsBench::row(says, 3) * isa::kLanes + EffectsBench::home(says, 3));
  EXPECT_EQ(told[1].value, 0xffff'fff3U);
  EXPECT_EQ(told[1].count, 300U);
}

TEST(Perform, AllocatesAndFrees) {
  PerformBench bench;
  const auto allocate = [](Code& code) { code.rrr(Op::HEAP_ALLOC_E, 4, 2, isa::kRZ); };
  const auto give_back = [](Code& code) { code.rrr(Op::HEAP_FREE_E, isa::kRZ, 2, isa::kRZ); };
  link::SubWarp none = bench.ready(allocate, 0b11);
  none.values.result[0].fill(5);
  bench.performer.perform(none);
  EXPECT_EQ(none.values.result[0][0], 0U) << "there is no heap";
  isa::DeviceHeap heap;
  isa::LaunchRequest request;
  request.block = bench.launch.block;
  request.grid = {1, 1, 1};
  heap.begin_launch(request);
  bench.launch.heap = &heap;
  link::SubWarp some = bench.ready(allocate, 0b11);
  for (unsigned lane = 0; lane < 2; ++lane) {
    some.values.a[0][lane] = 24;
    some.values.a[1][lane] = 0;
  }
  bench.performer.perform(some);
  EXPECT_EQ(bench.state.statistics.heap_allocations, 2U);
  EXPECT_EQ(bench.state.statistics.heap_bytes, 48U);
  link::SubWarp back = bench.ready(give_back, 0b11);
  back.row = some.row;
  for (unsigned lane = 0; lane < 2; ++lane) {
    const std::uint64_t address = some.values.result[0][lane] | (std::uint64_t{some.values.result[1][lane]} << 32U);
    EXPECT_TRUE(heap.holds(address)) << address;
    back.values.a[0][lane] = some.values.result[0][lane];
    back.values.a[1][lane] = some.values.result[1][lane];
  }
  bench.performer.perform(back);
  EXPECT_EQ(bench.state.statistics.heap_frees, 2U);
  EXPECT_FALSE(bench.state.fault);
  back.values.a[0][0] += 1;
  bench.performer.perform(back);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::bad_free);
}

TEST(Perform, RaisesWhatFails) {
  Machine traps;
  traps.core.division_trap = true;
  PerformBench bench(traps);
  const auto divide = [](Code& code) { code.rrr(Op::DIV_U, 5, 2, 3); };
  link::SubWarp by_zero = bench.ready(divide, 0b110);
  bench.performer.perform(by_zero);
  EXPECT_FALSE(bench.state.fault) << "lane 0 divides by zero, but does not execute";
  by_zero.values.b[0][2] = 0;
  bench.performer.perform(by_zero);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::division_by_zero);
  PerformBench other;
  by_zero.decoded = &other.decoded(divide);
  other.performer.perform(by_zero);
  EXPECT_FALSE(other.state.fault) << "the usual machine goes on";
  link::SubWarp trap = other.ready([](Code& code) { code.plain(Op::TRAP); }, 0b1000);
  other.performer.perform(trap);
  ASSERT_TRUE(other.state.fault);
  EXPECT_EQ(other.state.fault->kind, isa::Fault::Kind::trap);
  EXPECT_EQ(other.state.fault->detail, "the program executed trap");
}

TEST(Perform, TakesAddressesFromARecord) {
  PerformBench bench;
  ReplayRows replay(EffectsBench::kRows, isa::kLanes);
  std::vector<std::uint64_t> values(EffectsBench::kRows * isa::kLanes);
  for (unsigned row = 0; row < EffectsBench::kRows; ++row) {
    std::vector<ThreadRecord> threads(isa::kLanes);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      std::uint64_t& value = values[row * isa::kLanes + lane];
      value = 4096 * row + lane;
      threads[lane] = {nullptr, 0, &value, 1};
    }
    replay.start_row(row, threads);
  }
  bench.state.replay = &replay;
  link::SubWarp load = bench.ready([](Code& code) { code.load(Op::LD_GLOBAL, 5, 2, 0x20); }, 0x0ff0'a55aU);
  bench.performer.perform(load);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    EXPECT_EQ(load.address[lane],
              has(load.lanes, lane) ? 4096 * EffectsBench::row(load, lane) + EffectsBench::home(load, lane) : 0U)
        << lane;
  }
  link::SubWarp fixed = bench.ready([](Code& code) { code.load(Op::LD_GLOBAL, 5, isa::kRZ, 0x20); });
  bench.performer.perform(fixed);
  EXPECT_EQ(fixed.address[7], 0x20U) << "no register goes into it";
}

}  // namespace
}  // namespace heddle::hw::test
