#include "base/statistics.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace heddle {
namespace {

struct PortCounters {
  std::uint64_t taken = 0;
  std::uint64_t longest = 0;
  std::vector<std::uint64_t> by_width;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("taken", taken, "requests", "requests taken");
    visit("longest", OwnValue{longest}, "cycles", "the longest wait");
    visit("by_width", by_width, "requests", "by width");
  }
};

struct OtherCounters {
  std::uint64_t taken = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("taken", taken, "requests", "requests taken");
  }
};

TEST(CounterSums, AddsAndSubtractsWhatUnitsDeclare) {
  PortCounters sum;
  PortCounters first{3, 10, {1, 2}};
  PortCounters second{4, 20, {5, 6, 7}};
  CounterSums sums;
  sums.add(sum, first);
  sums.add(sum, second);
  EXPECT_EQ(sum.taken, 7U);
  EXPECT_EQ(sum.longest, 0U) << "a largest value is no sum";
  EXPECT_EQ(sum.by_width, (std::vector<std::uint64_t>{6, 8, 7}));
  sums.subtract(sum, first);
  EXPECT_EQ(sum.taken, 4U);
  EXPECT_EQ(sum.by_width, (std::vector<std::uint64_t>{5, 6, 7}));
}

TEST(CounterSums, OfTwoKindsAreRefused) {
  PortCounters port;
  OtherCounters other;
  CounterSums sums;
  EXPECT_THROW(sums.add(port, other), InternalError);
}

TEST(StatisticsRegistry, ListsAUnitsOwnValuesToo) {
  PortCounters port{3, 10, {1, 2}};
  StatisticsRegistry registry;
  registry.add("gpu.port", port);
  ASSERT_EQ(registry.scalars().size(), 2U);
  EXPECT_EQ(registry.scalars()[1].declaration.name, "longest");
  EXPECT_EQ(*registry.scalars()[1].value, 10U);
  EXPECT_EQ(registry.histograms().size(), 1U);
}

}  // namespace
}  // namespace heddle
