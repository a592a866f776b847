// The claims about the schemes of dynamic warp subdivision, put to made-up results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

// A run of so many core cycles beside the cycles of flushing, half of them waiting for memory.
tb::Summary lasting(double cycles) {
  tb::Summary made;
  const auto whole = static_cast<std::uint64_t>(cycles);
  made.fu_active_cycles = {whole + 5000};
  made.idle_cycles_by_cause.cycles[static_cast<std::size_t>(hw::IdleCause::flush)] = 5000;
  made.idle_cycles_by_cause.cycles[static_cast<std::size_t>(hw::IdleCause::memory)] = whole / 2;
  made.lanes_per_warp_instruction = 14;
  return made;
}

// How much faster than the conventional machine a run is.
using Gain = std::function<double(const Run&)>;

Finding judge(const char* id, const Gain& gain) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(id, {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    results.add(run, lasting(1e6 / gain(run)), 1, {}, tb::RecordedEnergy{1e9 / gain(run), 1e6});
  }
  return claim->judge(results);
}

Gain by_config(const std::map<std::string, double>& gains) {
  return [gains](const studies::Run& run) {
    const auto found = gains.find(run.config);
    return found == gains.end() ? 1.0 : found->second;
  };
}

TEST(DwsSchemes, SpeedupsAreOfWorkingCycles) {
  const Finding finding = judge("dws-full", by_config({{"dws-revive-bypass", 2}}));
  EXPECT_EQ(finding.ours, "2.00");
  EXPECT_EQ(finding.measured, 8U);
  EXPECT_DOUBLE_EQ(harmonic_mean({1, 0.5}), 2.0 / 3);
  EXPECT_TRUE(std::isnan(harmonic_mean({})));
}

TEST(DwsSchemes, TheReportsOwnFiguresHold) {
  const Gain branch = [](const studies::Run& run) {
    return run.config == "dws-branch"                                               ? 1.13
           : run.config == "dws-branch-stack" && run.workload.starts_with("kmeans") ? 0.8
                                                                                    : 1.0;
  };
  EXPECT_EQ(shape_of(judge("dws-branch", branch).checks), Shape::holds);
  EXPECT_EQ(shape_of(judge("dws-mem", by_config({{"dws-revive-mem", 1.2}, {"dws-aggressive-mem", 0.9}})).checks),
            Shape::holds);
  EXPECT_EQ(
      shape_of(
          judge("dws-full",
                by_config({{"dws-revive-bypass", 1.71}, {"dws-aggressive-bypass", 0.9}, {"dws-lazy-bypass", 0.95}}))
              .checks),
      Shape::holds);
  const Gain slip = [](const studies::Run& run) {
    const bool filter = run.workload.starts_with("filter");
    return run.config == "slip"                ? (filter ? 1.3 : 0.8)
           : run.config == "slip-bypass"       ? (filter || run.workload.starts_with("svm") ? 1.4 : 0.9)
           : run.config == "dws-revive-bypass" ? 1.7
                                               : 1.0;
  };
  EXPECT_EQ(shape_of(judge("dws-slip", slip).checks), Shape::holds);
}

TEST(DwsSchemes, WithoutAGainTheyDoNot) {
  for (const char* const id :
       {"dws-branch", "dws-mem", "dws-slip", "dws-stall", "dws-assoc", "dws-l2lat", "dws-width"}) {
    EXPECT_NE(shape_of(judge(id, by_config({})).checks), Shape::holds) << id;
  }
  EXPECT_EQ(shape_of(judge("dws-full", by_config({})).checks), Shape::partly) << "nobody loses, at least";
  const Gain one_loses = [](const studies::Run& run) {
    return run.config != "dws-revive-bypass" ? 0.9 : run.workload.starts_with("lu") ? 0.9 : 1.9;
  };
  EXPECT_EQ(shape_of(judge("dws-full", one_loses).checks), Shape::partly);
}

// Whether one of the run's settings is the given one, as at a point of a sweep.
bool has(const studies::Run& run, const std::string& setting) {
  return std::find(run.settings.begin(), run.settings.end(), setting) != run.settings.end();
}

