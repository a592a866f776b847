#include "tb/studies/reproduce/figures/odgs_study.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/nearest.hpp"

namespace heddle::tb::odgs {

// Smaller than the paper's, but with several times as many warps as fit the GPU at a time, as there. Blocks per core by
// table 1: 3 of 64 threads with 17 registers, 2 of 512 with 13, 3 of 128 with 45, 5 of 192 (169) with 17, 3 of 64 with
// 42.
const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all = {
      {"MUM", {"suffix_tree:small_blocks", 0.2}, 3 * 64 * 17},
      {"BFS", {"bfs:large_blocks", 0.5}, 0},
      {"RAY", {"raytrace", 0.5}, 3 * 128 * 45},
      {"NN", {"neural", 0.1}, 0},
      {"WP", {"weather", 0.1}, 3 * 64 * 42},
  };
  return all;
}

Variant on(const Benchmark& benchmark, const Variant& machine) {
  Variant variant = machine;
  if (benchmark.registers != 0) {
    variant.settings.push_back(fmt::format("core.registers={}", benchmark.registers));
  }
  return variant;
}

Study::Study(std::vector<Variant> machines, std::vector<Benchmark> of)
    : machines_(std::move(machines)), benchmarks_(std::move(of)) {}

std::vector<Run> Study::runs() const {
  std::vector<Run> runs;
  for (const Benchmark& benchmark : benchmarks_) {
    for (const Variant& machine : machines_) {
      runs.push_back(run_of(on(benchmark, machine), benchmark.workload));
    }
  }
  return runs;
}

double Study::at(const Results& results, std::size_t machine, std::size_t benchmark, const Grid::Figure& figure) const {
  const Benchmark& one = benchmarks_.at(benchmark);
  const Results::Entry* const entry = results.find(run_of(on(one, machines_.at(machine)), one.workload));
  return entry == nullptr ? kNoValue : figure(entry->summary);
}

bool Study::count(const Results& results, Finding& finding) const {
  finding.wanted = benchmarks_.size();
  finding.measured = 0;
  for (std::size_t benchmark = 0; benchmark != benchmarks_.size(); ++benchmark) {
    bool all = true;
    for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
      all = all && std::isfinite(at(results, machine, benchmark, instructions_per_cycle));
    }
    finding.measured += all ? 1 : 0;
  }
  if (finding.measured == 0) {
    finding.ours = "-";
  }
  return finding.measured != 0;
}

ValueTable Study::table(std::string caption, const char* format, const Value& value) const {
  ValueTable table{std::move(caption), {"benchmark"}, {}};
  for (const Variant& machine : machines_) {
    table.titles.push_back(machine.label);
  }
  for (std::size_t benchmark = 0; benchmark != benchmarks_.size(); ++benchmark) {
    std::vector<std::string> row{benchmarks_[benchmark].label};
    for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
      const double one = value(machine, benchmark);
      row.push_back(std::isfinite(one) ? fmt::format(fmt::runtime(format), one) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Chart Study::bars(std::string title, std::string unit, const Value& value) const {
  GroupedBars chart;
  chart.title = std::move(title);
  chart.unit = std::move(unit);
  for (const Benchmark& benchmark : benchmarks_) {
    chart.groups.emplace_back(benchmark.label);
  }
  for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
    GroupedBars::Series series{machines_[machine].label, {}};
    for (std::size_t benchmark = 0; benchmark != benchmarks_.size(); ++benchmark) {
      series.values.push_back(value(machine, benchmark));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

double instructions_per_cycle(const Summary& summary) {
  return summary.ipc;
}

}  // namespace heddle::tb::odgs
