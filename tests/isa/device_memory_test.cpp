#include "isa/device_memory.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "isa/memory_map.hpp"

namespace heddle::isa {
namespace {

using ::testing::HasSubstr;

TEST(DeviceMemory, UntouchedBytesReadAsZeroAndMakeNoStorage) {
  const DeviceMemory memory;
  EXPECT_EQ(memory.get<std::uint64_t>(kGlobalBase + 12), 0U);
  EXPECT_EQ(memory.touched_bytes(), 0U);
}

// As an L2 writes back lines of a buffer that has been released since.
TEST(DeviceMemory, ZerosWhereNothingIsMakeNoStorage) {
  DeviceMemory memory;
  const std::uint64_t buffer = memory.allocate("x", 4);
  const std::uint64_t elsewhere = buffer + 2 * DeviceMemory::kPageBytes;
  EXPECT_TRUE(memory.in_use(buffer));
  EXPECT_FALSE(memory.in_use(elsewhere));
  memory.put<std::uint64_t>(elsewhere, 0);
  EXPECT_EQ(memory.touched_bytes(), 0U);
  memory.put<std::uint32_t>(buffer, 0);
  EXPECT_EQ(memory.touched_bytes(), DeviceMemory::kPageBytes);
  memory.put<std::uint64_t>(elsewhere, 1);
  EXPECT_TRUE(memory.in_use(elsewhere));
  memory.put<std::uint64_t>(elsewhere, 0);
  EXPECT_EQ(memory.get<std::uint64_t>(elsewhere), 0U);
}

TEST(DeviceMemory, WritesThatCrossAPageAreReadBack) {
  DeviceMemory memory;
  const std::uint64_t address = kGlobalBase + DeviceMemory::kPageBytes - 3;
  memory.put<std::uint64_t>(address, 0x0102030405060708ULL);
  EXPECT_EQ(memory.get<std::uint64_t>(address), 0x0102030405060708ULL);
  EXPECT_EQ(memory.get<std::uint8_t>(address), 0x08);
  EXPECT_EQ(memory.get<std::uint8_t>(address + 7), 0x01);
  EXPECT_EQ(memory.touched_bytes(), 2 * DeviceMemory::kPageBytes);
}

TEST(DeviceMemory, DirectPointerEndsWithItsPage) {
  DeviceMemory memory;
  std::size_t length = 0;
  std::byte* bytes = memory.direct(kGlobalBase + 100, length);
  EXPECT_EQ(length, DeviceMemory::kPageBytes - 100);
  bytes[1] = std::byte{42};
  EXPECT_EQ(memory.get<std::uint8_t>(kGlobalBase + 101), 42);
  EXPECT_NE(memory.direct(kGlobalBase + DeviceMemory::kPageBytes - 1, length), nullptr);
  EXPECT_EQ(length, 1U);
}

TEST(DeviceMemory, AllocationsAreAlignedWithAGapBetweenThem) {
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate("x", 256);
  const std::uint64_t y = memory.allocate("y", 1);
  const std::uint64_t z = memory.allocate("z", 0);
  EXPECT_EQ(x, kGlobalBase);
  EXPECT_EQ(y, x + 512);
  EXPECT_EQ(z, y + 512);
  EXPECT_GE(memory.allocate("wide", 8, false), std::uint64_t{1} << 32U);
}

TEST(DeviceMemory, FindHoldsExactlyTheAllocationsBytes) {
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate("x", 10);
  ASSERT_NE(memory.find(x, 10), nullptr);
  EXPECT_EQ(memory.find(x, 10)->name, "x");
  EXPECT_EQ(memory.find(x, 11), nullptr);
  EXPECT_NE(memory.find(x + 9, 1), nullptr);
  EXPECT_EQ(memory.find(x + 10, 1), nullptr);
  EXPECT_EQ(memory.find(x - 1, 1), nullptr);
  EXPECT_EQ(memory.find(~std::uint64_t{0}, 4), nullptr);
}

TEST(DeviceMemory, FindForgetsWhatWasReleasedOrReplaced) {
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate("x", 64);
  ASSERT_NE(memory.find(x, 4), nullptr);
  memory.place("shorter", x, 8);
  EXPECT_EQ(memory.find(x + 8, 4), nullptr);
  EXPECT_EQ(memory.find(x, 4)->name, "shorter");
  memory.release(x);
  EXPECT_EQ(memory.find(x, 4), nullptr);
  memory.release(x);  // nothing there: no effect
}

TEST(DeviceMemory, AFinderAnswersAsTheMemoryDoesAfterEveryChange) {
  DeviceMemory memory;
  AllocationFinder finder(&memory);
  const std::uint64_t x = memory.allocate("x", 64);
  const std::uint64_t y = memory.allocate("y", 64);
  const auto same = [&] {
    for (const std::uint64_t address : {x, x + 60, x + 8, y, y + 61, y - 1, x, std::uint64_t{0}, ~std::uint64_t{0}}) {
      EXPECT_EQ(finder.find(address, 4), memory.find(address, 4)) << address;
    }
    EXPECT_EQ(finder.find(x, 4), memory.find(x, 4));
  };
  same();  // ends in x, which it remembers
  memory.place("shorter", x, 8);
  EXPECT_EQ(finder.find(x + 8, 4), nullptr);
  same();
  memory.release(x);
  EXPECT_EQ(finder.find(x, 4), nullptr);
  same();
  EXPECT_NE(finder.find(y, 4), nullptr);
  memory.clear();
  EXPECT_EQ(finder.find(y, 4), nullptr);
}

TEST(DeviceMemory, The32BitSpaceRunsOutWithAnErrorThatSaysSo) {
  DeviceMemory memory;
  const std::uint64_t room = (std::uint64_t{1} << 32U) - kGlobalBase;
  EXPECT_THROW(memory.allocate("all", room), InputError);  // its gap does not fit
  EXPECT_EQ(memory.allocate("all", room - DeviceMemory::kAlignment), kGlobalBase);
  try {
    memory.allocate("y", 1);
    FAIL() << "the space was full";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no room for buffer 'y' of 1 byte in the 32-bit address space"));
    EXPECT_THAT(error.what(), HasSubstr(".address_size 64"));
  }
  EXPECT_THROW(memory.allocate("huge", ~std::uint64_t{0}, false), InputError);
  EXPECT_NO_THROW(memory.allocate("y", 1, false));
}

TEST(DeviceMemory, BuffersLieAGapApart) {
  DeviceMemory memory;
  EXPECT_EQ(memory.allocate("x", 1000), kGlobalBase);
  EXPECT_EQ(memory.allocate("y", 1 << 20), kGlobalBase + 1024 + 256);
  memory.set_placement({Placement::Rule::gap, 4000, 1});  // counts after the next buffer; whole alignments
  EXPECT_EQ(memory.allocate("z", 256), kGlobalBase + 1280 + (1 << 20) + 256);
  EXPECT_EQ(memory.allocate("end", 1), kGlobalBase + 1280 + (1 << 20) + 512 + 4096);
  EXPECT_EQ(memory.allocate("high", 1, false), std::uint64_t{1} << 32U);
  EXPECT_EQ(memory.allocate("higher", 1, false), (std::uint64_t{1} << 32U) + 256 + 4096);
}

TEST(DeviceMemory, LargeBuffersLieInPagesOfTheirOwn) {
  DeviceMemory memory;
  memory.set_placement({Placement::Rule::page, 256, 1});
  constexpr std::uint64_t kMegabyte = 1 << 20;
  EXPECT_EQ(memory.allocate("small", 100), kGlobalBase);
  const std::uint64_t x = memory.allocate("x", kMegabyte);
  EXPECT_EQ(x, kGlobalBase + 4096);
  const std::uint64_t y = memory.allocate("y", kMegabyte);
  EXPECT_EQ(y, x + kMegabyte + 4096);  // a page off
  const std::uint64_t z = memory.allocate("z", Placement::kLarge - 1);
  EXPECT_EQ(z, y + kMegabyte + 4096);
  EXPECT_EQ(memory.allocate("next", 4), z + Placement::kLarge + 256);
  // With room for the header in its last page, another one is not begun.
  const std::uint64_t w = memory.allocate("w", Placement::kLarge + 4096 - 256);
  EXPECT_EQ(w % 4096, 0U);
  EXPECT_EQ(memory.allocate("v", Placement::kLarge), w + Placement::kLarge + 4096);
}

TEST(DeviceMemory, RandomGapsFollowTheSeed) {
  const auto addresses = [](std::uint64_t seed) {
    DeviceMemory memory;
    memory.set_placement({Placement::Rule::seeded, 256, seed});
    std::vector<std::uint64_t> all;
    std::uint64_t end = kGlobalBase;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t address = memory.allocate("x", 1000);
      EXPECT_EQ(address % DeviceMemory::kAlignment, 0U);
      EXPECT_GE(address, end);
      EXPECT_LT(address, end + Placement::kMostRandomGap);
      end = address + 1024 + 256;
      all.push_back(address);
    }
    memory.clear();
    EXPECT_EQ(memory.allocate("x", 1000), all.front());
    return all;
  };
  EXPECT_EQ(addresses(1), addresses(1));
  EXPECT_NE(addresses(1), addresses(2));
  EXPECT_NE(addresses(0)[0], addresses(1)[0]);
}

TEST(DeviceMemory, ReleasedSpaceIsUsedAgainOnlyWhenNoneIsLeftAndIsZero) {
  DeviceMemory memory;
  const std::uint64_t half = std::uint64_t{1} << 30U;
  const std::uint64_t x = memory.allocate("x", half);
  const std::uint64_t y = memory.allocate("y", half);
  memory.put<std::uint32_t>(x, 7);
  memory.put<std::uint32_t>(y, 8);
  memory.release(x);
  const std::uint64_t z = memory.allocate("z", half);
  EXPECT_GT(z, y);
  EXPECT_EQ(memory.allocate("again", half), x);
  EXPECT_EQ(memory.get<std::uint32_t>(x), 0U);
  EXPECT_EQ(memory.get<std::uint32_t>(y), 8U);
}

TEST(DeviceMemory, ReleaseErasesPartsOfPagesAndKeepsNeighbours) {
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate("x", 16);
  const std::uint64_t y = memory.allocate("y", 16);
  memory.put<std::uint32_t>(x, 1);
  memory.put<std::uint32_t>(y, 2);
  memory.release(x);
  EXPECT_EQ(memory.get<std::uint32_t>(x), 0U);
  EXPECT_EQ(memory.get<std::uint32_t>(y), 2U);
}

// A generator that stores each 4-byte word's own address.
void own_address(std::uint64_t address, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t word = (address + i) & ~std::uint64_t{3};
    bytes[i] = static_cast<std::byte>(word >> (8 * ((address + i) & 3U)));
  }
}

