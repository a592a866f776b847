// Lines with sectors, several slices of the L2 per channel, and clocks and widths of their own: what is fetched, when
// it is there, and where it goes. Random traffic over all of it is in random_test.cpp.
#include <gtest/gtest.h>

#include "hw/map/rotation.hpp"
#include "hw/noc/link.hpp"
#include "system.hpp"

namespace heddle::hw::test {
namespace {

constexpr std::uint64_t kSectorLine = 128;
constexpr std::uint64_t kSectorBytes = 32;

// Requests take two cycles to the controller and two back (timing_test.cpp); a line takes the bus for four.
SystemParameters sectored(unsigned sector_bytes = 32) {
  SystemParameters parameters;
  parameters.cache.bytes = 4096;
  parameters.cache.sector_bytes = sector_bytes;
  parameters.noc.link_bytes = 32;
  return parameters;
}

Access& load_parts(MemorySystem& system, Cycle at, std::uint64_t line, std::uint8_t parts) {
  Access& access = system.core().load(at, line);
  access.request.parts = parts;
  return access;
}

// A line takes the link of 32 bytes for four cycles, a sector for one, two for two.
TEST(Sectors, AMissFetchesAndCarriesTheSectorsThatAreWanted) {
  MemorySystem system(sectored());
  system.memory.put<std::uint32_t>(kBase + kSectorBytes, 11);
  const Access& one = load_parts(system, 0, kBase, 0b0010);
  const Access& two = load_parts(system, 1000, kBase + kSectorLine, 0b1001);
  const Access& all = load_parts(system, 2000, kBase + 2 * kSectorLine, 0xff);
  const Access& hit = load_parts(system, 3000, kBase + kSectorLine, 0b1000);
  const Access& part = load_parts(system, 4000, kBase + kSectorLine, 0b1100);
  const Access& whole = load_parts(system, 5000, kBase + kSectorLine, 0b1101);
  system.run();
  EXPECT_EQ(one.answered, 304U);
  EXPECT_EQ(one.word(8), 11U);
  EXPECT_EQ(two.answered, 1000 + 104U + 1);
  EXPECT_EQ(all.answered, 2000 + 104U + 3);
  EXPECT_EQ(hit.answered, 3000U);
  EXPECT_EQ(part.answered, 4000 + 104U) << "one of the two is here";
  EXPECT_EQ(whole.answered, 5000U);
  const CacheStatistics& statistics = system.cache().statistics();
  EXPECT_EQ(statistics.hits, 2U);
  EXPECT_EQ(statistics.misses, 4U);
  EXPECT_EQ(statistics.memory_reads, 4U);
  EXPECT_EQ(system.cache().sector_statistics().misses, 1U);
  EXPECT_EQ(system.cache().sector_statistics().read, 1U + 2 + 4 + 1);
  EXPECT_EQ(system.controller().statistics().bus_busy_cycles, 8U);
}

TEST(Sectors, AsLongAsTheLineTheyAreTheLine) {
  std::vector<std::unique_ptr<MemorySystem>> systems;
  for (const unsigned bytes : {0U, 128U}) {
    SystemParameters parameters = sectored(bytes);
    parameters.prefix = "of" + std::to_string(bytes);
    systems.push_back(std::make_unique<MemorySystem>(parameters));
    load_parts(*systems.back(), 0, kBase, 1);
    systems.back()->core().store_word(10, kBase + kSectorLine, 5);
  }
  for (const auto& system : systems) {
    system->run();
    EXPECT_FALSE(system->cache().has_sectors());
    EXPECT_EQ(system->core().script()[0].answered, 307U);
    EXPECT_EQ(system->controller().statistics().bus_busy_cycles, 8U);
  }
}

// A store takes a frame of its line and fetches nothing; what is loaded of its sector comes around it.
TEST(Sectors, AWriteBackStoreFetchesNothing) {
  MemorySystem system(sectored());
  system.memory.put<std::uint32_t>(kBase, 1);
  system.memory.put<std::uint32_t>(kBase + 4, 2);
  system.core().store_word(0, kBase, 7);
  const Access& load = load_parts(system, 100, kBase, 0b0001);
  Access& full = system.core().store_line(1000, kBase + kSectorLine, 9);
  std::fill(full.enable.begin() + kSectorBytes, full.enable.end(), std::uint8_t{0});  // its first sector, all of it
  const Access& hit = load_parts(system, 1001, kBase + kSectorLine, 0b0001);
  system.run();
  EXPECT_EQ(load.answered, 404U);
  EXPECT_EQ(load.word(0), 7U);
  EXPECT_EQ(load.word(1), 2U);
  EXPECT_EQ(hit.answered, 1001U);
  EXPECT_EQ(hit.word(), 9U);
  EXPECT_EQ(system.cache().statistics().memory_reads, 1U);
  EXPECT_EQ(system.cache().sector_statistics().read, 1U);
  system.flush();
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 7U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase + 4), 2U);
  EXPECT_EQ(system.cache().sector_statistics().written, 2U);
}

