#include "isa/device_heap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "isa/device_memory.hpp"

namespace heddle::isa {
namespace {

using ::testing::HasSubstr;

LaunchRequest launch_of(std::uint32_t blocks, std::uint32_t threads) {
  LaunchRequest request;
  request.grid = {blocks, 1, 1};
  request.block = {threads, 1, 1};
  return request;
}

std::uint64_t get(DeviceHeap& heap, std::uint64_t thread, std::uint64_t size) {
  const DeviceHeap::Given given = heap.allocate(thread, size, true);
  EXPECT_EQ(given.wrong, "");
  return given.address;
}

// ---- a plain model: no arithmetic of classes and ranks, all slots in a list that is searched from its beginning.

constexpr std::uint64_t kSlots[] = {32,   48,   64,   96,   128,  192,  256,   384,   512,   768,
                                    1024, 1536, 2048, 3072, 4096, 8192, 16384, 32768, 65536, 131072};

class PlainHeap {
 public:
  explicit PlainHeap(std::uint64_t limit) : limit_(limit) {}

  void begin(std::uint64_t threads) {
    threads_ = threads;
    at_begin_ = live_;
    std::uint64_t used = 0;
    for (const auto& [address, block] : live_) used += charge(block.size);
    left_.assign(threads, limit_ > used ? limit_ - used : 0);
    had_.clear();
    given_back_.clear();
    noted_.clear();
  }
  std::uint64_t allocate(std::uint64_t thread, std::uint64_t size) {
    if (charge(size) > left_[thread]) return 0;
    left_[thread] -= charge(size);
    unsigned size_class = 0;
    while (kSlots[size_class] < charge(size) + 16) ++size_class;
    std::vector<std::uint64_t>& again = given_back_[{thread, size_class}];
    std::uint64_t address = 0;
    if (!again.empty()) {
      address = again.back();
      again.pop_back();
    } else {
      std::uint64_t skip = had_[{thread, size_class}]++ * threads_ + thread;
      address = (std::uint64_t{1} << 47U) + size_class * ((std::uint64_t{1} << 41U) + 4224);
      while (at_begin_.count(address) != 0 || skip != 0) {
        skip -= at_begin_.count(address) != 0 ? 0 : 1;
        address += kSlots[size_class];
      }
    }
    live_[address] = {size, thread};
    return address;
  }
  void free(std::uint64_t thread, std::uint64_t address) {
    const bool before = at_begin_.count(address) != 0;
    if (before || live_.at(address).thread != thread) {
      noted_.insert(address);
      if (before) left_[thread] += charge(live_.at(address).size);
      return;
    }
    left_[thread] += charge(live_.at(address).size);
    unsigned size_class = 0;
    while (kSlots[size_class] < charge(live_.at(address).size) + 16) ++size_class;
    given_back_[{thread, size_class}].push_back(address);
    live_.erase(address);
  }
  void end() {
    for (const std::uint64_t address : noted_) live_.erase(address);
  }
  [[nodiscard]] bool noted(std::uint64_t address) const { return noted_.count(address) != 0; }
  struct Block {
    std::uint64_t size;
    std::uint64_t thread;
  };
  [[nodiscard]] const std::map<std::uint64_t, Block>& live() const { return live_; }
  [[nodiscard]] bool old(std::uint64_t address) const { return at_begin_.count(address) != 0; }