TEST(DeviceMemory, GeneratorFillsPagesWhenTouched) {
  DeviceMemory memory;
  const std::uint64_t size = 3 * DeviceMemory::kPageBytes;
  const std::uint64_t x = memory.allocate("x", size);
  const std::uint64_t first = x + 1024;
  memory.fill_on_touch(first, size - 2048, own_address);
  EXPECT_EQ(memory.touched_bytes(), 0U);
  EXPECT_EQ(memory.get<std::uint32_t>(first - 4), 0U);
  EXPECT_EQ(memory.get<std::uint32_t>(first), static_cast<std::uint32_t>(first));
  EXPECT_EQ(memory.touched_bytes(), DeviceMemory::kPageBytes);
  const std::uint64_t last = first + size - 2048 - 4;
  EXPECT_EQ(memory.get<std::uint32_t>(last), static_cast<std::uint32_t>(last));
  EXPECT_EQ(memory.get<std::uint32_t>(last + 4), 0U);
  memory.put<std::uint32_t>(first + 4, 5);  // a write keeps the rest of the page as generated
  EXPECT_EQ(memory.get<std::uint32_t>(first + 8), static_cast<std::uint32_t>(first + 8));
}

TEST(DeviceMemory, GeneratorFillsPagesThatExistAlready) {
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate("x", 4096);
  memory.put<std::uint32_t>(x, 5);
  memory.put<std::uint32_t>(x + 8, 6);
  memory.fill_on_touch(x, 8, own_address);
  EXPECT_EQ(memory.get<std::uint32_t>(x), static_cast<std::uint32_t>(x));
  EXPECT_EQ(memory.get<std::uint32_t>(x + 8), 6U);
  memory.release(x);
  EXPECT_EQ(memory.get<std::uint32_t>(x), 0U);
}