// A load that comes behind a store to a sector on its way joins the read, and sees the store; one before does not.
TEST(Sectors, AStoreToASectorOnItsWayIsSeenBehindIt) {
  const std::string policies[] = {"write-through", "write-back"};
  std::vector<std::unique_ptr<MemorySystem>> systems;
  for (const std::string& policy : policies) {
    SystemParameters parameters = sectored();
    parameters.cache.write_policy = policy;
    parameters.prefix = policy.substr(6);
    systems.push_back(std::make_unique<MemorySystem>(parameters));
    MemorySystem& system = *systems.back();
    system.memory.put<std::uint32_t>(kBase, 3);
    load_parts(system, 0, kBase, 0b0001);
    system.core().store_word(1, kBase, 4);
    load_parts(system, 2, kBase, 0b0001);
    load_parts(system, 3, kBase, 0b0010);  // a read of its own
  }
  for (std::size_t i = 0; i != systems.size(); ++i) {
    MemorySystem& system = *systems[i];
    system.run();
    const auto& script = system.core().script();
    EXPECT_EQ(script[0].word(), 3U) << policies[i];
    EXPECT_EQ(script[2].word(), 4U) << policies[i];
    EXPECT_EQ(script[2].answered, script[0].answered) << policies[i];
    EXPECT_GT(script[3].answered, script[0].answered) << policies[i];
    EXPECT_EQ(system.cache().statistics().memory_reads, 2U) << policies[i];
    EXPECT_EQ(system.cache().statistics().merged, i == 0 ? 2U : 1U) << policies[i] << ": a store through counts too";
  }
}

// A write through links of 32 bytes: four bytes are a sector, and bytes of three sectors three.
TEST(Sectors, AWriteCarriesWholeSectors) {
  SystemParameters parameters = sectored();
  parameters.cache.write_policy = "write-through";
  MemorySystem system(parameters);
  system.core().store_word(0, kBase, 7);
  Access& spread = system.core().store_line(1000, kBase + kSectorLine, 1);
  std::fill(spread.enable.begin(), spread.enable.end(), std::uint8_t{0});
  spread.enable[3] = spread.enable[40] = spread.enable[127] = 0xff;
  system.run();
  EXPECT_EQ(system.cache().sector_statistics().written, 1U + 3);
  EXPECT_EQ(system.controller().statistics().bus_busy_cycles, 4U);
}

TEST(Sectors, TheL2FetchesThemToo) {
  SystemParameters parameters = sectored();
  parameters.cache.write_policy = "write-through";
  parameters.l2.enabled = true;
  parameters.l2.bytes = 64 * kSectorLine;
  parameters.l2.ways = 4;
  parameters.l2.sector_bytes = 32;
  MemorySystem system(parameters);
  system.memory.put<std::uint32_t>(kBase, 20);
  load_parts(system, 0, kBase, 0b0001);
  system.core().store_word(500, kBase + 3 * kSectorBytes, 5);  // stays in the L2, with four bytes of its sector
  const Access& atomic = system.core().atomic_add(1000, kBase, {1, 2}, true);
  const Access& late = load_parts(system, 2000, kBase, 0b1001);
  system.run();
  EXPECT_EQ(atomic.lanes.old[0], 20U);
  EXPECT_EQ(atomic.lanes.old[1], 21U);
  EXPECT_EQ(late.word(0), 23U);
  EXPECT_EQ(late.word(24), 5U);
  EXPECT_EQ(system.l2().store().sector_statistics().read, 2U);
  EXPECT_EQ(system.l2().store().sector_statistics().misses, 1U);
  EXPECT_EQ(system.controller().statistics().reads, 2U);
  EXPECT_EQ(system.controller().statistics().bus_busy_cycles, 2U);
}

