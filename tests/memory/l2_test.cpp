// The L2: what its slices answer, merge, keep, send on and take back.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "system.hpp"

namespace heddle::hw::test {
namespace {

constexpr std::uint64_t kLine = 128;

// L1s of four lines that write through, before an L2 of 64 lines.
SystemParameters with_l2(unsigned cores = 1) {
  SystemParameters parameters;
  parameters.cores = cores;
  parameters.cache.bytes = 512;
  parameters.cache.ways = 2;
  parameters.cache.write_policy = "write-through";
  parameters.l2.enabled = true;
  parameters.l2.bytes = 64 * kLine;
  parameters.l2.ways = 4;
  return parameters;
}

// An L2 of one set of two lines.
SystemParameters with_tiny_l2(unsigned cores = 1) {
  SystemParameters parameters = with_l2(cores);
  parameters.l2.bytes = 2 * kLine;
  parameters.l2.ways = 2;
  return parameters;
}

// A request takes one cycle to the interconnect, one to the slice; so does a response. A miss adds one to the
// controller and one back to the 300 of a row conflict.
TEST(L2, HitsAndMissesTakeTheirTime) {
  MemorySystem system(with_l2(2));
  system.memory.put<std::uint32_t>(kBase + 8, 77);
  const Access& miss = system.core(0).load(0, kBase);
  const Access& hit = system.core(1).load(400, kBase);
  const Access& store = system.core(1).store_word(500, kBase + kLine, 3);
  system.run();
  EXPECT_EQ(miss.answered, 306U);
  EXPECT_EQ(hit.answered, 433U);  // 30 cycles of latency, 3 of ways
  EXPECT_EQ(hit.word(2), 77U);
  EXPECT_EQ(store.answered, 500U);  // posted
  const CacheStatistics& statistics = system.l2().store().statistics();
  EXPECT_EQ(statistics.accesses, 3U);
  EXPECT_EQ(statistics.hits, 1U);
  EXPECT_EQ(statistics.misses, 2U);
  EXPECT_EQ(system.controller().statistics().reads, 2U);  // the store allocates
}

TEST(L2, ABankStartsAnAccessPerInterval) {
  SystemParameters parameters = with_l2(2);
  parameters.l2.bank_interval = 10;
  MemorySystem system(parameters);
  system.core(0).load(0, kBase);
  system.core(0).load(1, kBase + kLine);
  system.core(0).load(2, kBase + 4 * kLine);
  // One line: one bank. The other two: lines 0 and 4 share bank 0 of four, line 1 is in another.
  const Access& first = system.core(0).load(1000, kBase, true);
  const Access& same = system.core(1).load(1001, kBase);
  const Access& third = system.core(0).load(2000, kBase, true);
  const Access& shared = system.core(1).load(2001, kBase + 4 * kLine);
  const Access& fifth = system.core(0).load(3000, kBase, true);
  const Access& other = system.core(1).load(3001, kBase + kLine);
  system.run();
  EXPECT_EQ(first.answered, 1033U);
  EXPECT_EQ(same.answered, 1043U);
  EXPECT_EQ(third.answered, 2033U);
  EXPECT_EQ(shared.answered, 2043U);
  EXPECT_EQ(fifth.answered, 3033U);
  EXPECT_EQ(other.answered, 3034U);                                     // a cycle later, as it was asked for
  EXPECT_EQ(system.l2().statistics().queue_wait_cycles, 9U + 9U + 8U);  // the last: line 1 follows line 0 at the start
}

TEST(L2, MissesOfSeveralCoresMerge) {
  MemorySystem system(with_l2(4));
  system.memory.put<std::uint32_t>(kBase, 5);
  std::vector<const Access*> loads;
  for (unsigned core = 0; core != 4; ++core) {
    loads.push_back(&system.core(core).load(0, kBase));
  }
  system.run();
  for (const Access* load : loads) {
    EXPECT_EQ(load->word(), 5U);
  }
  EXPECT_EQ(system.l2().store().statistics().merged, 3U);
  EXPECT_EQ(system.controller().statistics().reads, 1U);
}

TEST(L2, AWriteBackSliceKeepsStoresUntilTheirLineGoes) {
  SystemParameters parameters = with_tiny_l2();
  parameters.prefix = "stays_";
  MemorySystem stays(parameters);
  parameters.prefix = "goes_";
  MemorySystem goes(parameters);
  for (MemorySystem* system : {&stays, &goes}) {
    system->core().store_word(0, kBase, 11);
    system->core().store_word(400, kBase, 12);
    system->core().load(500, kBase + kLine);
  }
  goes.core().load(2000, kBase + 2 * kLine);  // takes the place of line 0
  stays.run();
  EXPECT_EQ(stays.controller().statistics().writes, 0U);
  EXPECT_EQ(stays.memory.get<std::uint32_t>(kBase), 0U);
  goes.run();
  EXPECT_EQ(goes.controller().statistics().writes, 1U);
  EXPECT_EQ(goes.l2().store().statistics().write_backs, 1U);
  EXPECT_EQ(goes.memory.get<std::uint32_t>(kBase), 12U);
}

TEST(L2, AWriteThroughSliceSendsStoresOnAndKeepsItsCopyRight) {
  SystemParameters parameters = with_l2(2);
  parameters.l2.write_policy = "write-through";
  MemorySystem system(parameters);
  system.core(0).store_word(0, kBase, 11);  // allocates nothing
  system.core(0).load(1000, kBase);
  system.core(0).store_word(2000, kBase, 12);
  const Access& other = system.core(1).load(3000, kBase);
  system.run();
  EXPECT_EQ(other.word(), 12U);
  EXPECT_EQ(other.answered, 3033U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 12U);
  EXPECT_EQ(system.controller().statistics().writes, 2U);
  EXPECT_EQ(system.controller().statistics().reads, 1U);
}

TEST(L2, AFlushWritesDirtyLinesBack) {
  MemorySystem system(with_l2());
  for (unsigned i = 0; i != 8; ++i) {
    system.core().store_word(0, kBase + kLine * i, i + 1);
  }
  system.run();
  EXPECT_TRUE(system.l2().holds(kBase));
  system.flush();
  EXPECT_FALSE(system.l2().holds(kBase));
  for (unsigned i = 0; i != 8; ++i) {
    EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + kLine * i), i + 1);
  }
  EXPECT_EQ(system.l2().store().statistics().write_backs, 8U);
}

