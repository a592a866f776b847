// What is told to who observes a cache, and that a cache at rest tells nothing.
#include <gtest/gtest.h>

#include <vector>

#include "hw/cache/observer.hpp"
#include "tests/memory/system.hpp"

namespace heddle::hw::test {
namespace {

class CountingCacheObserver final : public CacheObserver {
 public:
  std::vector<std::uint64_t> lines;
  unsigned calls = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t fills = 0;

  void request(std::uint64_t line) override { lines.push_back(line); }
  void changed(const CacheStatistics& statistics, unsigned, unsigned, std::size_t) override {
    ++calls;
    hits = statistics.hits;
    misses = statistics.misses;
    fills = statistics.fills;
  }
};

// A miss, a hit and, from behind the socket, a load at once, in 1000 cycles in all of which the core has its turn.
TEST(CacheObserver, IsToldOfRequestsAndNotOfCyclesAtRest) {
  constexpr Cycle kEnd = 1000;
  constexpr Cycle kAtOnce = 800;
  SystemParameters parameters;
  parameters.cache.hit_latency = 1;
  MemorySystem system(parameters);
  CountingCacheObserver observer;
  system.cache().observe(&observer);
  system.core().load(1, kBase);
  system.core().load(600, kBase);
  bool loaded = false;
  system.core().each_cycle = [&](Cycle now) {
    if (now == kAtOnce) {
      EXPECT_EQ(observer.hits, 1U);
      EXPECT_EQ(observer.misses, 1U);
      EXPECT_EQ(observer.fills, 1U);
      loaded = system.cache().load_at_once(kBase) != nullptr;
      EXPECT_EQ(observer.hits, 2U) << "in the same cycle";
    }
    return now < kEnd ? now + 1 : kNever;
  };
  system.run();
  sc_core::sc_start(system.clock.cycles(kEnd));
  EXPECT_TRUE(loaded);
  EXPECT_EQ(observer.lines, (std::vector<std::uint64_t>{kBase, kBase, kBase}));
  EXPECT_LT(observer.calls, 20U);
}

}  // namespace
}  // namespace heddle::hw::test
