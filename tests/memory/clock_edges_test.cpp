// A slower clock in the GPU's cycles: against edges counted one by one in whole units of time.
#include "tlm/clock_edges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

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

TEST(ClockEdges, OfAFasterClockSeveralAreSeenInACycle) {
  const ClockEdges edges(2.5, 1);  // edge n at 0.4 n cycles
  const Cycle seen[] = {0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4};
  for (std::uint64_t edge = 0; edge != std::size(seen); ++edge) {
    EXPECT_EQ(edges.cycle_of(edge), seen[edge]) << edge;
  }
  EXPECT_EQ(edges.edge_from(0), 0U);
  EXPECT_EQ(edges.edge_from(1), 1U);
  EXPECT_EQ(edges.edge_from(2), 3U);
  EXPECT_EQ(edges.edge_from(3), 6U);
  EXPECT_EQ(edges.from(2), 2U) << "every cycle has an edge";
  EXPECT_EQ(edges.from(2, 2), 2U);
  EXPECT_EQ(edges.from(2, 3), 3U);
}

TEST(ClockEdges, SayHowFarApartTheyAreAtLeast) {
  for (const double own : {0.3, 0.7, 1.0, 1.3, 2.5}) {
    const ClockEdges edges(own, 1);
    for (std::uint64_t between : {0U, 1U, 2U, 3U, 7U, 10U}) {
      Cycle least = ~Cycle{0};
      for (std::uint64_t edge = 0; edge != 100; ++edge) {
        least = std::min(least, edges.cycle_of(edge + between) - edges.cycle_of(edge));
      }
      EXPECT_EQ(edges.least_cycles(between), least) << own << ", " << between << " edges";
    }
  }
}

TEST(ClockEdges, RefuseAClockThatStandsStill) {
  EXPECT_THROW(ClockEdges(0, 1), InternalError);
  EXPECT_THROW(ClockEdges(1, 0), InternalError);
}

}  // namespace
}  // namespace heddle::link
