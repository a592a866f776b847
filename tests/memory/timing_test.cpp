// When things happen: hand-computed cycles of DRAM, interconnect and cache.
#include <gtest/gtest.h>

#include "system.hpp"

namespace heddle::hw::test {
namespace {

// Cache sends in t; the interconnect forwards in t + 1; the controller has it in t + 2; data 300 (conflict) or 100
// (hit) cycles later; the interconnect has the response one cycle after, and the cache one more.
constexpr Cycle kOutward = 2;
constexpr Cycle kReturn = 2;

SystemParameters plain() {
  SystemParameters parameters;
  parameters.cache.bytes = 4096;
  return parameters;
}

TEST(Timing, FirstAccessIsAConflictThenHitsTakeOneHundred) {
  MemorySystem system(plain());
  system.memory.put<std::uint32_t>(kBase, 0x1234);
  system.memory.put<std::uint32_t>(kBase + 128, 0x5678);
  const Access& first = system.core().load(10, kBase);
  const Access& second = system.core().load(1000, kBase + 128);
  system.run();
  EXPECT_EQ(first.accepted, 10U);
  EXPECT_EQ(first.answered, 10 + kOutward + 300 + kReturn);
  EXPECT_EQ(second.answered, 1000 + kOutward + 100 + kReturn);
  EXPECT_EQ(first.word(), 0x1234U);
  EXPECT_EQ(second.word(), 0x5678U);
  EXPECT_EQ(system.controller().statistics().row_conflicts, 1U);
  EXPECT_EQ(system.controller().statistics().row_hits, 1U);
}

TEST(Timing, CacheHitIsAnsweredInTheCall) {
  MemorySystem system(plain());
  const Access& miss = system.core().load(0, kBase);
  const Access& hit = system.core().load(400, kBase);
  system.run();
  EXPECT_EQ(miss.answered, 304U);
  EXPECT_EQ(hit.answered, 400U);
  EXPECT_EQ(system.cache().statistics().hits, 1U);
}

TEST(Timing, LongerHitLatencyAnswersLaterWithTheLineAsItWas) {
  SystemParameters parameters = plain();
  parameters.cache.hit_latency = 3;
  MemorySystem system(parameters);
  system.memory.put<std::uint32_t>(kBase, 7);
  system.core().load(0, kBase);
  const Access& hit = system.core().load(400, kBase);
  const Access& store = system.core().store_word(401, kBase, 8);
  const Access& after = system.core().load(402, kBase);
  system.run();
  EXPECT_EQ(hit.answered, 402U);
  EXPECT_EQ(hit.word(), 7U);
  EXPECT_EQ(store.answered, 401U);
  EXPECT_EQ(after.answered, 404U);
  EXPECT_EQ(after.word(), 8U);
}

TEST(Timing, RowHitsPipelineOneLinePerBusSlot) {
  MemorySystem system(plain());
  std::vector<const Access*> loads;
  system.core().load(0, kBase);
  for (unsigned i = 1; i <= 8; ++i) {
    loads.push_back(&system.core().load(400, kBase + 128 * i));
  }
  system.run();
  // One request enters per cycle; the bus gives each line four.
  for (unsigned i = 0; i != 8; ++i) {
    EXPECT_EQ(loads[i]->answered, 400 + kOutward + 100 + 4 * i + kReturn) << i;
  }
  EXPECT_EQ(system.controller().statistics().bus_busy_cycles, 9U * 4);
}

TEST(Timing, ConflictsOfOneBankDoNotPipeline) {
  SystemParameters parameters = plain();
  MemorySystem system(parameters);
  const std::uint64_t row = std::uint64_t{4096} * parameters.dram.banks;  // next row of the same bank
  const Access& a = system.core().load(0, kBase);
  const Access& b = system.core().load(0, kBase + row);
  const Access& c = system.core().load(0, kBase + row + 128);
  system.run();
  EXPECT_EQ(a.answered, kOutward + 300 + kReturn);
  EXPECT_EQ(b.answered, kOutward + 600 + kReturn);
  // A hit to the new row can start 200 cycles after the conflict did; its bus slot comes behind the conflict's.
  EXPECT_EQ(c.answered, kOutward + 604 + kReturn);
  EXPECT_EQ(system.controller().statistics().row_hits, 1U);
}

TEST(Timing, BanksOverlap) {
  MemorySystem system(plain());
  const Access& a = system.core().load(0, kBase);
  const Access& b = system.core().load(0, kBase + 4096);
  const Access& c = system.core().load(0, kBase + 2 * 4096);
  system.run();
  EXPECT_EQ(a.answered, kOutward + 300 + kReturn);
  EXPECT_EQ(b.answered, kOutward + 304 + kReturn);
  EXPECT_EQ(c.answered, kOutward + 308 + kReturn);
}

TEST(Timing, FirstComeFirstServedHoldsYoungerRequestsBack) {
  SystemParameters parameters = plain();
  MemorySystem system(parameters);
  const std::uint64_t row = std::uint64_t{4096} * parameters.dram.banks;
  system.core().load(0, kBase);                                 // opens bank 0: data at 302
  const Access& older = system.core().load(0, kBase + row);     // same bank: starts at 302
  const Access& younger = system.core().load(0, kBase + 4096);  // free bank, but younger
  system.run();
  EXPECT_EQ(older.answered, kOutward + 600 + kReturn);
  EXPECT_EQ(younger.answered, kOutward + 604 + kReturn);
}

TEST(Timing, FirstComeFirstServedLeavesAHitBehindAConflict) {
  SystemParameters parameters = plain();
  MemorySystem system(parameters);
  const std::uint64_t row = std::uint64_t{4096} * parameters.dram.banks;
  system.core().load(0, kBase);
  const Access& conflict = system.core().load(1000, kBase + row);
  const Access& would_hit = system.core().load(1000, kBase + 128);  // row 0 was open when it arrived
  system.run();
  EXPECT_EQ(conflict.answered, 1000 + kOutward + 300 + kReturn);
  EXPECT_EQ(would_hit.answered, 1000 + kOutward + 600 + kReturn);
  EXPECT_EQ(system.controller().statistics().row_hits, 0U);
}

TEST(Timing, PerBankFirstComeFirstServedLetsOtherBanksPass) {
  SystemParameters parameters = plain();
  parameters.dram.scheduler = "fcfs-per-bank";
  MemorySystem system(parameters);
  const std::uint64_t row = std::uint64_t{4096} * parameters.dram.banks;
  system.core().load(0, kBase);
  const Access& older = system.core().load(0, kBase + row);     // its bank is busy until 302
  const Access& behind = system.core().load(0, kBase + 128);    // row 0 is open, but an older request wants the bank
  const Access& younger = system.core().load(0, kBase + 4096);  // free bank
  system.run();
  EXPECT_EQ(younger.answered, kOutward + 304 + kReturn);  // the bus slot behind the first request's
  EXPECT_EQ(older.answered, kOutward + 600 + kReturn);
  EXPECT_EQ(behind.answered, kOutward + 900 + kReturn);
}

TEST(Timing, FractionalBusSlotKeepsTheBandwidth) {
  SystemParameters parameters = plain();
  parameters.dram.bandwidth_gbs = 128.0 / 7.5;  // a slot of 7.5 cycles
  parameters.cache.bytes = 65536;
  parameters.dram.row_bytes = 65536;
  MemorySystem system(parameters);
  system.core().load(0, kBase);
  std::vector<const Access*> loads;
  for (unsigned i = 1; i <= 41; ++i) {
    loads.push_back(&system.core().load(1000, kBase + 128 * i));
  }
  system.run();
  EXPECT_EQ(loads.front()->answered, 1000 + kOutward + 100 + kReturn);
  EXPECT_EQ(loads.back()->answered, loads.front()->answered + 40 * 15 / 2);
  // The first transfer ended early in its last cycle, so the second, 7.5 cycles later, still ends in the seventh.
  EXPECT_EQ(loads[1]->answered, loads.front()->answered + 7);
  EXPECT_EQ(loads[2]->answered, loads.front()->answered + 15);
}

TEST(Timing, LinkLatenciesAddUp) {
  SystemParameters parameters = plain();
  parameters.noc.request_latency = 5;
  parameters.noc.response_latency = 9;
  MemorySystem system(parameters);
  const Access& load = system.core().load(0, kBase);
  system.run();
  EXPECT_EQ(load.answered, 5 + 1 + 300U + 9 + 1);
}

// A quarter of the GPU's clock: edges in cycles 0, 4, 8... The request, there in 11, goes on in 12; the answer, a cycle
// later than with the GPU's clock at its controller's end, so in 314, goes on in 316.
TEST(Timing, TheInterconnectHasAClockOfItsOwn) {
  SystemParameters parameters = plain();
  parameters.noc.clock_ghz = 0.25;
  MemorySystem system(parameters);
  const Access& load = system.core().load(10, kBase);
  system.run();
  EXPECT_EQ(load.answered, 317U);
}

TEST(Timing, LatenciesOfTheInterconnectAreInItsOwnCycles) {
  SystemParameters parameters = plain();
  parameters.noc.clock_ghz = 0.25;
  parameters.noc.request_latency = 3;   // 11: 12, and two more: 20; 8 cycles later at the controller
  parameters.noc.response_latency = 2;  // 322: 324, and one more: 328
  MemorySystem system(parameters);
  const Access& load = system.core().load(10, kBase);
  system.run();
  EXPECT_EQ(load.answered, 329U);
}

// A line takes four cycles of a link of 32 bytes: it is there three cycles later than its first part, and the next line
// of the same link follows when it has passed, though the bus is faster. What carries no data takes one cycle.
TEST(Timing, ALinkCarriesItsWidthPerCycle) {
  SystemParameters parameters = plain();
  parameters.noc.link_bytes = 32;
  parameters.dram.bandwidth_gbs = 1000;
  MemorySystem system(parameters);
  system.core().load(0, kBase);  // opens the row
  const Access& first = system.core().load(1000, kBase + 128);
  const Access& second = system.core().load(1000, kBase + 256);
  const Access& third = system.core().load(1000, kBase + 384);
  system.run();
  EXPECT_EQ(first.answered, 1000 + kOutward + 100 + kReturn + 3);
  EXPECT_EQ(second.answered, first.answered + 4);
  EXPECT_EQ(third.answered, second.answered + 4);
}

TEST(Timing, OnASlowClockALinkCarriesItsWidthPerCycleOfThatClock) {
  SystemParameters parameters = plain();
  parameters.noc.clock_ghz = 0.25;
  parameters.noc.link_bytes = 64;
  MemorySystem system(parameters);
  const Access& load = system.core().load(10, kBase);
  system.run();
  EXPECT_EQ(load.answered, 321U) << "one cycle of the slow clock later";
}

// Lines of two channels come to one core at once: they share its link. Lines to two cores do not.
TEST(Timing, TheLinkOfACoreIsSharedByAllChannels) {
  SystemParameters parameters = plain();
  parameters.cores = 2;
  parameters.cache.write_policy = "write-through";
  parameters.dram.channels = 2;
  parameters.noc.link_bytes = 16;
  MemorySystem one_core(parameters);
  parameters.prefix = "other";
  MemorySystem two_cores(parameters);
  const Access* const loads[] = {&one_core.core(0).load(0, kBase), &one_core.core(0).load(0, kBase + 128),
                                 &two_cores.core(0).load(0, kBase), &two_cores.core(1).load(0, kBase + 128)};
  one_core.run();
  two_cores.run();
  EXPECT_EQ(loads[1]->answered, loads[0]->answered + 8);
  EXPECT_EQ(loads[2]->answered, loads[0]->answered);
  EXPECT_EQ(loads[3]->answered, loads[0]->answered);
}

// A store of a word occupies the link for its four bytes, not for its line. The load behind it comes after them.
TEST(Timing, AStoreTakesTheLinkForTheBytesThatItWrites) {
  SystemParameters parameters = plain();
  parameters.cache.write_policy = "write-through";
  parameters.noc.link_bytes = 1;
  parameters.dram.channels = 2;  // the load does not wait for the store's bank
  MemorySystem narrow(parameters);
  parameters.noc.link_bytes = 4;
  parameters.prefix = "wide";
  MemorySystem wide(parameters);
  const Access* loads[2] = {};
  for (MemorySystem* const system : {&narrow, &wide}) {
    system->core().store_word(0, kBase, 7);
    loads[system == &wide ? 1 : 0] = &system->core().load(1, kBase + 128);
  }
  narrow.run();
  wide.run();
  // 4 bytes and a line of 128, in four times as many cycles: 3 and 96 more.
  EXPECT_EQ(loads[0]->answered, loads[1]->answered + 3 + 96);
}

TEST(Timing, ShortQueuesOnlyDelay) {
  SystemParameters parameters = plain();
  parameters.dram.queue = 1;
  parameters.noc.queue = 1;
  parameters.cache.bytes = 16384;
  MemorySystem system(parameters);
  std::vector<const Access*> loads;
  system.core().load(0, kBase);
  for (unsigned i = 1; i <= 20; ++i) {
    loads.push_back(&system.core().load(400, kBase + 128 * i));
  }
  system.run();
  EXPECT_EQ(loads.front()->answered, 400 + kOutward + 100 + kReturn);
  for (unsigned i = 1; i != 20; ++i) {
    EXPECT_EQ(loads[i]->answered, loads[i - 1]->answered + 4) << i;  // the bus stays the bottleneck
  }
  EXPECT_GT(system.controller().statistics().queue_full, 0U);
  EXPECT_GT(system.noc().statistics().request_stalls, 0U);
  EXPECT_EQ(system.controller().statistics().queue_max, 1U);
}

// The memory of the DWS report (3.3, table 3): 100 cycles whatever the row, 16 GB/s at 1 GHz, so that a line follows
// every 8 cycles; accesses of any two rows overlap, as each has a bank of its own.
TEST(Timing, AFlatMemoryTakesItsLatencyAndPipelines) {
  SystemParameters parameters = plain();
  parameters.dram.row_hit = parameters.dram.row_conflict = 100;
  parameters.dram.banks = 1024;
  parameters.dram.row_bytes = 1048576;
  parameters.dram.bandwidth_gbs = 16;
  MemorySystem system(parameters);
  const Access& first = system.core().load(0, kBase);
  const Access& same_row = system.core().load(1000, kBase + 128);
  std::vector<const Access*> rows;
  for (std::uint64_t row = 1; row <= 6; ++row) {
    rows.push_back(&system.core().load(2000, kBase + row * parameters.dram.row_bytes));
  }
  const Access& late = system.core().load(3000, kBase + 7 * std::uint64_t{parameters.dram.row_bytes});
  const Access& later = system.core().load(3009, kBase + 256);
  system.run();
  EXPECT_EQ(first.answered, kOutward + 100 + kReturn);
  EXPECT_EQ(same_row.answered, 1000 + kOutward + 100 + kReturn) << "an open row is no faster";
  for (unsigned i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]->answered, 2000 + kOutward + 100 + 8 * i + kReturn) << i;
  }
  EXPECT_EQ(late.answered, 3000 + kOutward + 100 + kReturn);
  EXPECT_EQ(later.answered, 3009 + kOutward + 100 + kReturn) << "nine cycles behind: the bus is free";
}

