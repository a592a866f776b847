// What the cache keeps, sends and refuses.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "system.hpp"

namespace heddle::hw::test {
namespace {

// Two sets of two ways: lines 0, 2, 4... share a set.
SystemParameters small() {
  SystemParameters parameters;
  parameters.cache.bytes = 512;
  parameters.cache.ways = 2;
  return parameters;
}

TEST(Cache, RefusesACapacityThatItsWaysDoNotDivide) {
  EXPECT_THROW(LineArray<LineState>(512, 3, 128), InternalError);
  EXPECT_NO_THROW(LineArray<LineState>(384, 3, 128));
}

TEST(Cache, MissesToALineOnItsWayMerge) {
  MemorySystem system(small());
  system.memory.put<std::uint32_t>(kBase + 4, 9);
  const Access& first = system.core().load(0, kBase);
  const Access& second = system.core().load(1, kBase);
  const Access& third = system.core().load(200, kBase);
  system.run();
  EXPECT_EQ(first.answered, 304U);
  EXPECT_EQ(second.answered, 304U);
  EXPECT_EQ(third.answered, 304U);
  EXPECT_EQ(third.word(1), 9U);
  const CacheStatistics& statistics = system.cache().statistics();
  EXPECT_EQ(statistics.accesses, 3U);
  EXPECT_EQ(statistics.misses, 3U);
  EXPECT_EQ(statistics.merged, 2U);
  EXPECT_EQ(statistics.memory_reads, 1U);
  EXPECT_EQ(system.controller().statistics().reads, 1U);
}

TEST(Cache, MshrTargetsAndMshrsAreBounded) {
  SystemParameters parameters = small();
  parameters.cache.mshrs = 1;
  parameters.cache.mshr_targets = 2;
  MemorySystem system(parameters);
  system.core().load(0, kBase);
  const Access& merged = system.core().load(1, kBase);
  const Access& third = system.core().load(2, kBase);          // no target left
  const Access& other = system.core().load(305, kBase + 128);  // the MSHR is free again
  const Access& behind = system.core().load(306, kBase + 256);
  system.run();
  EXPECT_EQ(merged.refusals, 0U);
  EXPECT_EQ(third.refusals, 302U);  // cycles 2 to 303
  EXPECT_EQ(third.answered, 304U);  // a hit by then
  EXPECT_EQ(other.refusals, 0U);
  EXPECT_EQ(behind.accepted, other.answered);
  const CacheStatistics& statistics = system.cache().statistics();
  EXPECT_EQ(statistics.busy_targets, 302U);
  EXPECT_EQ(statistics.busy_mshrs, behind.refusals);
}

TEST(Cache, PortsBoundTheAcceptedRequestsOfACycle) {
  SystemParameters parameters = small();
  parameters.cache.ports = 2;
  MemorySystem system(parameters);
  system.core().load(0, kBase);
  std::vector<const Access*> hits;
  for (unsigned i = 0; i != 5; ++i) {
    hits.push_back(&system.core().load(400, kBase));
  }
  system.run();
  for (unsigned i = 0; i != 5; ++i) {
    EXPECT_EQ(hits[i]->answered, 400 + i / 2) << i;
  }
  EXPECT_EQ(system.cache().statistics().busy_ports, 2U);
}

// Lines 0 and 2 are of one bank, 1 and 3 of the other (DWS report, table 3).
TEST(Cache, ABankStartsOneAccessPerCycle) {
  SystemParameters parameters = small();
  parameters.cache.ports = 8;
  parameters.cache.banks = 2;
  MemorySystem system(parameters);
  for (const unsigned line : {0U, 1U, 2U, 3U}) {
    system.core().load(0, kBase + std::uint64_t{128} * line);
  }
  std::vector<const Access*> hits;
  for (const unsigned line : {0U, 1U, 2U, 3U, 3U}) {
    hits.push_back(&system.core().load(2000, kBase + std::uint64_t{128} * line));
  }
  const std::uint64_t expected[] = {2000, 2000, 2001, 2001, 2002};
  system.run();
  for (unsigned i = 0; i != 5; ++i) {
    EXPECT_EQ(hits[i]->answered, expected[i]) << i;
  }
  EXPECT_EQ(hits[2]->refusals, 1U);
  EXPECT_EQ(hits[4]->refusals, 1U);
  EXPECT_EQ(system.cache().statistics().busy_ports, 0U);
}

// Sixteen banks behind a crossbar (DWS report 3.3, table 3): sixteen lines of a cycle, each of its own bank, are hits
// of that cycle; of lines that meet in a bank each is served a cycle after the one before, while the others pass. Hits
// of three cycles begin one behind the other.
TEST(Cache, SixteenBanksServeALineEachPerCycle) {
  SystemParameters parameters;
  parameters.cache.bytes = 32768;
  parameters.cache.ways = 8;
  parameters.cache.ports = 16;
  parameters.cache.banks = 16;
  parameters.cache.hit_latency = 3;
  parameters.cache.mshrs = 64;
  MemorySystem system(parameters);
  constexpr unsigned kLines = 48;  // three of each bank
  for (unsigned line = 0; line < kLines; ++line) {
    system.core().load(0, kBase + std::uint64_t{128} * line);
  }
  std::vector<const Access*> apart, together;
  for (unsigned line = 0; line < 16; ++line) {
    apart.push_back(&system.core().load(10000, kBase + std::uint64_t{128} * line));
  }
  for (const unsigned line : {5U, 21U, 37U}) {
    together.push_back(&system.core().load(20000, kBase + std::uint64_t{128} * line));
  }
  system.run();
  for (const Access* const hit : apart) {
    EXPECT_EQ(hit->accepted, 10000U);
    EXPECT_EQ(hit->answered, 10002U) << "three cycles, the one of its acceptance among them";
  }
  for (unsigned i = 0; i < together.size(); ++i) {
    EXPECT_EQ(together[i]->accepted, 20000U + i) << "one cycle earlier its bank is taken";
    EXPECT_EQ(together[i]->refusals, i == 0 ? 0U : 1U) << "offered when the one before is through";
    EXPECT_EQ(together[i]->answered, together[i]->accepted + 2) << "pipelined";
  }
}

TEST(Cache, ReplacesTheLeastRecentlyUsedLine) {
  MemorySystem system(small());
  system.core().load(0, kBase);           // set 0
  system.core().load(1000, kBase + 256);  // set 0
  system.core().load(2000, kBase);        // hit: kBase is the younger one now
  system.core().load(3000, kBase + 512);  // replaces kBase + 256
  const Access& kept = system.core().load(4000, kBase);
  const Access& replaced = system.core().load(5000, kBase + 256);
  system.run();
  EXPECT_EQ(kept.answered, 4000U);
  EXPECT_GT(replaced.answered, 5000U);
  EXPECT_EQ(system.cache().statistics().hits, 2U);
  EXPECT_EQ(system.cache().statistics().evictions, 2U);
  EXPECT_EQ(system.cache().statistics().write_backs, 0U);
}

TEST(Cache, WriteBackKeepsStoresUntilTheLineLeaves) {
  MemorySystem system(small());
  system.memory.put<std::uint32_t>(kBase, 1);
  system.memory.put<std::uint32_t>(kBase + 4, 2);
  const Access& store = system.core().store_word(0, kBase, 11);  // miss: fetches
  const Access& load = system.core().load(1000, kBase);
  system.run();
  EXPECT_EQ(store.answered, 0U);
  EXPECT_EQ(load.answered, 1000U);
  EXPECT_EQ(load.word(0), 11U);
  EXPECT_EQ(load.word(1), 2U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 1U);
  EXPECT_EQ(system.cache().statistics().memory_writes, 0U);
  // Bytes that this cache did not write must survive in memory.
  system.memory.put<std::uint32_t>(kBase + 4, 3);
  system.flush();
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 11U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 4), 3U);
  EXPECT_EQ(system.cache().statistics().write_backs, 1U);
  EXPECT_EQ(system.controller().statistics().writes, 1U);
}

