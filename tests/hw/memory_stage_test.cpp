// The memory stage between stubs, cycle by cycle: what passes, what waits, what is put aside, and why it blocks.
#include "tests/hw/memory_stage_bench.hpp"

namespace heddle::hw::test {
namespace {

TEST(MemoryStage, OtherInstructionsPassAfterOneCycle) {
  MemoryBench bench;
  SubWarp& first = bench.add(0);
  SubWarp& second = bench.add(1);
  ASSERT_TRUE(bench.offer(first, 10));
  bench.tick(10);
  EXPECT_TRUE(bench.writeback.taken.empty());
  EXPECT_FALSE(bench.offer(second, 10)) << "one place";
  bench.tick(11);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0].sub_warp, &first);
  bench.feed(second, 11);
  ASSERT_EQ(bench.writeback.taken.size(), 2U);
  EXPECT_EQ(bench.writeback.taken[1].sub_warp, &second);
  EXPECT_TRUE(bench.l1.taken.empty());
}

TEST(MemoryStage, WaitsWhileWriteBackIsFull) {
  MemoryBench bench;
  SubWarp& first = bench.load(0, {0});
  SubWarp& second = bench.add(1);
  bench.writeback.room = false;
  ASSERT_TRUE(bench.offer(first, 0));
  for (Cycle now = 1; now <= 3; ++now) {
    bench.tick(now);
    EXPECT_EQ(bench.writeback.refused, now);
    EXPECT_EQ(bench.state.block_cause, IdleCause::memory_port);
    EXPECT_FALSE(bench.offer(second, now));
    EXPECT_FALSE(bench.stage.idle());
  }
  bench.writeback.room = true;
  bench.tick(4);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.l1.taken.size(), 1U) << "the line is not asked for again";
  EXPECT_TRUE(bench.offer(second, 4));
}

TEST(MemoryStage, EachLineTakesAPortCycleInOrderOfTheLowestLane) {
  MemoryBench bench;
  Cycle start = 0;
  for (const unsigned ports : {1U, 2U, 4U}) {
    SCOPED_TRACE(ports);
    bench.l1.ports = ports;
    bench.l1.taken.clear();
    bench.writeback.taken.clear();
    SubWarp& load = bench.load(0, {5, 2, 5, 9, 0, 2, 7, 5});  // five distinct lines
    SubWarp& next = bench.add(1);
    const Cycle cycles = (5 + ports - 1) / ports;
    ASSERT_TRUE(bench.offer(load, start));
    for (Cycle cycle = 1; cycle < cycles; ++cycle) {
      bench.tick(start + cycle);
      EXPECT_TRUE(bench.writeback.taken.empty()) << cycle;
      EXPECT_EQ(bench.state.block_cause, IdleCause::memory_port);
      EXPECT_FALSE(bench.offer(next, start + cycle)) << cycle;
    }
    bench.tick(start + cycles);
    ASSERT_EQ(bench.writeback.taken.size(), 1U);
    EXPECT_TRUE(bench.offer(next, start + cycles));
    const unsigned order[] = {5, 2, 9, 0, 7};
    const LaneMask lanes[] = {0x85858585, 0x22222222, 0x08080808, 0x10101010, 0x40404040};
    ASSERT_EQ(bench.l1.taken.size(), 5U);
    for (unsigned i = 0; i < 5; ++i) {
      const StubL1::Offer& line = bench.l1.taken[i];
      EXPECT_EQ(line.address, MemoryBench::line(order[i]));
      EXPECT_EQ(line.lanes, lanes[i]);
      EXPECT_EQ(line.cycle, start + 1 + i / ports);
    }
    MemoryBench::expect_loaded(load);
    bench.tick(start + cycles + 1);
    EXPECT_EQ(bench.writeback.taken.size(), 2U);
    start += 100;
  }
  EXPECT_EQ(bench.state.statistics.line_requests, 15U);
  EXPECT_EQ(bench.state.statistics.memory_instructions, 3U);
}

