// A slower clock in the GPU's cycles: against edges counted one by one in whole units of time.
#include "tlm/clock_edges.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace heddle::link {
namespace {

TEST(ClockEdges, AreSeenInTheFirstCycleThatBeginsAtThemOrAfter) {
  const struct {
    double own, gpu;
    std::uint64_t own_period, gpu_period;  // in a unit that makes both whole
  } cases[] = {{0.3, 1.0, 10, 3},       {1.0, 1.0, 1, 1},      {0.25, 1.0, 4, 1},   {0.65, 1.3, 2, 1},
               {0.999, 1.0, 1000, 999}, {0.001, 10, 10000, 1}, {0.625, 0.7, 28, 25}};
  for (const auto& one : cases) {
    const ClockEdges edges(one.own, one.gpu);
    std::uint64_t edge = 0;
    for (Cycle cycle = 0; cycle != 30'000; ++cycle) {
      const bool here = edge * one.own_period <= cycle * one.gpu_period;
      ASSERT_EQ(edges.edge_from(cycle), edge) << one.own << " of " << one.gpu << ", cycle " << cycle;
      ASSERT_EQ(edges.from(cycle) == cycle, here) << one.own << " of " << one.gpu << ", cycle " << cycle;
      if (here) {
        ASSERT_EQ(edges.cycle_of(edge), cycle);
        ++edge;
      }
    }
  }
}

TEST(ClockEdges, DoNotDrift) {
  const ClockEdges edges(0.3, 1);
  EXPECT_EQ(edges.cycle_of(300'000'000'000), 1'000'000'000'000U);
  EXPECT_EQ(edges.from(1'000'000'000'000, 3), 1'000'000'000'010U);
}

TEST(ClockEdges, RefuseAFasterClock) {
  EXPECT_THROW(ClockEdges(1.3, 0.65), InternalError);
  EXPECT_THROW(ClockEdges(0, 1), InternalError);
}

}  // namespace
}  // namespace heddle::link
