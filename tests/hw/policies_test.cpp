// Schedulers, formers, disciplines, coalescers and tables alone: plain C++, no SystemC kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "hw/check/machine.hpp"
#include "hw/coalesce/coalescer.hpp"
#include "hw/gpu/dispatcher.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/schedule/orders.hpp"
#include "hw/schedule/two_level.hpp"
#include "hw/scratchpad/scratchpad.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;

// ---- groups

TEST(GroupRange, NextReadyWrapsAround) {
  const CoreParameters core;
  GroupTable groups(70, 1);
  const GroupRange all({groups, core});
  EXPECT_FALSE(all.next_ready(3));
  for (const GroupId id : {2U, 7U, 64U}) {
    groups.set_state(groups[id], GroupState::ready);
  }
  EXPECT_EQ(all.next_ready(0), 2U);
  EXPECT_EQ(all.next_ready(2), 2U);
  EXPECT_EQ(all.next_ready(3), 7U);
  EXPECT_EQ(all.next_ready(8), 64U);
  EXPECT_EQ(all.next_ready(65), 2U);
  EXPECT_EQ(all.next_ready(70), 2U) << "one past the last starts anew";
  const GroupRange some({groups, core, 5, 64});
  EXPECT_EQ(some.next_ready(8), 7U) << "in the word where the search began, below its start";
  EXPECT_EQ(some.next_ready(2), 7U) << "before the range: at its first";
  groups.set_state(groups[7], GroupState::memory);
  EXPECT_FALSE(some.next_ready(5));
  GroupTable none(0, 1);
  EXPECT_FALSE(GroupRange({none, core}).next_ready(3));
}

TEST(GroupTable, KeepsSetsAndCounts) {
  GroupTable groups(3, 1);
  EXPECT_EQ(groups.count(GroupState::free), 3U);
  EXPECT_FALSE(groups.any_ready());
  const struct {
    GroupState state;
    bool ready, stalled, live;
  } states[] = {{GroupState::ready, true, false, true},      {GroupState::fetching, false, false, true},
                {GroupState::in_flight, false, false, true}, {GroupState::memory, false, true, true},
                {GroupState::barrier, false, true, true},    {GroupState::free, false, false, false}};
  for (const auto& [state, ready, stalled, live] : states) {
    groups.set_state(groups[1], state);
    EXPECT_EQ(groups[1].state, state);
    EXPECT_EQ(groups.ready()[0], ready ? 2U : 0U);
    EXPECT_EQ(groups.stalled()[0], stalled ? 2U : 0U);
    EXPECT_EQ(groups.live()[0], live ? 2U : 0U);
    EXPECT_EQ(groups.count(state), state == GroupState::free ? 3U : 1U);
    EXPECT_EQ(groups.any_ready(), ready);
  }
}

// ---- round robin

TEST(RoundRobin, TakesEveryReadyGroupInTurn) {
  const CoreParameters core;
  GroupTable groups(5, 1);
  const auto scheduler = Registry<WarpScheduler>::instance().make("round-robin", {groups, core});
  EXPECT_FALSE(scheduler->pick(0));
  for (const GroupId id : {0U, 2U, 3U}) {
    groups.set_state(groups[id], GroupState::ready);
  }
  std::vector<GroupId> picked;
  for (unsigned i = 0; i < 7; ++i) {
    picked.push_back(*scheduler->pick(i));
  }
  EXPECT_THAT(picked, ElementsAre(0, 2, 3, 0, 2, 3, 0));
  groups.set_state(groups[0], GroupState::in_flight);
  groups.set_state(groups[4], GroupState::ready);
  EXPECT_EQ(scheduler->pick(7), 2U);
  EXPECT_EQ(scheduler->pick(8), 3U);
  EXPECT_EQ(scheduler->pick(9), 4U);
  EXPECT_EQ(scheduler->pick(10), 2U);
}

// ---- rows

