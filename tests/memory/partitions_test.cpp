// An L2 of several partitions: which answers cross, and when they are there.
#include "hw/noc/partitions.hpp"

#include <gtest/gtest.h>

#include "system.hpp"

namespace heddle::hw::test {
namespace {

constexpr std::uint64_t kHalvesLine = 128;

// Of 4 cores and 6 slices; each of the two has room for a set of two lines.
L2Parameters two_partitions() {
  L2Parameters parameters;
  parameters.enabled = true;
  parameters.partitions = 2;
  parameters.ways = 2;
  parameters.bytes = 2 * 2 * kHalvesLine;
  return parameters;
}

TEST(L2Partitions, CoresAndSlicesAreDealtOutInRuns) {
  const L2Partitions partitions(two_partitions(), 4, 5);
  for (unsigned core = 0; core != 4; ++core) {
    EXPECT_EQ(partitions.of_core(core), core / 2) << core;
  }
  for (unsigned slice = 0; slice != 5; ++slice) {
    EXPECT_EQ(partitions.of_slice(slice), slice / 3) << slice;
  }
}

TEST(L2Partitions, ALoadCrossesUntilTheCoresPartitionHasACopy) {
  L2Partitions partitions(two_partitions(), 4, 6);
  EXPECT_FALSE(partitions.crosses(0, 2, 0, true)) << "at home";
  EXPECT_TRUE(partitions.crosses(0, 3, 128, true));
  EXPECT_FALSE(partitions.crosses(1, 3, 128 + 32, true)) << "a core beside it has read the line";
  EXPECT_FALSE(partitions.crosses(2, 3, 128, true)) << "at home there";
  EXPECT_EQ(partitions.statistics().near, 2U);
  EXPECT_EQ(partitions.statistics().copies, 1U);
  EXPECT_EQ(partitions.statistics().far, 1U);
}

TEST(L2Partitions, AStoreCrossesAndDropsCopies) {
  L2Partitions partitions(two_partitions(), 4, 6);
  EXPECT_TRUE(partitions.crosses(0, 3, 128, true));
  EXPECT_FALSE(partitions.crosses(2, 3, 128, false)) << "a store of a core at the line's home";
  EXPECT_TRUE(partitions.crosses(0, 3, 128, true));
  EXPECT_TRUE(partitions.crosses(0, 3, 128, false)) << "a store goes home, whatever is here";
  EXPECT_TRUE(partitions.crosses(0, 3, 128, true));
}

TEST(L2Partitions, CopiesAndLinesAtHomeShareAPartitionsRoom) {
  L2Partitions partitions(two_partitions(), 4, 6);
  EXPECT_TRUE(partitions.crosses(0, 3, 128, true));
  EXPECT_TRUE(partitions.crosses(0, 3, 256, true));
  EXPECT_FALSE(partitions.crosses(0, 3, 128, true));
  EXPECT_FALSE(partitions.crosses(0, 0, 384, true)) << "a third line, at home, in place of the older copy";
  EXPECT_FALSE(partitions.crosses(0, 3, 128, true));
  EXPECT_TRUE(partitions.crosses(0, 3, 256, true));
}

TEST(L2Partitions, NothingIsLeftOfAnL2ThatIsEmptyAgain) {
  L2Partitions partitions(two_partitions(), 4, 6);
  EXPECT_TRUE(partitions.crosses(0, 3, 128, true));
  partitions.forget();
  EXPECT_TRUE(partitions.crosses(0, 3, 128, true));
}

// ---- in the interconnect

// Core 0 and channel 0 in one partition, core 1 and channel 1 in the other; lines go to the channels in turn. L1s of
// one line, which write through.
SystemParameters parted(unsigned latency) {
  SystemParameters parameters;
  parameters.cores = 2;
  parameters.cache.bytes = kHalvesLine;
  parameters.cache.ways = 1;
  parameters.cache.write_policy = "write-through";
  parameters.dram.channels = 2;
  parameters.l2.enabled = true;
  parameters.l2.bytes = 64 * kHalvesLine;
  parameters.l2.ways = 4;
  parameters.l2.partitions = 2;
  parameters.noc.partition_latency = latency;
  return parameters;
}
constexpr std::uint64_t kAtHome = kBase;                // of core 0
constexpr std::uint64_t kAcross = kBase + kHalvesLine;  // of core 1
constexpr Cycle kSliceHit = 33;                         // 30 cycles of latency, 3 of ways (l2_test.cpp)

TEST(L2Partitions, AnAnswerThatCrossesTakesItsLatencyMore) {
  MemorySystem system(parted(50));
  system.memory.put<std::uint32_t>(kAcross, 7);
  system.core(1).load(0, kAcross);  // into the L2
  const Access& near = system.core(0).load(1000, kAtHome);
  const Access& far = system.core(0).load(2000, kAcross);
  system.core(0).load(3000, kAtHome);  // drives the line out of the L1
  const Access& copy = system.core(0).load(4000, kAcross);
  system.run();
  EXPECT_EQ(near.answered, 1306U);  // a miss at home (l2_test.cpp)
  EXPECT_EQ(far.answered, 2000 + kSliceHit + 50);
  EXPECT_EQ(far.word(), 7U);
  EXPECT_EQ(copy.answered, 4000 + kSliceHit);
}

TEST(L2Partitions, WhatAStoreHasChangedIsReadAtHome) {
  MemorySystem system(parted(50));
  system.core(0).load(0, kAcross);
  system.core(0).load(1000, kAtHome);
  system.core(1).store_word(2000, kAcross, 8);
  const Access& after = system.core(0).load(3000, kAcross);
  system.run();
  EXPECT_EQ(after.answered, 3000 + kSliceHit + 50) << "the copy is gone";
  EXPECT_EQ(after.word(), 8U);
}

// An answer of a slice to the other partition does not hold up its answers at home.
TEST(L2Partitions, AnswersAtHomePassThoseThatCross) {
  MemorySystem system(parted(50));
  system.core(1).load(0, kAcross);
  system.core(1).load(500, kAcross + 2 * kHalvesLine);
  system.core(1).load(900, kAcross);  // drives the other one out of the L1
  const Access& far = system.core(0).load(1000, kAcross);
  const Access& home = system.core(1).load(1001, kAcross + 2 * kHalvesLine);
  system.run();
  EXPECT_EQ(far.answered, 1000 + kSliceHit + 50);
  EXPECT_EQ(home.answered, 1001 + kSliceHit);
}

// Two cores of the partition that is not the lines' home, so that one has left a copy for the other.
TEST(L2Partitions, AnswersToOneCacheStayInOrder) {
  SystemParameters parameters = parted(50);
  parameters.cores = 4;
  parameters.cache.bytes = 2 * kHalvesLine;
  parameters.cache.ways = 2;
  MemorySystem system(parameters);
  const std::uint64_t other = kAcross + 2 * kHalvesLine;
  system.core(3).load(0, kAcross);
  system.core(3).load(500, other);
  system.core(1).load(1000, other);  // a copy
  const Access& first = system.core(0).load(2000, kAcross);
  const Access& second = system.core(0).load(2001, other);
  system.run();
  EXPECT_EQ(first.answered, 2000 + kSliceHit + 50);
  EXPECT_EQ(second.answered, 2001 + kSliceHit + 50) << "behind it, although there is a copy";
  EXPECT_EQ(system.noc().partitions()->statistics().copies, 1U);
}

TEST(L2Partitions, WithoutALatencyNothingIsLater) {
  SystemParameters parameters = parted(0);
  MemorySystem system(parameters);
  system.core(1).load(0, kAcross);
  const Access& far = system.core(0).load(2000, kAcross);
  system.run();
  EXPECT_EQ(far.answered, 2000 + kSliceHit);
}

}  // namespace
}  // namespace heddle::hw::test