// A line whose bank is taken lets lines of other banks pass, and lines of its own bank keep their order.
TEST(MemoryStage, LinesOfABankFollowEachOther) {
  MemoryBench bench;
  bench.l1.ports = 4;
  bench.l1.banks = 2;
  SubWarp& load = bench.load(0, {5, 2, 5, 9, 0, 2, 7, 5});
  ASSERT_TRUE(bench.offer(load, 0));
  for (Cycle cycle = 1; cycle <= 2; ++cycle) {
    bench.tick(cycle);
    EXPECT_TRUE(bench.writeback.taken.empty()) << cycle;
    EXPECT_EQ(bench.state.block_cause, IdleCause::memory_port);
  }
  bench.tick(3);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  const unsigned order[] = {5, 2, 9, 0, 7};
  ASSERT_EQ(bench.l1.taken.size(), 5U);
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(bench.l1.taken[i].address, MemoryBench::line(order[i]));
    EXPECT_EQ(bench.l1.taken[i].cycle, 1 + i / 2);
  }
  MemoryBench::expect_loaded(load);
}

TEST(MemoryStage, OnlyExecutingLanesAskForLines) {
  MemoryBench bench;
  SubWarp& load = bench.load(0, {0, 1, 2, 3});
  load.executing = 0x0000'0220;  // lanes 5 and 9, both of line 1
  SubWarp& off = bench.load(1, {0});
  off.executing = 0;
  bench.feed(load, 0);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  ASSERT_EQ(bench.l1.taken.size(), 1U);
  EXPECT_EQ(bench.l1.taken[0].address, MemoryBench::line(1));
  EXPECT_EQ(bench.l1.taken[0].lanes, 0x220U);
  bench.feed(off, 1);
  EXPECT_EQ(bench.writeback.taken.size(), 2U);
  EXPECT_EQ(bench.l1.taken.size(), 1U);
}

TEST(MemoryStage, AMissIsPutAsideAndOthersFlowBy) {
  MemoryBench bench;
  bench.l1.missing = {MemoryBench::line(0), MemoryBench::line(2)};
  SubWarp& load = bench.load(0, {0, 1, 2});
  SubWarp& next = bench.add(1);
  Group& group = bench.state.groups[0];
  bench.feed(load, 0);
  bench.tick(2);
  EXPECT_EQ(group.state, GroupState::in_flight) << "a line has not been sent yet";
  EXPECT_EQ(bench.stage.put_aside(), 0U);
  bench.tick(3);
  EXPECT_EQ(group.state, GroupState::memory);
  EXPECT_EQ(bench.stage.put_aside(), 1U);
  bench.feed(next, 3);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0].sub_warp, &next);
  // The lines come in any order; the sub-warp goes on with the last one.
  bench.l1.respond(*bench.l1.taken[2].request);
  bench.tick(5);
  EXPECT_TRUE(bench.returns.taken.empty());
  EXPECT_EQ(group.state, GroupState::memory);
  bench.l1.respond(*bench.l1.taken[0].request);
  EXPECT_EQ(group.state, GroupState::in_flight);
  EXPECT_EQ(bench.stage.put_aside(), 0U);
  EXPECT_FALSE(bench.stage.idle());
  bench.tick(6);
  ASSERT_EQ(bench.returns.taken.size(), 1U);
  EXPECT_EQ(bench.returns.taken[0].sub_warp, &load);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_TRUE(bench.stage.idle());
  MemoryBench::expect_loaded(load);
  EXPECT_EQ(bench.state.statistics.put_aside, 1U);
}

