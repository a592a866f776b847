// tbc-srr: the scheduler of thread block compaction (thesis 5.2.1).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> sticky_compaction_machines() {
  return {machine("TBC, round robin", "tbc", {"tbc.width=256", "core.scheduler=round-robin"}),
          machine("TBC, sticky", "tbc", {"tbc.width=256"})};
}

void judge_sticky_compaction(const Grid& grid, Finding& finding) {
  const double speedup = grid.mean_speedup(1, 0);
  finding.ours = gain_text(speedup);
  if (!std::isfinite(speedup)) {
    return;
  }
  finding.checks.push_back(
      main_check("sticky round robin is faster than round robin on average", gain_text(speedup), speedup > 1));
  finding.checks.push_back(check("slightly: by 5 % or less", gain_text(speedup), speedup <= 1.05));
  finding.charts.push_back(grid.ipc_chart("IPC of thread block compaction under two schedulers"));
  finding.tables.push_back(grid.ipc_table("Speedup of sticky round robin", true));
  finding.causes = grid.worst(1, 0, 3, 1.0);
}

const std::vector<GridRow>& sticky_compaction_rows() {
  static const std::vector<GridRow> all = {
      {"tbc-srr",
       "Sticky round robin under thread block compaction",
       {.rank = 1104,
        .statement = "For TBC, sticky round robin scheduling performed slightly better than round robin",
        .paper = "slightly better",
        .source = "thesis, section 5.2.1",
        .beside_note = "The thesis does not define sticky round robin; here it keeps to a thread block while that "
                       "has a ready warp (docs/mechanisms.md). Blocks then drift apart, and warps that would read "
                       "one DRAM row one after the other do so at different times: on blackscholes row hits fall, "
                       "and under strict first come, first served a row conflict delays every request behind it. "
                       "Where memory does not matter the two schedulers hardly differ."},
       sticky_compaction_machines,
       twelve,
       judge_sticky_compaction}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> sticky_compaction_entry{sticky_compaction_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