 private:
  static std::uint64_t charge(std::uint64_t size) { return size < 16 ? 16 : (size + 15) / 16 * 16; }
  std::uint64_t limit_;
  std::uint64_t threads_ = 0;
  std::map<std::uint64_t, Block> live_, at_begin_;
  std::vector<std::uint64_t> left_;
  std::map<std::pair<std::uint64_t, unsigned>, std::uint64_t> had_;
  std::map<std::pair<std::uint64_t, unsigned>, std::vector<std::uint64_t>> given_back_;
  std::set<std::uint64_t> noted_;
};

class RandomHeap : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomHeap, ::testing::Range(0U, 6U));

TEST_P(RandomHeap, DoesWhatThePlainOneDoes) {
  std::mt19937 random(GetParam());
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  constexpr std::uint64_t kLimit = 1 << 20;
  DeviceHeap heap;
  heap.set_limit(kLimit);
  PlainHeap plain(kLimit);
  unsigned refused = 0;
  for (unsigned launch = 0; launch < 12; ++launch) {
    const std::uint64_t threads = 1 + below(40);
    heap.begin_launch(launch_of(1, static_cast<std::uint32_t>(threads)));
    plain.begin(threads);
    for (unsigned step = 0; step < 400; ++step) {
      const std::uint64_t thread = below(threads);
      if (plain.live().empty() || below(100) < 55) {
        const std::uint64_t size = below(20) == 0 ? below(100'000) : below(300);
        const std::uint64_t address = plain.allocate(thread, size);
        ASSERT_EQ(get(heap, thread, size), address) << "launch " << launch << " step " << step;
        refused += address == 0 ? 1 : 0;
        continue;
      }
      auto some = plain.live().begin();
      std::advance(some, static_cast<std::ptrdiff_t>(below(plain.live().size())));
      const auto [address, block] = *some;
      // A block of another thread of the launch, or of an earlier one, once; who allocated it frees it no more then.
      if (plain.noted(address)) continue;
      const std::uint64_t by = plain.old(address) || below(4) == 0 ? thread : block.thread;
      ASSERT_EQ(heap.free(by, address, 0), "");
      plain.free(by, address);
    }
    // Nothing overlaps, and each may be accessed to its last byte and no further by whoever knows it exactly.
    std::uint64_t end = 0;
    for (const auto& [address, block] : plain.live()) {
      ASSERT_GE(address, end);
      ASSERT_EQ(address % DeviceHeap::kAlignment, 0U);
      end = address + block.size + DeviceHeap::kBehind;
      const std::uint64_t owner = plain.old(address) ? 0 : block.thread;
      if (block.size == 0 || plain.noted(address)) continue;
      ASSERT_TRUE(heap.allows(owner, address, block.size));
      ASSERT_FALSE(heap.allows(owner, address, block.size + 1));
      ASSERT_FALSE(heap.allows(owner, address + block.size, 1));
    }
    ASSERT_FALSE(heap.end_launch().has_value() && heap.live_bytes() <= kLimit);
    plain.end();
    ASSERT_EQ(heap.live_blocks(), plain.live().size());
  }
  EXPECT_GT(refused, 0U);
}

// Each thread asks for what it asked for before; the threads have another order.
TEST(DeviceHeap, AddressesDoNotDependOnWhoIsFirst) {
  constexpr unsigned kThreads = 24;
  const auto addresses_of = [](unsigned seed) {
    DeviceHeap heap;
    std::vector<std::vector<std::uint64_t>> all(2 * kThreads);
    for (unsigned launch = 0; launch < 2; ++launch) {
      heap.begin_launch(launch_of(3, kThreads / 3));
      std::mt19937 order(seed + launch);
      std::vector<unsigned> steps(kThreads);  // of each thread: allocates five, frees the third, allocates one
      for (unsigned left = kThreads * 7; left != 0;) {
        const unsigned thread = order() % kThreads;
        const unsigned step = steps[thread];
        if (step == 7) continue;
        ++steps[thread];
        --left;
        std::vector<std::uint64_t>& own = all[launch * kThreads + thread];
        if (step == 5) {
          EXPECT_EQ(heap.free(thread, own[2], 0), "");
        } else {
          own.push_back(get(heap, thread, step == 6 ? 40 : 40 * (step + thread % 3)));
        }
      }
      EXPECT_FALSE(heap.end_launch().has_value());
    }
    return all;
  };
  const auto first = addresses_of(1);
  EXPECT_EQ(addresses_of(2), first);
  EXPECT_EQ(addresses_of(77), first);
}

TEST(DeviceHeap, FirstBlocksOfNeighboursLieSideBySideAndFreePlacesAreTakenFirst) {
  DeviceHeap heap;
  heap.begin_launch(launch_of(2, 4));
  std::vector<std::uint64_t> first;
  for (std::uint64_t thread = 0; thread < 8; ++thread) first.push_back(get(heap, thread, 48));
  for (std::uint64_t thread = 1; thread < 8; ++thread) EXPECT_EQ(first[thread], first[0] + 64 * thread);
  EXPECT_EQ(get(heap, 3, 48), first[0] + 64 * (8 + 3));
  EXPECT_FALSE(heap.end_launch().has_value());
  heap.begin_launch(launch_of(1, 1));
  EXPECT_EQ(heap.free(0, first[5], 0), "");
  EXPECT_EQ(get(heap, 0, 33), first[0] + 64 * 8);  // what was freed in this launch is not free yet
  EXPECT_FALSE(heap.end_launch().has_value());
  heap.begin_launch(launch_of(1, 2));
  EXPECT_EQ(get(heap, 1, 40), first[0] + 64 * 9);  // thread 0's would be first[5]
  EXPECT_EQ(get(heap, 0, 40), first[5]);
  heap.abandon_launch();
  EXPECT_EQ(heap.live_blocks(), 9U);
}

TEST(DeviceHeap, NullIsWhatAThreadGetsByItsOwnRequestsAlone) {
  DeviceHeap heap;
  heap.set_limit(1000);
  heap.begin_launch(launch_of(1, 3));
  EXPECT_EQ(get(heap, 0, 1001), 0U);
  EXPECT_NE(get(heap, 0, 992), 0U);  // 62 units; half a unit is left
  EXPECT_EQ(get(heap, 0, 1), 0U);
  EXPECT_NE(get(heap, 1, 976), 0U);  // another thread's blocks do not count
  const std::uint64_t last = get(heap, 1, 0);
  EXPECT_NE(last, 0U);
  EXPECT_FALSE(heap.allows(1, last, 1));
  EXPECT_EQ(get(heap, 1, 0), 0U);
  EXPECT_EQ(heap.free(1, last, 0), "");
  EXPECT_EQ(get(heap, 1, 16), last);
  const std::optional<Fault> fault = heap.end_launch();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, Fault::Kind::resources);
  EXPECT_THAT(fault->detail, HasSubstr("holds 1984 bytes at the launch's end, and its limit is 1000"));
}

TEST(DeviceHeap, WhatAnEarlierLaunchHasLeftCounts) {
  DeviceHeap heap;
  heap.set_limit(1024);
  heap.begin_launch(launch_of(1, 2));
  const std::uint64_t left = get(heap, 1, 640);
  EXPECT_FALSE(heap.end_launch().has_value());
  EXPECT_EQ(heap.live_bytes(), 640U);
  heap.begin_launch(launch_of(1, 2));
  EXPECT_EQ(get(heap, 0, 400), 0U);
  EXPECT_NE(get(heap, 0, 384), 0U);
  EXPECT_EQ(heap.free(0, left, 0), "");  // counts for who frees it, at once
  EXPECT_NE(get(heap, 0, 640), 0U);
  EXPECT_EQ(get(heap, 1, 400), 0U);
  EXPECT_FALSE(heap.end_launch().has_value());
  EXPECT_EQ(heap.live_bytes(), 1024U);
}

TEST(DeviceHeap, RefusesWhatIsNoBlock) {
  DeviceHeap heap;
  heap.begin_launch(launch_of(1, 4));
  const std::uint64_t own = get(heap, 2, 24);
  EXPECT_EQ(heap.free(2, 0, 0), "");
  EXPECT_EQ(heap.free(2, 0x10000000, 0), "free of 0x10000000, which is not on the device heap");
  EXPECT_THAT(heap.free(2, own + 16, 0), HasSubstr("where no heap block begins"));
  EXPECT_THAT(heap.free(2, own + 48 * 4, 0), HasSubstr("which malloc has not returned"));  // its second one
  EXPECT_EQ(heap.free(2, own, 0), "");
  EXPECT_THAT(heap.free(2, own, 0), HasSubstr("which this thread has freed already"));
  EXPECT_THAT(heap.describe(2, own + 4, 4), HasSubstr("that this thread has freed"));
  EXPECT_FALSE(heap.allows(2, own, 4));
  // Of others it shows at the end; far away, at once.
  const std::uint64_t others = get(heap, 1, 24);
  EXPECT_EQ(heap.free(3, others, 17), "");
  EXPECT_THAT(heap.free(3, others, 0), HasSubstr("which this thread has freed already"));
  EXPECT_FALSE(heap.allows(3, others, 4));
  EXPECT_EQ(heap.free(0, others, 18), "");
  EXPECT_THAT(heap.free(0, others + (std::uint64_t{48} << 30U), 0), HasSubstr("which malloc has not returned"));
  const std::optional<Fault> fault = heap.end_launch();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, Fault::Kind::bad_free);
  EXPECT_EQ(fault->pc, 17U);  // threads 0 and 3 have freed it: the second in the order of threads is told
  EXPECT_EQ(fault->thread.x, 3U);
  EXPECT_THAT(fault->detail, HasSubstr("which another thread of the launch has freed, too"));
}

