// fu-util-mechanisms: LWM report figure 10, thesis figure 5.2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace utilisation_of_mechanisms {

constexpr std::size_t kBase = 0;
constexpr std::size_t kLarge = 2;
constexpr std::size_t kTwoLevel = 3;
constexpr std::size_t kBoth = 4;
std::vector<Variant> machines() {
  std::vector<Variant> all = dynamic_warp_formation();
  all.insert(all.end(), {baseline(), large(), two_level(), large_two_level()});
  return all;
}
// Arithmetic mean over the workloads of the group that both machines have.
double mean(const Grid& grid, std::size_t variant, const std::vector<std::string>& group, const Grid::Figure& figure) {
  double sum = 0;
  std::size_t count = 0;
  for (const std::string& name : group) {
    const std::size_t workload = grid.index_of(name);
    if (std::isfinite(grid.value(kBase, workload, figure)) && std::isfinite(grid.value(kTwoLevel, workload, figure)) &&
        std::isfinite(grid.value(variant, workload, figure))) {
      sum += grid.value(variant, workload, figure);
      ++count;
    }
  }
  return count == 0 ? pages::kNoValue : sum / static_cast<double>(count);
}
bool judge_group(Finding& finding, const Grid& grid, const std::vector<std::string>& group, const Grid::Figure& figure,
                 std::size_t variant, const std::string& rule, bool main) {
  std::string measured;
  bool all = true;
  for (const std::string& name : group) {
    const double before = grid.value(kBase, grid.index_of(name), figure);
    const double after = grid.value(variant, grid.index_of(name), figure);
    if (std::isfinite(before) && std::isfinite(after)) {
      all = all && after > before;
      measured += fmt::format("{}{} {:.1f} to {:.1f}", measured.empty() ? "" : ", ", name, before, after);
    }
  }
  if (!measured.empty()) {
    finding.checks.push_back({rule, measured, main, all});
  }
  return !measured.empty();
}

std::vector<Run> runs() {
  return runs_of(machines(), twelve());
}

Finding judge(const Results& results) {
  Results extended = results;
  const Variant formation = best_of(extended, "DWF", dynamic_warp_formation(), twelve());
  const Grid grid(extended, {baseline(), formation, large(), two_level(), large_two_level()}, twelve());
  Finding finding;
  count_workloads(finding, grid);
  finding.charts.push_back(grid.utilisation_chart("Functional units active per cycle under all mechanisms"));
  finding.charts.push_back(grid.ipc_chart("IPC of all mechanisms, as in the report's figure 9"));
  finding.tables.push_back(grid.ipc_table("Speedups over the report's baseline", true));
  const auto lanes = [](const tb::Summary& summary) { return summary.lanes_per_warp_instruction; };
  const auto idle = [](const tb::Summary& summary) { return summary.idle_share; };
  if (judge_group(finding, grid, leftmost(), lanes, kLarge,
                  "large warps fill more lanes per instruction on each of "
                  "the leftmost four",
                  true)) {
    judge_group(finding, grid, leftmost(), lanes, kBoth, "so does the combination", true);
  }
  const double before = mean(grid, kBase, rightmost(), idle);
  const double after = mean(grid, kTwoLevel, rightmost(), idle);
  if (std::isfinite(before) && std::isfinite(after)) {
    finding.ours = fmt::format("idle cycles of the rightmost seven {} to {}", percent(before), percent(after));
    finding.checks.push_back(
        main_check("two-level scheduling reduces the idle cycles of the rightmost seven on average",
                   fmt::format("{} to {}", percent(before), percent(after)), after < before));
    const double both = mean(grid, kBoth, rightmost(), idle);
    if (std::isfinite(both)) {
      finding.checks.push_back(
          check("so does the combination", fmt::format("{} to {}", percent(before), percent(both)), both < before));
    }
  }
  for (const std::string& cause : grid.worst(kTwoLevel, kBase, 3, 0.99)) {
    finding.causes.push_back(cause);
  }
  return finding;
}

}  // namespace utilisation_of_mechanisms

const std::vector<ClaimRow>& utilisation_of_mechanisms_rows() {
  static const std::vector<ClaimRow> all = {
      {"fu-util-mechanisms",
       "Functional units active per cycle under all mechanisms",
       {.rank = 1062,
        .statement = "Large warps pack active threads and raise SIMD utilization of the leftmost benchmarks; two-level "
                     "scheduling reduces the idle cycles of the rightmost ones",
        .paper = "more lanes filled; fewer idle cycles",
        .source = "LWM report, section 6.1, figure 10; thesis, section 5.2.1, figure 5.2",
        .beside_note =
            "What two-level scheduling takes off matrixmult's idle cycles, the row conflicts of blackscholes "
            "add again; 2lev-avg says why. needleman's warps wait for room in the L1 under any order."},
       utilisation_of_mechanisms::runs,
       utilisation_of_mechanisms::judge}};
  return all;
}

const RegisterRows<OnForms<RowClaim>, ClaimRow> utilisation_of_mechanisms_entry{utilisation_of_mechanisms_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
