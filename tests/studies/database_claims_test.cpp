// The claims of thesis chapter 8, put to made-up results: each must hold where the thesis's figures are met, and must
// not where its direction is missed.
#include <gtest/gtest.h>

#include "base/registry.hpp"
#include "studies/reproduce/figures/database_study.hpp"

namespace heddle::studies::database {
namespace {

tb::Summary summary(std::uint64_t cycles, std::uint64_t warp_instructions, double row_hits = 0.95, double bus = 0.2) {
  tb::Summary made;
  made.cycles = cycles;
  made.warp_instructions = warp_instructions;
  made.dram_row_hit_rate = row_hits;
  made.dram_bus_utilisation = bus;
  made.fu_active_cycles.assign(33, 0);
  made.fu_active_cycles[32] = cycles;
  return made;
}

void add(Results& results, const Case& one, const tb::Summary& made) {
  results.add(run_of(one.machine, one.workload), made, 1);
}

Shape shape(const std::string& id, const Results& results) {
  return shape_of(Registry<Claim>::instance().make(id, {})->judge(results).checks);
}

Results two(const tb::Summary& before, const tb::Summary& after) {
  Results results;
  add(results, two_scans()[0], before);
  add(results, two_scans()[1], after);
  return results;
}

TEST(DatabaseClaims, AScanGainsByTimeAndByCount) {
  const Results good = two(summary(1210, 1000), summary(1000, 800));
  EXPECT_EQ(shape("scan-speedup", good), Shape::holds);
  EXPECT_EQ(shape("scan-instructions", good), Shape::holds);
  EXPECT_EQ(shape("scan-rowhit", good), Shape::holds);
  EXPECT_EQ(shape("scan-speedup", two(summary(1500, 1000), summary(1000, 800))), Shape::partly);  // more than twice
  EXPECT_EQ(shape("scan-speedup", two(summary(1019, 1000), summary(1000, 800))), Shape::does_not_hold);
  EXPECT_EQ(shape("scan-instructions", two(summary(1000, 1000), summary(1000, 800))), Shape::partly);
  EXPECT_EQ(shape("scan-instructions", two(summary(1000, 1000), summary(1000, 990))), Shape::does_not_hold);
  EXPECT_EQ(shape("scan-rowhit", two(summary(9, 9, 0.95), summary(9, 9, 0.92))), Shape::partly);
  EXPECT_EQ(shape("scan-rowhit", two(summary(9, 9, 0.89), summary(9, 9, 0.89))), Shape::does_not_hold);
}

// Pairs of runs with this speedup by place.
Results swept(const std::vector<Case>& without, const std::vector<Case>& with, const std::vector<double>& speedups) {
  Results results;
  for (std::size_t i = 0; i < speedups.size(); ++i) {
    const auto cycles = static_cast<std::uint64_t>(100'000 * speedups[i]);
    add(results, without[i], summary(cycles, cycles));
    add(results, with[i], summary(100'000, 100'000));
  }
  return results;
}

TEST(DatabaseClaims, TheGainFallsWithSelectivity) {
  std::vector<Case> without;
  std::vector<Case> with;
  for (unsigned one_in = 2; one_in <= 1024; one_in *= 2) {
    without.push_back(scan({.selectivity = one_in}, ""));
    with.push_back(scan({.cond_acc = true, .selectivity = one_in}, ""));
  }
  const auto judged = [&](const std::vector<double>& speedups) {
    return shape("scan-selectivity", swept(without, with, speedups));
  };
  EXPECT_EQ(judged({1.21, 1.21, 1.20, 1.15, 1.10, 1.06, 1.03, 1.02, 1.01, 1.005}), Shape::holds);
  EXPECT_EQ(judged({1.21, 1.21, 1.20, 1.15, 1.10, 1.06, 1.03, 1.02, 1.03, 1.03}), Shape::partly);
  EXPECT_EQ(judged({1.00, 1.10, 1.05, 1.02, 1.01, 1.01, 1.03, 1.10, 1.11, 1.12}), Shape::does_not_hold);
  EXPECT_EQ(judged({1.21, 1.21, 1.20}), Shape::not_measured);
}

TEST(DatabaseClaims, TheGainGoesWithTheBandwidth) {
  std::vector<Case> without;
  std::vector<Case> with;
  for (const double gbs : {32.0, 16.0, 8.0, 4.0}) {
    without.push_back(scan({.bandwidth_gbs = gbs}, ""));
    with.push_back(scan({.cond_acc = true, .bandwidth_gbs = gbs}, ""));
  }
  for (const unsigned columns : {1U, 2U, 4U, 8U}) {
    without.push_back(scan({.columns = columns, .wide = true}, ""));
    with.push_back(scan({.cond_acc = true, .columns = columns, .wide = true}, ""));
  }
  const auto judged = [&](const std::vector<double>& speedups) {
    return shape("scan-bandwidth", swept(without, with, speedups));
  };
  EXPECT_EQ(judged({1.21, 1.20, 1.11, 1.00, 1.21, 1.2, 1.1, 1.01}), Shape::holds);
  EXPECT_EQ(judged({1.21, 1.20, 1.11, 1.00, 1.21, 1.2, 1.1, 1.05}), Shape::partly);
  EXPECT_EQ(judged({1.21, 1.05, 1.11, 1.10, 1.21, 1.2, 1.1, 1.05}), Shape::does_not_hold);
}

Results four(const std::vector<tb::Summary>& made) {
  Results results;
  const std::vector<Case> cases = four_searches();
  for (std::size_t i = 0; i < made.size(); ++i) {
    add(results, cases[i], made[i]);
  }
  return results;
}

TEST(DatabaseClaims, HintsSpeedTheIndexUp) {
  const Results good = four({summary(1390, 1, 0.09, 0.10), summary(1380, 1, 0.09, 0.10), summary(1037, 1, 0.49, 0.13),
                             summary(1000, 1, 0.49, 0.14)});
  EXPECT_EQ(shape("index-speedup", good), Shape::holds);
  EXPECT_EQ(shape("index-rowhit", good), Shape::holds);
  EXPECT_EQ(shape("index-bus", good), Shape::holds);
  const Results flat = four({summary(1000, 1, 0.11, 0.10), summary(900, 1, 0.09, 0.12), summary(1000, 1, 0.39, 0.10),
                             summary(1001, 1, 0.56, 0.09)});
  EXPECT_EQ(shape("index-speedup", flat), Shape::does_not_hold);
  EXPECT_EQ(shape("index-rowhit", flat), Shape::does_not_hold);
  EXPECT_EQ(shape("index-bus", flat), Shape::does_not_hold);
  EXPECT_EQ(shape("index-bus", four({summary(1, 1)})), Shape::not_measured);
}

// Cycles as a function of the threshold, for both kernels.
Results thresholds(std::uint64_t (*cycles)(unsigned)) {
  Results results;
  for (const studies::Run& run : Registry<Claim>::instance().make("hint-threshold", {})->runs()) {
    const std::string key = "dram.hint_threshold=";
    const unsigned threshold =
        run.settings.empty() ? 0 : static_cast<unsigned>(std::stoul(run.settings[0].substr(key.size())));
    results.add(run, summary(run.settings.empty() ? 2000 : cycles(threshold), 1), 1);
  }
  return results;
}

TEST(DatabaseClaims, TheBreakEvenThresholdIsAmongTheBest) {
  EXPECT_EQ(
      shape("hint-threshold", thresholds([](unsigned t) -> std::uint64_t { return t < 200 ? 1100 : 1000 + t / 20; })),
      Shape::holds);
  EXPECT_EQ(
      shape("hint-threshold", thresholds([](unsigned t) -> std::uint64_t { return t < 300 ? 1100 : 1000 + t / 20; })),
      Shape::does_not_hold);
}

tb::BankTimeline window(std::size_t conflicts, std::size_t hits, std::size_t holds) {
  using Kind = tb::BankTimeline::Kind;
  tb::BankTimeline made{"t", 0, 3000, {{"dram0", 4, {}}}};
  const auto put = [&](Kind kind, std::size_t count) {
    made.panels[0].spans.insert(made.panels[0].spans.end(), count, {kind, 0, 10, 20, 1});
  };
  put(Kind::conflict, conflicts);
  put(Kind::hit, hits);
  put(Kind::hold, holds);
  put(Kind::transfer, conflicts + hits);
  return made;
}

TEST(DatabaseClaims, TheTimelineIsCounted) {
  const std::vector<studies::Run> runs = Registry<Claim>::instance().make("hint-timeline", {})->runs();
  ASSERT_EQ(runs.size(), 2U);
  const auto judged = [&](const tb::BankTimeline& before, const tb::BankTimeline& after) {
    Results results;
    results.add(runs[0], summary(1, 1), 1, before);
    results.add(runs[1], summary(1, 1), 1, after);
    return shape("hint-timeline", results);
  };
  EXPECT_EQ(judged(window(39, 1, 0), window(30, 22, 20)), Shape::holds);
  EXPECT_EQ(judged(window(30, 10, 0), window(30, 5, 0)), Shape::does_not_hold);
  EXPECT_EQ(judged(window(39, 1, 0), window(0, 0, 0)), Shape::not_measured);
  Results none;
  none.add(runs[0], summary(1, 1), 1);
  none.add(runs[1], summary(1, 1), 1);
  EXPECT_EQ(shape("hint-timeline", none), Shape::not_measured);
}

}  // namespace
}  // namespace heddle::studies::database
