// on-h100, put to made-up results: what each mechanism is compared with, and what is refused on which machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.hpp"
#include "tb/config/config.hpp"
#include "tests/studies/made_up_findings.hpp"

namespace heddle::studies {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kOverview = "On h100-8sm: speedup over the machine without";

TEST(OnH100, EveryMachineOfARunIsGood) {
  std::map<std::string, std::set<std::vector<std::string>>> known;
  for (const studies::Run& run : Registry<Claim>::instance().make("on-h100", {})->runs()) {
    if (known[run.config].insert(run.settings).second) {
      EXPECT_NO_THROW(static_cast<void>(tb::read_machine(run.config, run.settings))) << run.text();
    }
  }
  ASSERT_EQ(known.size(), 2U);
  // The machine as it is, four with keys changed, 13 mechanisms, hints; warps of 256 threads on one of the two.
  EXPECT_EQ(known["h100-8sm"].size(), 19U);
  EXPECT_EQ(known["rtx3070-8sm"].size(), 18U);
}

TEST(OnH100, AMechanismStandsBesideTheMachineWithTheSameKeys) {
  const Finding finding = made_up_finding("on-h100", [](const studies::Run& run) {
    const double keys = sets(run, "scoreboard.stall=on-access") ? 0.5 : 1.0;
    return sets(run, "core.divergence=tbc") ? keys * 1.1 : sets(run, "core.scheduler=gto") ? keys * 1.2 : keys;
  });
  const ValueTable& table = table_of(finding, kOverview);
  EXPECT_THAT(table.titles, ElementsAre("machine", "both with", "the twelve", "the eight", "the sixteen", "the five",
                                        "all", "lanes", "idle cycles", "energy", "storage added to a core"));
  EXPECT_THAT(row_of(table, "as it is"),
              ElementsAre("as it is", "", "", "", "", "", "", "20.0", "0.0 %", "", "0 bytes"));
  EXPECT_THAT(row_of(table, "GTO"), ElementsAre("GTO", "", "+20.0 %", "+20.0 %", "+20.0 %", "+20.0 %", "+20.0 %",
                                                "20.0", "0.0 %", "-16.7 %", ::testing::_));
  const std::vector<std::string> tbc = row_of(table, "TBC");
  ASSERT_EQ(tbc.size(), 11U);
  EXPECT_EQ(tbc[1], "core.issue=scoreboard, scoreboard.stall=on-access");
  EXPECT_EQ(tbc[6], "+10.0 %");
  const std::vector<std::string> keys = row_of(table, "core.issue=scoreboard, scoreboard.stall=on-access");
  ASSERT_EQ(keys.size(), 11U);
  EXPECT_EQ(keys[6], "-50.0 %");  // what the key alone comes to
  EXPECT_EQ(row_of(table, "ODGS")[1], "core.sub_cores=1, core.issue=scoreboard, scoreboard.stall=on-access");
  EXPECT_EQ(row_of(table, "scalar")[1], "core.divergence=stack, core.issue=relaxed, registers.banks=0");
  EXPECT_EQ(finding.ours,
            "h100-8sm: most by GTO +20.0 %, least by warp-aware +0.0 %; rtx3070-8sm: most by GTO +20.0 "
            "%, least by warp-aware +0.0 %");
}

TEST(OnH100, WhatCheckRefusesIsListedWithItsReason) {
  const Finding finding = made_up_finding("on-h100", [](const studies::Run&) { return 1.0; });
  const ValueTable& refused = table_of(finding, "Refused there");
  std::vector<std::string> names;
  for (const std::vector<std::string>& row : refused.rows) {
    names.push_back(row[2] + " " + row[0]);
    try {
      const std::vector<std::string> large = {"core.divergence=stack", "core.warp_size=256"};
      const std::vector<std::string> lanes = {"core.divergence=mimd"};
      static_cast<void>(tb::read_machine(row[2], row[0] == "LWM 256" ? large : lanes));
      ADD_FAILURE() << row[0] << " is good on " << row[2];
    } catch (const InputError& error) {
      EXPECT_THAT(std::string(error.what()), HasSubstr(row[3].substr(row[3].find(": ") + 2, 60)));
    }
  }
  EXPECT_THAT(names, ElementsAre("h100-8sm LW+", "h100-8sm MIMD", "rtx3070-8sm LWM 256", "rtx3070-8sm LW+",
                                 "rtx3070-8sm MIMD"));
  EXPECT_THAT(row_of(refused, "MIMD")[3],
              AllOf(HasSubstr("use core.sub_cores = 1"), HasSubstr("use l0i.enabled = false")));
}

TEST(OnH100, EachMechanismMustGainOnItsOwnWorkloads) {
  const auto shape = [](double others, double dws) {
    return shape_of(made_up_finding("on-h100", [=](const studies::Run& run) {
                      // On both sides where a mechanism needs them.
                      static const std::set<std::string> keys = {"core.divergence=stack", "core.issue=relaxed",
                                                                 "core.issue=scoreboard", "core.sub_cores=1",
                                                                 "registers.banks=0",     "scoreboard.stall=on-access"};
                      const bool base = std::all_of(run.settings.begin(), run.settings.end(),
                                                    [](const std::string& one) { return keys.count(one) != 0; });
                      return base ? 1.0 : sets(run, "core.divergence=dws") ? dws : others;
                    }).checks);
  };
  EXPECT_EQ(shape(1.1, 1.1), Shape::holds);
  EXPECT_EQ(shape(1.1, 1.0), Shape::partly);
  EXPECT_EQ(shape(1.0, 1.0), Shape::does_not_hold);
}

TEST(OnH100, InstructionsAreComparedByCycles) {
  const Finding finding = made_up_finding("on-h100", [](const studies::Run& run) {
    return run.workload == "table_scan:cond_acc" && run.config == "h100-8sm" ? 1.25 : 1.0;
  });
  EXPECT_THAT(table_of(finding, "What the thesis's instructions").rows.front(),
              ElementsAre("COND_ACC (thesis 7.1)", "table_scan", "table_scan:cond_acc", "+25.0 %", "+0.0 %"));
}

// Hint bits on the database's workloads, which those that form warps refuse, and not on others.
TEST(OnH100, HintsRunOnTheSearchesAlone) {
  std::set<std::string> hinted;
  for (const studies::Run& run : Registry<Claim>::instance().make("on-h100", {})->runs()) {
    if (sets(run, "dram.hints=true")) {
      hinted.insert(run.workload);
    }
  }
  EXPECT_THAT(hinted, ElementsAre("aggregates", "hash_join", "index_join:row_hints", "index_search:row_hints",
                                  "index_update:row_hints", "table_scan"));
}

}  // namespace
}  // namespace heddle::studies
