// workload-size: each benchmark is 100 to 200 million thread instructions (LWM report 5, thesis 5.1).
#include <fmt/format.h>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

void judge_workload_size(const Grid& grid, Finding& finding) {
  pages::GroupedBars chart{"Thread instructions at full scale", "million", {}, {{"baseline", {}}}, pages::kNoValue};
  std::size_t inside = 0;
  std::vector<std::string> outside;
  for (std::size_t i = 0; i < grid.workloads().size(); ++i) {
    const Results::Entry* entry = grid.at(0, i);
    const double millions = entry == nullptr
                                ? pages::kNoValue
                                : static_cast<double>(entry->summary.thread_instructions) / entry->scale / 1e6;
    chart.groups.push_back(grid.workloads()[i].name);
    chart.series.front().values.push_back(millions);
    if (entry != nullptr) {
      inside += millions >= 100 && millions <= 200 ? 1 : 0;
      if (millions < 50 || millions > 400) {
        outside.push_back(fmt::format("{} {:.0f} million", grid.workloads()[i].name, millions));
      }
    }
  }
  finding.charts.push_back(std::move(chart));
  if (finding.measured == 0) {
    finding.ours = "-";
    return;
  }
  finding.ours = fmt::format("{} of {} within it", inside, finding.measured);
  finding.checks.push_back(main_check("half of the workloads or more are within 100 and 200 million",
                                      fmt::format("{} of {}", inside, finding.measured),
                                      2 * inside >= finding.measured));
  finding.checks.push_back(check("all are within half and twice that range",
                                 outside.empty() ? "all" : "outside: " + join(outside), outside.empty()));
}

const std::vector<GridRow>& workload_size_rows() {
  static const std::vector<GridRow> all = {
      {"workload-size",
       "Size of the workloads",
       {.rank = 1030,
        .statement = "Each benchmark runs to completion and consists of 100 to 200 million dynamic instructions "
                     "across all 1024 threads (here: thread instructions divided by the scale of the run, which is "
                     "exact at full scale)",
        .paper = "100 to 200 million",
        .source = "LWM report, section 5; thesis, section 5.1",
        .beside_note = "The papers count x86 instructions of a compiler with 1024 Pthreads; ours are instructions of a "
                       "three-address machine code with 16 registers, at the inputs of thesis table 5.2."},
       baseline_alone,
       twelve,
       judge_workload_size}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> workload_size_entry{workload_size_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