std::vector<std::pair<unsigned, LaneMask>> formed(std::vector<LaneMask> candidates) {
  const auto rows = static_cast<unsigned>(candidates.size());
  const auto former = Registry<SubWarpFormer>::instance().make("rows", {32, rows, CoreParameters()});
  EXPECT_FALSE(about<SubWarpFormer>("rows").traits.packs);
  const std::vector<LaneMask> pending(rows, 0);
  std::vector<std::pair<unsigned, LaneMask>> shapes;
  SubWarpShape shape;
  while (shapes.size() < 100 && former->form({}, candidates, pending, shape)) {
    EXPECT_TRUE(shape.uniform);
    shapes.emplace_back(shape.first_row, shape.lanes);
  }
  return shapes;
}

TEST(Rows, OneSubWarpPerRowThatHasAThread) {
  EXPECT_THAT(formed({0xff}), ElementsAre(std::pair(0U, 0xffU)));
  EXPECT_THAT(formed({0, 0xf, 0, 0x80000000}), ElementsAre(std::pair(1U, 0xfU), std::pair(3U, 0x80000000U)));
}

TEST(Rows, ARowWithAThreadInFlightWaitsAndTheOthersDoNot) {
  const auto former = Registry<SubWarpFormer>::instance().make("rows", {32, 3, CoreParameters()});
  std::vector<LaneMask> candidates = {0b01, 0b11, 0};
  std::vector<LaneMask> pending = {0b10, 0, 0b11};
  SubWarpShape shape;
  ASSERT_TRUE(former->form({}, candidates, pending, shape));
  EXPECT_EQ(shape.first_row, 1U);
  EXPECT_FALSE(former->form({}, candidates, pending, shape)) << "row 0 has a thread in flight";
  pending[0] = 0;
  candidates[0] = 0b11;
  ASSERT_TRUE(former->form({}, candidates, pending, shape));
  EXPECT_EQ(shape.lanes, 0b11U);
}

TEST(Rows, NoThreadIsNoSubWarp) {
  EXPECT_TRUE(formed({0, 0}).empty());
}

// ---- strict barrel

TEST(Strict, WaitsForEverySubWarp) {
  const CoreParameters core;
  const auto strict = Registry<IssueDiscipline>::instance().make("strict", {core});
  Group group;
  group.flight() = {1, 1, 0, false, false};
  EXPECT_FALSE(strict->release(group, {})) << "another sub-warp follows";
  group.flight() = {2, 1, 1, true, false};
  EXPECT_FALSE(strict->release(group, {})) << "one waits for memory";
  group.flight() = {2, 2, 0, true, false};
  EXPECT_TRUE(strict->release(group, {}));
}

// ---- coalescer

using Line = std::pair<std::uint64_t, LaneMask>;

// `address` of a piece and lane.
template <class Address>
std::vector<Line> coalesced(LaneMask lanes, unsigned pieces, Address address) {
  LaneAddresses addresses;
  addresses.lanes = lanes;
  addresses.pieces = pieces;
  for (unsigned piece = 0; piece < pieces; ++piece) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      addresses.address[piece][lane] = address(piece, lane);
    }
  }
  std::vector<LineAccess> lines = {{1, 1}};  // cleared first
  Registry<Coalescer>::instance().make("per-sub-warp", {128})->coalesce(addresses, lines);
  std::vector<Line> result;
  for (const LineAccess& line : lines) {
    result.emplace_back(line.line, line.lanes);
  }
  return result;
}

TEST(PerSubWarp, NeighboursShareALine) {
  EXPECT_THAT(coalesced(~0U, 1, [](unsigned, unsigned lane) { return 0x1000ULL + 4 * lane; }),
              ElementsAre(Line(0x1000ULL, ~0U)));
  EXPECT_THAT(coalesced(~0U, 1, [](unsigned, unsigned lane) { return 0x1040ULL + 4 * lane; }),
              ElementsAre(Line(0x1000ULL, 0xffffU), Line(0x1080ULL, 0xffff0000U)));
}

