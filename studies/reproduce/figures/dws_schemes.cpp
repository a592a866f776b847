// dws-branch, dws-mem, dws-full, dws-slip, dws-stall: the schemes of dynamic warp subdivision and adaptive slip against
// the conventional machine, on all eight benchmarks (DWS report, figures 7, 11 and 13).
#include <fmt/format.h>

#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

constexpr double kNoLoss = 0.99;

constexpr const char* kSchemesCaveat =
    "Cycles at the ends of launches, in which the caches write their last stores to memory, are left out: the "
    "report's benchmarks are one program each, ours several launches. Inputs are smaller than table 2's.";

// A finding of the report: its machines, all against the first, and what is asked of them.
struct Scheme {
  std::string id;
  std::string title;
  ClaimText text;
  std::vector<Variant> machines;
  void (*judge)(const Speedups& speedups, Finding& finding);
};

Check mean_of_a_size(const Speedups& speedups, std::size_t variant, double paper) {
  const double mean = speedups.mean(variant);
  return main_check(fmt::format("{}: harmonic mean of a size with the report's {:.2f} (half to twice the gain)",
                                speedups.variants()[variant].label, paper),
                    times(mean), of_a_size(mean - 1, paper - 1));
}

Check no_loss(const Speedups& speedups, std::size_t variant, bool main) {
  const std::string losers = speedups.below(variant, kNoLoss);
  Check one = check(fmt::format("{} loses on no benchmark (1 % and more)", speedups.variants()[variant].label),
                    losers.empty() ? "none" : losers, losers.empty());
  one.main = main;
  return one;
}

void judge_branch_divergence(const Speedups& speedups, Finding& finding) {
  finding.ours = times(speedups.mean(2));
  finding.checks.push_back(mean_of_a_size(speedups, 2, 1.13));
  finding.checks.push_back(no_loss(speedups, 2, false));
  finding.checks.push_back(check("stack-based re-convergence loses on KMeans", times(speedups.of(1, "KMeans")),
                                 speedups.of(1, "KMeans") < kNoLoss));
  finding.checks.push_back(check("PC-based re-convergence is the better one on average",
                                 fmt::format("{} against {}", times(speedups.mean(2)), times(speedups.mean(1))),
                                 speedups.mean(2) > speedups.mean(1)));
}

void judge_memory_divergence(const Speedups& speedups, Finding& finding) {
  finding.ours = times(speedups.mean(3));
  finding.checks.push_back(mean_of_a_size(speedups, 3, 1.20));
  for (const std::size_t limited : {4U, 5U, 6U}) {
    finding.checks.push_back(check(fmt::format("{} gains 5 % at most", speedups.variants()[limited].label),
                                   times(speedups.mean(limited)), speedups.mean(limited) <= 1.05));
  }
  finding.checks.push_back(
      check("ReviveSplit is the best of the three without BranchLimited",
            fmt::format("{}, {}, {}", times(speedups.mean(1)), times(speedups.mean(2)), times(speedups.mean(3))),
            speedups.mean(3) >= speedups.mean(1) && speedups.mean(3) >= speedups.mean(2)));
}

void judge_both_divergences(const Speedups& speedups, Finding& finding) {
  finding.ours = times(speedups.mean(3));
  finding.checks.push_back(mean_of_a_size(speedups, 3, 1.71));
  finding.checks.push_back(no_loss(speedups, 3, true));
  for (const std::size_t other : {1U, 2U}) {
    finding.checks.push_back(check(fmt::format("{} loses on average", speedups.variants()[other].label),
                                   times(speedups.mean(other)), speedups.mean(other) < 1));
  }
}

