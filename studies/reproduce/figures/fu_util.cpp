// fu-util: what the functional units do on the baseline (LWM report figure 1, thesis figure 4.1).
#include <fmt/format.h>

#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

// Of the cycles that are not idle, the share with only some of the units active.
double partly_active(const tb::Summary& summary) {
  const auto& cycles = summary.fu_active_cycles;
  std::uint64_t busy = 0;
  for (std::size_t n = 1; n < cycles.size(); ++n) {
    busy += cycles[n];
  }
  return busy == 0 ? 0.0 : 1 - static_cast<double>(cycles.back()) / static_cast<double>(busy);
}

namespace utilisation {

void judge_group(Finding& finding, const Grid& grid, const std::vector<std::string>& group, const Grid::Figure& figure,
                 const std::string& rule) {
  std::vector<std::string> below;
  std::size_t known = 0;
  for (const std::string& name : group) {
    const double value = grid.value(0, grid.index_of(name), figure);
    known += std::isfinite(value) ? 1 : 0;
    if (value < 0.20) {
      below.push_back(name + " " + percent(value));
    }
  }
  if (known != 0) {
    finding.checks.push_back(main_check(
        rule, below.empty() ? fmt::format("all {} measured", known) : "less: " + join(below), below.empty()));
  }
}

void judge(const Grid& grid, Finding& finding) {
  finding.charts.push_back(grid.utilisation_chart("Functional units active per cycle, share of cycles by workload"));
  const auto idle = [](const tb::Summary& summary) { return summary.idle_share; };
  const double bfs = grid.value(0, grid.index_of("bfs"), idle);
  finding.ours = std::isfinite(bfs) ? "bfs idle " + percent(bfs) : "-";
  if (std::isfinite(bfs)) {
    finding.checks.push_back(main_check("bfs idles in 90 % of its cycles or more", percent(bfs), bfs >= 0.90));
  }
  judge_group(finding, grid, leftmost(), partly_active,
              "each of the leftmost four has only some units active in 20 % or more of its busy cycles");
  judge_group(finding, grid, rightmost(), idle, "each of the rightmost seven idles in 20 % or more of its cycles");
}

}  // namespace utilisation

const std::vector<GridRow>& utilisation_rows() {
  static const std::vector<GridRow> all = {
      {"fu-util",
       "Functional units active per cycle on the baseline",
       {.rank = 1010,
        .statement = "The leftmost benchmarks spend much of their time with only a fraction of the functional units "
                     "active, the rightmost ones with none; bfs idles about 95 % of its cycles",
        .paper = "bfs idle about 95 %",
        .source = "LWM report, section 1, figure 1; thesis, section 4.1, figure 4.1",
        .note = "viterbi and kmeans split at one choice each, so that few of their busy cycles have only "
                "some units active. blackscholes and matrixmult have little to wait for, as they execute "
                "many warp instructions for each line from memory. needleman idles the more the larger its "
                "input: in small ones more of its three diagonals stays in the cache.",
        .beside_note =
            "The branches of viterbi and kmeans become selections in the machine code, so their warps hardly "
            "split (intensity). histogram reads whole lines and shares them in scratchpad: it is bound by its "
            "instructions, not by memory."},
       baseline_alone,
       twelve,
       utilisation::judge}};
  return all;
}

const RegisterRows<OnForms<GridClaim, Over::readings>, GridRow> utilisation_entry{utilisation_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