TEST(MemoryStage, AMissAnsweredBeforeTheLastLineIsSentIsNoReason) {
  MemoryBench bench;
  bench.l1.missing = {MemoryBench::line(0)};
  SubWarp& load = bench.load(0, {0, 1, 2});
  bench.feed(load, 0);
  bench.l1.respond(*bench.l1.taken[0].request);
  bench.tick(2);
  EXPECT_TRUE(bench.returns.taken.empty());
  EXPECT_TRUE(bench.writeback.taken.empty());
  bench.tick(3);
  EXPECT_TRUE(bench.returns.taken.empty());
  ASSERT_EQ(bench.writeback.taken.size(), 1U) << "nothing is missing: it stays in the pipeline";
  MemoryBench::expect_loaded(load);
  EXPECT_EQ(bench.state.statistics.put_aside, 0U);
}

TEST(MemoryStage, CountsMissesByWhetherOtherLanesHit) {
  MemoryBench bench;
  Cycle now = 0;
  // Lanes' lines, which of them are missing and which are late; misses and partly missed accesses so far.
  const auto access = [&](const std::vector<unsigned>& lines, std::set<std::uint64_t> missing,
                          std::set<std::uint64_t> late) {
    bench.l1.missing = std::move(missing);
    bench.l1.late = std::move(late);
    bench.l1.taken.clear();
    bench.offer(bench.load(static_cast<GroupId>(now / 100), lines), now);
    for (unsigned cycle = 1; cycle <= 4; ++cycle) {
      bench.tick(now + cycle);
    }
    const std::vector<StubL1::Offer> taken = bench.l1.taken;
    for (const StubL1::Offer& offer : taken) {
      if (bench.l1.missing.count(offer.address) + bench.l1.late.count(offer.address) != 0) {
        bench.l1.respond(*offer.request);
      }
    }
    bench.tick(now + 5);
    now += 100;
    const CoreStatistics& statistics = bench.state.statistics;
    return std::pair(statistics.missed_accesses, statistics.partly_missed_accesses);
  };
  const auto line = [](unsigned index) { return MemoryBench::line(index); };
  EXPECT_EQ(access({0, 1}, {}, {}), std::pair(0UL, 0UL));
  EXPECT_EQ(access({0, 1}, {}, {line(0), line(1)}), std::pair(0UL, 0UL)) << "late hits are hits";
  EXPECT_EQ(access({0, 1}, {line(0)}, {}), std::pair(1UL, 1UL));
  EXPECT_EQ(access({0, 1}, {line(1)}, {line(0)}), std::pair(2UL, 2UL));
  EXPECT_EQ(access({0, 1}, {line(0), line(1)}, {}), std::pair(3UL, 2UL)) << "every lane misses";
  EXPECT_EQ(access({2}, {line(2)}, {}), std::pair(4UL, 2UL));
}

TEST(MemoryStage, AGroupWaitsForMemoryWhenAllItsSubWarpsDo) {
  MemoryBench bench;
  bench.l1.missing = {MemoryBench::line(0), MemoryBench::line(1)};
  Group& group = bench.state.groups[0];
  group.flight() = {2, 0, 0, true, false};
  SubWarp& first = bench.load(0, {0});
  SubWarp& second = bench.load(0, {1});
  bench.feed(first, 0);
  EXPECT_EQ(group.state, GroupState::in_flight);
  bench.feed(second, 1);
  EXPECT_EQ(group.state, GroupState::memory);
  EXPECT_EQ(group.flight().waiting, 2U);
  bench.l1.respond(*bench.l1.taken[1].request);
  bench.l1.respond(*bench.l1.taken[0].request);
  EXPECT_EQ(group.flight().waiting, 0U);
  // One return per cycle, in the order in which they became complete, kept while write-back refuses.
  bench.returns.room = false;
  bench.tick(3);
  EXPECT_EQ(bench.returns.refused, 1U);
  bench.returns.room = true;
  bench.tick(4);
  bench.tick(5);
  const std::vector<StubReceiver::Arrival> order = {{&second, 4}, {&first, 5}};
  EXPECT_EQ(bench.returns.taken, order);
}