TEST(DeviceHeap, ABlockThatItsThreadHasFreedIsNoOneElses) {
  DeviceHeap heap;
  heap.begin_launch(launch_of(2, 2));
  const std::uint64_t block = get(heap, 0, 100);
  EXPECT_EQ(heap.free(3, block, 5), "");
  EXPECT_EQ(heap.free(0, block, 9), "");
  const std::optional<Fault> fault = heap.end_launch();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->pc, 5U);
  EXPECT_EQ(fault->block, (Dim3{1, 0, 0}));
  EXPECT_EQ(fault->thread, (Dim3{1, 0, 0}));
  EXPECT_THAT(fault->detail, HasSubstr("has not allocated, or has freed itself"));
}

TEST(DeviceHeap, AccessesOfThreadsThatAreNotInTheLaunch) {
  DeviceHeap heap;
  heap.begin_launch(launch_of(1, 2));
  const std::uint64_t block = get(heap, 1, 24);
  EXPECT_FALSE(heap.end_launch().has_value());
  EXPECT_TRUE(heap.allows(DeviceHeap::kNobody, block + 20, 4));
  EXPECT_FALSE(heap.allows(DeviceHeap::kNobody, block + 21, 4));
  EXPECT_EQ(heap.describe(DeviceHeap::kNobody, block + 28, 4),
            "4 bytes past the end of a heap block (0x8200000010b0, 24 bytes)");
  EXPECT_FALSE(heap.allows(DeviceHeap::kNobody, block - 48, 4));
  EXPECT_EQ(heap.describe(DeviceHeap::kNobody, block - 48, 4), "on the device heap, where nothing is allocated");
  // While another launch is under way whose threads can have been given it, it counts as allocated, to 16 bytes before
  // the slot's end.
  heap.begin_launch(launch_of(1, 2));
  EXPECT_TRUE(heap.allows(DeviceHeap::kNobody, block - 48, 32));
  EXPECT_FALSE(heap.allows(DeviceHeap::kNobody, block - 48, 33));
  EXPECT_FALSE(heap.allows(DeviceHeap::kNobody, block + (std::uint64_t{48} << 30U), 4));
}

