// lwm-size: LWM report figure 11, thesis figure 5.3.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace large_warp_size {

constexpr std::size_t k256 = 3;
constexpr std::size_t k512 = 4;
std::vector<Variant> sizes(const Variant& base, const std::string& config) {
  return {base, machine("LWM-64", config, {"core.warp_size=64"}), machine("LWM-128", config, {"core.warp_size=128"}),
          machine("LWM-256", config), machine("LWM-512", config, {"core.warp_size=512"})};
}
std::vector<Variant> report() {
  return sizes(baseline(), "lwm");
}
std::vector<Variant> thesis() {
  return sizes(thesis_baseline(), "thesis-lwm");
}

void judge_sweep(Finding& finding, const Grid& grid, const std::string& where) {
  if (grid.common().empty()) {
    return;
  }
  const auto mean = [&](std::size_t variant) { return common_speedup(grid, variant, 0); };
  const std::size_t best = best_machine(grid);
  finding.ours += fmt::format("{}best {} {}, LWM-512 {} ({})", finding.ours.empty() ? "" : "; ",
                              grid.variants()[best].label, gain_text(mean(best)), gain_text(mean(k512)), where);
  std::string steps;
  bool rising = true;
  for (std::size_t variant = 1; variant < grid.variants().size(); ++variant) {
    rising = rising && (variant > k256 || mean(variant) > mean(variant - 1));
    steps +=
        fmt::format("{}{} {}", steps.empty() ? "" : ", ", grid.variants()[variant].label, gain_text(mean(variant)));
  }
  finding.checks.push_back(main_check("256 threads are best on average (" + where + ")", steps, best == k256));
  finding.checks.push_back(check("every size up to 256 gains on the one before (" + where + ")", steps, rising));
  for (const char* name : {"blackjack", "sort"}) {
    const double ratio = grid.speedup(k512, k256, grid.index_of(name));
    if (std::isfinite(ratio)) {
      finding.checks.push_back(
          check(fmt::format("{} loses from 256 to 512 threads ({})", name, where), gain_text(ratio), ratio < 1));
    }
  }
  std::vector<std::string> gaining;
  for (const std::size_t workload : grid.common()) {
    if (grid.speedup(k512, k256, workload) > 1.001) {
      gaining.push_back(grid.workloads()[workload].name + " " + gain_text(grid.speedup(k512, k256, workload)));
    }
  }
  finding.checks.push_back(check("some workloads gain from 256 to 512 (" + where + ")",
                                 gaining.empty() ? "none" : join(gaining), !gaining.empty()));
  finding.charts.push_back(grid.ipc_chart("IPC by warp size, " + where));
  finding.charts.push_back(sweep_chart(grid, "Mean speedup by warp size, " + where));
  finding.tables.push_back(grid.ipc_table("Speedups by warp size, " + where, true));
  if (best != k256) {
    const std::vector<std::string> worst = grid.worst(k256, best, 3, 0.99);
    finding.causes.insert(finding.causes.end(), worst.begin(), worst.end());
  }
}

std::vector<Run> runs_to_do() {
  std::vector<Run> runs = runs_of(report(), twelve());
  const std::vector<Run> more = runs_of(thesis(), twelve());
  runs.insert(runs.end(), more.begin(), more.end());
  return runs;
}

Finding judge(const Results& results) {
  Finding finding;
  const Grid strict(results, report(), twelve());
  const Grid relaxed(results, thesis(), twelve());
  count_workloads(finding, strict);
  finding.measured = std::min(finding.measured, relaxed.common().size());
  judge_sweep(finding, strict, "report");
  judge_sweep(finding, relaxed, "thesis");
  return finding;
}

}  // namespace large_warp_size

const std::vector<ClaimRow>& large_warp_size_rows() {
  static const std::vector<ClaimRow> all = {
      {"lwm-size",
       "Size of the large warps",
       {.rank = 1110,
        .statement =
            "Under round robin, larger warps improve performance up to 256 threads, which is best on average; 512 "
            "is slightly worse: blackjack and sort lose, some if-then-else codes gain",
        .paper = "256 best, 512 slightly worse",
        .source = "LWM report, section 6.2, figure 11; thesis, section 5.2.2.1, figure 5.3",
        .caveat = kWarpsOfOneBlock},
       large_warp_size::runs_to_do,
       large_warp_size::judge}};
  return all;
}

const RegisterRows<OnForms<RowClaim>, ClaimRow> large_warp_size_entry{large_warp_size_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