TEST(PerSubWarp, LinesGoInTheOrderOfTheirLowestLane) {
  EXPECT_THAT(coalesced(0b1111, 1, [](unsigned, unsigned lane) { return (lane % 2 == 0 ? 0x2000ULL : 0x1000ULL); }),
              ElementsAre(Line(0x2000ULL, 0b0101U), Line(0x1000ULL, 0b1010U)));
}

TEST(PerSubWarp, LanesThatDoNotTakePartCountForNothing) {
  EXPECT_THAT(coalesced(0b100, 1, [](unsigned, unsigned lane) { return 0x1000ULL * lane; }),
              ElementsAre(Line(0x2000ULL, 0b100U)));
  EXPECT_TRUE(coalesced(0, 1, [](unsigned, unsigned) { return 0ULL; }).empty());
}

TEST(PerSubWarp, PiecesOfOneLineMerge) {
  EXPECT_THAT(coalesced(0b11, 2, [](unsigned piece, unsigned lane) { return 0x1000ULL + 0x80 * piece + 4 * lane; }),
              ElementsAre(Line(0x1000ULL, 0b11U), Line(0x1080ULL, 0b11U)));
  EXPECT_THAT(coalesced(0b11, 2, [](unsigned piece, unsigned lane) { return 0x1000ULL + 0x80 * (piece ^ lane); }),
              ElementsAre(Line(0x1000ULL, 0b11U), Line(0x1080ULL, 0b11U)));
}

TEST(PerSubWarp, AddressesBeyondFourGigabytes) {
  EXPECT_THAT(coalesced(0b11, 1, [](unsigned, unsigned lane) { return 0x1'0000'0000ULL * (lane + 1) + 8; }),
              ElementsAre(Line(0x1'0000'0000ULL, 0b01U), Line(0x2'0000'0000ULL, 0b10U)));
}

// ---- scratchpad banks

unsigned cycles(LaneMask lanes, unsigned bytes, bool atomic, unsigned banks, std::uint32_t (*address)(unsigned lane)) {
  ScratchpadAccess access;
  access.lanes = lanes;
  access.bytes = bytes;
  access.atomic = atomic;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    access.address[lane] = address(lane);
  }
  return scratchpad_cycles(access, banks);
}

TEST(ScratchpadCycles, CountDistinctWordsPerBank) {
  EXPECT_EQ(cycles(~0U, 4, false, 32, [](unsigned lane) { return 4 * lane; }), 1U);
  EXPECT_EQ(cycles(~0U, 4, false, 32, [](unsigned) { return 64U; }), 1U) << "broadcast";
  EXPECT_EQ(cycles(~0U, 4, false, 32, [](unsigned lane) { return lane / 2 * 4; }), 1U) << "pairs share words";
  EXPECT_EQ(cycles(~0U, 4, false, 32, [](unsigned lane) { return 8 * lane; }), 2U);
  EXPECT_EQ(cycles(~0U, 4, false, 32, [](unsigned lane) { return 128 * lane; }), 32U);
  EXPECT_EQ(cycles(0x0f, 4, false, 32, [](unsigned lane) { return 128 * lane; }), 4U) << "of active lanes only";
  EXPECT_EQ(cycles(~0U, 4, false, 32, [](unsigned lane) { return lane < 31 ? 4 * lane : 128U; }), 2U);
  // Bank 0 is wanted for words 0, 32 and 0 again: two cycles, not three.
  EXPECT_EQ(cycles(0b111, 4, false, 32, [](unsigned lane) { return lane == 1 ? 128U : 0U; }), 2U);
  EXPECT_EQ(cycles(0, 4, false, 32, [](unsigned) { return 0U; }), 1U);
}

TEST(ScratchpadCycles, BytesOfAWordAreOneAccess) {
  EXPECT_EQ(cycles(~0U, 1, false, 32, [](unsigned lane) { return lane; }), 1U);
  EXPECT_EQ(cycles(~0U, 2, false, 32, [](unsigned lane) { return 2 * lane; }), 1U);
}