TEST(DeviceHeap, NarrowAddressesLieBelow4GibAndBuffersBelowThem) {
  DeviceMemory memory;
  DeviceHeap& heap = memory.heap();
  EXPECT_FALSE(heap.holds(DeviceHeap::kNarrowHeapBase));
  memory.reserve_narrow_heap();
  EXPECT_TRUE(heap.holds(DeviceHeap::kNarrowHeapBase));
  EXPECT_THROW(memory.allocate("large", std::uint64_t{0x7000'0000}), std::exception);
  EXPECT_NE(memory.allocate("smaller", std::uint64_t{0x6f00'0000}), 0U);
  heap.begin_launch(launch_of(1024, 1024));
  EXPECT_EQ(heap.allocate(3, 10, false).address, DeviceHeap::kNarrowHeapBase + 3 * 32);
  EXPECT_EQ(heap.allocate(3, 20, false).address, DeviceHeap::kNarrowHeapBase + (1U << 26U) + 4224 + 3 * 48);
  const DeviceHeap::Given far = heap.allocate((1U << 20U) - 1, 100'000, false);
  EXPECT_EQ(far.address, 0U);
  EXPECT_THAT(far.wrong, HasSubstr("compile for 64-bit addresses"));
  EXPECT_TRUE(heap.allows(3, DeviceHeap::kNarrowHeapBase + 3 * 32, 10));
}

TEST(DeviceHeap, ABufferInThePlaceOfTheNarrowOneIsRefused) {
  DeviceMemory memory;
  memory.place("mine", 0x7fff'ff00, 0x200);
  EXPECT_THROW(memory.reserve_narrow_heap(), std::exception);
}

}  // namespace
}  // namespace heddle::isa
