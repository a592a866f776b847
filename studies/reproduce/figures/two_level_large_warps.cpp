// 2lev-large-warps: two-level scheduling with fewer warps to choose from (LWM report 6.4).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace less_flexible_groups {

std::vector<Variant> machines() {
  return {baseline(), large(), two_level(), large_two_level()};
}

void judge(const Placed& placed, const Grid& grid, Finding& finding) {
  const std::vector<Variant>& all = grid.variants();
  const Spread regular = mean_speedup(placed, all[2], all[0], rightmost());
  const Spread large_warps = mean_speedup(placed, all[3], all[0], rightmost());
  if (!std::isfinite(regular.median)) {
    finding.ours = "-";
    return;
  }
  finding.ours = fmt::format("{} at 32 threads, {} at 256", spread_text(regular), spread_text(large_warps));
  finding.checks.push_back(
      main_check("on the rightmost seven two-level scheduling gains less with 256 than with 32 "
                 "threads per warp",
                 finding.ours, large_warps.median < regular.median));
  finding.checks.push_back(main_check("large warps with two-level scheduling still improve them over the baseline",
                                      spread_text(large_warps), large_warps.median > 1));
  finding.checks.push_back(check("slightly: they keep half of the gain", finding.ours,
                                 regular.median > 1 && large_warps.median - 1 >= 0.5 * (regular.median - 1)));
  finding.charts.push_back(grid.ipc_chart("IPC with and without two-level scheduling, at both warp sizes"));
  finding.tables.push_back(grid.ipc_table("Speedups over the baseline", true));
  finding.causes = grid.worst(3, 2, 3, 0.98);
}

}  // namespace less_flexible_groups

const std::vector<PlacedRow>& less_flexible_groups_rows() {
  static const std::vector<PlacedRow> all = {
      {"2lev-large-warps",
       "Two-level scheduling with fewer, larger warps",
       {.rank = 1164,
        .statement =
            "For the rightmost benchmarks, increasing the warp size slightly decreases the benefits of two-level "
            "scheduling, yet still improves performance over the baseline",
        .paper = "slightly smaller gain",
        .source = "LWM report, sections 3.2.3 and 6.4, figure 14",
        .note = "Large warps alone change the rightmost workloads, too: hotspot gains by them, as a warp of "
                "256 threads keeps its rows to itself, and matrixmult loses, so that the gain at 256 threads "
                "is not what is left of two-level scheduling's.",
        .beside_note =
            "The claim takes a gain of two-level scheduling at 32 threads for granted. Here it loses on the "
            "rightmost workloads by blackscholes alone (see 2lev-avg), and large warps soften that loss, because a "
            "fetch group of two 256-thread warps covers the same 512 threads, and so half of a DRAM row, where one "
            "of 8 small warps covers a quarter."},
       less_flexible_groups::machines,
       less_flexible_groups::judge}};
  return all;
}

const RegisterRows<OnForms<PlacedRowClaim>, PlacedRow> less_flexible_groups_entry{less_flexible_groups_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
