// lwm-opts: LWM report figure 12, thesis figure 5.5.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

class Optimizations final : public Claim {
 public:
  explicit Optimizations(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1130,
            .statement =
                "The memory-divergence optimization (global memory by rows) does not provide much benefit; the "
                "unconditional-branch optimization slightly improves performance, by about 1 %",
            .paper = "about 0; about +1 %",
            .source = "LWM report, section 6.2, figure 12; thesis, section 5.2.2.3, figure 5.5"};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Grid grid(results, machines(), twelve());
    Finding finding;
    count_workloads(finding, grid);
    const double memory = common_speedup(grid, 2, 1);
    const double branch = common_speedup(grid, 3, 1);
    finding.ours = fmt::format("{} (memory), {} (branch)", gain_text(memory), gain_text(branch));
    if (!std::isfinite(memory)) {
      return finding;
    }
    finding.checks.push_back(main_check("the memory-divergence optimization changes less than 1 % on average",
                                        gain_text(memory), std::abs(memory - 1) < 0.01));
    finding.checks.push_back(
        main_check("the unconditional-branch optimization gains on average", gain_text(branch), branch > 1));
    finding.checks.push_back(
        check("it gains about 1 %: between 0.5 and 2 %", gain_text(branch), branch >= 1.005 && branch <= 1.02));
    finding.charts.push_back(grid.ipc_chart("IPC with the optimizations of large warps"));
    finding.tables.push_back(grid.ipc_table("Speedups over the baseline", true));
    for (const std::size_t workload : grid.common()) {
      if (std::abs(grid.speedup(2, 1, workload) - 1) > 0.02) {
        finding.causes.push_back(grid.diagnosis(2, 1, workload));
      }
    }
    return finding;
  }

 private:
  static std::vector<Variant> machines() {
    return {baseline(), machine("LWM, neither", "lwm", {"packing.memory_by_rows=false", "packing.branch_once=false"}),
            machine("LWM, memory", "lwm", {"packing.memory_by_rows=true", "packing.branch_once=false"}),
            machine("LWM, branch", "lwm", {"packing.memory_by_rows=false", "packing.branch_once=true"}),
            machine("LWM, both", "lwm")};
  }
};

const Register<Claim, OnForms<Optimizations>> optimizations_entry{"lwm-opts", "Optimizations of large warps"};

}  // namespace
}  // namespace heddle::studies::lwm
