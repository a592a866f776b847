#include "studies/reproduce/figures/odgs_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace heddle::studies::odgs {

const char* const kCaveat =
    "The kernels are our own of the same algorithms; WP is another microphysics of the same form. Inputs: three fifths "
    "of "
    "MUM's 50,000 threads, so that more begin than the GPU's 26,880 places hold; BFS and NN whole; half of "
    "RAY's pixels; two of WP's ten steps. As many blocks fit a core as in table 1, of RAY and WP by the registers. "
    "MUM's 3 blocks of 2 warps cannot come from the registers: 32 contexts of 2 KB (figure 14) fill them, and with 6 "
    "places a core could not hide the latencies of figure 13. So POD, DWF and MIMD have 3 blocks, and the oracle, for "
    "which blocks are logical, the places that the registers have room for. MUM's loads are textures in the original, "
    "which under perfect memory hold the simulator's memory stage for a cycle whatever their lines are: its machines "
    "have 32 ports.";

// Blocks per core by table 1: MUM 3, BFS 2 (of 512 threads), RAY 3 (128 threads with our 45 registers), NN 5 (of 192
// with padding), WP 3 (64 threads with our 42 registers).
const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all = {
      {"MUM", {"suffix_tree:small_blocks", 0.6}, {"core.blocks=3", "l1d.ports=32"}, true},
      {"BFS", {"bfs:large_blocks", 1}},
      {"RAY", {"raytrace", 0.5}, {fmt::format("core.registers={}", 3 * 128 * 45)}, true},
      {"NN", {"neural", 1}},
      {"WP", {"weather:steps=2", 1}, {fmt::format("core.registers={}", 3 * 64 * 42)}},
  };
  return all;
}

const Benchmark& benchmark(const std::string& label) {
  for (const Benchmark& one : benchmarks()) {
    if (one.label == label) {
      return one;
    }
  }
  throw InternalError("the ODGS paper has no benchmark " + label);
}

std::vector<Variant> machines() {
  return {{"POD", "odgs-pod", {}}, {"MIMD", "odgs-mimd", {}}, {"DWF", "odgs-dwf", {}}, {"ODGS", "odgs", {}}};
}

Study::Study(std::vector<Variant> machines, std::vector<Benchmark> of)
    : machines_(std::move(machines)), benchmarks_(std::move(of)) {}

Run Study::run(std::size_t machine, std::size_t benchmark) const {
  const Benchmark& one = benchmarks_.at(benchmark);
  Variant variant = machines_.at(machine);
  variant.settings.insert(variant.settings.end(), one.settings.begin(), one.settings.end());
  Run run = run_of(variant, one.workload);
  run.series = one.series;
  return run;
}

std::vector<Run> Study::runs() const {
  std::vector<Run> runs;
  for (std::size_t benchmark = 0; benchmark != benchmarks_.size(); ++benchmark) {
    for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
      runs.push_back(run(machine, benchmark));
    }
  }
  return runs;
}

double Study::at(const Results& results, std::size_t machine, std::size_t benchmark, const Grid::Figure& figure) const {
  const Results::Entry* const entry = results.find(run(machine, benchmark));
  return entry == nullptr ? pages::kNoValue : figure(entry->summary);
}

const RunSeries* Study::series(const Results& results, std::size_t machine, std::size_t benchmark) const {
  const Results::Entry* const entry = results.find(run(machine, benchmark));
  return entry == nullptr || !entry->series ? nullptr : &*entry->series;
}

bool Study::count(const Results& results, Finding& finding) const {
  finding.wanted = benchmarks_.size();
  finding.measured = 0;
  for (std::size_t benchmark = 0; benchmark != benchmarks_.size(); ++benchmark) {
    bool all = true;
    for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
      all = all && results.find(run(machine, benchmark)) != nullptr;
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

pages::Chart Study::bars(std::string title, std::string unit, const Value& value) const {
  pages::GroupedBars chart;
  chart.title = std::move(title);
  chart.unit = std::move(unit);
  for (const Benchmark& benchmark : benchmarks_) {
    chart.groups.emplace_back(benchmark.label);
  }
  for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
    pages::GroupedBars::Series series{machines_[machine].label, {}};
    for (std::size_t benchmark = 0; benchmark != benchmarks_.size(); ++benchmark) {
      series.values.push_back(value(machine, benchmark));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Finding StudyClaim::judge(const Results& results) const {
  Finding finding;
  if (study_.count(results, finding)) {
    row_.judge(study_, results, finding);
  }
  return finding;
}

double gain(const Study& study, const Results& results, std::size_t machine, std::size_t base, std::size_t benchmark) {
  return study.ratio(results, machine, base, benchmark, [](const tb::Summary& summary) { return summary.ipc; });
}

std::string times(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.2f}", ratio) : "-";
}

}  // namespace heddle::studies::odgs
