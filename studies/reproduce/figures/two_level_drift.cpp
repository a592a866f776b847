// 2lev-drift: a bound on how long a fetch group of 8 warps stays first (thesis 4.4), so that groups cannot drift apart.
#include <fmt/format.h>

#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace drift_bound {

enum : std::size_t { kRoundRobinFirst, kFree, kLoose, kMiddle, kTightest };
std::vector<Variant> machines() {
  Variant first = baseline();
  first.label = "round robin";
  std::vector<Variant> all = {std::move(first)};
  for (const auto& [label, bound] : {std::pair{"none", 0}, {"32K", 32768}, {"8K", 8192}, {"1K", 1024}}) {
    all.push_back(
        machine(label, "two-level",
                {"two_level.fetch_group_rule=stalled", fmt::format("two_level.fetch_group_timeout={}", bound)}));
  }
  return all;
}
double mean(const Grid& grid, std::size_t variant, const Grid::Figure& figure) {
  double sum = 0;
  const std::vector<std::size_t> common = grid.common();
  for (const std::size_t workload : common) {
    sum += grid.value(variant, workload, figure);
  }
  return common.empty() ? pages::kNoValue : sum / static_cast<double>(common.size());
}

void judge(const Grid& grid, Finding& finding) {
  if (finding.measured == 0) {
    finding.ours = "-";
    return;
  }
  const auto drift = [](const tb::Summary& summary) { return summary.warp_drift; };
  const auto row_hits = [](const tb::Summary& summary) { return summary.dram_row_hit_rate; };
  ValueTable table{
      "By bound", {"bound", "speedup over round robin", "drift in instructions, mean", "row hits, mean"}, {}};
  for (std::size_t i = 0; i < grid.variants().size(); ++i) {
    const double gain = grid.mean_speedup(i, 0);
    table.rows.push_back({grid.variants()[i].label, gain_text(gain), fmt::format("{:.1f}", mean(grid, i, drift)),
                          percent(mean(grid, i, row_hits))});
    if (i != 0) {
      finding.ours += fmt::format("{}{} {}", i == 1 ? "" : ", ", grid.variants()[i].label, gain_text(gain));
    }
  }
  const double free = mean(grid, kFree, drift);
  const double bound = mean(grid, kTightest, drift);
  finding.checks.push_back(main_check("with the tightest bound groups drift apart less than with none",
                                      fmt::format("{:.1f} instead of {:.1f} instructions", bound, free), bound < free));
  const double gain = grid.mean_speedup(kTightest, 0);
  finding.checks.push_back(main_check("it is faster than round robin", gain_text(gain), gain > 1));
  finding.checks.push_back(check("and than no bound", gain_text(grid.mean_speedup(kTightest, kFree)),
                                 grid.mean_speedup(kTightest, kFree) > 1));
  const double lost = mean(grid, 0, row_hits) - mean(grid, kTightest, row_hits);
  finding.checks.push_back(check("its row hits stay within 1.7 points of round robin's",
                                 fmt::format("{:+.1f} points", -100 * lost), std::abs(lost) <= 0.017));
  finding.tables.push_back(std::move(table));
  finding.tables.push_back(grid.ipc_table("Speedups over round robin, by bound", true));
}

}  // namespace drift_bound

const std::vector<GridRow>& drift_bound_rows() {
  static const std::vector<GridRow> all = {
      {"2lev-drift",
       "Timeout of fetch groups of 8 warps",
       {.rank = 1171,
        .statement =
            "Two-level scheduling gains 10.1 % and keeps the row hits within 1.7 points; the thesis bounds the time of "
            "a fetch group that is a single large warp by 32K instructions. Expected is that with fetch groups of 8 "
            "warps a bound lets them drift apart less",
        .paper = "+10.1 %; 1.7 points; bound of 32K",
        .source = "LWM report, sections 3.2 and 6.3; thesis, sections 4.4 and 5.2.1",
        .caveat = "An experiment: neither paper says that groups of 8 warps have a bound. Groups switch when all their "
                  "warps are stalled (rule \"stalled\")."},
       drift_bound::machines,
       twelve,
       drift_bound::judge}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> drift_entry{drift_bound_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
