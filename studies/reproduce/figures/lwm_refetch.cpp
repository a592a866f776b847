// lwm-refetch: thesis 4.2.2, footnote 2.
#include <fmt/format.h>

#include <cmath>

#include "base/nearest.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> refetch_machines() {
  return {thesis_large(), machine("known to diverge", "thesis-lwm", {"relaxed.diverged_early=true"})};
}

void judge_refetch(const Grid& grid, Finding& finding) {
  const double gain = common_speedup(grid, 1, 0);
  finding.ours = gain_text(gain);
  if (!std::isfinite(gain)) {
    return;
  }
  finding.checks.push_back(
      main_check("it changes less than 1 % on average", gain_text(gain), std::abs(gain - 1) < 0.01));
  const double leftmost_gain = common_speedup(grid, 1, 0, leftmost());
  finding.checks.push_back(
      check("and less than 3 % on the leftmost four", gain_text(leftmost_gain), std::abs(leftmost_gain - 1) < 0.03));
  finding.tables.push_back(grid.ipc_table("Speedups over waiting for all sub-warps", true));
}

const std::vector<GridRow>& refetch_rows() {
  static const std::vector<GridRow> all = {
      {"lwm-refetch",
       "Large warps re-fetched once they are known to diverge",
       {.rank = 1133,
        .statement =
            "If any of the sub-warps before the last one diverges, the large warp is known to diverge, and could be "
            "re-fetched sooner; the thesis always waits for the last one, since another large warp's instruction can "
            "be executed instead: re-fetching at branches before their outcome is known would not provide much benefit",
        .paper = "not much",
        .source = "thesis, section 4.2.2, footnote 2",
        .caveat = "The thesis has no figure; less than 1 % is taken as not much. Ours: relaxed.diverged_early.",
        .given = {"1 %"}},
       refetch_machines,
       twelve,
       judge_refetch}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> refetch_entry{refetch_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