TEST(MemoryStage, ABusyL1IsOfferedTheSameLineAgain) {
  MemoryBench bench;
  SubWarp& load = bench.load(0, {3, 1});
  bench.l1.full = true;
  bench.feed(load, 0);
  bench.tick(2);
  EXPECT_EQ(bench.state.block_cause, IdleCause::mshrs_full);
  ASSERT_EQ(bench.l1.refused.size(), 2U) << "one offer per cycle";
  EXPECT_EQ(bench.l1.refused[1].address, MemoryBench::line(3));
  EXPECT_EQ(bench.l1.refused[1].cycle, 2U);
  bench.l1.full = false;
  bench.tick(3);
  EXPECT_EQ(bench.state.block_cause, IdleCause::memory_port);
  bench.l1.full = true;
  bench.l1.full_of = link::LineRequest::Busy::write_buffer;
  bench.tick(4);
  EXPECT_EQ(bench.state.block_cause, IdleCause::write_buffer_full);
  bench.l1.full = false;
  EXPECT_TRUE(bench.writeback.taken.empty());
  bench.tick(5);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  ASSERT_EQ(bench.l1.taken.size(), 2U) << "each line once";
  EXPECT_EQ(bench.l1.taken[0].cycle, 3U);
  EXPECT_EQ(bench.l1.taken[1].cycle, 5U);
  EXPECT_EQ(bench.l1.taken[1].address, MemoryBench::line(1));
  MemoryBench::expect_loaded(load);
}

TEST(MemoryStage, WhatTheL1WantsIsTheCause) {
  using Busy = link::LineRequest::Busy;
  const std::pair<Busy, IdleCause> causes[] = {{Busy::mshrs, IdleCause::mshrs_full},
                                               {Busy::targets, IdleCause::targets_full},
                                               {Busy::write_buffer, IdleCause::write_buffer_full},
                                               {Busy::order, IdleCause::line_order}};
  MemoryBench bench;
  bench.l1.full = true;
  bench.offer(bench.load(0, {0}), 0);
  Cycle now = 0;
  for (const auto& [busy, cause] : causes) {
    bench.l1.full_of = busy;
    bench.tick(++now);
    EXPECT_EQ(bench.state.block_cause, cause) << kIdleCauses[static_cast<std::size_t>(cause)].name;
  }
}

TEST(MemoryStage, NoPlaceForAnotherWaitingAccessBlocks) {
  Machine machine;
  machine.core.pending_accesses = 2;
  MemoryBench bench(machine);
  bench.l1.missing = {MemoryBench::line(0), MemoryBench::line(1)};
  SubWarp& first = bench.load(0, {0});
  SubWarp& second = bench.load(1, {1});
  SubWarp& other = bench.add(2);
  SubWarp& third = bench.load(3, {2});
  bench.feed(first, 0);
  bench.feed(second, 1);
  EXPECT_EQ(bench.stage.put_aside(), 2U) << "both have a place";
  bench.feed(other, 2);
  EXPECT_EQ(bench.writeback.taken.size(), 1U) << "what needs no place passes";
  bench.feed(third, 3);
  bench.tick(5);
  EXPECT_EQ(bench.state.block_cause, IdleCause::pending_full);
  EXPECT_EQ(bench.l1.taken.size(), 2U);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
  bench.l1.respond(*bench.l1.taken[1].request);
  bench.tick(6);
  ASSERT_EQ(bench.writeback.taken.size(), 2U);
  EXPECT_EQ(bench.writeback.taken[1].sub_warp, &third);
  MemoryBench::expect_loaded(third);
}

// ---- disjoint lanes