TEST(DeviceMemory, ComputedRegionsTakeNoStorage) {
  DeviceMemory memory;
  const std::uint64_t before = memory.allocate("before", 256);
  const std::uint64_t size = std::uint64_t{3} << 30U;
  const std::uint64_t region = memory.allocate("keys", size);
  const std::uint64_t after = memory.allocate("after", 256);
  memory.put<std::uint32_t>(before + 252, 1);
  memory.put<std::uint32_t>(after, 2);
  memory.compute_on_read(region, size, own_address);
  const std::uint64_t stored = memory.touched_bytes();
  const auto computed = [](std::uint64_t at) { return at | (at + 4) << 32U; };
  EXPECT_EQ(memory.get<std::uint64_t>(region), computed(region));
  EXPECT_EQ(memory.get<std::uint64_t>(region + size - 8), computed(region + size - 8));
  for (std::uint64_t offset = 0; offset < size; offset += size / 64) {
    EXPECT_EQ(memory.get<std::uint64_t>(region + offset), computed(region + offset));
    std::size_t length = 0;
    const std::byte* bytes = memory.direct(region + offset + 8, length);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    EXPECT_EQ(value, computed(region + offset + 8));
    EXPECT_EQ(length, 8U);
  }
  EXPECT_EQ(memory.touched_bytes(), stored);
  // Across both ends, with what lies around.
  std::vector<std::uint64_t> words(96);
  memory.read(region - 512, std::as_writable_bytes(std::span(words)));
  EXPECT_EQ(words[31], std::uint64_t{1} << 32U);
  EXPECT_EQ(words[63], 0U);
  EXPECT_EQ(words[64], computed(region));
  memory.read(after - 512, std::as_writable_bytes(std::span(words)));
  EXPECT_EQ(words[31], computed(after - 264));
  EXPECT_EQ(words[32], 0U);
  EXPECT_EQ(words[64], 2U);
  EXPECT_FALSE(memory.find(region, 4)->writable);
  EXPECT_TRUE(memory.find(after, 4)->writable);
  EXPECT_THROW(memory.put<std::uint32_t>(region, 0), InternalError);
  EXPECT_THROW(memory.put<std::uint64_t>(region - 4, 0), InternalError);
  EXPECT_TRUE(memory.computed(region - 1, 2));
  EXPECT_FALSE(memory.computed(region - 1, 1));
  EXPECT_FALSE(memory.computed(region + size, 64));
  EXPECT_THROW(memory.compute_on_read(after, 100, own_address), InternalError);
  memory.release(region);
  EXPECT_FALSE(memory.computed(region, size));
  EXPECT_EQ(memory.get<std::uint64_t>(region), 0U);
}

