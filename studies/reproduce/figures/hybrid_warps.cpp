// hybrid-warps: the best warp size of each workload (thesis 9.2.1, LWM report 6.4).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

constexpr std::size_t kHybridWarps256 = 3;
std::vector<Variant> hybrid_warps_machines() {
  return {thesis_baseline(), machine("LWM-64", "thesis-lwm", {"core.warp_size=64"}),
          machine("LWM-128", "thesis-lwm", {"core.warp_size=128"}), machine("LWM-256", "thesis-lwm"),
          machine("LWM-512", "thesis-lwm", {"core.warp_size=512"})};
}

void judge_hybrid_warps(const Grid& grid, Finding& finding) {
  if (finding.measured == 0) {
    finding.ours = "-";
    return;
  }
  std::vector<double> gains;
  ValueTable table{"Best warp size by workload", {"workload", "best", "over LWM-256"}, {}};
  std::size_t other = 0;
  bool larger = false;
  bool smallest = false;
  for (const std::size_t workload : grid.common()) {
    std::size_t best = kHybridWarps256;
    for (std::size_t variant = 0; variant < grid.variants().size(); ++variant) {
      if (grid.speedup(variant, best, workload) > 1) {
        best = variant;
      }
    }
    const double gain = grid.speedup(best, kHybridWarps256, workload);
    gains.push_back(gain);
    other += best != kHybridWarps256 && gain > 1.001 ? 1 : 0;
    larger = larger || (best > kHybridWarps256 && gain > 1.001);
    smallest = smallest || (best == 0 && gain > 1.001);
    table.rows.push_back({grid.workloads()[workload].name, grid.variants()[best].label, gain_text(gain)});
  }
  const double mean = geometric_mean(gains);
  finding.ours = fmt::format("{} of {} best at another size; {} on average", other, finding.measured, gain_text(mean));
  finding.checks.push_back(main_check("a fixed size of 256 is not best for every workload",
                                      fmt::format("{} of {} gain at another size", other, finding.measured),
                                      other != 0));
  finding.checks.push_back(check("some are best with 512", larger ? "yes" : "none", larger));
  finding.checks.push_back(
      check("some are best with warps as wide as the SIMD unit", smallest ? "yes" : "none", smallest));
  finding.tables.push_back(std::move(table));
}

const std::vector<GridRow>& hybrid_warps_rows() {
  static const std::vector<GridRow> all = {
      {"hybrid-warps",
       "The best warp size of each workload",
       {.rank = 1180,
        .statement =
            "A fixed large warp size is not best for all applications: some benefit from 512 threads, others are "
            "better off with smaller large warps or even SIMD-width warps, so hybrid warp sizes would perform "
            "better overall",
        .paper = "no size is best for all",
        .source = "LWM report, section 6.4; thesis, section 9.2.1",
        .caveat = kWarpsOfOneBlock},
       hybrid_warps_machines,
       twelve,
       judge_hybrid_warps}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> hybrid_warps_entry{hybrid_warps_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