// Memory has the dirty bytes, and those alone, without a write in its time.
TEST(L2, AFlushInNoTimeWritesTheSameBytes) {
  SystemParameters parameters = with_l2();
  parameters.l2.write_back_at_end = false;
  MemorySystem system(parameters);
  for (unsigned i = 0; i != 8; ++i) {
    system.memory.put<std::uint64_t>(kBase + kLine * i + 8, 0x1111'1111'1111'1111);
    system.core().store_word(0, kBase + kLine * i, i + 1);
    system.core().store_word(0, kBase + kLine * i + 12, i + 100);
  }
  system.run();
  const std::uint64_t before = system.controller().statistics().writes;
  system.memory.put<std::uint32_t>(kBase + 8, 7);  // what the slice has read before and nobody has stored
  system.flush();
  EXPECT_FALSE(system.l2().holds(kBase));
  for (unsigned i = 0; i != 8; ++i) {
    EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + kLine * i), i + 1);
    EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + kLine * i + 8), i == 0 ? 7U : 0x1111'1111U);
    EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + kLine * i + 12), i + 100);
  }
  EXPECT_EQ(system.controller().statistics().writes, before);
  EXPECT_EQ(system.l2().store().statistics().write_backs, 0U);
}

// Two channels' slices of 64 lines each: 16 sets of four ways that lie 16 lines of the channel apart. Rows of 1 KB in
// two banks: eight rows, each of which is opened once.
TEST(L2, AFlushWritesRowByRow) {
  SystemParameters parameters = with_l2();
  parameters.l2.bytes = 128 * kLine;
  parameters.l2.write_buffer = 4;
  parameters.dram.channels = 2;
  parameters.dram.banks = 2;
  parameters.dram.row_bytes = 1024;
  MemorySystem system(parameters);
  for (unsigned i = 0; i != 128; ++i) {
    const unsigned line = i * 33 % 128;  // in no order of rows
    system.core().store_line(0, kBase + kLine * line, line);
  }
  system.run();
  system.flush();
  for (unsigned channel = 0; channel != 2; ++channel) {
    EXPECT_EQ(system.controller(channel).statistics().writes, 64U);
    EXPECT_EQ(system.controller(channel).statistics().row_conflicts, 8U);
    EXPECT_EQ(system.controller(channel).statistics().row_hits, 56U);
  }
  for (unsigned line = 0; line != 128; ++line) {
    EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + kLine * line), line);
  }
}

