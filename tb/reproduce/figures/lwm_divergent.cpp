// lwm-divergent: whom large warps help.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "tb/report/text.hpp"
#include "tb/reproduce/figures/lwm_study.hpp"

namespace heddle::tb::lwm {
namespace {

class LargeWarpWorkloads final : public Claim {
 public:
  explicit LargeWarpWorkloads(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1042,
            .title = "Which workloads large warps help",
            .statement =
                "LWM alone significantly improves the branch-intensive leftmost four; for the idle-intensive rightmost "
                "ones it does not provide much benefit",
            .paper = "gain on the leftmost four, about none on the rightmost",
            .source = "LWM report, section 6.1; thesis, section 5.2.1",
            .note = ""};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Grid grid(results, machines(), twelve());
    Finding finding;
    count_workloads(finding, grid);
    for (const std::size_t base : {std::size_t{0}, std::size_t{2}}) {
      const double gaining = grid.mean_speedup(base + 1, base, leftmost());
      const double spared = grid.mean_speedup(base + 1, base, rightmost());
      if (!std::isfinite(gaining) || !std::isfinite(spared)) {
        continue;
      }
      const std::string where = base == 0 ? "report" : "thesis";
      finding.ours += fmt::format("{}{} and {} ({})", finding.ours.empty() ? "" : "; ", gain_text(gaining),
                                  gain_text(spared), where);
      finding.checks.push_back(main_check("the leftmost four gain 5 % or more on average (" + where + ")",
                                          gain_text(gaining), gaining >= 1.05));
      finding.checks.push_back(main_check("they gain more than the rightmost seven (" + where + ")",
                                          gain_text(gaining) + " and " + gain_text(spared), gaining > spared));
      finding.checks.push_back(check("the rightmost seven change by 3 % or less on average (" + where + ")",
                                     gain_text(spared), std::abs(spared - 1) <= 0.03));
      finding.charts.push_back(grid_of(results, base).ipc_chart("IPC, " + where));
      const std::vector<std::string> worst = grid.worst(base + 1, base, 3, 0.98);
      finding.causes.insert(finding.causes.end(), worst.begin(), worst.end());
    }
    finding.tables.push_back(grid.ipc_table("IPC", false));
    return finding;
  }

 private:
  static std::vector<Variant> machines() { return {baseline(), large(), thesis_baseline(), thesis_large()}; }
  static Grid grid_of(const Results& results, std::size_t base) {
    return {results, {machines()[base], machines()[base + 1]}, twelve()};
  }
};

const Register<Claim, LargeWarpWorkloads> entry{"lwm-divergent", "Which workloads large warps help"};

}  // namespace
}  // namespace heddle::tb::lwm
