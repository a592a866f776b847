// The memory stage where the sub-warps of an instruction ask for their lines together (core.coalescer = whole-warp),
// cycle by cycle.
#include "tests/hw/memory_stage_bench.hpp"

namespace heddle::hw::test {
namespace {

struct GatheringBench : MemoryBench {
  explicit GatheringBench(unsigned sub_warps, unsigned pending = 64) : MemoryBench(machine_with(pending)) {
    for (GroupId id = 0; id < 8; ++id) {
      state.groups[id].flight() = {sub_warps, 0, 0, true, false};
    }
  }
  static Machine machine_with(unsigned pending) {
    Machine machine;
    machine.core.coalescer = "whole-warp";
    machine.core.pending_accesses = pending;
    return machine;
  }
  // Of a group: a store of `value` to the first word of a line, by lane `lane`.
  SubWarp& store(GroupId group, unsigned of_line, unsigned lane, std::uint32_t value) {
    SubWarp& out = sub_warp(group, [](Code& code) { code.store(Op::ST_GLOBAL, 2, 1); });
    out.lanes = out.executing = LaneMask{1} << lane;
    out.address[lane] = line(of_line) + 4 * lane;
    out.values.result[0][lane] = value;
    return out;
  }
};

TEST(Gathering, LinesAreAskedForOnceWhenTheLastSubWarpHasCome) {
  GatheringBench bench(3);
  SubWarp& first = bench.load(0, {5, 2});
  SubWarp& second = bench.load(0, {2});
  SubWarp& third = bench.load(0, {5, 7});
  bench.feed(first, 0);
  bench.feed(second, 1);
  EXPECT_TRUE(bench.l1.taken.empty()) << "the third may ask for the same";
  EXPECT_TRUE(bench.writeback.taken.empty());
  bench.feed(third, 2);
  for (Cycle now = 4; now <= 8; ++now) {
    bench.tick(now);
  }
  ASSERT_EQ(bench.l1.taken.size(), 3U) << "5, 2 and 7";
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.l1.taken[i].address, MemoryBench::line(std::array{5U, 2U, 7U}[i]));
    EXPECT_EQ(bench.l1.taken[i].cycle, 3U + i) << "one port";
  }
  EXPECT_EQ(bench.state.statistics.line_requests, 5U);
  EXPECT_EQ(bench.state.statistics.joined_lines, 2U);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0], (StubReceiver::Arrival{&third, 5}));
  ASSERT_EQ(bench.returns.taken.size(), 2U) << "those that waited, one per cycle";
  EXPECT_EQ(bench.returns.taken[0], (StubReceiver::Arrival{&first, 6}));
  EXPECT_EQ(bench.returns.taken[1], (StubReceiver::Arrival{&second, 7}));
  for (const SubWarp* const each : {&first, &second, &third}) {
    MemoryBench::expect_loaded(*each);
  }
  EXPECT_EQ(bench.state.groups[0].flight().late, 0U);
  EXPECT_TRUE(bench.stage.idle());
}

TEST(Gathering, OneAnswerServesAllThatWaitForALine) {
  GatheringBench bench(2);
  bench.l1.missing = {MemoryBench::line(4)};
  SubWarp& first = bench.load(0, {4});
  SubWarp& second = bench.load(0, {4, 1});
  bench.feed(first, 0);
  bench.feed(second, 1);
  bench.tick(3);
  ASSERT_EQ(bench.l1.taken.size(), 2U);
  EXPECT_EQ(bench.stage.put_aside(), 2U);
  EXPECT_EQ(bench.state.groups[0].state, GroupState::memory);
  bench.state.now = 20;
  bench.l1.respond(*bench.l1.taken[0].request);
  EXPECT_EQ(bench.stage.put_aside(), 0U);
  bench.tick(21);
  bench.tick(22);
  ASSERT_EQ(bench.returns.taken.size(), 2U);
  EXPECT_EQ(bench.returns.taken[0], (StubReceiver::Arrival{&first, 21}));
  EXPECT_EQ(bench.returns.taken[1], (StubReceiver::Arrival{&second, 22}));
  MemoryBench::expect_loaded(first);
  MemoryBench::expect_loaded(second);
}

TEST(Gathering, StoresOfALineAreOneAndLaterSubWarpsWin) {
  GatheringBench bench(3);
  bench.feed(bench.store(0, 6, 0, 11), 0);
  bench.feed(bench.store(0, 6, 3, 22), 1);
  bench.feed(bench.store(0, 6, 0, 33), 2);
  ASSERT_EQ(bench.l1.taken.size(), 1U);
  const link::LineRequest& request = *bench.l1.taken[0].request;
  std::uint32_t words[4];
  std::memcpy(words, request.store_data, sizeof words);
  EXPECT_EQ(words[0], 33U);
  EXPECT_EQ(words[3], 22U);
  for (unsigned byte = 0; byte < 16; ++byte) {
    EXPECT_EQ(request.byte_enable[byte], byte < 4 || byte >= 12 ? 0xffU : 0U) << byte;
  }
}

