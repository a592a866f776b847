// Miss status holding registers alone: entries and targets up to the limit, who is found, and how stores join.
#include "hw/cache/miss_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace heddle::hw {
namespace {

constexpr unsigned kLine = 8;  // bytes

// A store of `value` in every byte of the line that `which` has a bit for.
struct StoredBytes {
  StoredBytes(std::uint8_t value, unsigned which) {
    for (unsigned byte = 0; byte != kLine; ++byte) {
      data[byte] = std::byte{value};
      enable[byte] = ((which >> byte) & 1U) != 0 ? 0xff : 0;
    }
  }
  std::array<std::byte, kLine> data{};
  std::array<std::uint8_t, kLine> enable{};
};

bool add(MissFile& file, std::uint32_t index, const StoredBytes& store) {
  return file.add_store(index, store.data.data(), store.enable.data());
}
std::vector<int> bytes_of(const StoreBuffer& buffer) {  // -1: not written
  std::vector<int> out;
  for (unsigned byte = 0; byte != kLine; ++byte) {
    out.push_back(buffer.enable[byte] != 0 ? std::to_integer<int>(buffer.data[byte]) : -1);
  }
  return out;
}

TEST(MissFile, HasAsManyEntriesAsItWasGiven) {
  MissFile file(3, 2, kLine);
  EXPECT_TRUE(file.empty());
  EXPECT_FALSE(file.full());
  std::vector<std::uint32_t> entries;
  for (unsigned i = 0; i != 3; ++i) {
    EXPECT_FALSE(file.full()) << i;
    EXPECT_EQ(file.used(), i);
    entries.push_back(file.allocate(0x1000 + kLine * i, i != 1));
    EXPECT_FALSE(file.empty());
  }
  EXPECT_TRUE(file.full());
  EXPECT_EQ(file.used(), 3U);
  std::sort(entries.begin(), entries.end());
  EXPECT_EQ(entries, (std::vector<std::uint32_t>{0, 1, 2}));
  file.release(entries[1]);
  EXPECT_FALSE(file.full());
  EXPECT_EQ(file.used(), 2U);
  EXPECT_EQ(file.allocate(0x2000, true), entries[1]) << "the one that is free";
  EXPECT_TRUE(file.full());
  for (const std::uint32_t entry : entries) {
    file.release(entry);
  }
  EXPECT_TRUE(file.empty());
  EXPECT_EQ(file.find(0x1000), MissFile::kNone);
  EXPECT_EQ(file.find(0x2000), MissFile::kNone);
}

TEST(MissFile, OneEntryIsEnough) {
  MissFile file(1, 1, kLine);
  const std::uint32_t entry = file.allocate(0, true);
  EXPECT_TRUE(file.full());
  EXPECT_EQ(file.find(0), entry);
  EXPECT_EQ(file.find(kLine), MissFile::kNone);
  file.release(entry);
  EXPECT_EQ(file.find(0), MissFile::kNone);
}

TEST(MissFile, OpenEntriesAreFoundByTheirAddressUntilTheyClose) {
  MissFile file(4, 2, kLine);
  EXPECT_EQ(file.find(0x100), MissFile::kNone);
  const std::uint32_t open = file.allocate(0x100, true);
  const std::uint32_t other = file.allocate(0x108, true);
  const std::uint32_t once = file.allocate(0x110, false);
  EXPECT_EQ(file.find(0x100), open);
  EXPECT_EQ(file.find(0x108), other);
  EXPECT_EQ(file.find(0x110), MissFile::kNone) << "nothing joins it";
  EXPECT_TRUE(file[once].used);
  EXPECT_FALSE(file[once].open);
  file.close(open);
  EXPECT_EQ(file.find(0x100), MissFile::kNone);
  EXPECT_TRUE(file[open].used) << "its line is still on the way";
  EXPECT_EQ(file.used(), 3U);
  // A new one of the line stands beside it.
  const std::uint32_t again = file.allocate(0x100, true);
  EXPECT_EQ(file.find(0x100), again);
  EXPECT_NE(again, open);
  file.close(open);
  file.close(once);
  EXPECT_EQ(file.find(0x100), again) << "what is closed cannot close again";
  file.release(open);
  EXPECT_EQ(file.find(0x100), again);
  file.close_all();
  EXPECT_EQ(file.find(0x100), MissFile::kNone);
  EXPECT_EQ(file.find(0x108), MissFile::kNone);
  EXPECT_EQ(file.used(), 3U);
  EXPECT_FALSE(file[again].open);
}

TEST(MissFile, ANewEntryKnowsNothingOfTheOneBefore) {
  MissFile file(1, 4, kLine);
  const std::uint32_t entry = file.allocate(0x40, false);
  link::LineRequest request;
  link::PayloadPool pool;
  Mshr& first = file[entry];
  first.atomic = true;
  first.drop = true;
  first.state = static_cast<LineState>(kAbsent + 1);
  first.fetch = &pool.acquire(::tlm::TLM_READ_COMMAND, 0x40, kLine);
  file.add_load(entry, request);
  EXPECT_TRUE(add(file, entry, StoredBytes(1, 0xff)));
  file.release(entry);
  EXPECT_FALSE(file[entry].used);
  const Mshr& second = file[file.allocate(0x80, true)];
  EXPECT_EQ(second.address, 0x80U);
  EXPECT_TRUE(second.used);
  EXPECT_TRUE(second.open);
  EXPECT_FALSE(second.atomic);
  EXPECT_FALSE(second.drop);
  EXPECT_EQ(second.state, kAbsent);
  EXPECT_EQ(second.fetch, nullptr);
  EXPECT_TRUE(second.targets.empty());
}

TEST(MissFile, LoadsWaitInOrderUpToTheLimit) {
  MissFile file(2, 3, kLine);
  std::array<link::LineRequest, 3> requests;
  const std::uint32_t entry = file.allocate(0x40, true);
  const std::uint32_t other = file.allocate(0x48, true);
  for (link::LineRequest& request : requests) {
    EXPECT_TRUE(file.can_add_load(entry));
    EXPECT_TRUE(file.can_add_store(entry));
    file.add_load(entry, request);
  }
  EXPECT_FALSE(file.can_add_load(entry));
  EXPECT_FALSE(file.can_add_store(entry)) << "there is no store for it to join";
  EXPECT_TRUE(file.can_add_load(other)) << "each entry has targets of its own";
  ASSERT_EQ(file[entry].targets.size(), 3U);
  for (unsigned i = 0; i != 3; ++i) {
    EXPECT_EQ(file[entry].targets[i].request, &requests[i]);
  }
}

TEST(MissFile, AStoreJoinsTheOneDirectlyBeforeIt) {
  MissFile file(1, 3, kLine);
  const std::uint32_t entry = file.allocate(0x40, true);
  link::LineRequest load;
  EXPECT_TRUE(add(file, entry, StoredBytes(1, 0b0000'1111)));
  EXPECT_FALSE(add(file, entry, StoredBytes(2, 0b0011'1100)));
  ASSERT_EQ(file[entry].targets.size(), 1U);
  EXPECT_EQ(file[entry].targets[0].request, nullptr);
  EXPECT_EQ(bytes_of(file.store(file[entry].targets[0].store)), (std::vector<int>{1, 1, 2, 2, 2, 2, -1, -1}));
  file.add_load(entry, load);
  EXPECT_TRUE(add(file, entry, StoredBytes(3, 0b0000'0001))) << "the load must not see it";
  ASSERT_EQ(file[entry].targets.size(), 3U);
  EXPECT_EQ(file[entry].targets[1].request, &load);
  EXPECT_EQ(bytes_of(file.store(file[entry].targets[0].store)), (std::vector<int>{1, 1, 2, 2, 2, 2, -1, -1}));
  EXPECT_EQ(bytes_of(file.store(file[entry].targets[2].store)), (std::vector<int>{3, -1, -1, -1, -1, -1, -1, -1}));
  // Every target is taken: no load any more, but a store that joins.
  EXPECT_FALSE(file.can_add_load(entry));
  EXPECT_TRUE(file.can_add_store(entry));
  EXPECT_FALSE(add(file, entry, StoredBytes(4, 0b1000'0000)));
  EXPECT_EQ(bytes_of(file.store(file[entry].targets[2].store)), (std::vector<int>{3, -1, -1, -1, -1, -1, -1, 4}));
}

TEST(MissFile, StoreBuffersAreUsedAgainAndKeepNothing) {
  MissFile file(2, 2, kLine);
  const std::uint32_t first = file.allocate(0x40, true);
  const std::uint32_t second = file.allocate(0x48, true);
  EXPECT_TRUE(add(file, first, StoredBytes(1, 0xff)));
  EXPECT_TRUE(add(file, second, StoredBytes(2, 0xff)));
  const std::uint32_t of_first = file[first].targets[0].store;
  const std::uint32_t of_second = file[second].targets[0].store;
  EXPECT_NE(of_first, of_second);
  file.release(first);
  const std::uint32_t third = file.allocate(0x50, true);
  EXPECT_TRUE(add(file, third, StoredBytes(3, 0b10)));
  EXPECT_EQ(file[third].targets[0].store, of_first);
  EXPECT_EQ(bytes_of(file.store(of_first)), (std::vector<int>{-1, 3, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(bytes_of(file.store(of_second)), (std::vector<int>(kLine, 2)));
}

// Against a map, with lines from all over memory, several of which share a chain: entries close at the head, within and
// at the end of one.
TEST(MissFile, FindsWhatIsOpenWhateverElseIs) {
  std::mt19937 engine(7);
  MissFile file(24, 2, 128);
  std::vector<std::uint64_t> lines;
  for (unsigned i = 0; i != 60; ++i) {
    lines.push_back((std::uint64_t{engine()} << 20U | i) * 128);
  }
  std::map<std::uint64_t, std::uint32_t> open;
  std::vector<std::uint32_t> used;
  for (unsigned step = 0; step != 20000; ++step) {
    const std::uint64_t address = lines[engine() % lines.size()];
    const auto found = open.find(address);
    ASSERT_EQ(file.find(address), found == open.end() ? MissFile::kNone : found->second);
    switch (engine() % 4) {
      case 0:
      case 1:
        if (!file.full() && found == open.end()) {
          used.push_back(file.allocate(address, true));
          open.emplace(address, used.back());
        }
        break;
      case 2:
        if (found != open.end()) {
          file.close(found->second);
          open.erase(found);
        }
        break;
      default:
        if (!used.empty()) {
          const std::size_t which = engine() % used.size();
          const std::uint32_t index = used[which];
          std::erase_if(open, [&](const auto& entry) { return entry.second == index; });
          file.release(index);
          used.erase(used.begin() + static_cast<std::ptrdiff_t>(which));
        }
        break;
    }
    ASSERT_EQ(file.used(), used.size());
    ASSERT_EQ(file.full(), used.size() == 24);
  }
}

}  // namespace
}  // namespace heddle::hw
