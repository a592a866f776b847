// dwf-memory-divergence: DWF causes memory divergence that neither the baseline nor large warps have (LWM report 4).
#include <fmt/format.h>

#include <algorithm>

#include <cmath>

#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace formation_memory {

double lines(const tb::Summary& summary) {
  return summary.line_requests_per_memory_instruction;
}
std::vector<Variant> machines() {
  std::vector<Variant> all = {baseline()};
  for (Variant& variant : dynamic_warp_formation()) {
    all.push_back(std::move(variant));
  }
  all.push_back(large());
  return all;
}

void judge(const Grid& grid, Finding& finding) {
  pages::GroupedBars chart{"Lines per memory instruction, relative to the baseline", "x baseline", {}, {}, 1.0};
  std::vector<double> means;
  for (std::size_t variant = 1; variant < grid.variants().size(); ++variant) {
    chart.series.push_back({grid.variants()[variant].label, {}});
    std::vector<double> ratios;
    for (std::size_t workload = 0; workload < grid.workloads().size(); ++workload) {
      const double before = grid.value(0, workload, lines);
      const double ratio = before > 0 ? grid.value(variant, workload, lines) / before : pages::kNoValue;
      chart.series.back().values.push_back(ratio);
      if (std::isfinite(ratio) && ratio > 0) {
        ratios.push_back(ratio);
      }
    }
    means.push_back(ratios.empty() ? pages::kNoValue : geometric_mean(ratios));
    chart.series.back().values.push_back(means.back());
  }
  for (const StudyWorkload& workload : grid.workloads()) {
    chart.groups.push_back(workload.name);
  }
  chart.groups.emplace_back("gmean");
  finding.ours = fmt::format("x{:.2f} (majority), x{:.2f} (pdprio), x{:.2f} (LWM)", means[0], means[1], means[2]);
  finding.charts.push_back(std::move(chart));
  if (std::isfinite(means[0] + means[1] + means[2])) {
    const double formation = std::min(means[0], means[1]);
    finding.checks.push_back(
        main_check("both schedulers of DWF need more lines per memory instruction than the "
                   "baseline, by 2 % or more on average",
                   fmt::format("x{:.3f}, x{:.3f}", means[0], means[1]), formation >= 1.02));
    finding.checks.push_back(
        main_check("large warps need fewer than DWF", fmt::format("x{:.3f}", means[2]), means[2] < formation));
    finding.checks.push_back(check("large warps stay within 2 % of the baseline", fmt::format("x{:.3f}", means[2]),
                                   std::abs(means[2] - 1) <= 0.02));
  }
}

}  // namespace formation_memory

const std::vector<GridRow>& formation_memory_rows() {
  static const std::vector<GridRow> all = {
      {"dwf-memory-divergence",
       "Memory divergence of dynamic warp formation",
       {.rank = 1090,
        .statement = "DWF reassigns threads to warps and never restores them, which causes memory divergence not "
                     "found in large warps or the baseline",
        .paper = "more lines per memory instruction than baseline and LWM",
        .source = "LWM report, section 4; thesis, section 3.2.1"},
       formation_memory::machines,
       twelve,
       formation_memory::judge}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> formation_memory_entry{formation_memory_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