// Four ways of a set lie 2 KB apart, in two rows of the one bank, and the lines have come in the order of the sets: an
// order by sets and ways would change the row with nearly every write.
TEST(Cache, AFlushWritesInTheOrderOfAddresses) {
  SystemParameters parameters;
  parameters.cache.bytes = 8192;
  parameters.cache.ways = 4;
  parameters.cache.write_buffer = 4;
  parameters.dram.banks = 1;
  MemorySystem system(parameters);
  for (unsigned set = 0; set != 16; ++set) {
    for (const unsigned way : {2U, 0U, 3U, 1U}) {
      system.core().store_line(0, kBase + 2048 * way + 128 * set, 64 * way + set);
    }
  }
  system.core().load(200, kBase + 16384);  // no dirty line: dropped without a write
  system.run();
  EXPECT_EQ(system.cache().statistics().evictions, 1U);  // by the load: the line of way 2, set 0
  const std::uint64_t conflicts = system.controller().statistics().row_conflicts;
  const std::uint64_t hits = system.controller().statistics().row_hits;
  system.flush();
  EXPECT_EQ(system.controller().statistics().row_conflicts - conflicts, 2U);
  EXPECT_EQ(system.controller().statistics().row_hits - hits, 61U);
  for (unsigned line = 0; line != 64; ++line) {
    EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 128 * line), 64 * (line / 16) + line % 16) << line;
  }
}