// Channels' lines must not all fall into the sets that their channel bits choose.
class L2Channels : public ::testing::TestWithParam<unsigned> {};

TEST_P(L2Channels, EverySliceUsesItsWholeCapacity) {
  const unsigned channels = GetParam();
  SystemParameters parameters = with_l2();
  parameters.dram.channels = channels;
  parameters.l2.bytes = std::uint64_t{16} * kLine * channels;
  parameters.l2.ways = 1;
  MemorySystem system(parameters);
  for (unsigned i = 0; i != 16 * channels; ++i) {
    system.core().load(0, kBase + kLine * i);
  }
  system.run();
  for (unsigned channel = 0; channel != channels; ++channel) {
    EXPECT_EQ(system.l2(channel).store().statistics().evictions, 0U);
    EXPECT_EQ(system.l2(channel).store().statistics().fills, 16U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, L2Channels, ::testing::Values(1U, 2U, 3U, 4U));

// ---- row-buffer hints (thesis 7.2)

TEST(L2, AHintOnAMissHoldsItsRowAndOneOnAHitDoesNot) {
  MemorySystem system(with_l2(2));
  system.core(0).load(0, kBase).request.row_hint = true;
  system.core(1).load(1000, kBase).request.row_hint = true;
  system.run();
  EXPECT_EQ(system.l2().store().statistics().hits, 1U);
  EXPECT_EQ(system.controller().statistics().hints.holds, 1U);
}

class L2MergedHint : public ::testing::TestWithParam<bool> {};

TEST_P(L2MergedHint, CountsUntilTheReadHasLeft) {
  const bool left = GetParam();
  SystemParameters parameters = with_l2(2);
  parameters.dram.queue = 1;
  parameters.dram.banks = 1;
  MemorySystem system(parameters);
  // Line 0 is read at once, line 1 waits in the controller's queue, line 2 before it, line 3 in the slice.
  for (unsigned i = 0; i != 4; ++i) {
    system.core(0).load(i, kBase + kLine * i);
  }
  Access& merged = system.core(1).load(20, left ? kBase : kBase + 3 * kLine);
  merged.request.row_hint = true;
  system.run();
  EXPECT_EQ(system.l2().store().statistics().merged, 1U);
  EXPECT_EQ(system.controller().statistics().hints.holds, left ? 0U : 1U);
  EXPECT_NE(merged.answered, kNever);
}

INSTANTIATE_TEST_SUITE_P(All, L2MergedHint, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "left" : "waits"; });

struct Starts final : DramObserver {
  void access(const DramRequest& request, Cycle /*now*/) override { seen.push_back(*request.extension); }
  void command(const DramCommand& /*command*/) override {}
  void hold(unsigned /*bank*/, Cycle /*begin*/, Cycle /*until*/) override {}
  void hold_over(unsigned /*bank*/, Cycle /*at*/, bool /*hit*/) override {}
  std::vector<link::MemoryExtension> seen;
};

TEST(L2, TheCauseOfAReadGoesWithIt) {
  MemorySystem system(with_l2(3));
  Starts starts;
  system.controller().observe(&starts);
  LineRequest& request = system.core(2).load(0, kBase).request;
  request.group = 7;
  request.pc = 40;
  request.lanes = 0xf0;
  request.row_hint = true;
  system.run();
  ASSERT_EQ(starts.seen.size(), 1U);
  const link::MemoryExtension& extension = starts.seen.front();
  EXPECT_EQ(extension.core, 2U);
  EXPECT_EQ(extension.group, 7U);
  EXPECT_EQ(extension.pc, 40U);
  EXPECT_EQ(extension.lanes, 0xf0U);
  EXPECT_EQ(extension.coalesced, 4U);
  EXPECT_TRUE(extension.row_hint);
}

// A read that a store caused is posted; a load that joins it before it has left makes it its own.
TEST(L2, ALoadTakesOverThePostedReadOfAStore) {
  SystemParameters parameters = with_l2(2);
  parameters.dram.queue = 1;
  parameters.dram.banks = 1;
  MemorySystem system(parameters);
  Starts starts;
  system.controller().observe(&starts);
  for (unsigned i = 0; i != 3; ++i) {
    system.core(0).load(i, kBase + kLine * i);
  }
  system.core(0).store_word(3, kBase + 3 * kLine, 1).request.group = 4;
  system.core(0).store_word(4, kBase + 4 * kLine, 1).request.group = 5;
  system.core(1).load(20, kBase + 3 * kLine).request.group = 6;
  system.run();
  std::map<std::uint32_t, bool> posted;
  for (const link::MemoryExtension& extension : starts.seen) {
    posted[extension.group] = extension.posted;
  }
  EXPECT_FALSE(posted.at(0));
  EXPECT_EQ(posted.count(4), 0U) << "the load's warp waits for it";
  EXPECT_FALSE(posted.at(6));
  EXPECT_TRUE(posted.at(5));
}

// ---- inclusion

class L2Inclusion : public ::testing::TestWithParam<bool> {};

TEST_P(L2Inclusion, TakesCopiesBack) {
  const bool inclusive = GetParam();
  SystemParameters parameters = with_tiny_l2(2);
  parameters.cache.bytes = 2048;
  parameters.l2.inclusive = inclusive;
  MemorySystem system(parameters);
  system.core(0).load(0, kBase);
  system.core(1).load(0, kBase);
  system.core(1).load(1000, kBase + kLine);
  system.core(1).load(2000, kBase + 2 * kLine);
  system.run();
  EXPECT_FALSE(system.l2().holds(kBase));
  for (unsigned core = 0; core != 2; ++core) {
    EXPECT_EQ(system.cache(core).peek(kBase) == nullptr, inclusive) << core;
    EXPECT_EQ(system.cache(core).statistics().invalidations, inclusive ? 1U : 0U) << core;
  }
  EXPECT_NE(system.cache(1).peek(kBase + kLine), nullptr);
  EXPECT_EQ(system.l2().statistics().back_invalidations, inclusive ? 2U : 0U);
}

INSTANTIATE_TEST_SUITE_P(All, L2Inclusion, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "inclusive" : "not"; });

