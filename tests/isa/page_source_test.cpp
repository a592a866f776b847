// Device memory whose pages come from elsewhere.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "isa/device_memory.hpp"
#include "isa/memory_map.hpp"

namespace heddle::isa {
namespace {

constexpr std::uint64_t kPage = DeviceMemory::kPageBytes;
constexpr std::uint64_t kFirst = kGlobalBase / kPage;

// Has pages below `end` only, and remembers what was asked for.
class Pages final : public PageSource {
 public:
  explicit Pages(std::uint64_t end) : end_(end) {}
  std::byte* page(std::uint64_t number) override {
    asked.push_back(number);
    if (number >= end_) return nullptr;
    std::vector<std::byte>& bytes = pages_[number];
    bytes.resize(kPage);
    return bytes.data();
  }
  void drop(std::uint64_t first, std::uint64_t count) override {
    dropped.emplace_back(first, count);
    for (std::uint64_t number = first; number != first + count; ++number) pages_.erase(number);
  }
  std::vector<std::uint64_t> asked;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dropped;

 private:
  std::uint64_t end_;
  std::map<std::uint64_t, std::vector<std::byte>> pages_;
};

TEST(PageSource, GetsWhatWasWrittenBeforeAndGivesWhatIsWrittenLater) {
  DeviceMemory memory;
  memory.put<std::uint32_t>(kGlobalBase + 8, 77);
  memory.put<std::uint32_t>(kGlobalBase + 5 * kPage, 78);
  const auto pages = std::make_shared<Pages>(kFirst + 3);
  memory.take_pages_from(pages);
  EXPECT_EQ(memory.get<std::uint32_t>(kGlobalBase + 8), 77U);
  EXPECT_EQ(memory.get<std::uint32_t>(kGlobalBase + 5 * kPage), 78U);  // the source does not have this page
  EXPECT_EQ(std::set(pages->asked.begin(), pages->asked.end()), (std::set{kFirst, kFirst + 5}));
  memory.put<std::uint64_t>(kGlobalBase + 2 * kPage - 4, 0x1122334455667788);
  std::uint32_t half = 0;
  std::memcpy(&half, pages->page(kFirst + 2), sizeof half);
  EXPECT_EQ(half, 0x11223344U);
  EXPECT_EQ(memory.touched_bytes(), 4 * kPage);
}

TEST(PageSource, IsAskedForNothingThatIsOnlyReadOrTouched) {
  DeviceMemory memory;
  const auto pages = std::make_shared<Pages>(~std::uint64_t{0});
  memory.take_pages_from(pages);
  EXPECT_EQ(memory.get<std::uint32_t>(kGlobalBase), 0U);
  EXPECT_EQ(memory.touched_bytes(), 0U);
  memory.touch(kGlobalBase + kPage - 1, 2);
  memory.touch(kGlobalBase + 9 * kPage, 0);
  EXPECT_TRUE(pages->asked.empty());
  EXPECT_EQ(memory.touched_bytes(), 2 * kPage);
  // What was written to the source's page by another way is the memory's.
  pages->page(kFirst + 1)[5] = std::byte{42};
  EXPECT_EQ(memory.get<std::uint8_t>(kGlobalBase + kPage + 5), 42);
}

TEST(PageSource, RunsOfStorageAndOfNoneAreTold) {
  DeviceMemory memory;
  memory.touch(kGlobalBase + kPage, 2 * kPage);
  bool stored = true;
  EXPECT_EQ(memory.alike(kGlobalBase + 10, 100 * kPage, stored), kPage - 10);
  EXPECT_FALSE(stored);
  EXPECT_EQ(memory.alike(kGlobalBase + kPage, 100 * kPage, stored), 2 * kPage);
  EXPECT_TRUE(stored);
  EXPECT_EQ(memory.alike(kGlobalBase + kPage + 1, kPage + 1, stored), kPage + 1);
  EXPECT_TRUE(stored);
  EXPECT_EQ(memory.alike(kGlobalBase + 3 * kPage, 100 * kPage, stored), 100 * kPage);
  EXPECT_FALSE(stored);
  // A generator's page is storage, with what it writes.
  memory.fill_on_touch(kGlobalBase + 5 * kPage, 1,
                       [](std::uint64_t, std::span<std::byte> at) { at[0] = std::byte{9}; });
  EXPECT_EQ(memory.alike(kGlobalBase + 3 * kPage, 100 * kPage, stored), 2 * kPage);
  EXPECT_EQ(memory.alike(kGlobalBase + 5 * kPage, 100 * kPage, stored), kPage);
  EXPECT_TRUE(stored);
  EXPECT_EQ(memory.get<std::uint8_t>(kGlobalBase + 5 * kPage), 9);
}

TEST(PageSource, ReleasedPagesAreDroppedInRunsAndSharedOnesZeroedInPart) {
  DeviceMemory memory;
  const auto pages = std::make_shared<Pages>(~std::uint64_t{0});
  memory.take_pages_from(pages);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> forgotten;
  memory.set_forget([&](std::uint64_t address, std::uint64_t bytes) { forgotten.emplace_back(address, bytes); });
  memory.place("a", kGlobalBase + 100, 6 * kPage);  // ends 100 bytes into page 6
  for (const std::uint64_t page : {0, 1, 2, 4, 6, 7}) {
    memory.put<std::uint8_t>(kGlobalBase + page * kPage + 99, 1);
    memory.put<std::uint8_t>(kGlobalBase + page * kPage + 100, 2);
  }
  memory.release(kGlobalBase + 100);
  using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(pages->dropped, (Runs{{kFirst + 1, 2}, {kFirst + 4, 1}}));
  EXPECT_EQ(forgotten, (Runs{{kGlobalBase + kPage, 2 * kPage}, {kGlobalBase + 4 * kPage, kPage}}));
  const auto at = [&](std::uint64_t page, std::uint64_t byte) {
    return memory.get<std::uint8_t>(kGlobalBase + page * kPage + byte);
  };
  EXPECT_EQ(at(0, 99), 1);
  EXPECT_EQ(at(0, 100), 0);
  EXPECT_EQ(at(1, 100), 0);
  EXPECT_EQ(at(6, 99), 0);
  EXPECT_EQ(at(6, 100), 2);
  EXPECT_EQ(at(7, 99), 1);
  EXPECT_EQ(memory.touched_bytes(), 3 * kPage);
  memory.clear();
  EXPECT_EQ(memory.touched_bytes(), 0U);
  EXPECT_EQ(pages->dropped.back(), (std::pair{kFirst + 6, std::uint64_t{2}}));
  EXPECT_EQ(at(7, 99), 0);
}

TEST(PageSource, IsLeftWithAllItsPages) {
  DeviceMemory memory;
  memory.take_pages_from(std::make_shared<Pages>(~std::uint64_t{0}));
  memory.put<std::uint32_t>(kGlobalBase, 5);
  memory.take_pages_from(nullptr);
  EXPECT_EQ(memory.get<std::uint32_t>(kGlobalBase), 5U);
}

// The fewer of the pages asked about and those there are are looked at: both ways have one effect.
TEST(PageSource, SmallAndLargeReleasesForgetTheSame) {
  for (const std::uint64_t others : {std::uint64_t{0}, std::uint64_t{100}}) {
    DeviceMemory memory;
    for (std::uint64_t page = 0; page != others; ++page) memory.put<std::uint8_t>(2 * kGlobalBase + page * kPage, 1);
    memory.place("a", kGlobalBase, 10 * kPage);
    memory.put<std::uint8_t>(kGlobalBase + 3 * kPage, 1);
    memory.put<std::uint8_t>(kGlobalBase + 9 * kPage, 1);
    memory.put<std::uint8_t>(kGlobalBase + 10 * kPage, 1);
    memory.release(kGlobalBase);
    EXPECT_EQ(memory.touched_bytes(), (others + 1) * kPage);
    EXPECT_EQ(memory.get<std::uint8_t>(kGlobalBase + 9 * kPage), 0);
    EXPECT_EQ(memory.get<std::uint8_t>(kGlobalBase + 10 * kPage), 1);
  }
}

}  // namespace
}  // namespace heddle::isa