// Hits of many cycles are in a pipeline: one starts in every cycle, whatever the latency.
TEST(Sectors, HitsOfManyCyclesDoNotHoldAPort) {
  SystemParameters parameters = sectored();
  parameters.cache.hit_latency = 33;
  parameters.cache.ports = 1;
  MemorySystem system(parameters);
  system.core().load(0, kBase);
  std::vector<const Access*> hits;
  for (unsigned i = 0; i != 40; ++i) {
    hits.push_back(&load_parts(system, 1000 + i, kBase, 1));
  }
  system.run();
  for (unsigned i = 0; i != hits.size(); ++i) {
    EXPECT_EQ(hits[i]->accepted, 1000 + i);
    EXPECT_EQ(hits[i]->answered, 1000 + i + 32);
  }
}

TEST(Slices, OfOneChannelTakeLinesInTurnAndShareItsController) {
  SystemParameters parameters = sectored();
  parameters.noc.link_bytes = 0;
  parameters.l2.enabled = true;
  parameters.l2.slices = 3;
  parameters.l2.bytes = 3 * 8 * kSectorLine;
  parameters.l2.ways = 4;
  MemorySystem system(parameters);
  for (unsigned i = 0; i != 9; ++i) {
    system.core().load(1000 * i, kBase + i * kSectorLine);
  }
  system.run();
  for (unsigned slice = 0; slice != 3; ++slice) {
    EXPECT_EQ(system.l2(slice).statistics().requests, 3U) << slice;
  }
  // A way to the channel takes a cycle more there, and one back: 308 of the first, a conflict.
  EXPECT_EQ(system.core().script()[0].answered, 308U);
  EXPECT_EQ(system.core().script()[1].answered, 1000 + 108U);
  EXPECT_EQ(system.controller().statistics().reads, 9U);
}

// 30 cycles of a hit are 60 of the cores' at half their clock, 20 at one and a half times it; accesses of a bank follow
// one another at the slice's edges.
TEST(Slices, HaveAClockOfTheirOwn) {
  std::vector<std::unique_ptr<MemorySystem>> systems;
  const double clocks[] = {0, 0.5, 1.5};
  const Cycle answered[] = {33, 63, 23};
  for (const double clock : clocks) {
    SystemParameters parameters;
    parameters.cache.bytes = 512;
    parameters.cache.enabled = false;
    parameters.cache.write_policy = "write-through";
    parameters.l2.enabled = true;
    parameters.l2.clock_ghz = clock;
    parameters.prefix = "at" + std::to_string(static_cast<int>(10 * clock));
    systems.push_back(std::make_unique<MemorySystem>(parameters));
    systems.back()->core().load(0, kBase);
    systems.back()->core().load(1000, kBase);
    systems.back()->core().load(1001, kBase);
  }
  for (std::size_t i = 0; i != systems.size(); ++i) {
    systems[i]->run();
    EXPECT_EQ(systems[i]->core().script()[1].answered, 1000 + answered[i]) << clocks[i];
    EXPECT_EQ(systems[i]->core().script()[2].answered, 1000 + answered[i] + (clocks[i] == 0.5 ? 2 : 1)) << clocks[i];
  }
}

TEST(Dram, ALatencyIsAddedToEveryAnswerAndHoldsNobodyUp) {
  SystemParameters parameters = sectored(0);
  parameters.noc.link_bytes = 0;
  parameters.dram.latency = 70;
  MemorySystem system(parameters);
  const Access& first = system.core().load(0, kBase);
  const Access& hit = system.core().load(1000, kBase + kSectorLine);
  const Access& next = system.core().load(1001, kBase + 2 * kSectorLine);
  system.run();
  EXPECT_EQ(first.answered, 304U + 70);
  EXPECT_EQ(hit.answered, 1104U + 70);
  EXPECT_EQ(next.answered, 1108U + 70) << "by its slot of the bus";
}

// ------------------------------------------------------------------------------------------------------------ parts