// Cores 3, 67 and 69 have a copy; 3 and 67 differ by a multiple of 64.
TEST(L2, KnowsTheSharersAmongMoreThan64Cores) {
  SystemParameters parameters = with_tiny_l2(70);
  parameters.cache.bytes = 2048;
  parameters.l2.inclusive = true;
  MemorySystem system(parameters);
  for (const unsigned core : {3U, 67U, 69U}) {
    system.core(core).load(0, kBase);
  }
  system.core(1).load(1000, kBase + kLine);
  system.core(1).load(2000, kBase + 2 * kLine);
  system.run();
  EXPECT_FALSE(system.l2().holds(kBase));
  for (unsigned core = 0; core != 70; ++core) {
    const bool had = core == 3 || core == 67 || core == 69;
    EXPECT_EQ(system.cache(core).peek(kBase), nullptr) << core;
    EXPECT_EQ(system.cache(core).statistics().invalidations, had ? 1U : 0U) << core;
  }
  EXPECT_EQ(system.l2().statistics().back_invalidations, 3U);
}

TEST(L2, ADirtyCopyTakenBackIsWrittenBack) {
  SystemParameters parameters = with_tiny_l2();
  parameters.cache.bytes = 2048;
  parameters.cache.write_policy = "write-back";
  parameters.cache.write_buffer = 1;
  parameters.l2.inclusive = true;
  MemorySystem system(parameters);
  system.core().load(0, kBase);
  system.core().store_word(1000, kBase + 4, 9);  // in the L1 only
  system.core().load(2000, kBase + kLine);
  system.core().load(3000, kBase + 2 * kLine);
  system.core().load(5000, kBase + 3 * kLine);
  const Access& again = system.core().load(6000, kBase);
  bool gone = false;
  system.core().each_cycle = [&](Cycle now) {
    if (now == 4999) {  // line 0 is in the L2 alone: written back, it has pushed line 1 out of both
      gone = system.cache().peek(kBase) == nullptr && system.cache().statistics().write_backs == 1 &&
             system.l2().holds(kBase) && system.cache().peek(kBase + kLine) == nullptr;
    }
    return now < 4999 ? Cycle{4999} : kNever;
  };
  system.run();
  EXPECT_TRUE(gone);
  EXPECT_EQ(again.word(1), 9U);
  system.flush();
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 4), 9U);
}

