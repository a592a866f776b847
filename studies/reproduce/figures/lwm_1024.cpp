// lwm-1024: one warp of all threads (LWM report 6.2, footnote).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> single_large_warp_machines() {
  return {baseline(), large(), machine("LWM-1024", "lwm", {"core.warp_size=1024"})};
}

void judge_single_large_warp(const Grid& grid, Finding& finding) {
  const double speedup = common_speedup(grid, 2, 1);
  const double over_baseline = common_speedup(grid, 2, 0);
  finding.ours = gain_text(speedup) + " against LWM-256";
  if (!std::isfinite(speedup)) {
    return;
  }
  finding.checks.push_back(
      main_check("one warp of 1024 threads is slower than four of 256", gain_text(speedup), speedup < 1));
  finding.checks.push_back(main_check("it is slower than the baseline", gain_text(over_baseline), over_baseline < 1));
  finding.charts.push_back(grid.ipc_chart("IPC with a single large warp"));
  finding.tables.push_back(grid.ipc_table("Speedups over the baseline", true));
}

const std::vector<GridRow>& single_large_warp_rows() {
  static const std::vector<GridRow> all = {
      {"lwm-1024",
       "A single large warp",
       {.rank = 1112,
        .statement =
            "A large warp of 1024 threads is not evaluated since, given the strict barrel processing model, having "
            "only a single large warp will result in very inefficient use of the pipeline",
        .paper = "very inefficient",
        .source = "LWM report, section 6.2, footnote; thesis, section 5.2.2.1, footnote",
        .caveat = kWarpsOfOneBlock},
       single_large_warp_machines,
       twelve,
       judge_single_large_warp}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> single_large_warp_entry{single_large_warp_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