// The crossbar of the DWS report: 300 MHz, links of 190 bytes. In whole cycles a line fits into one, so that lines
// follow one another by 3.33 cycles of the cores, 38 GB/s each way; a link one byte narrower than a line takes two.
// Packed, 190 lines pass in 128 cycles of the crossbar, 57 GB/s.
class LinesOverACrossbar {
 public:
  LinesOverACrossbar(unsigned link_bytes, bool packed, const char* prefix)
      : system_(parameters(link_bytes, packed, prefix)) {
    system_.core().load(0, kBase);
    for (unsigned i = 1; i <= 191; ++i) {
      lines_.push_back(&system_.core().load(1000, kBase + std::uint64_t{128} * i));
    }
  }
  // From the first line's coming to that which comes so many later. All that run must be there before the first asks.
  [[nodiscard]] Cycle until(unsigned later) {
    system_.run();
    return lines_.at(later)->answered - lines_.front()->answered;
  }

 private:
  static SystemParameters parameters(unsigned link_bytes, bool packed, const char* prefix) {
    SystemParameters own = plain();
    own.prefix = prefix;
    own.noc.clock_ghz = 0.3;
    own.noc.link_bytes = link_bytes;
    own.noc.packed = packed;
    own.noc.queue = 256;
    own.dram.bandwidth_gbs = 1000;
    own.dram.row_bytes = 65536;
    own.dram.queue = 256;
    own.cache.bytes = 65536;
    own.cache.mshrs = 256;
    return own;
  }
  MemorySystem system_;
  std::vector<const Access*> lines_;
};

