// 2lev-group: LWM report figure 13, thesis figure 5.6.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace fetch_group_size {

constexpr std::size_t k8 = 4;
constexpr std::size_t k16 = 5;
constexpr std::size_t k32 = 6;
std::vector<Variant> machines() {
  Variant first = baseline();
  first.label = "round robin";
  std::vector<Variant> all = {std::move(first)};
  for (const unsigned size : {1U, 2U, 4U, 8U, 16U, 32U}) {
    all.push_back(
        size == 8 ? machine("2Lev8", "two-level")
                  : machine(fmt::format("2Lev{}", size), "two-level", {fmt::format("two_level.fetch_group={}", size)}));
  }
  return all;
}

void judge(const Grid& grid, Finding& finding) {
  if (finding.measured == 0) {
    finding.ours = "-";
    return;
  }
  const auto mean = [&](std::size_t variant) { return common_speedup(grid, variant, 0); };
  const std::size_t best = best_machine(grid, 1);
  std::string steps;
  for (std::size_t variant = 1; variant < grid.variants().size(); ++variant) {
    steps +=
        fmt::format("{}{} {}", steps.empty() ? "" : ", ", grid.variants()[variant].label, gain_text(mean(variant)));
  }
  finding.ours = steps;
  finding.checks.push_back(main_check("groups of 8 are best on average", steps, best == k8));
  finding.checks.push_back(main_check("groups of 16 gain over round robin, but less than 8",
                                      fmt::format("{} and {}", gain_text(mean(k16)), gain_text(mean(k8))),
                                      mean(k16) > 1 && mean(k16) < mean(k8)));
  std::vector<std::string> differing;
  std::vector<std::string> moving;
  for (const std::size_t workload : grid.common()) {
    const std::string& name = grid.workloads()[workload].name;
    if (grid.at(k32, workload)->summary.cycles != grid.at(0, workload)->summary.cycles) {
      differing.push_back(name);
    }
    double low = 1;
    double high = 1;
    for (std::size_t variant = k8; variant <= k16; ++variant) {
      low = std::min(low, grid.speedup(variant, 0, workload));
      high = std::max(high, grid.speedup(variant, 0, workload));
    }
    const std::vector<std::string> flat = leftmost();
    if (std::find(flat.begin(), flat.end(), name) != flat.end() && high / low > 1.03) {
      moving.push_back(fmt::format("{} {} to {}", name, gain_text(low), gain_text(high)));
    }
  }
  finding.checks.push_back(main_check("one group of all 32 warps takes exactly the cycles of round robin",
                                      differing.empty() ? "on every workload" : "not on " + join(differing),
                                      differing.empty()));
  for (const std::size_t variant : {k8 - 3, k8 - 2, k8 - 1}) {
    finding.checks.push_back(check(grid.variants()[variant].label + " is within 2 % of round robin on average",
                                   gain_text(mean(variant)), std::abs(mean(variant) - 1) <= 0.02));
  }
  finding.checks.push_back(check("the leftmost four vary by 3 % or less with groups of 8 and 16",
                                 moving.empty() ? "all" : join(moving), moving.empty()));
  finding.charts.push_back(grid.ipc_chart("IPC by fetch-group size"));
  finding.charts.push_back(sweep_chart(grid, "Mean speedup by fetch-group size"));
  finding.tables.push_back(grid.ipc_table("Speedups over round robin", true));
  if (best != k8) {
    finding.causes = grid.worst(k8, best, 3, 0.99);
  }
}

}  // namespace fetch_group_size

const std::vector<GridRow>& fetch_group_size_rows() {
  static const std::vector<GridRow> all = {
      {"2lev-group",
       "Fetch-group size",
       {.rank = 1140,
        .statement =
            "Of fetch groups of 1, 2, 4, 8, 16 and 32 warps, 8 are best, 16 still gain, 32 are identical to round "
            "robin, smaller ones near it; the leftmost benchmarks do not vary",
        .paper = "8 best, 16 some gain, 32 identical to round robin",
        .source = "LWM report, sections 3.2.1 and 6.3, figure 13; thesis, section 5.2.3, figure 5.6",
        .note = "histogram, blackscholes and hotspot decide the means. It is the rows: fetch groups drift "
                "apart, and with them the rows in use, which one queue for all banks serves in the order of "
                "arrival. With conflicts as short as hits groups of 8 lose little on them; with a queue per "
                "bank two of the three gain.",
        .beside_note = "blackscholes alone decides the means: its five arrays meet in one bank, and only all 32 "
                       "warps together use a whole row (2lev-avg). matrixmult gains most from groups of 8 and of "
                       "16."},
       fetch_group_size::machines,
       twelve,
       fetch_group_size::judge}};
  return all;
}

const RegisterRows<OnForms<GridClaim, Over::small_readings>, GridRow> fetch_group_size_entry{fetch_group_size_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
