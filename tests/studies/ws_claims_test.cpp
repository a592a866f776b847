// The claims of the warp-size study, put to made-up results.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/figures/ws_study.hpp"

namespace heddle::studies::ws {
namespace {

struct Made {
  double ipc = 10;
  double offcore = 1e6;
  double idle = 0.5;
};
using Making = std::function<Made(const Run&)>;

Finding judge(const char* id, const Making& make) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(id, {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    const Made made = make(run);
    tb::Summary summary;
    summary.ipc = made.ipc;
    summary.offcore_requests = static_cast<std::uint64_t>(made.offcore);
    summary.idle_share = made.idle;
    results.add(run, summary, 1);
  }
  return claim->judge(results);
}

// What the study reports, where it gives numbers.
Made of_the_study(const studies::Run& run) {
  static const std::map<std::string, Made> kMade = {{"ws-8", {1 / 1.16, 2.0, 0.30 / 0.64}},
                                                    {"ws-16", {1 / 1.12, 1.4, 0.30 / 0.79}},
                                                    {"ws-32", {1 / 1.19, 1.21, 0.30 / 0.74}},
                                                    {"ws-64", {0.92 / 1.11 / 1.15, 1.18, 0.45}},
                                                    {"sw-plus", {1, 0.91, 0.30}},
                                                    {"lw-plus", {1 / 1.11, 1.3, 0.5}}};
  Made made = kMade.at(run.config);
  made.offcore *= 1e6;
  const bool gains =
      run.workload.starts_with("backprop") || run.workload.starts_with("gaussian") || run.workload.starts_with("srad");
  const bool flat = run.workload.starts_with("walsh") || run.workload.starts_with("pathfinder");
  if (gains && run.config == "ws-64") {
    made.ipc *= 1.3;
  }
  if (flat && run.config.starts_with("ws-")) {
    made.ipc = 1 / 1.16;
  }
  return made;
}

TEST(WarpSizeClaims, TheStudysOwnFiguresHold) {
  EXPECT_EQ(shape_of(judge("ws-coalescing", of_the_study).checks), Shape::holds);
  EXPECT_EQ(shape_of(judge("ws-idle", of_the_study).checks), Shape::holds);
  const Finding performance = judge("ws-perf", of_the_study);
  for (const Check& check : performance.checks) {
    EXPECT_TRUE(check.passed) << check.rule << ": " << check.measured;
  }
  EXPECT_EQ(performance.measured, 16U);
}

TEST(WarpSizeClaims, TheirContraryDoesNot) {
  const auto contrary = [](const studies::Run& run) {
    Made made = of_the_study(run);
    return Made{1 / made.ipc, 1e12 / made.offcore, 0.2 / made.idle};
  };
  for (const char* const id : {"ws-coalescing", "ws-idle", "ws-perf"}) {
    EXPECT_EQ(shape_of(judge(id, contrary).checks), Shape::does_not_hold) << id;
  }
}

// A machine by lanes and threads of a warp, of either form of naming.
double times_of(const studies::Run& run) {
  double lanes = 8;
  double warp = run.config == "ws-8" ? 8 : std::stod(run.config.substr(3));
  for (const std::string& setting : run.settings) {
    (setting.starts_with("core.simd_width=") ? lanes : warp) = std::stod(setting.substr(setting.find('=') + 1));
  }
  return warp / lanes;
}

TEST(WarpSizeClaims, TheBestWarpIsFoundForEachWidth) {
  const Finding twice =
      judge("ws-simd", [](const studies::Run& run) { return Made{times_of(run) == 2 ? 12.0 : 10.0}; });
  EXPECT_EQ(twice.ours, "8 lanes: 2x, 16 lanes: 2x, 32 lanes: 2x");
  EXPECT_EQ(shape_of(twice.checks), Shape::holds);
  const Finding widest = judge("ws-simd", [](const studies::Run& run) { return Made{10 + times_of(run)}; });
  EXPECT_EQ(widest.ours, "8 lanes: 8x, 16 lanes: 8x, 32 lanes: 8x");
  EXPECT_EQ(shape_of(widest.checks), Shape::does_not_hold);
}

TEST(WarpSizeClaims, WhatWasNotMeasuredHasNoVerdict) {
  for (const char* const id : {"ws-coalescing", "ws-idle", "ws-perf", "ws-simd"}) {
    const Finding finding = Registry<Claim>::instance().make(id, {})->judge(Results());
    EXPECT_EQ(shape_of(finding.checks), Shape::not_measured) << id;
  }
}

}  // namespace
}  // namespace heddle::studies::ws
