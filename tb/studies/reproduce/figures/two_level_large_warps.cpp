// 2lev-large-warps: two-level scheduling with fewer warps to choose from (LWM report 6.4).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "tb/studies/reproduce/figures/lwm_study.hpp"
#include "tb/support/text.hpp"

namespace heddle::tb::lwm {
namespace {

class LessFlexibleGroups final : public Claim {
 public:
  explicit LessFlexibleGroups(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1164,
            .statement =
                "For the rightmost benchmarks, increasing the warp size slightly decreases the benefits of two-level "
                "scheduling, yet still improves performance over the baseline",
            .paper = "slightly smaller gain",
            .source = "LWM report, sections 3.2.3 and 6.4, figure 14",
            .note =
                "The claim takes a gain of two-level scheduling at 32 threads for granted. Here it loses on the "
                "rightmost workloads by blackscholes alone (see 2lev-avg), and large warps soften that loss, because a "
                "fetch group of two 256-thread warps covers the same 512 threads, and so half of a DRAM row, where one "
                "of 8 small warps covers a quarter.",
            .caveat = ""};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Grid grid(results, machines(), twelve());
    Finding finding;
    count_workloads(finding, grid);
    const double regular = common_speedup(grid, 2, 0, rightmost());
    const double large_warps = common_speedup(grid, 3, 0, rightmost());
    if (!std::isfinite(regular)) {
      finding.ours = "-";
      return finding;
    }
    finding.ours = fmt::format("{} at 32 threads, {} at 256", gain_text(regular), gain_text(large_warps));
    finding.checks.push_back(
        main_check("on the rightmost seven two-level scheduling gains less with 256 than with 32 "
                   "threads per warp",
                   finding.ours, large_warps < regular));
    finding.checks.push_back(main_check("large warps with two-level scheduling still improve them over the baseline",
                                        gain_text(large_warps), large_warps > 1));
    finding.checks.push_back(check("slightly: they keep half of the gain", finding.ours,
                                   regular > 1 && large_warps - 1 >= 0.5 * (regular - 1)));
    finding.charts.push_back(grid.ipc_chart("IPC with and without two-level scheduling, at both warp sizes"));
    finding.tables.push_back(grid.ipc_table("Speedups over the baseline", true));
    finding.causes = grid.worst(3, 2, 3, 0.98);
    return finding;
  }

 private:
  static std::vector<Variant> machines() { return {baseline(), large(), two_level(), large_two_level()}; }
};

const Register<Claim, LessFlexibleGroups> less_flexible_groups_entry{"2lev-large-warps",
                                                                     "Two-level scheduling with fewer, larger warps"};

}  // namespace
}  // namespace heddle::tb::lwm
