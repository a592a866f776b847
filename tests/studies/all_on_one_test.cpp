// all-on-one, put to made-up results: which checks pass, and which pairs of mechanisms are said to add up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "tb/config/config.hpp"
#include "tests/studies/made_up_findings.hpp"

namespace heddle::studies {
namespace {

bool is_large(const studies::Run& run) {
  return sets(run, "core.former=packed");
}
bool is_two_level(const studies::Run& run) {
  return sets(run, "core.scheduler=two-level");
}

// `speedup`: of a run over the machine as it is.
Finding side_by_side(const std::function<double(const studies::Run&)>& speedup) {
  return made_up_finding("all-on-one",
                         [&](const studies::Run& run) { return run.settings.empty() ? 1.0 : speedup(run); });
}

TEST(AllOnOne, EveryMachineExists) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make("all-on-one", {});
  std::set<std::vector<std::string>> known;
  for (const studies::Run& run : claim->runs()) {
    EXPECT_EQ(run.config, "all-on-one");
    if (known.insert(run.settings).second) {
      EXPECT_NO_THROW(static_cast<void>(tb::read_machine(run.config, run.settings))) << run.text();
    }
  }
  EXPECT_EQ(known.size(), 27U);  // the machine as it is, 13 mechanisms, 13 pairs
}

TEST(AllOnOne, EachMechanismMustGainOnItsOwnWorkloads) {
  const auto all_gain = [](const studies::Run& run) { return is_large(run) && is_two_level(run) ? 1.3 : 1.1; };
  EXPECT_EQ(shape_of(side_by_side(all_gain).checks), Shape::holds);
  const auto one_loses = [](const char* setting) {
    return shape_of(side_by_side([setting](const studies::Run& run) {
                      return sets(run, setting) && run.settings.size() < 6 ? 0.9 : is_large(run) ? 1.3 : 1.1;
                    }).checks);
  };
  for (const char* const setting : {"core.divergence=dws", "core.divergence=odgs", "mimd.step=true"}) {
    EXPECT_EQ(one_loses(setting), Shape::partly) << setting;
  }
  EXPECT_EQ(shape_of(side_by_side([](const studies::Run&) { return 1.1; }).checks), Shape::partly);  // both as one
  EXPECT_EQ(shape_of(side_by_side([](const studies::Run&) { return 0.9; }).checks), Shape::does_not_hold);
}

TEST(AllOnOne, TheMeansAreOfEachSetsWorkloads) {
  const Finding finding = side_by_side(
      [](const studies::Run& run) { return run.workload == "fft" && sets(run, "core.divergence=dws") ? 128.0 : 1.0; });
  const std::vector<std::string> dws = row_of(table_of(finding, "Speedup over the machine as it is, and"), "DWS");
  ASSERT_EQ(dws.size(), 11U);
  EXPECT_EQ(dws[2], "+0.0 %");    // the twelve
  EXPECT_EQ(dws[3], "+100.0 %");  // the eight, of which seven are here: the seventh root of 128
  EXPECT_EQ(dws[4], "+0.0 %");
  EXPECT_EQ(dws[5], "+0.0 %");
  EXPECT_EQ(dws[9], "-11.7 %");  // energy: the root of all 39 workloads
  const ValueTable& overview = table_of(finding, "Speedup over the machine as it is, and");
  EXPECT_EQ(row_of(overview, "as it is").back(), "0 bytes");
  EXPECT_EQ(row_of(overview, "LWM strict").back(), "372 bytes");  // 96 by LWM report 3.3; own estimates
  EXPECT_EQ(row_of(overview, "DWF").back(), "30.9 KB");
  const std::vector<std::string> helps = row_of(table_of(finding, "What helps what"), "DWS");
  EXPECT_THAT(helps, ::testing::ElementsAre("DWS", "1", "0", "fft +12700.0 %", ""));
}

TEST(AllOnOne, PairsAreComparedWithTheBetterOfTheTwo) {
  const auto verdict = [](double large, double two_level, double both) {
    const Finding finding = side_by_side([=](const studies::Run& run) {
      return is_large(run) && is_two_level(run) ? both : is_large(run) ? large : is_two_level(run) ? two_level : 1.0;
    });
    return row_of(table_of(finding, "Which two add up"), "LWM+2Lev");
  };
  EXPECT_THAT(verdict(1.1, 1.2, 1.3),
              ::testing::ElementsAre("LWM+2Lev", "+10.0 %", "+20.0 %", "+32.0 %", "+30.0 %", "+8.3 %", "+8.3 %",
                                     "+8.3 %", "+8.3 %", "+8.3 %", "add up"));
  EXPECT_EQ(verdict(1.1, 1.2, 1.2).back(), "as one of them");
  EXPECT_EQ(verdict(1.1, 1.2, 1.15).back(), "less than one of them");
  EXPECT_EQ(verdict(0.8, 0.9, 0.95).back(), "less than one of them");  // than the machine without either
}

}  // namespace
}  // namespace heddle::studies
