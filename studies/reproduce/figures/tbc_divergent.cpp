// tbc-divergent: thread block compaction where branches diverge (thesis 5.2.1).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> compaction_on_branches_machines() {
  return {thesis_baseline(), thread_block_compaction(), thesis_large(), thesis_two_level(), thesis_large_two_level()};
}

void judge_compaction_on_branches(const Grid& grid, Finding& finding) {
  const double compaction = common_speedup(grid, 1, 0, leftmost());
  const double large_warps = common_speedup(grid, 2, 0, leftmost());
  finding.ours = gain_text(compaction) + " (TBC), " + gain_text(large_warps) + " (LWM)";
  if (!std::isfinite(compaction)) {
    return;
  }
  finding.checks.push_back(
      main_check("TBC gains on the leftmost four on average", gain_text(compaction), compaction > 1));
  finding.checks.push_back(main_check("LWM gains more there", gain_text(large_warps), large_warps > compaction));
  const double idle = common_speedup(grid, 1, 0, rightmost());
  const double scheduled = common_speedup(grid, 3, 0, rightmost());
  if (std::isfinite(idle)) {
    finding.checks.push_back(check("TBC gains less than two-level scheduling on the rightmost seven",
                                   gain_text(idle) + " and " + gain_text(scheduled), idle < scheduled));
  }
  finding.charts.push_back(grid.ipc_chart("IPC of thread block compaction and of the thesis's mechanisms"));
  finding.tables.push_back(grid.ipc_table("Speedups over the thesis's baseline", true));
  for (const std::string& name : leftmost()) {
    if (const std::size_t workload = grid.index_of(name); grid.speedup(2, 1, workload) < 1) {
      finding.causes.push_back(grid.diagnosis(2, 1, workload));
    }
  }
}

const std::vector<GridRow>& compaction_on_branches_rows() {
  static const std::vector<GridRow> all = {
      {"tbc-divergent",
       "Thread block compaction on branch-intensive workloads",
       {.rank = 1102,
        .statement =
            "TBC also improves the leftmost applications but not as much as LWM does, which has the "
            "unconditional-branch optimization and packs predicated instructions; on the rightmost ones TBC does "
            "not provide as much benefit as two-level scheduling, since warps synchronise at each branch",
        .paper = "TBC gains, LWM gains more",
        .source = "thesis, section 5.2.1, figures 5.1 and 5.2"},
       compaction_on_branches_machines,
       twelve,
       judge_compaction_on_branches}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> compaction_on_branches_entry{compaction_on_branches_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