TEST(ScratchpadCycles, WideAccessesTakeTheirWords) {
  EXPECT_EQ(cycles(~0U, 8, false, 32, [](unsigned lane) { return 8 * lane; }), 2U);
  EXPECT_EQ(cycles(~0U, 16, false, 32, [](unsigned lane) { return 16 * lane; }), 4U);
  EXPECT_EQ(cycles(~0U, 8, false, 32, [](unsigned) { return 8U; }), 1U);
  EXPECT_EQ(cycles(0xffff, 8, false, 32, [](unsigned lane) { return 8 * lane; }), 1U);
}

TEST(ScratchpadCycles, AtomicsOnOneWordTakeTurns) {
  EXPECT_EQ(cycles(~0U, 4, true, 32, [](unsigned) { return 0U; }), 32U);
  EXPECT_EQ(cycles(~0U, 4, true, 32, [](unsigned lane) { return 4 * lane; }), 1U);
  EXPECT_EQ(cycles(~0U, 4, true, 32, [](unsigned lane) { return lane / 4 * 4; }), 4U);
}

TEST(ScratchpadCycles, FewerBanksConflictMore) {
  EXPECT_EQ(cycles(~0U, 4, false, 16, [](unsigned lane) { return 4 * lane; }), 2U);
  EXPECT_EQ(cycles(~0U, 4, false, 1, [](unsigned lane) { return 4 * lane; }), 32U);
  EXPECT_EQ(cycles(~0U, 4, false, 64, [](unsigned lane) { return 8 * lane; }), 1U);
}

// Against counting the words of each bank in a set, or, of atomics, all words.
TEST(ScratchpadCycles, OfAnyAddresses) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 20'000; ++round) {
    ScratchpadAccess access;
    access.lanes = random() % 3 == 0 ? ~LaneMask{0} : static_cast<LaneMask>(random());
    access.atomic = random() % 4 == 0;
    access.bytes = 4U << (access.atomic ? 0 : random() % 3);
    const unsigned banks = 1U << random() % 7;
    const std::uint32_t words = 1U << random() % 12;  // few: most are wanted more than once
    std::vector<std::set<std::uint32_t>> distinct(banks);
    std::vector<unsigned> all(banks, 0);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      const std::uint32_t word = static_cast<std::uint32_t>(random()) % words * (access.bytes / 4);
      access.address[lane] = 4 * word;
      for (unsigned of_lane = 0; ((access.lanes >> lane) & 1U) != 0 && of_lane < access.bytes / 4; ++of_lane) {
        distinct[(word + of_lane) % banks].insert(word + of_lane);
        ++all[(word + of_lane) % banks];
      }
    }
    std::size_t most = 1;
    for (unsigned bank = 0; bank < banks; ++bank) {
      most = std::max(most, access.atomic ? std::size_t{all[bank]} : distinct[bank].size());
    }
    ASSERT_EQ(scratchpad_cycles(access, banks), most) << round;
  }
}

// ---- residency

Launch launch_of(std::uint32_t threads, std::uint32_t registers, std::uint32_t shared) {
  Launch launch;
  launch.block = {threads, 1, 1};
  launch.registers = registers;
  launch.shared_bytes = shared;
  return launch;
}

TEST(Residency, IsTheScarcestResource) {
  const Machine machine;  // 1024 threads, 8 blocks, 16384 registers, 128 KB of scratchpad
  const struct {
    Launch launch;
    unsigned blocks;
    const char* limit;
  } cases[] = {{launch_of(32, 16, 0), 8, "core.blocks"},
               {launch_of(256, 16, 0), 4, "core.threads"},
               {launch_of(1024, 16, 0), 1, "core.threads"},
               {launch_of(1000, 16, 0), 1, "core.threads"},
               {launch_of(256, 17, 0), 3, "core.registers"},
               {launch_of(1, 63, 0), 8, "core.blocks"},
               {launch_of(32, 16, 131072), 1, "scratchpad.bytes"},
               {launch_of(32, 16, 131072 / 8), 8, "core.blocks"},
               {launch_of(32, 16, 131072 / 8 + 1), 7, "scratchpad.bytes"}};
  for (const auto& [launch, blocks, limit] : cases) {
    const Residency room = residency(machine, launch);
    EXPECT_EQ(room.blocks, blocks) << limit;
    EXPECT_EQ(room.limit, limit);
    EXPECT_EQ(room.reason, "");
  }
}

