// 2lev-timeout: the timeout rule (thesis 4.4).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

std::vector<Variant> group_timeout_machines() {
  return {machine("no timeout", "thesis-lwm-two-level", {"two_level.fetch_group_timeout=0"}),
          machine("timeout", "thesis-lwm-two-level")};
}

void judge_group_timeout(const Grid& grid, Finding& finding) {
  const double blackjack = grid.speedup(1, 0, grid.index_of("blackjack"));
  std::size_t unmoved = 0;
  for (const std::size_t workload : grid.common()) {
    unmoved += std::abs(grid.speedup(1, 0, workload) - 1) <= 0.005 ? 1 : 0;
  }
  finding.ours = "blackjack " + gain_text(blackjack);
  if (finding.measured == 0) {
    return;
  }
  if (std::isfinite(blackjack)) {
    finding.checks.push_back(
        main_check("blackjack gains 2 % or more from the timeout", gain_text(blackjack), blackjack >= 1.02));
  }
  finding.checks.push_back(main_check("more than half of the workloads change by 0.5 % or less",
                                      fmt::format("{} of {}", unmoved, finding.measured),
                                      2 * unmoved > finding.measured));
  finding.charts.push_back(grid.ipc_chart("IPC without and with the timeout rule"));
  finding.tables.push_back(grid.ipc_table("Speedup of the timeout rule", true));
  finding.causes = {grid.diagnosis(1, 0, grid.index_of("blackjack"))};
  std::erase(finding.causes, "");
}

const std::vector<GridRow>& group_timeout_rows() {
  static const std::vector<GridRow> all = {
      {"2lev-timeout",
       "Timeout of a fetch group of one large warp",
       {.rank = 1170,
        .statement =
            "With fetch groups of a single large warp a timeout of 32K instructions is never invoked for most "
            "applications; for branch-intensive ones with few long stalls, such as blackjack, it helps significantly",
        .paper = "blackjack gains, most do not change",
        .source = "thesis, section 4.4"},
       group_timeout_machines,
       twelve,
       judge_group_timeout}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> timeout_entry{group_timeout_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
