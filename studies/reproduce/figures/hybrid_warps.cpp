// hybrid-warps: the best warp size of each workload (thesis 9.2.1, LWM report 6.4).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

class HybridWarps final : public Claim {
 public:
  explicit HybridWarps(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1180,
            .statement =
                "A fixed large warp size is not best for all applications: some benefit from 512 threads, others are "
                "better off with smaller large warps or even SIMD-width warps, so hybrid warp sizes would perform "
                "better overall",
            .paper = "no size is best for all",
            .source = "LWM report, section 6.4; thesis, section 9.2.1",
            .caveat = kWarpsOfOneBlock};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Grid grid(results, machines(), twelve());
    Finding finding;
    count_workloads(finding, grid);
    if (finding.measured == 0) {
      finding.ours = "-";
      return finding;
    }
    std::vector<double> gains;
    ValueTable table{"Best warp size by workload", {"workload", "best", "over LWM-256"}, {}};
    std::size_t other = 0;
    bool larger = false;
    bool smallest = false;
    for (const std::size_t workload : grid.common()) {
      std::size_t best = k256;
      for (std::size_t variant = 0; variant < grid.variants().size(); ++variant) {
        if (grid.speedup(variant, best, workload) > 1) {
          best = variant;
        }
      }
      const double gain = grid.speedup(best, k256, workload);
      gains.push_back(gain);
      other += best != k256 && gain > 1.001 ? 1 : 0;
      larger = larger || (best > k256 && gain > 1.001);
      smallest = smallest || (best == 0 && gain > 1.001);
      table.rows.push_back({grid.workloads()[workload].name, grid.variants()[best].label, gain_text(gain)});
    }
    const double mean = geometric_mean(gains);
    finding.ours =
        fmt::format("{} of {} best at another size; {} on average", other, finding.measured, gain_text(mean));
    finding.checks.push_back(main_check("a fixed size of 256 is not best for every workload",
                                        fmt::format("{} of {} gain at another size", other, finding.measured),
                                        other != 0));
    finding.checks.push_back(check("some are best with 512", larger ? "yes" : "none", larger));
    finding.checks.push_back(
        check("some are best with warps as wide as the SIMD unit", smallest ? "yes" : "none", smallest));
    finding.tables.push_back(std::move(table));
    return finding;
  }

 private:
  static constexpr std::size_t k256 = 3;
  static std::vector<Variant> machines() {
    return {thesis_baseline(), machine("LWM-64", "thesis-lwm", {"core.warp_size=64"}),
            machine("LWM-128", "thesis-lwm", {"core.warp_size=128"}), machine("LWM-256", "thesis-lwm"),
            machine("LWM-512", "thesis-lwm", {"core.warp_size=512"})};
  }
};

const Register<Claim, OnForms<HybridWarps>> hybrid_warps_entry{"hybrid-warps", "The best warp size of each workload"};

}  // namespace
}  // namespace heddle::studies::lwm