TEST(Residency, SaysWhatIsTooSmall) {
  const Machine machine;
  EXPECT_EQ(residency(machine, launch_of(1024, 17, 0)).reason,
            "a block needs 17408 registers, a core has 16384 (core.registers)");
  EXPECT_EQ(residency(machine, launch_of(32, 16, 131073)).reason,
            "a block needs 131073 bytes of scratchpad, a core has 131072 (scratchpad.bytes)");
  Machine small;
  small.core.threads = 64;
  EXPECT_EQ(residency(small, launch_of(65, 16, 0)).reason,
            "a block needs 96 threads (whole warps), a core has 64 (core.threads)");
  EXPECT_EQ(residency(small, launch_of(65, 16, 0)).blocks, 0U);
}

// ---- contradictions

std::string contradictions(void (*change)(Machine&)) {
  Machine machine;
  change(machine);
  std::string keys;
  for (const Contradiction& found : check(machine)) {
    keys += found.key + ' ';
    EXPECT_NE(found.message, "");
  }
  return keys;
}

TEST(Check, FindsContradictions) {
  EXPECT_EQ(contradictions([](Machine&) {}), "");
  EXPECT_EQ(contradictions([](Machine& m) { m.core.warp_size = 48; }), "core.warp_size core.threads ");
  EXPECT_EQ(contradictions([](Machine& m) { m.core.threads = 1000; }), "core.threads ");
  EXPECT_EQ(contradictions([](Machine& m) { m.l1d.ways = 3; }), "l1d.ways ");
  EXPECT_EQ(contradictions([](Machine& m) { m.icache.ways = 64; }), "icache.ways ");
  EXPECT_EQ(contradictions([](Machine& m) { m.l1d.line_bytes = 64; }), "icache.line_bytes ");
  EXPECT_EQ(contradictions([](Machine& m) { m.dram.row_conflict = 99; }), "dram.row_conflict ");
  EXPECT_EQ(contradictions([](Machine& m) { m.gpu.cores = 2; }), "l1d.write_policy ");
  EXPECT_EQ(contradictions([](Machine& m) {
              m.gpu.cores = 2;
              m.l1d.write_policy = "write-through";
            }),
            "");
  EXPECT_EQ(contradictions([](Machine& m) {
              m.core.scheduler = m.core.policies.of<TwoLevelParameters>().inner_scheduler = "two-level";
            }),
            "two_level.inner_scheduler ");
  EXPECT_EQ(contradictions([](Machine& m) { m.core.scheduler = "majority"; }), "core.scheduler ");
  EXPECT_EQ(contradictions([](Machine& m) { m.core.policies.of<TwoLevelParameters>().inner_scheduler = "majority"; }),
            "");  // not asked
  EXPECT_EQ(contradictions([](Machine& m) {
              m.core.scheduler = "two-level";
              m.core.policies.of<TwoLevelParameters>().inner_scheduler = "majority";
            }),
            "two_level.inner_scheduler ");
  EXPECT_EQ(contradictions([](Machine& m) { m.l2.bytes = 1000; }), "");  // there is none
  EXPECT_EQ(contradictions([](Machine& m) {
              m.l2.enabled = true;
              m.dram.channels = 3;
            }),
            "l2.bytes ");
  EXPECT_EQ(contradictions([](Machine& m) {
              m.l2.enabled = true;
              m.dram.channels = 3;
              m.l2.bytes = 3 << 20;
            }),
            "");
  EXPECT_EQ(contradictions([](Machine& m) {
              m.l2.enabled = true;
              m.l2.line_bytes = 64;
            }),
            "l2.line_bytes ");
}

}  // namespace
}  // namespace heddle::hw