// ---- atomics

struct AtomicCase {
  const char* name;
  bool l2;
  const char* write_policy;
  unsigned l1_line;
  friend std::ostream& operator<<(std::ostream& out, const AtomicCase& one) { return out << one.name; }
};

class L2Atomics : public ::testing::TestWithParam<AtomicCase> {};

// Every increment finds another value, whoever makes it: none is lost, none is done twice.
TEST_P(L2Atomics, OfSeveralCoresOnTheSameWordsLoseNothing) {
  const AtomicCase& how = GetParam();
  constexpr unsigned kCores = 4;
  constexpr unsigned kRounds = 60;
  constexpr unsigned kLanes = 8;
  SystemParameters parameters = with_tiny_l2(kCores);
  parameters.cache.line_bytes = how.l1_line;
  parameters.l2.enabled = how.l2;
  parameters.l2.write_policy = how.write_policy;
  parameters.l2.mshrs = 2;
  parameters.l2.mshr_targets = 3;
  MemorySystem system(parameters);
  const unsigned lines = 4;
  std::vector<std::vector<const Access*>> of_line(lines);
  for (unsigned core = 0; core != kCores; ++core) {
    for (unsigned round = 0; round != kRounds; ++round) {
      for (unsigned line = 0; line != lines; ++line) {
        const std::uint64_t address = kBase + std::uint64_t{line} * how.l1_line;
        of_line[line].push_back(&system.core(core).atomic_add(0, address, std::vector<std::uint32_t>(kLanes, 1), true));
      }
      system.core(core).load(0, kBase + std::uint64_t{round % 7} * kLine);  // pushes lines out
    }
  }
  system.run();
  system.flush();
  constexpr unsigned kTotal = kCores * kRounds * kLanes;
  for (unsigned line = 0; line != lines; ++line) {
    EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + std::uint64_t{line} * how.l1_line), kTotal);
    std::vector<std::uint64_t> found;
    for (const Access* access : of_line[line]) {
      for (unsigned lane = 0; lane != kLanes; ++lane) {
        found.push_back(access->lanes.old[lane]);
        EXPECT_EQ(access->lanes.old[lane], access->lanes.old[0] + lane);  // a request's lanes stay together
      }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::uint64_t> all(kTotal);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(found, all);
  }
  const bool here = how.l2 && std::string(how.write_policy) == "write-back";
  EXPECT_EQ(system.controller().statistics().atomics, here ? 0U : kCores * kRounds * lines);
  if (here) {
    EXPECT_GT(system.l2().store().statistics().hits, 0U);
    EXPECT_GT(system.l2().store().statistics().write_backs, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, L2Atomics,
                         ::testing::Values(AtomicCase{"none", false, "write-back", 128},
                                           AtomicCase{"back", true, "write-back", 128},
                                           AtomicCase{"through", true, "write-through", 128},
                                           AtomicCase{"back_short_lines", true, "write-back", 32},
                                           AtomicCase{"through_short_lines", true, "write-through", 32}),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- lines longer than the L1's

TEST(L2, ItsLinesMayBeLongerThanTheL1s) {
  SystemParameters parameters = with_l2();
  parameters.cache.line_bytes = 32;
  MemorySystem system(parameters);
  for (unsigned i = 0; i != 32; ++i) {
    system.memory.put<std::uint32_t>(kBase + 4 * i, i);
  }
  const Access& miss = system.core().load(0, kBase + 96);
  const Access& hit = system.core().load(1000, kBase + 32);
  system.core().store_word(2000, kBase + 68, 99);
  const Access& written = system.core().load(3000, kBase + 64);
  system.run();
  EXPECT_EQ(miss.word(1), 25U);
  EXPECT_EQ(hit.word(1), 9U);
  EXPECT_EQ(hit.answered, 1033U);
  EXPECT_EQ(written.word(0), 16U);
  EXPECT_EQ(written.word(1), 99U);
  EXPECT_EQ(system.controller().statistics().reads, 1U);
  system.flush();
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 68), 99U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 64), 16U);
}

}  // namespace
}  // namespace heddle::hw::test