TEST(DwsSchemes, SweepsAreJudgedByTheGainAtEachPoint) {
  const auto subdivided = [](const studies::Run& run) { return run.config == "dws-revive-bypass"; };
  const Gain by_latency = [&](const studies::Run& run) {
    const double own = has(run, "l2.hit_latency=10")    ? 1.5
                       : has(run, "l2.hit_latency=100") ? 0.7
                       : has(run, "l2.hit_latency=300") ? 0.3
                                                        : 1.0;
    return own * (!subdivided(run) ? 1 : own > 1 ? 1.1 : own == 1 ? 1.2 : own > 0.5 ? 1.3 : 1.5);
  };
  EXPECT_EQ(shape_of(judge("dws-l2lat", by_latency).checks), Shape::holds);
  const Gain by_ways = [&](const studies::Run& run) {
    return subdivided(run) && !has(run, "l1d.ways=256") ? 1.4 : 1.0;
  };
  EXPECT_EQ(shape_of(judge("dws-assoc", by_ways).checks), Shape::holds);
  const Gain by_size = [&](const studies::Run& run) {
    const bool large = has(run, "l1d.bytes=65536") || has(run, "l1d.bytes=131072");
    return large ? 1.4 : subdivided(run) ? 1.4 : 1.0;
  };
  EXPECT_EQ(shape_of(judge("dws-dsize", by_size).checks), Shape::holds);
  const Gain by_entries = [&](const studies::Run& run) {
    return subdivided(run) ? (has(run, "dws.entries=4") ? 1.1 : 1.4) : 1;
  };
  EXPECT_EQ(shape_of(judge("dws-wst", by_entries).checks), Shape::holds);
  const Gain by_slots = [&](const studies::Run& run) {
    return subdivided(run) ? (has(run, "dws.slots=8") ? 1.5 : has(run, "dws.slots=5") ? 1.2 : 1.4) : 1;
  };
  EXPECT_EQ(shape_of(judge("dws-slots", by_slots).checks), Shape::holds);
  EXPECT_EQ(shape_of(judge("dws-slots", by_entries).checks), Shape::does_not_hold) << "5 slots do as well";
  const Gain by_shape = [&](const studies::Run& run) {
    const bool two = has(run, "core.threads=32") && has(run, "core.simd_width=16");
    return !subdivided(run) ? 1.0 : two ? 1.2 : has(run, "core.simd_width=4") ? 0.9 : 1.1;
  };
  EXPECT_EQ(shape_of(judge("dws-width", by_shape).checks), Shape::holds);
}

TEST(DwsSchemes, EnergyIsThatOfTheRecords) {
  const Finding saved = judge("dws-energy", by_config({{"dws-revive-bypass", 1 / 0.7}, {"slip-bypass", 1 / 0.95}}));
  EXPECT_EQ(saved.ours, "-30.0 %; -5.0 %");
  EXPECT_EQ(shape_of(saved.checks), Shape::holds);
  EXPECT_EQ(shape_of(judge("dws-energy", by_config({{"slip-bypass", 1.1}})).checks), Shape::does_not_hold);
  EXPECT_EQ(shape_of(Registry<Claim>::instance().make("dws-energy", {})->judge({}).checks), Shape::not_measured);
}

TEST(DwsSchemes, StorageIsTheMachinesOwn) {
  const Finding finding = Registry<Claim>::instance().make("dws-area", {})->judge({});
  EXPECT_EQ(shape_of(finding.checks), Shape::holds);
  EXPECT_TRUE(finding.ours.starts_with("84 bits each; 0.")) << finding.ours;
}

TEST(DwsSchemes, NothingMeasuredIsNoVerdict) {
  for (const char* const id : {"dws-branch", "dws-full", "dws-width", "dws-stall"}) {
    const Finding finding = Registry<Claim>::instance().make(id, {})->judge({});
    EXPECT_EQ(finding.ours, "-") << id;
    EXPECT_EQ(shape_of(finding.checks), Shape::not_measured) << id;
  }
}

}  // namespace
}  // namespace heddle::studies::dws
