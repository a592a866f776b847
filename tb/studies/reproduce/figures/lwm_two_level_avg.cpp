// lwm-2lev-avg: both mechanisms together, with the papers' main figure (LWM report figure 9).
#include "tb/studies/reproduce/figures/lwm_study.hpp"

namespace heddle::tb::lwm {
namespace {

class BothGain final : public Claim {
 public:
  explicit BothGain(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1060,
            .statement =
                "Both mechanisms combined improve performance by 17.0 % (report: LWM-256, fetch groups of 2 "
                "large warps) and 19.1 % (thesis: fetch groups of 1, with the timeout rule) over the baseline",
            .paper = "+17.0 % (report); +19.1 % (thesis)",
            .source = "LWM report, section 6.1, figure 9; thesis, section 5.2.1, figure 5.1",
            .note =
                "Large warps bring their part (lwm-avg), two-level scheduling does not (2lev-avg): the combination "
                "stays near large warps alone. reduction loses with any large warp: it waits for memory in more of its "
                "cycles and uses the bus less, 17 % slower under strict issue (report) and 10 % under relaxed issue "
                "(thesis) at full size."};
  }
  [[nodiscard]] std::vector<Run> runs() const override {
    std::vector<Run> runs = runs_for(gains());
    std::vector<Variant> others = dynamic_warp_formation();
    others.insert(others.end(), {large(), two_level(), thread_block_compaction(), thesis_large(), thesis_two_level()});
    const std::vector<Run> more = runs_of(others, twelve());
    runs.insert(runs.end(), more.begin(), more.end());
    return runs;
  }
  [[nodiscard]] Finding judge(const Results& results) const override {
    Finding finding = judge_gains(results, gains());
    Results extended = results;
    const Variant formation = best_of(extended, "DWF", dynamic_warp_formation(), twelve());
    const Grid report(extended, {baseline(), formation, large(), two_level(), large_two_level()}, twelve());
    const Grid thesis(
        extended,
        {thesis_baseline(), thread_block_compaction(), thesis_large(), thesis_two_level(), thesis_large_two_level()},
        twelve());
    finding.charts = {report.ipc_chart("IPC of all mechanisms, as in the report's figure 9"),
                      thesis.ipc_chart("IPC of all mechanisms, as in the thesis's figure 5.1")};
    finding.tables = {report.ipc_table("Speedups over the report's baseline", true),
                      thesis.ipc_table("Speedups over the thesis's baseline", true)};
    return finding;
  }

 private:
  static std::vector<Gain> gains() {
    return {{large_two_level(), baseline(), 0.170}, {thesis_large_two_level(), thesis_baseline(), 0.191}};
  }
};

const Register<Claim, BothGain> both_gain_entry{"lwm-2lev-avg", "Large warps with two-level scheduling"};

}  // namespace
}  // namespace heddle::tb::lwm