TEST(Gathering, ASubWarpThatAccessesNothingIsWaitedForToo) {
  GatheringBench bench(2);
  SubWarp& first = bench.load(0, {3});
  SubWarp& second = bench.load(0, {3});
  second.executing = 0;
  bench.feed(first, 0);
  EXPECT_TRUE(bench.l1.taken.empty());
  bench.feed(second, 1);
  bench.tick(3);
  ASSERT_EQ(bench.l1.taken.size(), 1U);
  EXPECT_EQ(bench.l1.taken[0].cycle, 2U);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0], (StubReceiver::Arrival{&second, 2}));
  ASSERT_EQ(bench.returns.taken.size(), 1U);
  EXPECT_EQ(bench.returns.taken[0], (StubReceiver::Arrival{&first, 3}));
}

TEST(Gathering, TheOnlySubWarpOfAnInstructionWaitsForNobody) {
  GatheringBench bench(1);
  SubWarp& only = bench.load(0, {3});
  bench.feed(only, 0);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0], (StubReceiver::Arrival{&only, 1}));
}

TEST(Gathering, InstructionsOfSeveralWarpsGatherSideBySide) {
  GatheringBench bench(2);
  bench.feed(bench.load(0, {1}), 0);
  bench.feed(bench.load(1, {1}), 1);
  EXPECT_TRUE(bench.l1.taken.empty());
  bench.feed(bench.load(1, {2}), 2);
  bench.tick(4);
  bench.feed(bench.load(0, {1}), 4);
  std::vector<std::uint64_t> lines;
  for (const StubL1::Offer& offer : bench.l1.taken) {
    lines.push_back(offer.address);
  }
  EXPECT_EQ(lines, (std::vector{MemoryBench::line(1), MemoryBench::line(2), MemoryBench::line(1)}))
      << "warp 1's two, then warp 0's one";
}

// A waiting access of one warp takes the only place: accesses that gather may come, and wait for it with their lines.
TEST(Gathering, WaitsForPlacesWithAllItsSubWarps) {
  GatheringBench bench(2, 2);
  bench.state.groups[1].flight() = {1, 0, 0, true, false};
  bench.l1.missing = {MemoryBench::line(9), MemoryBench::line(3)};
  bench.feed(bench.load(1, {9}), 0);
  EXPECT_EQ(bench.stage.put_aside(), 1U);
  bench.feed(bench.load(0, {3}), 1);
  bench.feed(bench.load(0, {3}), 2);
  bench.tick(4);
  EXPECT_EQ(bench.l1.taken.size(), 1U);
  EXPECT_EQ(bench.stage.refused(), MemoryStage::Refused::here);
  EXPECT_EQ(bench.state.block_cause, IdleCause::pending_full);
  bench.state.now = 4;
  bench.l1.respond(*bench.l1.taken[0].request);
  bench.tick(5);
  ASSERT_EQ(bench.l1.taken.size(), 2U);
  EXPECT_EQ(bench.l1.taken[1].cycle, 5U);
  EXPECT_EQ(bench.stage.put_aside(), 2U) << "both";
}

TEST(Gathering, MoreSubWarpsThanPlacesGoOnAlone) {
  GatheringBench bench(3, 1);
  bench.l1.missing = {MemoryBench::line(3)};
  for (Cycle now = 0; now < 3; ++now) {
    bench.feed(bench.load(0, {3}), now);
  }
  EXPECT_EQ(bench.l1.taken.size(), 1U);
  EXPECT_EQ(bench.stage.put_aside(), 3U);
}

// The last sub-warp has no access of its own to ask the L1 about.
TEST(Gathering, LinesAreRefusedToTheOthersAtTheHeadOfASubWarpThatAccessesNothing) {
  GatheringBench bench(2);
  bench.l1.full = true;
  bench.feed(bench.load(0, {3}), 0);
  SubWarp& second = bench.load(0, {3});
  second.executing = 0;
  bench.feed(second, 1);
  EXPECT_EQ(bench.stage.refused(), MemoryStage::Refused::no) << "a stub is asked in every cycle";
  EXPECT_FALSE(bench.stage.rests_on());
  EXPECT_EQ(bench.l1.taken.size(), 0U);
  bench.l1.full = false;
  bench.tick(3);
  EXPECT_EQ(bench.l1.taken.size(), 1U);
}

TEST(Gathering, AtomicsKeepTheirOwnRequests) {
  GatheringBench bench(2);
  for (Cycle now = 0; now < 2; ++now) {
    SubWarp& atomic = bench.sub_warp(
        0, [](Code& code) { code.atomic(Op::ATOM_GLOBAL, isa::AtomicOp::add, isa::Type::u32, 1, 2, 3); });
    atomic.address.fill(MemoryBench::line(2));
    bench.feed(atomic, now);
  }
  EXPECT_EQ(bench.l1.taken.size(), 2U);
  EXPECT_EQ(bench.state.statistics.joined_lines, 0U);
}

}  // namespace
}  // namespace heddle::hw::test
