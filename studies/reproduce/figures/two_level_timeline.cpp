// 2lev-timeline: LWM report figure 8, as a picture of a run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_study.hpp"

namespace heddle::studies::lwm {
namespace {

namespace timeline {

constexpr std::size_t kPoints = 48;

// The figure's simplified core: 16 warps, in two fetch groups of 8.
std::vector<Run> runs() {
  std::vector<Run> all;
  for (const auto& [label, config] : {std::pair{"round robin", "baseline"}, {"two levels", "two-level"}}) {
    Run run = run_of({label, config, {"core.threads=512"}}, {"reduction:pthreads", 0.01});
    run.series = true;
    all.push_back(std::move(run));
  }
  return all;
}

// The core's instructions per cycle at points of time `longest` / kPoints apart; none behind its end.
std::vector<double> at_points(const RunSeries& series, std::uint64_t longest) {
  std::vector<double> values;
  const std::vector<double>& ipc = series.core_ipc.front();
  for (std::size_t point = 0; point != kPoints; ++point) {
    const double cycle = (static_cast<double>(point) + 0.5) * static_cast<double>(longest) / kPoints;
    const auto at =
        static_cast<std::size_t>(cycle / static_cast<double>(series.cycles) * static_cast<double>(ipc.size()));
    values.push_back(at < ipc.size() ? ipc[at] : pages::kNoValue);
  }
  return values;
}

Finding judge(const Results& results) {
  Finding finding;
  finding.wanted = 1;
  const std::vector<Run> both = runs();
  const Results::Entry* const first = results.find(both[0]);
  const Results::Entry* const second = results.find(both[1]);
  if (first == nullptr || second == nullptr) {
    finding.measured = 0;
    finding.ours = "-";
    return finding;
  }
  finding.measured = 1;
  const std::string idle =
      fmt::format("{} to {}", percent(first->summary.idle_share), percent(second->summary.idle_share));
  const std::string cycles = fmt::format("{} to {} cycles", first->summary.cycles, second->summary.cycles);
  finding.ours = "idle " + idle;
  finding.checks = {
      main_check("two levels have fewer idle cycles", idle, second->summary.idle_share < first->summary.idle_share),
      main_check("and end sooner", cycles, second->summary.cycles < first->summary.cycles)};
  if (first->series && second->series && !first->series->core_ipc.empty() && !second->series->core_ipc.empty()) {
    const std::uint64_t longest = std::max(first->series->cycles, second->series->cycles);
    pages::LineChart chart;
    chart.title = fmt::format("Two fetch groups of 8 warps over {} cycles", longest);
    chart.unit = "thread instructions per cycle";
    for (std::size_t point = 0; point != kPoints; ++point) {
      chart.places.push_back(point % 12 == 0 ? fmt::format("{}", longest * point / kPoints) : "");
    }
    chart.series = {{"round robin", at_points(*first->series, longest), false},
                    {"two levels", at_points(*second->series, longest), true}};
    finding.charts.emplace_back(std::move(chart));
  }
  return finding;
}

}  // namespace timeline

const std::vector<ClaimRow>& timeline_rows() {
  static const std::vector<ClaimRow> all = {
      {"2lev-timeline",
       "Two schedulers over time",
       {.rank = 1053,
        .statement =
            "Under round robin all warps progress evenly through the compute phase, and then all stall waiting on data "
            "from memory; with two fetch groups of 8 warps the second computes while the first one's requests are "
            "serviced, which reduces the number of idle cycles",
        .paper = "fewer idle cycles",
        .source = "LWM report, section 3.2, figure 8",
        .caveat =
            "The figure is a sketch of a core with 16 warps. Ours is a run of reduction with as many; the results' "
            "page draws it."},
       timeline::runs,
       timeline::judge}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> timeline_entry{timeline_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
