// Lines that an L2 keeps from launch to launch (l2.kept): the host reads and writes memory between them, past the L2.
#include <gtest/gtest.h>

#include "system.hpp"

namespace heddle::hw::test {
namespace {

constexpr std::uint64_t kKeptLine = 128;

// An L1 of four lines that writes through, before an L2 of four sets of two lines that keeps them.
SystemParameters keeping(unsigned sector_bytes = 0) {
  SystemParameters parameters;
  parameters.cache.bytes = 512;
  parameters.cache.ways = 2;
  parameters.cache.write_policy = "write-through";
  parameters.cache.sector_bytes = sector_bytes;
  parameters.l2.enabled = true;
  parameters.l2.bytes = 8 * kKeptLine;
  parameters.l2.ways = 2;
  parameters.l2.sector_bytes = sector_bytes;
  parameters.l2.write_back_at_end = false;
  parameters.l2.kept = true;
  return parameters;
}

void expect_what_the_host_has_written(unsigned sector_bytes) {
  MemorySystem system(keeping(sector_bytes));
  system.core().store_word(0, kBase, 1);
  system.core().load(0, kBase + kKeptLine);
  system.run();
  system.flush();
  EXPECT_TRUE(system.l2().holds(kBase));
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 1U) << "the host sees what has been stored";
  system.memory.put<std::uint32_t>(kBase, 2);
  system.memory.put<std::uint32_t>(kBase + kKeptLine + 4, 3);
  system.changed();
  const std::uint64_t reads = system.controller().statistics().reads;
  const Access& stored = system.core().load(system.clock.now() + 10, kBase);
  const Access& loaded = system.core().load(system.clock.now() + 20, kBase + kKeptLine);
  system.core().go_on();
  system.run();
  EXPECT_EQ(stored.word(0), 2U);
  EXPECT_EQ(loaded.word(1), 3U);
  EXPECT_EQ(system.controller().statistics().reads - reads, sector_bytes == 0 ? 0U : 1U)
      << "of the line of which a word has been stored a sector had not come";
}

TEST(KeptLines, HaveWhatTheHostHasWritten) {
  expect_what_the_host_has_written(0);
}
TEST(KeptLines, OfSectorsHaveWhatTheHostHasWritten) {
  expect_what_the_host_has_written(32);
}

// What was stored before the flush goes to memory in its time when its line is replaced, as the host has changed it.
TEST(KeptLines, AreWrittenBackWhenTheyAreReplaced) {
  MemorySystem system(keeping());
  system.core().store_word(0, kBase, 1);
  system.run();
  system.flush();
  EXPECT_EQ(system.controller().statistics().writes, 0U);
  system.memory.put<std::uint32_t>(kBase, 2);
  system.changed();
  const Cycle now = system.clock.now();
  system.core().load(now + 10, kBase + 4 * kKeptLine);  // in one set with the first
  system.core().load(now + 2000, kBase + 8 * kKeptLine);
  system.core().go_on();
  system.run();
  EXPECT_FALSE(system.l2().holds(kBase));
  EXPECT_EQ(system.controller().statistics().writes, 1U);
  EXPECT_EQ(system.memory.get<std::uint32_t>(kBase), 2U);
}

// A launch that was stopped has not emptied the L2, nor told memory what it has stored.
TEST(KeptLines, OfALaunchThatWasStoppedHaveWhatTheHostHasWritten) {
  MemorySystem system(keeping());
  system.core().load(0, kBase);
  system.core().store_word(1, kBase + kKeptLine, 1);
  system.run();
  system.memory.put<std::uint32_t>(kBase, 7);
  system.cache().invalidate();
  system.changed();
  const Access& loaded = system.core().load(system.clock.now() + 10, kBase);
  const Access& stored = system.core().load(system.clock.now() + 20, kBase + kKeptLine);
  system.core().go_on();
  system.run();
  EXPECT_EQ(loaded.word(0), 7U);
  EXPECT_EQ(stored.word(0), 1U);
}

}  // namespace
}  // namespace heddle::hw::test
