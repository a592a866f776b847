// 2lev-timeout: the timeout rule (thesis 4.4).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

class Timeout final : public Claim {
 public:
  explicit Timeout(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {
        .rank = 1170,
        .statement =
            "With fetch groups of a single large warp a timeout of 32K instructions is never invoked for most "
            "applications; for branch-intensive ones with few long stalls, such as blackjack, it helps significantly",
        .paper = "blackjack gains, most do not change",
        .source = "thesis, section 4.4"};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Grid grid(results, machines(), twelve());
    Finding finding;
    count_workloads(finding, grid);
    const double blackjack = grid.speedup(1, 0, grid.index_of("blackjack"));
    std::size_t unmoved = 0;
    for (const std::size_t workload : grid.common()) {
      unmoved += std::abs(grid.speedup(1, 0, workload) - 1) <= 0.005 ? 1 : 0;
    }
    finding.ours = "blackjack " + gain_text(blackjack);
    if (finding.measured == 0) {
      return finding;
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
    return finding;
  }

 private:
  static std::vector<Variant> machines() {
    return {machine("no timeout", "thesis-lwm-two-level", {"two_level.fetch_group_timeout=0"}),
            machine("timeout", "thesis-lwm-two-level")};
  }
};

const Register<Claim, OnForms<Timeout>> timeout_entry{"2lev-timeout", "Timeout of a fetch group of one large warp"};

}  // namespace
}  // namespace heddle::studies::lwm