TEST(Cache, AWholeLineStoreFetchesNothing) {
  MemorySystem system(small());
  system.core().store_line(0, kBase, 5);
  const Access& load = system.core().load(1, kBase);
  system.run();
  EXPECT_EQ(load.answered, 1U);
  EXPECT_EQ(load.word(31), 5U);
  EXPECT_EQ(system.controller().statistics().reads, 0U);
}

TEST(Cache, DirtyVictimsAreWrittenBack) {
  MemorySystem system(small());
  for (unsigned i = 0; i != 4; ++i) {
    system.core().store_line(1000 * i, kBase + 256 * i, i + 1);  // one set of two ways
  }
  system.run();
  EXPECT_EQ(system.cache().statistics().evictions, 2U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 1U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 256), 2U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 512), 0U);
}

TEST(Cache, WriteThroughSendsEveryStoreAndDoesNotAllocate) {
  SystemParameters parameters = small();
  parameters.cache.write_policy = "write-through";
  MemorySystem system(parameters);
  const Access& store = system.core().store_word(0, kBase, 11);
  system.core().load(1000, kBase);
  system.core().store_word(2000, kBase, 12);
  const Access& hit = system.core().load(2001, kBase);
  system.run();
  EXPECT_EQ(store.answered, 0U);
  EXPECT_EQ(hit.answered, 2001U);
  EXPECT_EQ(hit.word(), 12U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 12U);
  EXPECT_EQ(system.cache().statistics().memory_writes, 2U);
  EXPECT_EQ(system.cache().statistics().memory_reads, 1U);
  EXPECT_EQ(system.cache().statistics().hits, 2U);
}

// As loads: with the line, and a hit with its latency. A store of a whole line needs none.
TEST(Cache, StoresThatWaitAreAnsweredWhenTheLineHasThem) {
  SystemParameters parameters = small();
  parameters.cache.hit_latency = 3;
  MemorySystem system(parameters);
  const auto waits = [](Access& store) -> const Access& {
    store.request.waits = true;
    return store;
  };
  const Access& load = system.core().load(0, kBase + 256);
  const Access& miss = waits(system.core().store_word(1, kBase, 11));
  const Access& merged = waits(system.core().store_word(2, kBase + 4, 12));
  const Access& posted = system.core().store_word(3, kBase + 8, 13);
  const Access& hit = waits(system.core().store_word(1000, kBase, 14));
  const Access& whole = waits(system.core().store_line(1001, kBase + 128, 5));
  const Access& after = system.core().load(2000, kBase);
  system.run();
  EXPECT_EQ(load.answered, 304U);
  EXPECT_EQ(miss.accepted, 1U);
  EXPECT_GT(miss.answered, 304U);
  EXPECT_EQ(miss.request.answer, LineRequest::Answer::miss);
  EXPECT_EQ(merged.answered, miss.answered);
  EXPECT_EQ(merged.request.answer, LineRequest::Answer::merged);
  EXPECT_EQ(posted.answered, 3U);
  EXPECT_EQ(hit.answered, 1002U);
  EXPECT_EQ(hit.request.answer, LineRequest::Answer::late_hit);
  EXPECT_EQ(whole.answered, 1001U);
  EXPECT_EQ(after.word(0), 14U);
  EXPECT_EQ(after.word(1), 12U);
  EXPECT_EQ(after.word(2), 13U);
  EXPECT_TRUE(system.cache().stores_visible());
}