TEST(Link, EndsOfTwoWidthsAreTakenEachAsLongAsItNeeds) {
  NocParameters parameters;
  parameters.link_bytes = 64;
  const LinkClock whole(parameters, {1, 1});
  Link input{64};
  Link output{32};
  EXPECT_EQ(whole.carry(input, output, 128, 10), 13U) << "four cycles of the narrow one";
  EXPECT_EQ(whole.from(10, input, Link{64}), 12U);
  EXPECT_EQ(whole.from(10, Link{32}, output), 14U);
  parameters.packed = true;
  const LinkClock packed(parameters, {1, 1});
  Link wide{64};
  Link narrow{32};
  EXPECT_EQ(packed.carry(wide, narrow, 32, 10), 10U);
  EXPECT_EQ(packed.carry(wide, narrow, 32, 11), 11U);
  EXPECT_EQ(packed.carry(wide, narrow, 48, 12), 13U);
  EXPECT_EQ(packed.from(13, Link{64}, narrow), 13U) << "half of a cycle of the narrow one is left";
  EXPECT_EQ(packed.carry(wide, narrow, 32, 13), 14U);
}

TEST(Link, OfAFasterClockCarriesMoreInACycle) {
  NocParameters parameters;
  parameters.link_bytes = 16;
  parameters.packed = true;
  const LinkClock links(parameters, {2, 1});
  Link input{16};
  Link output{16};
  EXPECT_EQ(links.carry(input, output, 128, 10), 14U);
  EXPECT_EQ(links.from(10, input, output), 14U);
}

TEST(Rotation, DealsEachRoundToAllPlacesAndBack) {
  for (const unsigned places : {1U, 2U, 3U, 5U, 12U, 40U}) {
    for (const bool hashed : {false, true}) {
      const Rotation rotation(places, hashed);
      std::vector<unsigned> seen(places, 0);
      for (std::uint64_t number = 0; number != 50 * places; ++number) {
        const unsigned place = rotation.place(number);
        ASSERT_LT(place, places);
        ++seen[place];
        EXPECT_EQ(rotation.number(rotation.round(number), place), number);
        if (number % places == places - 1) {
          EXPECT_EQ(*std::min_element(seen.begin(), seen.end()), *std::max_element(seen.begin(), seen.end()));
        }
      }
    }
  }
}

// Of lines that are whole multiples of the number of places apart, no place gets more than a few times its share.
TEST(Rotation, SpreadsStrides) {
  constexpr unsigned kPlaces = 40;
  const Rotation plain(kPlaces, false);
  const Rotation hashed(kPlaces, true);
  for (const unsigned stride : {1U, 2U, 16U, 1024U}) {
    std::vector<unsigned> seen(kPlaces, 0);
    for (std::uint64_t i = 0; i != 4000; ++i) {
      ++seen[hashed.place(i * stride * kPlaces)];
      ASSERT_EQ(plain.place(i * stride * kPlaces), 0U);
    }
    EXPECT_LT(*std::max_element(seen.begin(), seen.end()), 160U) << stride;
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 50U) << stride;
  }
}

TEST(LineArray, HashedSetsSpreadLinesThatAreASizeApart) {
  constexpr unsigned kSets = 12;
  LineArray<LineState> plain(std::uint64_t{kSets} * 2 * 128, 2, 128);
  LineArray<LineState> hashed(std::uint64_t{kSets} * 2 * 128, 2, 128, true);
  unsigned kept_plain = 0;
  unsigned kept_hashed = 0;
  for (LineArray<LineState>* array : {&plain, &hashed}) {
    for (std::uint64_t i = 0; i != 12; ++i) {
      const std::uint64_t line = i * kSets * 128;
      array->install(array->victim(line), line, 1);
    }
  }
  for (std::uint64_t i = 0; i != 12; ++i) {
    kept_plain += plain.find(i * kSets * 128) != LineFrames::kNone ? 1 : 0;
    kept_hashed += hashed.find(i * kSets * 128) != LineFrames::kNone ? 1 : 0;
  }
  EXPECT_EQ(kept_plain, 2U);
  EXPECT_GE(kept_hashed, 8U);
  // Consecutive lines fill every set alike.
  for (std::uint64_t i = 0; i != 2 * kSets; ++i) {
    const std::uint64_t line = (1000 * kSets + i) * 128;
    hashed.install(hashed.victim(line), line, 1);
  }
  for (std::uint64_t i = 0; i != 2 * kSets; ++i) {
    EXPECT_NE(hashed.find((1000 * kSets + i) * 128), LineFrames::kNone) << i;
  }
}

}  // namespace
}  // namespace heddle::hw::test
