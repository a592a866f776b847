// lwm-opts: LWM report figure 12, thesis figure 5.5.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> large_warp_options_machines() {
  return {baseline(), machine("LWM, neither", "lwm", {"packing.memory_by_rows=false", "packing.branch_once=false"}),
          machine("LWM, memory", "lwm", {"packing.memory_by_rows=true", "packing.branch_once=false"}),
          machine("LWM, branch", "lwm", {"packing.memory_by_rows=false", "packing.branch_once=true"}),
          machine("LWM, both", "lwm")};
}

void judge_large_warp_options(const Grid& grid, Finding& finding) {
  const double memory = common_speedup(grid, 2, 1);
  const double branch = common_speedup(grid, 3, 1);
  finding.ours = fmt::format("{} (memory), {} (branch)", gain_text(memory), gain_text(branch));
  if (!std::isfinite(memory)) {
    return;
  }
  finding.checks.push_back(main_check("the memory-divergence optimization changes less than 1 % on average",
                                      gain_text(memory), std::abs(memory - 1) < 0.01));
  finding.checks.push_back(
      main_check("the unconditional-branch optimization gains on average", gain_text(branch), branch > 1));
  finding.checks.push_back(
      check("it gains about 1 %: between 0.5 and 2 %", gain_text(branch), branch >= 1.005 && branch <= 1.02));
  finding.charts.push_back(grid.ipc_chart("IPC with the optimizations of large warps"));
  finding.tables.push_back(grid.ipc_table("Speedups over the baseline", true));
  for (const std::size_t workload : grid.common()) {
    if (std::abs(grid.speedup(2, 1, workload) - 1) > 0.02) {
      finding.causes.push_back(grid.diagnosis(2, 1, workload));
    }
  }
}

const std::vector<GridRow>& large_warp_options_rows() {
  static const std::vector<GridRow> all = {
      {"lwm-opts",
       "Optimizations of large warps",
       {.rank = 1130,
        .statement = "The memory-divergence optimization (global memory by rows) does not provide much benefit; the "
                     "unconditional-branch optimization slightly improves performance, by about 1 %",
        .paper = "about 0; about +1 %",
        .source = "LWM report, section 6.2, figure 12; thesis, section 5.2.2.3, figure 5.5"},
       large_warp_options_machines,
       twelve,
       judge_large_warp_options}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> optimizations_entry{large_warp_options_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
