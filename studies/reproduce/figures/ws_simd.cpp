// ws-simd: the best warp size for each SIMD width (warp-size study, figure 1).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/nearest.hpp"
#include "studies/reproduce/figures/ws_study.hpp"

namespace heddle::studies::ws {
namespace {

constexpr std::array<unsigned, 3> kWidths = {8, 16, 32};
constexpr std::array<unsigned, 4> kTimes = {1, 2, 4, 8};  // how much wider a warp is

// The machines of figure 1: the ones of eight lanes are the other figures' machines.
std::vector<Variant> shapes() {
  std::vector<Variant> all;
  for (const unsigned width : kWidths) {
    for (const unsigned times : kTimes) {
      const unsigned warp = width * times;
      Variant variant{fmt::format("{} lanes, {}", width, warp), "ws-8", {}};
      if (width == 8) {
        variant.config = fmt::format("ws-{}", warp);
      } else {
        variant.settings = {fmt::format("core.simd_width={}", width), fmt::format("core.warp_size={}", warp)};
      }
      all.push_back(std::move(variant));
    }
  }
  return all;
}

std::vector<Run> runs_of_best_warp_size() {
  return runs_of(shapes(), workloads());
}

Finding judge_best_warp_size(const Results& results) {
  const Study study(results, shapes(), benchmarks());
  Finding finding;
  if (!study.count(finding)) {
    return finding;
  }
  constexpr std::size_t kNorm = 2;  // the figure's: eight lanes, warps of 32
  pages::LineChart chart;
  chart.title = "Performance by warp size and SIMD width";
  chart.unit = "over 8 lanes with warps of 32";
  for (const unsigned times : kTimes) {
    chart.places.push_back(fmt::format("{}x", times));
  }
  ValueTable table{"Performance over 8 lanes with warps of 32, geometric means", {"lanes"}, {}};
  table.titles.insert(table.titles.end(), chart.places.begin(), chart.places.end());
  for (std::size_t width = 0; width < kWidths.size(); ++width) {
    std::vector<double> by_times;
    std::vector<std::string> row{fmt::format("{}", kWidths[width])};
    for (std::size_t times = 0; times < kTimes.size(); ++times) {
      by_times.push_back(study.ratio(width * kTimes.size() + times, kNorm, instructions_per_cycle));
      row.push_back(fmt::format("{:.3f}", by_times.back()));
    }
    const auto best = std::max_element(by_times.begin(), by_times.end()) - by_times.begin();
    finding.ours +=
        fmt::format("{}{} lanes: {}x", width == 0 ? "" : ", ", kWidths[width], kTimes[static_cast<std::size_t>(best)]);
    finding.checks.push_back(main_check(
        fmt::format("with {} lanes the best warp is once or twice as wide, and better than 8 times", kWidths[width]),
        fmt::format("{}x best; 8x {}", kTimes[static_cast<std::size_t>(best)],
                    by_percent(by_times[3] / std::max(by_times[0], by_times[1]))),
        best <= 1 && by_times[3] < std::max(by_times[0], by_times[1]) * 0.995));
    chart.series.push_back({fmt::format("{} lanes", kWidths[width]), by_times, width == 0});
    table.rows.push_back(std::move(row));
  }
  finding.charts.emplace_back(std::move(chart));
  finding.tables.push_back(std::move(table));
  return finding;
}

const std::vector<ClaimRow>& best_warp_size_rows() {
  static const std::vector<ClaimRow> all = {
      {"ws-simd",
       "Warp size against SIMD width",
       {.rank = 5005,
        .statement = "Whatever the SIMD width, warps of once or twice the width perform best on average; wider ones "
                     "are slower",
        .paper = "1 to 2 times the width",
        .source = "warp-size study, section 1, figure 1",
        .note = "From twice the width on all are nearly the same. What larger warps lose by divergence on "
                "NQU they gain by their stores, of which those of one warp of 8 or 16 are half a line or a "
                "whole one (ws-coalescing).",
        .caveat = "The study's table 1 is lost: much of the machine is that of the simulator it used, or our own "
                  "(configs/ws-8.toml). Inputs are smaller than the suites'."},
       runs_of_best_warp_size,
       judge_best_warp_size}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> best_entry{best_warp_size_rows()};

}  // namespace
}  // namespace heddle::studies::ws