// Beyond a cache that keeps no stores: when memory has acknowledged them, hits as well.
TEST(Cache, StoresThatWaitAreAnsweredWhenMemoryHasThem) {
  SystemParameters parameters = small();
  parameters.cache.write_policy = "write-through";
  parameters.cache.write_buffer = 1;
  parameters.prefix = "through_";
  MemorySystem through(parameters);
  parameters.cache.enabled = false;
  parameters.prefix = "none_";
  MemorySystem none(parameters);
  struct Played {
    MemorySystem* system;
    Access* store = nullptr;
    const Access* next = nullptr;
  };
  std::array played = {Played{&through}, Played{&none}};
  for (Played& one : played) {  // all before the first runs
    one.system->core().load(0, kBase);
    one.store = &one.system->core().store_word(1000, kBase, 11);
    one.store->request.waits = true;
    one.next = &one.system->core().store_word(1001, kBase + 128, 12);
  }
  for (const Played& one : played) {
    one.system->run();
    EXPECT_EQ(one.store->accepted, 1000U);
    EXPECT_GT(one.store->answered, 1001U);
    EXPECT_EQ(one.store->answered, one.next->accepted) << "the acknowledgement makes room for the next write";
    EXPECT_EQ(one.store->request.answer, one.system == &through ? LineRequest::Answer::hit : LineRequest::Answer::miss);
    EXPECT_EQ(one.system->memory.get<std::uint32_t>(kBase), 11U);
  }
}

// Requests that name their banks take those, whichever the lines'.
TEST(Cache, RequestsTakeTheBanksThatTheyName) {
  SystemParameters parameters = small();
  parameters.cache.ports = 8;
  parameters.cache.banks = 2;
  MemorySystem system(parameters);
  for (const unsigned line : {0U, 1U}) {
    system.core().load(0, kBase + std::uint64_t{128} * line);
  }
  const auto hit = [&system](Cycle at, unsigned line, std::uint64_t banks) -> const Access& {
    Access& load = system.core().load(at, kBase + std::uint64_t{128} * line);
    load.request.banks = banks;
    return load;
  };
  const Access& one = hit(1000, 0, 1);
  const Access& other = hit(1000, 0, 2);
  const Access& both = hit(2000, 0, 3);
  const Access& behind = hit(2000, 1, 2);
  system.run();
  EXPECT_EQ(one.answered, 1000U);
  EXPECT_EQ(other.answered, 1000U);
  EXPECT_EQ(both.answered, 2000U);
  EXPECT_EQ(behind.answered, 2001U);
}

TEST(Cache, WriteBufferBoundsWritesUnderWay) {
  SystemParameters parameters = small();
  parameters.cache.write_policy = "write-through";
  parameters.cache.write_buffer = 2;
  MemorySystem system(parameters);
  system.core().store_word(0, kBase, 1);
  system.core().store_word(0, kBase + 128, 2);
  const Access& third = system.core().store_word(0, kBase + 256, 3);
  system.run();
  EXPECT_EQ(third.accepted, 304U);  // when the first is acknowledged
  EXPECT_EQ(system.cache().statistics().busy_writes, 302U);
}

TEST(Cache, BypassLoadsSeeMemoryAndKeepOwnStores) {
  MemorySystem system(small());
  system.core().store_word(0, kBase, 11);
  system.run();
  system.memory.put<std::uint32_t>(kBase + 4, 77);  // a store past the cache
  const Cycle now = system.clock.now();
  const Access& stale = system.core().load(now + 1, kBase);
  const Access& fresh = system.core().load(now + 2, kBase, true);
  system.core().wake(now + 1);
  system.run();
  EXPECT_EQ(stale.word(1), 0U);
  EXPECT_EQ(fresh.word(0), 11U);
  EXPECT_EQ(fresh.word(1), 77U);
  EXPECT_EQ(system.cache().statistics().bypasses, 1U);
  EXPECT_EQ(system.cache().statistics().write_backs, 1U);
}