TEST(DeviceMemory, ClearForgetsEverything) {
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate("x", 64);
  memory.put<std::uint32_t>(x, 5);
  memory.clear();
  EXPECT_EQ(memory.get<std::uint32_t>(x), 0U);
  EXPECT_TRUE(memory.allocations().empty());
  EXPECT_EQ(memory.allocate("x", 64), x);
}

TEST(DeviceMemory, DescribesWhereAnAccessLies) {
  DeviceMemory memory;
  EXPECT_EQ(memory.describe(kGlobalBase, 4), "no memory is allocated");
  EXPECT_THAT(memory.describe(16, 4), HasSubstr("null pointer"));
  EXPECT_THAT(memory.describe(kSharedWindow - 1, 4), HasSubstr("null pointer"));
  const std::uint64_t x = memory.allocate("x", 100);
  const std::uint64_t y = memory.allocate("y", 1024);
  EXPECT_EQ(memory.describe(y + 1028, 4), "4 bytes past the end of buffer 'y' (0x10000200, 1024 bytes)");
  EXPECT_EQ(memory.describe(y + 1024, 4), "just past the end of buffer 'y' (0x10000200, 1024 bytes)");
  EXPECT_EQ(memory.describe(y - 1, 4), "1 byte before the start of buffer 'y' (0x10000200, 1024 bytes)");
  EXPECT_EQ(memory.describe(x + 98, 4), "reaches 2 bytes past the end of buffer 'x' (0x10000000, 100 bytes)");
  EXPECT_EQ(memory.describe(x + 104, 4), "4 bytes past the end of buffer 'x' (0x10000000, 100 bytes)");
  memory.place("table", kModuleBase, 8, false);
  EXPECT_EQ(memory.describe(kModuleBase + 4, 4), "at offset 4 of read-only variable 'table' (0x5000000, 8 bytes)");
  memory.place("code of k", kCodeBase, 1, false);
  EXPECT_EQ(memory.describe(kCodeBase + 2, 1), "1 byte past the end of 'code of k' (0x4000000, 1 byte)");
}

TEST(DeviceMemory, NearestTakesTheCloserNeighbour) {
  DeviceMemory memory;
  EXPECT_EQ(memory.nearest(5), nullptr);
  memory.place("low", 1000, 100);
  memory.place("high", 2000, 100);
  EXPECT_EQ(memory.nearest(0)->name, "low");
  EXPECT_EQ(memory.nearest(1549)->name, "low");
  EXPECT_EQ(memory.nearest(1551)->name, "high");
  EXPECT_EQ(memory.nearest(9999)->name, "high");
}

}  // namespace
}  // namespace heddle::isa
