// 2lev-rules: the three readings of when fetch groups switch (LWM report 3.2, 3.2.1, 6.3; thesis 4.3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

struct Rule {
  std::string name;
  std::string words;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"current",
       "report 3.2: from only that fetch group, \"until no warp from that fetch group can be scheduled\"; 3.2.1: a "
       "warp in the pipeline cannot"},
      {"stalled",
       "thesis 4.3: the others come after it; a switch \"once all warps in the highest prioritized fetch group are "
       "stalled on a long latency operation\""},
      {"exclusive",
       "report 3.2 and 3.2.1: from only that fetch group, and a switch \"only occurs once those warps are actually "
       "stalled\""},
  };
  return all;
}

namespace switch_rules {

std::vector<Variant> machines() {
  Variant first = baseline();
  first.label = "round robin";
  std::vector<Variant> all = {std::move(first)};
  for (const Rule& rule : rules()) {
    all.push_back(machine(rule.name, "two-level", {"two_level.fetch_group_rule=" + rule.name}));
  }
  return all;
}
std::vector<double> values(const Grid& grid, std::size_t variant, const Grid::Figure& figure) {
  std::vector<double> out;
  for (const std::size_t workload : grid.common()) {
    out.push_back(grid.value(variant, workload, figure));
  }
  return out;
}
double median(const Grid& grid, std::size_t variant, const Grid::Figure& figure) {
  return spread(values(grid, variant, figure)).median;
}
double mean(const Grid& grid, std::size_t variant, const Grid::Figure& figure) {
  double sum = 0;
  const std::vector<double> all = values(grid, variant, figure);
  for (const double value : all) {
    sum += value;
  }
  return all.empty() ? pages::kNoValue : sum / static_cast<double>(all.size());
}
ValueTable drift_table(const Grid& grid) {
  ValueTable table{
      "Instructions by which the furthest warp of a block is ahead of the last one, on average", {"workload"}, {}};
  for (const Variant& variant : grid.variants()) {
    table.titles.push_back(variant.label);
  }
  for (const std::size_t workload : grid.common()) {
    std::vector<std::string> row = {grid.workloads()[workload].name};
    for (std::size_t variant = 0; variant < grid.variants().size(); ++variant) {
      row.push_back(fmt::format("{:.1f}", grid.at(variant, workload)->summary.warp_drift));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void judge(const Placed& placed, const Grid& grid, Finding& finding) {
  const std::vector<Variant>& all = grid.variants();
  const auto drift = [](const tb::Summary& summary) { return summary.warp_drift; };
  const auto row_hits = [](const tb::Summary& summary) { return summary.dram_row_hit_rate; };
  ValueTable table{"The rules", {"rule", "words", "speedup", "drift in instructions, median", "row hits, mean"}, {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Spread speedup = mean_speedup(placed, all[i], all[0]);
    if (!std::isfinite(speedup.median)) {
      continue;
    }
    table.rows.push_back({all[i].label, i == 0 ? "" : rules()[i - 1].words, i == 0 ? "" : spread_text(speedup),
                          fmt::format("{:.1f}", median(grid, i, drift)), percent(mean(grid, i, row_hits))});
    if (i == 0) {
      continue;
    }
    finding.ours += fmt::format("{}{} {}", finding.ours.empty() ? "" : "; ", all[i].label, spread_text(speedup));
    finding.checks.push_back(main_check(fmt::format("rule {} is faster than round robin on average", all[i].label),
                                        spread_text(speedup), speedup.median > 1));
    const double lost = mean(grid, 0, row_hits) - mean(grid, i, row_hits);
    finding.checks.push_back(check(fmt::format("under rule {} row hits stay within 1.7 points", all[i].label),
                                   fmt::format("{:+.1f} points", -100 * lost), std::abs(lost) <= 0.017));
  }
  if (finding.ours.empty()) {
    finding.ours = "-";
    return;
  }
  const double current = median(grid, 1, drift);
  const double stalled = median(grid, 2, drift);
  finding.checks.push_back(check("warps drift further apart under rule current than under rule stalled",
                                 fmt::format("{:.1f} and {:.1f} instructions", current, stalled), current > stalled));
  finding.charts.push_back(grid.ipc_chart("IPC by rule of switching"));
  finding.tables.push_back(std::move(table));
  finding.tables.push_back(grid.ipc_table("Speedups over round robin, by rule", true));
  finding.tables.push_back(drift_table(grid));
}

}  // namespace switch_rules

const std::vector<PlacedRow>& switch_rules_rows() {
  static const std::vector<PlacedRow> all = {
      {"2lev-rules",
       "When fetch groups switch",
       {.rank = 1054,
        .statement =
            "Fetch groups switch when their warps are stalled on a long latency (report 6.3), which separates warps "
            "enough to hide latencies but not so much as to lose the locality of row buffers (3.2). The papers word "
            "the rule in three ways, of which none is said to gain more; expected is that each gains, and that the one "
            "that switches without a stall lets warps drift further apart",
        .paper = "+10.1 % (report), +9.9 % (thesis); row hits kept",
        .source = "LWM report, sections 3.2, 3.2.1 and 6.3; thesis, section 4.3",
        .note = "Which rule is best depends on the workload. \"current\" switches in cycles in which the "
                "group's warps are merely in the pipeline, so its groups share the core and drift apart "
                "between barriers. \"exclusive\" keeps the warps of blackscholes together and with them its "
                "row hits, but a group with few warps that are not stalled leaves the pipeline empty, which "
                "costs the workloads that compute (blackjack, kmeans, decrypt)."},
       switch_rules::machines,
       switch_rules::judge}};
  return all;
}

const RegisterRows<OnForms<PlacedRowClaim>, PlacedRow> switch_rules_entry{switch_rules_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