TEST(MemoryStage, ThoseThatShareAPlaceGoOnTogether) {
  MemoryBench bench;
  SubWarp& first = bench.add(0);
  SubWarp& second = bench.add(1);
  SubWarp& third = bench.add(2);
  first.lanes = first.executing = 0x000000ff;
  second.lanes = second.executing = 0x0000ff00;
  third.lanes = third.executing = 0xffff0000;
  ASSERT_TRUE(bench.offer(first, 0));
  ASSERT_TRUE(bench.execute.out.offer_beside(second));
  ASSERT_TRUE(bench.execute.out.offer_beside(third));
  bench.writeback.room = false;
  bench.tick(1);
  bench.writeback.room = true;
  bench.tick(2);
  EXPECT_EQ(bench.writeback.taken, (std::vector<StubReceiver::Arrival>{{&first, 2}, {&second, 2}, {&third, 2}}));
  for (const SubWarp* const each : {&first, &second, &third}) {
    EXPECT_EQ(each->beside, nullptr);
  }
  EXPECT_TRUE(bench.stage.idle());
}

// ---- fences, faults

TEST(MemoryStage, AFenceWaitsForTheCoresStores) {
  Machine machine;
  machine.gpu.cores = 2;
  MemoryBench bench(machine);
  SubWarp& fence = bench.sub_warp(0, [](Code& code) { code.plain(Op::MEMBAR); });
  SubWarp& next = bench.add(1);
  bench.feed(fence, 0, false);
  EXPECT_EQ(bench.state.groups[0].state, GroupState::memory);
  bench.feed(next, 1, false);
  EXPECT_EQ(bench.writeback.taken.size(), 1U) << "others flow by";
  bench.tick(3, false);
  EXPECT_TRUE(bench.returns.taken.empty());
  EXPECT_EQ(bench.dropped, 0U);
  bench.tick(4, true);
  ASSERT_EQ(bench.returns.taken.size(), 1U);
  EXPECT_EQ(bench.state.groups[0].state, GroupState::in_flight);
  EXPECT_EQ(bench.dropped, 1U);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
}

TEST(MemoryStage, AFenceOfAnOnlyCoreJustPasses) {
  MemoryBench bench;
  SubWarp& fence = bench.sub_warp(0, [](Code& code) { code.plain(Op::MEMBAR); });
  bench.feed(fence, 0, false);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.dropped, 0U);
  EXPECT_TRUE(bench.stage.idle());
}

TEST(MemoryStage, AMisalignedLaneIsAFaultAndSendsNothing) {
  MemoryBench bench;
  SubWarp& load = bench.load(0, {0});
  load.address[9] += 2;
  load.address[11] += 1;
  bench.feed(load, 0);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::misaligned);
  EXPECT_EQ(bench.state.fault->address, kData + 4 * 9 + 2);
  EXPECT_EQ(bench.state.fault->pc, 7U);
  EXPECT_TRUE(bench.l1.taken.empty());
  EXPECT_TRUE(bench.writeback.taken.empty());
}

TEST(MemoryStage, AFailedLineNamesItsLowestLane) {
  MemoryBench bench;
  bench.l1.missing = {MemoryBench::line(1)};
  SubWarp& load = bench.load(0, {0, 0, 0, 1});
  bench.feed(load, 0);
  bench.tick(2);
  ASSERT_EQ(bench.l1.taken.size(), 2U);
  EXPECT_FALSE(bench.state.fault);
  bench.l1.respond(*bench.l1.taken[1].request, true);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::bus_error);
  EXPECT_EQ(bench.state.fault->address, load.address[3]);
}

TEST(MemoryStage, ResetForgetsWhatIsUnderWay) {
  Machine machine;
  machine.core.pending_accesses = 1;
  MemoryBench bench(machine);
  bench.l1.missing = {MemoryBench::line(0)};
  bench.feed(bench.load(0, {0}), 0);
  bench.feed(bench.load(1, {1}), 1);
  EXPECT_FALSE(bench.stage.empty());
  bench.stage.reset();
  EXPECT_TRUE(bench.stage.idle());
  EXPECT_EQ(bench.stage.put_aside(), 0U);
  bench.feed(bench.load(2, {2}), 10);
  EXPECT_EQ(bench.writeback.taken.size(), 1U) << "its place is free again";
}

}  // namespace
}  // namespace heddle::hw::test
