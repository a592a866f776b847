// gto-2lev: two levels over another policy (thesis 3.3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> greedy_two_level_machines() {
  Variant first = baseline();
  first.label = "round robin";
  return {std::move(first), machine("GTO", "gto"),
          machine("2Lev GTO", "two-level", {"two_level.inner_scheduler=gto", "two_level.fetch_group_rule=stalled"})};
}

void judge_greedy_two_level(const Grid& grid, Finding& finding) {
  const double gain = common_speedup(grid, 2, 1);
  if (!std::isfinite(gain)) {
    finding.ours = "-";
    return;
  }
  finding.ours = fmt::format("{} over GTO alone; GTO {} and both {} over round robin", gain_text(gain),
                             gain_text(common_speedup(grid, 1, 0)), gain_text(common_speedup(grid, 2, 0)));
  finding.checks.push_back(
      main_check("two levels with GTO inside are faster than GTO alone on average", gain_text(gain), gain > 1));
  finding.charts.push_back(grid.ipc_chart("IPC of greedy-then-oldest alone and inside two levels"));
  finding.tables.push_back(grid.ipc_table("Speedups over round robin", true));
  finding.causes = grid.worst(2, 1, 3, 0.99);
}

const std::vector<GridRow>& greedy_two_level_rows() {
  static const std::vector<GridRow> all = {
      {"gto-2lev",
       "Two levels over greedy-then-oldest",
       {.rank = 1172,
        .statement =
            "Having two levels of scheduling is a general concept that can be applied in combination with other "
            "proposals, such as greedy-then-oldest, to further improve performance",
        .paper = "further improvement",
        .source = "thesis, section 3.3",
        .beside_note = "Greedy-then-oldest is slower than round robin here before two levels are added, by the "
                       "workloads that stream through memory: warps that run apart no longer read one DRAM row "
                       "together. On sort, needleman and matrixmult, which reuse their lines, it gains at this "
                       "scale. A fetch group of 8 adds another preference of the same kind."},
       greedy_two_level_machines,
       twelve,
       judge_greedy_two_level}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> greedy_two_level_entry{greedy_two_level_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
