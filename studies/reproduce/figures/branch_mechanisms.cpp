// branch-mechanisms: the ways to execute conditional code (thesis 2.1.3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace branch_mechanisms {

std::vector<Variant> machines() {
  Variant stack = thesis_baseline();
  stack.label = "stack";
  return {std::move(stack), machine("per-thread PCs", "thesis-baseline", {"core.divergence=per-thread-pc"}),
          machine("predication + stack", "thesis-baseline", {"core.if_conversion=8"})};
}

void judge(const Grid& grid, Finding& finding) {
  const auto lanes = [](const tb::Summary& summary) { return summary.lanes_per_warp_instruction; };
  const double counters = common_speedup(grid, 1, 0, leftmost());
  const double predication = common_speedup(grid, 2, 0, leftmost());
  finding.ours = fmt::format("{} (per-thread PCs), {} (predication)", gain_text(counters), gain_text(predication));
  std::string measured;
  bool underused = true;
  for (const std::string& name : leftmost()) {
    const std::size_t workload = grid.index_of(name);
    if (!std::isfinite(grid.value(0, workload, lanes) + grid.value(1, workload, lanes) +
                       grid.value(2, workload, lanes))) {
      continue;
    }
    measured += fmt::format("{}{}", measured.empty() ? "" : ", ", name);
    for (std::size_t variant = 0; variant < grid.variants().size(); ++variant) {
      const double value = grid.value(variant, workload, lanes);
      underused = underused && value < 30;
      measured += fmt::format("{}{:.1f}", variant == 0 ? " " : " / ", value);
    }
  }
  if (measured.empty()) {
    return;
  }
  finding.checks.push_back(
      main_check("lanes per instruction of the leftmost four stay below 30 under all three", measured, underused));
  finding.checks.push_back(check("per-thread program counters are within 10 % of the stack on them",
                                 gain_text(counters), std::abs(counters - 1) <= 0.10));
  finding.checks.push_back(check("predicating short branches is within 10 % of the stack on them",
                                 gain_text(predication), std::abs(predication - 1) <= 0.10));
  finding.charts.push_back(grid.ipc_chart("IPC of the three ways to execute conditional code"));
  finding.charts.push_back(grid.utilisation_chart("Functional units active per cycle"));
  finding.tables.push_back(grid.ipc_table("Speedups over the stack", true));
  finding.causes = grid.worst(1, 0, 3, 0.95);
}

}  // namespace branch_mechanisms

const std::vector<GridRow>& branch_mechanisms_rows() {
  static const std::vector<GridRow> all = {
      {"branch-mechanisms",
       "Stack, per-thread program counters, predication",
       {.rank = 1190,
        .statement =
            "Predication, per-thread program counters and the re-convergence stack all execute conditional code "
            "correctly but not efficiently: only a fraction of the SIMD resources is used when conditional code "
            "executes",
        .paper = "all three underutilise the lanes",
        .source = "thesis, sections 2.1.3.1 to 2.1.3.3",
        .beside_note = "viterbi and kmeans hardly diverge in our machine code (see intensity), so no mechanism "
                       "leaves lanes idle on them. Per-thread program counters have no point at which threads are "
                       "made to meet: once apart they meet by chance, so that blackjack and sort have far fewer "
                       "lanes per instruction."},
       branch_mechanisms::machines,
       twelve,
       branch_mechanisms::judge}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> branch_mechanisms_entry{branch_mechanisms_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
