// The claims of the DWS report, put to made-up results.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

// A run that has a column of table 1, with `far` times the instructions between branches and between misses.
tb::Summary like(const Benchmark& report, double far) {
  tb::Summary made;
  made.warp_instructions = 10'000'000;
  const auto events = [&](double apart) {
    return static_cast<std::uint64_t>(static_cast<double>(made.warp_instructions) / apart);
  };
  made.branches = events(report.between_branches * far);
  made.divergent_branches = static_cast<std::uint64_t>(static_cast<double>(made.branches) * report.divergent_branches);
  made.missed_accesses = events(report.between_misses * far);
  made.partly_missed_accesses =
      static_cast<std::uint64_t>(static_cast<double>(made.missed_accesses) * report.divergent_misses);
  return made;
}

using Change = std::function<void(const Benchmark&, tb::Summary&)>;

// The shape when the usual runs are `usual` times the report's, and runs with interleaved tasks `other` times.
Finding judged(
    double usual, double other, const Change& change = [](const Benchmark&, tb::Summary&) {}) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make("dws-characterisation", {});
  Results results;
  for (const Run& run : claim->runs()) {
    const bool interleaved = run.workload.find("interleaved") != std::string::npos;
    for (const Benchmark& report : benchmarks()) {
      if (run.workload.starts_with(report.workload.name)) {
        tb::Summary made = like(report, interleaved ? other : usual);
        if (!interleaved) {
          change(report, made);
        }
        results.add(run, made, 1);
      }
    }
  }
  return claim->judge(results);
}

TEST(DwsClaims, TheColumnsOfTableOneAreTheSummarys) {
  for (const Benchmark& report : benchmarks()) {
    const Characterisation one = characterise(like(report, 1));
    EXPECT_NEAR(one.between_branches, report.between_branches, 0.01) << report.label;
    EXPECT_NEAR(one.divergent_branches, report.divergent_branches, 0.001) << report.label;
    EXPECT_NEAR(one.between_misses, report.between_misses, 0.01) << report.label;
    EXPECT_NEAR(one.divergent_misses, report.divergent_misses, 0.001) << report.label;
  }
  const Characterisation none = characterise({});
  EXPECT_EQ(none.between_branches, 0);
  EXPECT_EQ(none.divergent_misses, 0);
}

TEST(DwsClaims, FiguresLikeTheReportsHold) {
  EXPECT_EQ(judged(1, 1).ours, "32 of 32 between half and twice the report's");
  EXPECT_EQ(shape_of(judged(1, 1).checks), Shape::holds);
  EXPECT_EQ(shape_of(judged(1.9, 1.9).checks), Shape::holds);
  EXPECT_EQ(shape_of(judged(1, 3).checks), Shape::holds);
}

TEST(DwsClaims, FiguresUnlikeTheReportsDoNot) {
  EXPECT_EQ(judged(3, 1).ours, "16 of 32 between half and twice the report's");
  EXPECT_EQ(shape_of(judged(3, 1).checks), Shape::partly) << "the other way to deal tasks has more of them";
  const auto no_divergence = [](const Benchmark&, tb::Summary& made) { made.partly_missed_accesses = 0; };
  EXPECT_EQ(shape_of(judged(1, 3, no_divergence).checks), Shape::partly);
  EXPECT_EQ(shape_of(judged(3, 3, no_divergence).checks), Shape::does_not_hold);
  const auto no_branches = [](const Benchmark& report, tb::Summary& made) {
    made.divergent_branches = report.label == "Merge" ? 0 : made.divergent_branches;
  };
  EXPECT_EQ(shape_of(judged(1, 1, no_branches).checks), Shape::partly);
}

TEST(DwsClaims, NothingMeasuredIsNoVerdict) {
  const Finding finding = Registry<Claim>::instance().make("dws-characterisation", {})->judge({});
  EXPECT_EQ(finding.ours, "-");
  EXPECT_EQ(shape_of(finding.checks), Shape::not_measured);
}

}  // namespace
}  // namespace heddle::studies::dws
