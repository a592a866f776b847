// 2lev-rowhit: row-buffer locality under two-level scheduling (thesis 5.2.1).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> row_hits_machines() {
  return {thesis_baseline(), thesis_two_level()};
}

void judge_row_hits(const Grid& grid, Finding& finding) {
  ValueTable table{"Row-buffer hit rate", {"workload", "round robin", "2Lev", "difference in points"}, {}};
  pages::GroupedBars chart{"Row-buffer hit rate under round robin and two-level scheduling",
                           "share",
                           {},
                           {{"round robin", {}}, {"2Lev", {}}},
                           pages::kNoValue};
  double before = 0;
  double after = 0;
  std::size_t count = 0;
  std::vector<std::string> far;
  for (const std::size_t workload : grid.common()) {
    const double first = grid.at(0, workload)->summary.dram_row_hit_rate;
    const double second = grid.at(1, workload)->summary.dram_row_hit_rate;
    const std::string& name = grid.workloads()[workload].name;
    before += first;
    after += second;
    ++count;
    table.rows.push_back({name, percent(first), percent(second), fmt::format("{:+.1f}", 100 * (second - first))});
    chart.groups.push_back(name);
    chart.series[0].values.push_back(first);
    chart.series[1].values.push_back(second);
    if (std::abs(second - first) > 0.05) {
      far.push_back(fmt::format("{} {:+.1f}", name, 100 * (second - first)));
    }
  }
  if (count == 0) {
    finding.ours = "-";
    return;
  }
  before /= static_cast<double>(count);
  after /= static_cast<double>(count);
  finding.ours = fmt::format("{} and {}: {:+.1f} points", percent(before), percent(after), 100 * (after - before));
  finding.checks.push_back(main_check("the mean row-buffer hit rate is at most 1.7 points below round robin's",
                                      finding.ours, after >= before - 0.017));
  finding.checks.push_back(check("it is within 1.7 points", finding.ours, std::abs(after - before) <= 0.017));
  finding.checks.push_back(
      check("on no workload does it differ by more than 5 points", far.empty() ? "on none" : join(far), far.empty()));
  finding.charts.push_back(std::move(chart));
  finding.tables.push_back(std::move(table));
}

const std::vector<GridRow>& row_hits_rows() {
  static const std::vector<GridRow> all = {
      {"2lev-rowhit",
       "Row-buffer locality of two-level scheduling",
       {.rank = 1150,
        .statement =
            "Row-buffer locality remains high under two-level scheduling: the hit rate is within 1.7 % of round "
            "robin on average, since both levels are round robin",
        .paper = "within 1.7 %",
        .source = "thesis, section 5.2.1",
        .beside_note = "blackscholes decides the mean here, too (2lev-avg)."},
       row_hits_machines,
       twelve,
       judge_row_hits}};
  return all;
}

const RegisterRows<OnForms<GridClaim, Over::readings>, GridRow> row_hits_entry{row_hits_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