TEST(Timing, ALineTakesACycleOfACrossbarThatIsWideEnough) {
  LinesOverACrossbar wide(190, false, "wide"), fits(128, false, "fits"), narrow(127, false, "narrow");
  EXPECT_EQ(wide.until(30), 100U) << "thirty cycles of the crossbar";
  EXPECT_EQ(fits.until(30), 100U);
  EXPECT_EQ(narrow.until(30), 200U);
}

TEST(Timing, LinesShareTheCyclesOfPackedLinks) {
  LinesOverACrossbar wide(190, true, "wide"), fits(128, true, "fits"), narrow(127, true, "narrow");
  // The first is there with its cycle, the second, bytes 128 to 256 of 190 per cycle, with the next, as is the third
  // with the one after that; the fourth, to byte 512, follows it at once.
  EXPECT_EQ(wide.until(1), 3U) << "an edge of 300 MHz, as cycles of 1 GHz show it";
  EXPECT_EQ(wide.until(2), 7U);
  EXPECT_EQ(wide.until(3), 8U);
  EXPECT_NEAR(static_cast<double>(wide.until(190)), 128 / 0.3, 3) << "190 lines in 128 cycles of the crossbar";
  EXPECT_EQ(fits.until(30), 100U);
  EXPECT_NEAR(static_cast<double>(narrow.until(127)), 128 / 0.3, 4) << "127 lines in 128 cycles, not 254";
}

