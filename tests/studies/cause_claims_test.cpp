// The claims that put causes to the test, on made-up results, and where what they came to is shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/experiments.hpp"
#include "studies/reproduce/reproduce.hpp"
#include "tb/config/config.hpp"

namespace heddle::studies {
namespace {

constexpr const char* kCauseClaims[] = {"2lev-causes",     "tbc-srr-causes", "columns-causes",  "perfect-rf-causes",
                                        "adaptive-causes", "ws-simd-causes", "dws-long-causes", "dws-padded",
                                        "dws-fft",         "lwm-refetch"};

// A claim's verdict where a run takes cycles(run), or so many thread instructions per cycle the more.
template <class Cycles>
Finding of_cycles(const char* id, Cycles cycles) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(id, {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    tb::Summary summary;
    summary.cycles = cycles(run);
    summary.fu_active_cycles = {summary.cycles};
    summary.ipc = 1e6 / static_cast<double>(summary.cycles);
    results.add(run, summary, run.scale);
  }
  return claim->judge(results);
}
bool has_setting(const studies::Run& run, const std::string& setting) {
  return std::find(run.settings.begin(), run.settings.end(), setting) != run.settings.end();
}

// Two-level scheduling gains so much as the machine is, and where the memory serves row hits first.
Finding two_level_gains(double as_it_is, double row_hits_first) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make("2lev-causes", {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    const auto set = [&](const char* setting) {
      return std::find(run.settings.begin(), run.settings.end(), setting) != run.settings.end();
    };
    tb::Summary summary;
    summary.ipc = run.config != "two-level" ? 10 : 10 * (set("dram.scheduler=fr-fcfs") ? row_hits_first : as_it_is);
    results.add(run, summary, run.scale);
  }
  return claim->judge(results);
}

TEST(CauseClaims, ACauseIsWhatBringsTheFigureToThePapers) {
  const Finding found = two_level_gains(0.97, 1.1);
  EXPECT_EQ(shape_of(found.checks), Shape::holds);
  EXPECT_EQ(found.checks.front().measured, "row hits first +10.0 %");
  EXPECT_EQ(found.ours,
            "as it is -3.0 %; rows of 1 KB -3.0 %; conflicts as short as hits -3.0 %; a queue per bank -3.0 %; row "
            "hits first +10.0 %; nothing spills -3.0 %; spills on the chip -3.0 %; a bound of 1K instructions -3.0 %; "
            "a quarter of the bandwidth "
            "-3.0 %; inputs of two fifths -3.0 %");
  const Finding half = two_level_gains(0.97, 1.04);
  EXPECT_EQ(shape_of(half.checks), Shape::partly);
  EXPECT_EQ(half.checks.back().measured, "row hits first +4.0 %");
  const Finding none = two_level_gains(0.97, 1.03);
  EXPECT_EQ(shape_of(none.checks), Shape::does_not_hold);
  EXPECT_EQ(none.checks.front().measured, "with none");
  EXPECT_EQ(none.checks.back().measured, "with none");
  const Finding already = two_level_gains(1.1, 1.1);
  EXPECT_EQ(shape_of(already.checks), Shape::does_not_hold);
  EXPECT_EQ(already.checks.front().measured, "without any");
  EXPECT_EQ(already.wanted, 12U);
}

// Four warps are best; with a roomy D-cache eight.
TEST(CauseClaims, MoreWarpsAreBestWhereTheyContendLess) {
  const auto warps = [](bool roomy_helps) {
    return of_cycles("dws-long-causes", [=](const studies::Run& run) {
      const bool roomy = roomy_helps && has_setting(run, "l1d.bytes=131072");
      return has_setting(run, roomy ? "core.blocks=8" : "core.blocks=4") ? 500'000ULL : 1'000'000ULL;
    });
  };
  EXPECT_EQ(shape_of(warps(true).checks), Shape::holds);
  EXPECT_EQ(warps(true).ours, "as it is 4; fully associative 4; 128 KB 8; memory of 64 GB/s 4");
  EXPECT_EQ(shape_of(warps(false).checks), Shape::does_not_hold);
}

TEST(CauseClaims, SlipLosesWhereRunsArePadded) {
  const auto slip = [](double padded) {
    return of_cycles("dws-padded", [=](const studies::Run& run) {
      const bool wide = run.workload.ends_with(":padded");
      return run.config == "slip-bypass" ? static_cast<std::uint64_t>(1'000'000 / (wide ? padded : 2)) : 1'000'000ULL;
    });
  };
  EXPECT_EQ(shape_of(slip(0.8).checks), Shape::holds);
  EXPECT_EQ(slip(0.8).ours, "FFT 2.00 and 0.80 (DWS 1.00 and 1.00); Short 2.00 and 0.80 (DWS 1.00 and 1.00)");
  EXPECT_EQ(shape_of(slip(2).checks), Shape::does_not_hold);
}

// DWS report, table 1 and figure 13: of four forms the six steps over padded rows, Splash-2's, decide.
TEST(CauseClaims, FftIsJudgedInItsSourcesForm) {
  const auto judged = [](const char* source, double slip) {
    const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make("dws-fft", {});
    Results results;
    for (const studies::Run& run : claim->runs()) {
      tb::Summary summary;
      summary.cycles =
          run.config == "slip-bypass" && run.workload == source ? static_cast<std::uint64_t>(1000 / slip) : 1000;
      summary.fu_active_cycles = {summary.cycles};
      if (run.workload == source) {  // as the report has it: 59, 3.4 %, 7, 69 %
        summary.warp_instructions = 59'000;
        summary.branches = 1000;
        summary.divergent_branches = 34;
        summary.missed_accesses = 8429;
        summary.partly_missed_accesses = 5816;
      }
      results.add(run, summary, run.scale, {}, {}, {});
    }
    return claim->judge(results);
  };
  const Finding splash = judged("fft:six_step,padded", 0.8);
  EXPECT_EQ(splash.ours,
            "passes: 0 of 4, DWS 1.00, Slip.BranchBypass 1.00; passes, padded: 0 of 4, DWS 1.00, Slip.BranchBypass "
            "1.00; six steps: 0 of 4, DWS 1.00, Slip.BranchBypass 1.00; six steps, padded: 4 of 4, DWS 1.00, "
            "Slip.BranchBypass 0.80");
  EXPECT_EQ(shape_of(splash.checks), Shape::partly);  // all but DWS's gain
  EXPECT_EQ(shape_of(judged("fft", 0.8).checks), Shape::does_not_hold);
}

// LWM report, figure 8: the core is idle for half of the time, or for less.
TEST(CauseClaims, TwoSchedulersAreDrawnOverOneTime) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make("2lev-timeline", {});
  const auto judged_with = [&](std::uint64_t cycles, double idle) {
    Results results;
    for (const studies::Run& run : claim->runs()) {
      const bool two_levels = run.config == "two-level";
      tb::Summary summary;
      summary.cycles = two_levels ? cycles : 1000;
      summary.idle_share = two_levels ? idle : 0.5;
      RunSeries series;
      series.cycles = summary.cycles;
      series.core_ipc = {std::vector<double>(10, two_levels ? 20.0 : 16.0)};
      results.add(run, summary, run.scale, {}, {}, series);
    }
    return claim->judge(results);
  };
  const Finding better = judged_with(750, 0.25);
  EXPECT_EQ(shape_of(better.checks), Shape::holds);
  EXPECT_EQ(better.ours, "idle 50.0 % to 25.0 %");
  const auto& chart = std::get<pages::LineChart>(better.charts.front());
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_EQ(chart.series[1].values.front(), 20);
  EXPECT_EQ(std::count_if(chart.series[1].values.begin(), chart.series[1].values.end(),
                          [](double value) { return std::isfinite(value); }),
            36)
      << "three quarters of the 48 points";
  EXPECT_EQ(shape_of(judged_with(1100, 0.6).checks), Shape::does_not_hold);
}

TEST(CauseClaims, RefetchingEarlyIsToChangeLittle) {
  const auto faster_by = [](double factor) {
    return of_cycles("lwm-refetch", [=](const studies::Run& run) {
      return static_cast<std::uint64_t>(1'000'000 / (has_setting(run, "relaxed.diverged_early=true") ? factor : 1));
    });
  };
  EXPECT_EQ(shape_of(faster_by(1.005).checks), Shape::holds);
  EXPECT_EQ(shape_of(faster_by(1.05).checks), Shape::does_not_hold);
}

TEST(CauseClaims, EveryMachineExists) {
  for (const char* const id : kCauseClaims) {
    for (const studies::Run& run : Registry<Claim>::instance().make(id, {})->runs()) {
      EXPECT_NO_THROW(static_cast<void>(tb::read_machine(run.config, run.settings))) << run.text();
    }
  }
}

TEST(Experiments, AreClaimsOnceEach) {
  const std::vector<std::string> ids = claim_ids();
  std::set<std::string> seen;
  for (const Experiments& one : all_experiments()) {
    for (const std::string& claim : one.claims) {
      EXPECT_TRUE(seen.insert(claim).second) << claim;
      EXPECT_EQ(experiments_of(claim), one.experiments) << claim;
      EXPECT_EQ(std::count(ids.begin(), ids.end(), claim), 1) << claim;
    }
    for (const std::string& experiment : one.experiments) {
      EXPECT_EQ(std::count(ids.begin(), ids.end(), experiment), 1) << experiment;
      EXPECT_EQ(std::count(one.claims.begin(), one.claims.end(), experiment), 0) << experiment;
    }
  }
  EXPECT_TRUE(experiments_of("lwm-storage").empty());
}

ReproducedClaim reproduced(const char* id, const char* source, bool passes, const char* ours) {
  ReproducedClaim claim;
  claim.id = id;
  claim.title = id;
  claim.text.statement = "They say";
  claim.text.source = source;
  claim.finding.ours = ours;
  claim.finding.checks = {{"it is so", std::string("so: ") + ours, true, passes}};
  claim.shape = shape_of(claim.finding.checks);
  return claim;
}

TEST(Experiments, StandBesideAClaimThatDoesNotHold) {
  Reproduction reproduction;
  reproduction.claims = {reproduced("ccws", "Rogers, O'Connor and Aamodt, abstract", false, "-3 %"),
                         reproduced("odgs-pm", "ODGS paper, section 3.3", false, "7.3"),
                         reproduced("odgs-textures", "ODGS paper, section 3.3", true, "2.1"),
                         reproduced("ccws-32", "thesis, so that it has another page", true, "+24 %")};
  const std::vector<MarkdownPage> pages = reproduction_pages(reproduction, "r.md", "2026-11-26");
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  const auto page = [&](const char* path) {
    const auto found =
        std::find_if(pages.begin(), pages.end(), [&](const MarkdownPage& one) { return one.path == path; });
    return found == pages.end() ? std::string() : found->text;
  };
  EXPECT_TRUE(has(page("r/ccws.md"), "\n\nExperiments: [ccws-32](thesis.md#ccws-32) (holds): so: +24 %.\n"));
  EXPECT_TRUE(has(page("r/odgs-paper.md"), "\n\nExperiments: [odgs-textures](#odgs-textures) (holds): so: 2.1.\n"));
  const std::string report = reproduction_report(reproduction, "2026-11-26");
  EXPECT_TRUE(has(report, "\nExperiments: [ccws-32](#ccws-32) (holds): +24 %.\n"));
  const std::string html = reproduction_page(reproduction, "heddle reproduce");
  EXPECT_TRUE(has(html, "<p>Experiment <a href=\"#ccws-32\">ccws-32</a>: +24 %. "));
  reproduction.claims.front() = reproduced("ccws", "Rogers, O'Connor and Aamodt, abstract", true, "+20 %");
  EXPECT_FALSE(has(reproduction_report(reproduction, "2026-11-26"), "Experiments: [ccws-32]"));
  EXPECT_FALSE(has(reproduction_page(reproduction, "heddle reproduce"), "#ccws-32\">ccws-32</a>: +24"));
}

}  // namespace
}  // namespace heddle::studies
