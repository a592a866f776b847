// dwf-avg: dynamic warp formation degrades performance on average (LWM report 6.1).
#include <cmath>

#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Run> runs_of_formation_loss() {
  std::vector<Variant> machines = dynamic_warp_formation();
  machines.push_back(baseline());
  return runs_of(machines, twelve());
}

Finding judge_formation_loss(const Results& results) {
  Results extended = results;
  const std::vector<Variant> formation = dynamic_warp_formation();
  const Variant best = best_of(extended, "DWF (better of both)", formation, twelve());
  const Grid grid(extended, {baseline(), formation[0], formation[1], best}, twelve());
  Finding finding;
  count_workloads(finding, grid);
  const double speedup = grid.mean_speedup(3, 0);
  finding.ours = gain_text(speedup);
  if (!std::isfinite(speedup)) {
    return finding;
  }
  finding.checks.push_back(
      main_check("the better of the two policies is below the baseline on average", gain_text(speedup), speedup < 1));
  finding.charts.push_back(grid.ipc_chart("IPC of dynamic warp formation under both of its schedulers"));
  finding.tables.push_back(grid.ipc_table("Speedups over the baseline", true));
  // The claim is a loss: what needs explaining are the workloads that gain.
  for (std::size_t workload = 0; workload < grid.workloads().size(); ++workload) {
    if (grid.speedup(3, 0, workload) > 1.02) {
      finding.causes.push_back(grid.diagnosis(3, 0, workload));
    }
  }
  return finding;
}

const std::vector<ClaimRow>& formation_loss_rows() {
  static const std::vector<ClaimRow> all = {
      {"dwf-avg",
       "Dynamic warp formation",
       {.rank = 1080,
        .statement = "Lane-aware DWF, the better of majority and post-dominator priority per workload, degrades "
                     "performance compared to the baseline",
        .paper = "below the baseline",
        .source = "LWM report, section 6.1, figure 9"},
       runs_of_formation_loss,
       judge_formation_loss}};
  return all;
}

const RegisterRows<OnForms<RowClaim>, ClaimRow> formation_loss_entry{formation_loss_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