TEST(Timing, ChannelsInterleaveByLineAndShareTheBandwidth) {
  SystemParameters parameters = plain();
  parameters.dram.channels = 2;
  MemorySystem system(parameters);
  const Access& a = system.core().load(0, kBase);
  const Access& b = system.core().load(0, kBase + 128);
  const Access& c = system.core().load(0, kBase + 256);
  system.run();
  EXPECT_EQ(a.answered, kOutward + 300 + kReturn);
  EXPECT_EQ(b.answered, 1 + kOutward + 300 + kReturn);
  EXPECT_EQ(c.answered, kOutward + 308 + kReturn);  // a slot is 8 cycles at half the bandwidth
  EXPECT_EQ(system.controller(0).statistics().reads, 2U);
  EXPECT_EQ(system.controller(1).statistics().reads, 1U);
}

TEST(Timing, OneRequestPerChannelAndCycleRoundRobin) {
  SystemParameters parameters = plain();
  parameters.cores = 3;
  parameters.dram.bandwidth_gbs = 128;  // a slot of one cycle
  MemorySystem system(parameters);
  std::vector<const Access*> loads;
  for (unsigned core = 0; core != 3; ++core) {
    for (unsigned i = 0; i != 2; ++i) {
      loads.push_back(&system.core(core).load(0, kBase + 4096 * (2 * core + i)));
    }
  }
  system.run();
  const Cycle base = kOutward + 300 + kReturn;
  EXPECT_EQ(loads[0]->answered, base);
  EXPECT_EQ(loads[2]->answered, base + 1);
  EXPECT_EQ(loads[4]->answered, base + 2);
  EXPECT_EQ(loads[1]->answered, base + 3);
  EXPECT_EQ(loads[3]->answered, base + 4);
  EXPECT_EQ(loads[5]->answered, base + 5);
}

}  // namespace
}  // namespace heddle::hw::test
