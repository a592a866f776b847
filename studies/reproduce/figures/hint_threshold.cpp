// hint-threshold: how long a hinted row is held (thesis 7.2, figure 7.3).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "studies/reproduce/figures/database_study.hpp"

namespace heddle::studies::database {
namespace {

// Cycles. Table 8.1: a conflict takes 300 cycles, a hit 100.
constexpr std::array<unsigned, 11> kThresholds = {1, 25, 50, 75, 100, 150, 200, 300, 400, 800, 1600};
constexpr unsigned kBreakEven = 200;

namespace hint_threshold {

std::vector<Case> cases(bool tree_traverse) {
  std::vector<Case> out = {index_search(tree_traverse, false, "no hints")};
  for (const unsigned threshold : kThresholds) {
    out.push_back(index_search(tree_traverse, true, fmt::format("{} cycles", threshold),
                               {fmt::format("dram.hint_threshold={}", threshold)}));
  }
  return out;
}

void judge_one(Finding& finding, const std::string& what, const Measured& measured,
               const std::vector<double>& speedups) {
  const auto break_even =
      static_cast<std::size_t>(std::find(kThresholds.begin(), kThresholds.end(), kBreakEven) - kThresholds.begin());
  const auto best = static_cast<std::size_t>(std::max_element(speedups.begin(), speedups.end()) - speedups.begin());
  finding.ours += fmt::format("{}best {} cycles {}, 200 cycles {} ({})", finding.ours.empty() ? "" : "; ",
                              kThresholds[best], gain_text(speedups[best]), gain_text(speedups[break_even]), what);
  finding.checks.push_back(main_check("a threshold of 200 cycles is within 1 % of the best (" + what + ")",
                                      gain_text(speedups[break_even] / speedups[best]),
                                      speedups[break_even] >= 0.99 * speedups[best]));
  finding.checks.push_back(check("one of 50 cycles is worse (" + what + ")",
                                 gain_text(speedups[2] / speedups[break_even]), speedups[2] < speedups[break_even]));
  finding.checks.push_back(check("one of 1600 cycles is not better (" + what + ")",
                                 gain_text(speedups.back() / speedups[break_even]),
                                 speedups.back() <= speedups[break_even]));
  finding.tables.push_back(measured.table("Index search by hold threshold, " + what));
  finding.causes.push_back(measured.diagnosis(best + 1, break_even + 1));
}

std::vector<Run> runs_to_do() {
  std::vector<Run> runs = runs_of(cases(false));
  const std::vector<Run> more = runs_of(cases(true));
  runs.insert(runs.end(), more.begin(), more.end());
  return runs;
}

Finding judge(const Results& results) {
  Finding finding;
  finding.ours = "-";
  const Measured plain(results, cases(false));
  const Measured traverse(results, cases(true));
  if (!plain.complete() || !traverse.complete()) {
    return finding;
  }
  pages::LineChart chart{"Query throughput of the index search with hints, by hold threshold in cycles",
                         "speedup over no hints",
                         {},
                         {{"row hints", {}, true}, {"row hints and tree traverse", {}, false}}};
  for (std::size_t i = 0; i < kThresholds.size(); ++i) {
    chart.places.push_back(std::to_string(kThresholds[i]));
    chart.series[0].values.push_back(plain.speedup(i + 1, 0));
    chart.series[1].values.push_back(traverse.speedup(i + 1, 0));
  }
  finding.ours.clear();
  judge_one(finding, "hints", plain, chart.series[0].values);
  judge_one(finding, "hints and tree traverse", traverse, chart.series[1].values);
  finding.charts = {std::move(chart)};
  return finding;
}

}  // namespace hint_threshold

const std::vector<ClaimRow>& hint_threshold_rows() {
  static const std::vector<ClaimRow> all = {
      {"hint-threshold",
       "Hold threshold of row-buffer hints",
       {.rank = 2090,
        .statement =
            "A row is held until the latency of a row conflict less that of a row hit has passed: a hit that comes "
            "later is not worth the wait, so that this threshold is the break-even point",
        .paper = "conflict - hit latency: 200 cycles",
        .source = "thesis, section 7.2, figure 7.3",
        .note = "A hit comes soon after the data that it waits for, so that thresholds from 50 cycles on "
                "hardly differ; only much longer ones, which hold rows in vain, lose.",
        .caveat =
            "The thesis derives the threshold from one bank's timeline and shows no sweep. The three cases of figure "
            "7.3 are tests of the memory controller (tests/memory/dram_hint_test.cpp): a hit that comes in the very "
            "cycle in which the hold runs out is served exactly as late as without a hold.",
        .given = {"50 cycles"}},
       hint_threshold::runs_to_do,
       hint_threshold::judge}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> hint_threshold_entry{hint_threshold_rows()};

}  // namespace
}  // namespace heddle::studies::database
