// lwm-2lev-group: fetch groups of large warps under strict issue (LWM report 3.2.3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> large_fetch_groups_machines() {
  return {large(), machine("LWM+2Lev1", "lwm-two-level", {"two_level.fetch_group=1"}),
          machine("LWM+2Lev2", "lwm-two-level"), machine("LWM+2Lev4", "lwm-two-level", {"two_level.fetch_group=4"})};
}

void judge_large_fetch_groups(const Grid& grid, Finding& finding) {
  if (finding.measured == 0) {
    finding.ours = "-";
    return;
  }
  const auto mean = [&](std::size_t variant) { return common_speedup(grid, variant, 0); };
  finding.ours = fmt::format("{} (1), {} (2), {} (4) over round robin", gain_text(mean(1)), gain_text(mean(2)),
                             gain_text(mean(3)));
  std::vector<std::string> differing;
  for (const std::size_t workload : grid.common()) {
    if (grid.at(3, workload)->summary.cycles != grid.at(0, workload)->summary.cycles) {
      differing.push_back(grid.workloads()[workload].name);
    }
  }
  finding.checks.push_back(main_check("groups of 2 large warps gain, and more than groups of 1", finding.ours,
                                      mean(2) > 1 && mean(2) > mean(1)));
  finding.checks.push_back(main_check("one group of all 4 takes exactly the cycles of round robin",
                                      differing.empty() ? "on every workload" : "not on " + join(differing),
                                      differing.empty()));
  finding.checks.push_back(
      check("groups of 1 are within 2 % of round robin", gain_text(mean(1)), std::abs(mean(1) - 1) <= 0.02));
  finding.charts.push_back(grid.ipc_chart("IPC of LWM-256 by fetch-group size"));
  finding.tables.push_back(grid.ipc_table("Speedups over LWM-256 under round robin", true));
  finding.causes = grid.worst(2, mean(1) > 1 ? 1 : 0, 3, 0.99);
}

const std::vector<GridRow>& large_fetch_groups_rows() {
  static const std::vector<GridRow> all = {
      {"lwm-2lev-group",
       "Fetch groups of large warps",
       {.rank = 1162,
        .statement =
            "Of four large warps under strict issue, a fetch group of one is too small and switches prematurely, "
            "one of four is round robin by definition; only a group of two achieves any benefit",
        .paper = "only groups of 2 gain",
        .source = "LWM report, section 3.2.3",
        .beside_note = "blackscholes alone decides the mean: a smaller group uses less of a row before another "
                       "array's row is opened (2lev-avg). On the other workloads groups of two change next to "
                       "nothing; groups of one slow decrypt down at full size."},
       large_fetch_groups_machines,
       twelve,
       judge_large_fetch_groups}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> large_fetch_groups_entry{large_fetch_groups_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