void judge_adaptive_slip(const Speedups& speedups, Finding& finding) {
  finding.ours = fmt::format("{} (Slip), {} (Slip.BranchBypass)", times(speedups.mean(1)), times(speedups.mean(2)));
  finding.checks.push_back(
      main_check("Slip gains on Filter", times(speedups.of(1, "Filter")), speedups.of(1, "Filter") > 1.01));
  std::vector<std::string> others;
  for (std::size_t i = 0; i < speedups.benchmarks().size(); ++i) {
    const std::string& label = speedups.benchmarks()[i].label;
    if (label != "Filter" && speedups.of(1, i) > 1.01) {
      others.push_back(fmt::format("{} {:.2f}", label, speedups.of(1, i)));
    }
  }
  finding.checks.push_back(check("and on no other one", others.empty() ? "none" : join(others), others.empty()));
  finding.checks.push_back(check("Slip.BranchBypass is better than Slip on average",
                                 fmt::format("{} against {}", times(speedups.mean(2)), times(speedups.mean(1))),
                                 speedups.mean(2) > speedups.mean(1)));
  for (const char* const label : {"KMeans", "Short", "FFT"}) {
    finding.checks.push_back(check(fmt::format("Slip.BranchBypass loses on {}", label), times(speedups.of(2, label)),
                                   speedups.of(2, label) < 1));
  }
  finding.checks.push_back(check("DWS.ReviveSplit is better than both on average", times(speedups.mean(3)),
                                 speedups.mean(3) > speedups.mean(2) && speedups.mean(3) > speedups.mean(1)));
}