TEST(Cache, ABypassLoadDoesNotJoinAReadThatLeftBefore) {
  MemorySystem system(small());
  const Access& early = system.core().load(0, kBase);
  const Access& bypass = system.core().load(100, kBase, true);
  system.run();
  EXPECT_EQ(early.answered, 304U);
  EXPECT_EQ(bypass.answered, 308U);  // a read of its own: a row hit whose bus slot follows the conflict's
  EXPECT_EQ(system.controller().statistics().reads, 2U);
}

TEST(Cache, AtomicsWriteBackDropAndAnswerOldValuesInLaneOrder) {
  MemorySystem system(small());
  system.core().store_word(0, kBase, 100);
  const Access& atomic = system.core().atomic_add(1000, kBase, {1, 2, 3}, true);
  const Access& load = system.core().load(1001, kBase);
  system.run();
  EXPECT_EQ(atomic.lanes.old[0], 100U);
  EXPECT_EQ(atomic.lanes.old[1], 101U);
  EXPECT_EQ(atomic.lanes.old[2], 103U);
  EXPECT_EQ(load.word(), 106U);
  EXPECT_EQ(system.controller().statistics().atomics, 1U);
  EXPECT_EQ(system.cache().statistics().misses, 3U);
}

TEST(Cache, AtomicsOfSeveralCoresAreEachOneStep) {
  SystemParameters parameters = small();
  parameters.cores = 3;
  MemorySystem system(parameters);
  std::vector<const Access*> atomics;
  for (unsigned core = 0; core != 3; ++core) {
    for (unsigned i = 0; i != 20; ++i) {
      atomics.push_back(&system.core(core).atomic_add(i, kBase, {1, 1}, true));
    }
  }
  system.run();
  std::vector<bool> seen(120, false);
  for (const Access* atomic : atomics) {
    for (unsigned lane = 0; lane != 2; ++lane) {
      ASSERT_LT(atomic->lanes.old[lane], 120U);
      EXPECT_FALSE(seen[atomic->lanes.old[lane]]);
      seen[atomic->lanes.old[lane]] = true;
    }
    EXPECT_EQ(atomic->lanes.old[1], atomic->lanes.old[0] + 1);  // no access comes between the lanes
  }
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 120U);
}

TEST(Cache, DisabledSendsEverything) {
  SystemParameters parameters = small();
  parameters.cache.enabled = false;
  MemorySystem system(parameters);
  system.core().store_word(0, kBase, 3);
  const Access& a = system.core().load(1, kBase);
  const Access& b = system.core().load(2, kBase);
  system.run();
  EXPECT_EQ(a.word(), 3U);
  EXPECT_EQ(b.word(), 3U);
  EXPECT_EQ(system.controller().statistics().reads, 2U);
  EXPECT_EQ(system.cache().statistics().hits, 0U);
}

TEST(Cache, FlushWaitsForLinesOnTheirWayAndRefusesMeanwhile) {
  MemorySystem system(small());
  system.core().store_word(0, kBase, 1);
  system.core().store_line(0, kBase + 128, 2);
  const Access& late = system.core().load(100, kBase);
  bool flushed = false;
  system.core().each_cycle = [&](Cycle now) {
    if (now == 50 && !flushed) {
      flushed = true;
      system.cache().flush();
      EXPECT_FALSE(system.cache().quiet());
    }
    return now < 50 ? Cycle{50} : kNever;
  };
  system.run();
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 1U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 128), 2U);
  EXPECT_EQ(late.accepted, 304U);  // the fill at 304 lets the flush finish in the same cycle
  EXPECT_EQ(late.word(), 1U);
  EXPECT_EQ(system.cache().statistics().misses, 3U);
  EXPECT_GT(system.cache().statistics().busy_flush, 200U);
}

TEST(Cache, InvalidateForgets) {
  MemorySystem system(small());
  system.core().load(0, kBase);
  system.run();
  system.cache().invalidate();
  const Cycle now = system.clock.now();
  const Access& load = system.core().load(now + 1, kBase);
  system.core().wake(now + 1);
  system.run();
  EXPECT_GT(load.answered, now + 1);
}

}  // namespace
}  // namespace heddle::hw::test
