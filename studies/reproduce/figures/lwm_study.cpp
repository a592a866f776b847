#include "studies/reproduce/figures/lwm_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::studies::lwm {

std::string_view level_text(Level level) {
  return level == Level::low ? "low" : level == Level::medium ? "medium" : "high";
}

const std::vector<Benchmark>& benchmarks() {
  // The default scales let the whole reproduction end within 15 minutes on two cores; 1 is the input of thesis
  // table 5.2.
  static const std::vector<Benchmark> all = {
      {{"blackjack", 0.25}, 0.1, Level::high, Level::low},    {{"sort", 0.25}, 0.05, Level::high, Level::low},
      {{"viterbi", 0.5}, 0.25, Level::medium, Level::low},    {{"kmeans", 0.5}, 0.25, Level::medium, Level::low},
      {{"decrypt", 1.0}, 0.25, Level::low, Level::low},       {{"blackscholes", 1.0}, 0.25, Level::low, Level::medium},
      {{"needleman", 0.25}, 0.25, Level::low, Level::medium}, {{"hotspot", 0.5}, 0.25, Level::low, Level::high},
      {{"matrixmult", 0.5}, 0.25, Level::low, Level::medium}, {{"reduction", 0.25}, 0.1, Level::low, Level::high},
      {{"histogram", 0.25}, 0.25, Level::low, Level::high},   {{"bfs", 0.05}, 0.01, Level::high, Level::high}};
  return all;
}

std::vector<StudyWorkload> twelve() {
  std::vector<StudyWorkload> out;
  for (const Benchmark& benchmark : benchmarks()) {
    out.push_back(benchmark.workload);
  }
  return out;
}

std::vector<std::string> leftmost() {
  return {"blackjack", "sort", "viterbi", "kmeans"};
}

std::vector<std::string> rightmost() {
  std::vector<std::string> out;
  for (const Benchmark& benchmark : benchmarks()) {
    if (benchmark.idle != Level::low) {
      out.push_back(benchmark.workload.name);
    }
  }
  return out;
}

std::vector<std::string> all_but(const std::vector<std::string>& left_out) {
  std::vector<std::string> out;
  for (const Benchmark& benchmark : benchmarks()) {
    if (std::find(left_out.begin(), left_out.end(), benchmark.workload.name) == left_out.end()) {
      out.push_back(benchmark.workload.name);
    }
  }
  return out;
}

Level divergence_level(double lanes) {
  return lanes > 30 ? Level::low : lanes >= 20 ? Level::medium : Level::high;
}

Level idle_level(double share) {
  return share < 0.20 ? Level::low : share <= 0.40 ? Level::medium : Level::high;
}

Variant machine(std::string label, std::string config, std::vector<std::string> changes) {
  return {std::move(label), std::move(config), std::move(changes)};
}

Variant baseline() {
  return machine("baseline", "baseline");
}
std::vector<Variant> baseline_alone() {
  return {baseline()};
}
Variant large() {
  return machine("LWM", "lwm");
}
Variant two_level() {
  return machine("2Lev", "two-level");
}
Variant large_two_level() {
  return machine("LWM+2Lev", "lwm-two-level");
}
Variant thesis_baseline() {
  return machine("baseline (thesis)", "thesis-baseline");
}
Variant thesis_large() {
  return machine("LWM (thesis)", "thesis-lwm");
}
Variant thesis_two_level() {
  return machine("2Lev (thesis)", "thesis-two-level");
}
Variant thesis_large_two_level() {
  return machine("LWM+2Lev (thesis)", "thesis-lwm-two-level");
}
Variant thread_block_compaction() {
  return machine("TBC", "tbc", {"tbc.width=256"});  // thesis 5.2: blocks of 256
}

std::vector<Variant> dynamic_warp_formation() {
  return {machine("DWF majority", "dwf-majority"), machine("DWF pdprio", "dwf-pdprio")};
}

Variant best_of(Results& results, std::string label, const std::vector<Variant>& variants,
                const std::vector<StudyWorkload>& workloads) {
  Variant best{std::move(label), "best of", {}};
  for (const Variant& variant : variants) {
    best.settings.push_back(variant.config);
    best.settings.insert(best.settings.end(), variant.settings.begin(), variant.settings.end());
  }
  for (const StudyWorkload& workload : workloads) {
    const Results::Entry* found = nullptr;
    for (const Variant& variant : variants) {
      const Results::Entry* entry = results.find(run_of(variant, workload));
      if (entry == nullptr) {
        found = nullptr;  // the missing one might be the best
        break;
      }
      if (found == nullptr || entry->summary.ipc > found->summary.ipc) {
        found = entry;
      }
    }
    if (found != nullptr) {
      const Results::Entry copy = *found;
      results.add(run_of(best, workload), copy.summary, copy.scale);
    }
  }
  return best;
}

void count_workloads(Finding& finding, const Grid& grid) {
  finding.measured = grid.common().size();
  finding.wanted = grid.workloads().size();
}

double common_speedup(const Grid& grid, std::size_t variant, std::size_t base, const std::vector<std::string>& among) {
  std::vector<double> speedups;
  for (const std::size_t workload : grid.common()) {
    const std::string& name = grid.workloads()[workload].name;
    if (among.empty() || std::find(among.begin(), among.end(), name) != among.end()) {
      speedups.push_back(grid.speedup(variant, base, workload));
    }
  }
  return speedups.empty() ? pages::kNoValue : geometric_mean(speedups);
}

pages::Chart sweep_chart(const Grid& grid, std::string title) {
  pages::LineChart chart;
  chart.title = std::move(title);
  chart.unit = "speedup over " + grid.variants().front().label;
  chart.series = {{"all workloads", {}, true}, {"leftmost (divergent)", {}, false}, {"rightmost (idle)", {}, false}};
  for (std::size_t variant = 0; variant < grid.variants().size(); ++variant) {
    chart.places.push_back(grid.variants()[variant].label);
    chart.series[0].values.push_back(common_speedup(grid, variant, 0));
    chart.series[1].values.push_back(common_speedup(grid, variant, 0, leftmost()));
    chart.series[2].values.push_back(common_speedup(grid, variant, 0, rightmost()));
  }
  return chart;
}

std::size_t best_machine(const Grid& grid, std::size_t first) {
  std::size_t best = first;
  for (std::size_t variant = first; variant < grid.variants().size(); ++variant) {
    if (common_speedup(grid, variant, best) > 1) {
      best = variant;
    }
  }
  return best;
}

}  // namespace heddle::studies::lwm