void judge_stalled_time(const Speedups& speedups, Finding& finding) {
  const auto lanes = [](const tb::Summary& summary) { return summary.lanes_per_warp_instruction; };
  const double before = speedups.average(0, stalled_on_memory);
  const double after = speedups.average(1, stalled_on_memory);
  const double wide = speedups.average(0, lanes);
  const double narrow = speedups.average(1, lanes);
  finding.ours = fmt::format("{} to {}; {:.1f} to {:.1f} lanes", percent(before), percent(after), wide, narrow);
  finding.checks.push_back(
      main_check("the share of the time that is stalled falls by a share of a size with the "
                 "report's 53 %",
                 percent((before - after) / before), of_a_size((before - after) / before, 0.53)));
  finding.checks.push_back(
      check("the conventional machine is stalled more than half of the time", percent(before), before > 0.5));
  finding.checks.push_back(check("lanes per instruction: 14 without, half to twice 4 with subdivision",
                                 fmt::format("{:.1f}, {:.1f}", wide, narrow), wide > 10 && narrow >= 2 && narrow <= 8));
}

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> all = {
      {"dws-branch",
       "Subdivision upon branch divergence",
       {.rank = 4020,
        .statement = "Subdivision upon branch divergence alone gains 1.13 on average (harmonic mean) with PC-based "
                     "re-convergence and never loses; with stack-based re-convergence alone KMeans loses",
        .paper = "1.13",
        .source = "DWS report, section 4.5, figure 7",
        .note = "SVM keeps the memory bus busy nearly all the time, and KMeans waits for memory little, so "
                "that there is little to hide, while splits have fewer lanes per instruction; HotSpot's "
                "splits miss more often. Splits of the stack alone meet at the end of a loop or of the "
                "kernel: one lane per instruction on Merge, Short, KMeans and SVM.",
        .caveat = kSchemesCaveat},
       {conventional(), scheme("stack-based", "dws-branch-stack"), scheme("PC-based", "dws-branch")},
       judge_branch_divergence},
      {"dws-mem",
       "Subdivision upon memory divergence",
       {.rank = 4030,
        .statement = "Subdivision upon memory divergence alone gains 1.20 with ReviveSplit; with BranchLimited "
                     "re-convergence no scheme gains much",
        .paper = "1.20",
        .source = "DWS report, sections 5.3.1 and 5.5, figures 11 and 13",
        .note = "AggressSplit is the best of the three where most accesses miss: FFT and Short. Their misses "
                "are conflicts (dws-characterisation), and splits that run ahead turn them into hits. On "
                "Filter and KMeans, which mostly hit, it loses, as the report has it.",
        .caveat = kSchemesCaveat},
       {conventional(), scheme("AggressSplit", "dws-aggressive-mem"), scheme("LazySplit", "dws-lazy-mem"),
        scheme("ReviveSplit", "dws-revive-mem"), scheme("AggressSplit.BL", "dws-aggressive-limited"),
        scheme("LazySplit.BL", "dws-lazy-limited"), scheme("ReviveSplit.BL", "dws-revive-limited")},
       judge_memory_divergence},
      {"dws-full",
       "Subdivision upon both divergences",
       {.rank = 4040,
        .statement = "ReviveSplit with BranchBypass gains 1.71 on average and loses on no benchmark; AggressSplit "
                     "and LazySplit with BranchBypass lose on average",
        .paper = "1.71",
        .source = "DWS report, section 5.5, figure 13",
        .note = "Part of the gain is lost on Filter and KMeans, which hit, and none is to be had on SVM, "
                "which is bound by the memory's 16 GB/s. On FFT and Short subdivision gains by splits that "
                "turn conflict misses into hits. Bandwidth decides how much: with a crossbar that passes "
                "less (noc.packed = false) subdivision gains more. With a larger D-cache, or a fully "
                "associative one, the conventional machine is far faster and subdivision gains nothing "
                "(dws-dsize, dws-assoc), as the report finds at 128 KB. AggressSplit gains where most "
                "accesses miss (FFT, Short) and loses where few do (Filter, KMeans).",
        .caveat = kSchemesCaveat},
       {conventional(), scheme("DWS.AggressSplit", "dws-aggressive-bypass"), scheme("DWS.LazySplit", "dws-lazy-bypass"),
        scheme("DWS.ReviveSplit", "dws-revive-bypass")},
       judge_both_divergences},
      {"dws-slip",
       "Adaptive slip",
       {.rank = 4050,
        .statement = "Adaptive slip gains on Filter alone; with BranchBypass it is better on many benchmarks, and "
                     "loses on KMeans, Short and FFT",
        .paper = "gains on Filter alone",
        .source = "DWS report, section 5.7, figure 13",
        .note = "FFT and Short, which lose by it in the report, gain most: here they miss by conflicts, of which there "
                "are fewer while part of a warp stays behind.",
        .caveat = kSchemesCaveat},
       {conventional(), scheme("Slip", "slip"), scheme("Slip.BranchBypass", "slip-bypass"),
        scheme("DWS.ReviveSplit", "dws-revive-bypass")},
       judge_adaptive_slip},
      {"dws-stall",
       "Time stalled on memory",
       {.rank = 4060,
        .statement = "DWS.ReviveSplit reduces the time stalled on memory from 76 % to 36 %, and the mean SIMD width "
                     "per instruction from 14 to 4",
        .paper = "76 to 36 %; 14 to 4 lanes",
        .source = "DWS report, section 5.5",
        .caveat = kSchemesCaveat},
       {conventional(), scheme("DWS.ReviveSplit", "dws-revive-bypass")},
       judge_stalled_time},
  };
  return all;
}

class SchemeClaim final : public Claim {
 public:
  explicit SchemeClaim(const Scheme& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(row_.machines, eight()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Speedups speedups(results, row_.machines, benchmarks());
    Finding finding;
    speedups.count(finding);
    if (finding.measured == 0) {
      finding.ours = "-";
      return finding;
    }
    row_.judge(speedups, finding);
    finding.charts.push_back(speedups.chart("Speedup over the conventional machine"));
    finding.tables.push_back(speedups.table("Speedup over the conventional machine"));
    finding.tables.push_back(speedups.why("What the cores do"));
    return finding;
  }

 private:
  const Scheme& row_;
};

const RegisterRows<SchemeClaim, Scheme> scheme_entries{schemes()};

}  // namespace
}  // namespace heddle::studies::dws
