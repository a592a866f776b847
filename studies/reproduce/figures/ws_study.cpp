#include "studies/reproduce/figures/ws_study.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/nearest.hpp"

namespace heddle::studies::ws {

std::vector<Variant> machines() {
  return {{"8", "ws-8", {}},   {"16", "ws-16", {}},    {"32", "ws-32", {}},
          {"64", "ws-64", {}}, {"SW+", "sw-plus", {}}, {"LW+", "lw-plus", {}}};
}

// Smaller than the suites' inputs, but for NNC: as many threads as sixteen cores hold, where that is affordable.
const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all = {
      {"BFS", {"bfs:thread_per_node", 0.25}},
      {"BKP", {"backprop", 0.1}},
      {"DYN", {"pathfinder", 0.08}},
      {"FWAL", {"walsh", 0.12}},
      {"GAS", {"gaussian", 0.05}},
      {"HSPT", {"hotspot", 0.15}},
      {"MP", {"suffix_array", 0.03}},
      {"MTM", {"matrixmult:rectangles", 1}},
      {"MU", {"suffix_tree", 0.05}},
      {"NNC", {"nearest", 1}},
      {"NQU", {"nqueens:small_blocks", 0.05}},
      {"NW", {"needleman:tile_blocks", 0.1}},
      {"SC", {"streamcluster", 0.25}},
      {"SCN", {"scan", 0.1}},
      {"SR1", {"srad_lists", 0.15}},
      {"SR2", {"srad", 0.15}},
  };
  return all;
}

namespace {

std::vector<StudyWorkload> workloads_of(const std::vector<Benchmark>& some) {
  std::vector<StudyWorkload> all;
  all.reserve(some.size());
  for (const Benchmark& benchmark : some) {
    all.push_back(benchmark.workload);
  }
  return all;
}

}  // namespace

std::vector<StudyWorkload> workloads() {
  return workloads_of(benchmarks());
}

double offcore(const tb::Summary& summary) {
  return static_cast<double>(summary.offcore_requests);
}

double idle_share(const tb::Summary& summary) {
  return summary.idle_share;
}

double instructions_per_cycle(const tb::Summary& summary) {
  return summary.ipc;
}

std::string by_percent(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.0f} %", 100 * (ratio - 1)) : "-";
}

Study::Study(const Results& results, std::vector<Variant> variants, const std::vector<Benchmark>& benchmarks)
    : grid_(results, std::move(variants), workloads_of(benchmarks)), benchmarks_(benchmarks) {}

double Study::ratio(std::size_t variant, std::size_t base, std::size_t benchmark, const Grid::Figure& figure) const {
  return at(variant, benchmark, figure) / at(base, benchmark, figure);
}

double Study::ratio(std::size_t variant, std::size_t base, const Grid::Figure& figure) const {
  double sum = 0;
  unsigned count = 0;
  for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
    if (const double one = ratio(variant, base, i, figure); std::isfinite(one) && one > 0) {
      sum += std::log(one);
      ++count;
    }
  }
  return count == 0 ? pages::kNoValue : std::exp(sum / count);
}

double Study::average(std::size_t variant, const Grid::Figure& figure) const {
  double sum = 0;
  const std::vector<std::size_t> common = grid_.common();
  for (const std::size_t i : common) {
    sum += at(variant, i, figure);
  }
  return common.empty() ? pages::kNoValue : sum / static_cast<double>(common.size());
}

bool Study::count(Finding& finding) const {
  finding.measured = grid_.common().size();
  finding.wanted = benchmarks_.size();
  if (finding.measured == 0) {
    finding.ours = "-";
  }
  return finding.measured != 0;
}

pages::Chart Study::chart(std::string title, std::string unit, const Grid::Figure& figure,
                          const std::vector<double>& mean) const {
  pages::GroupedBars chart;
  chart.title = std::move(title);
  chart.unit = std::move(unit);
  for (const Benchmark& benchmark : benchmarks_) {
    chart.groups.emplace_back(benchmark.label);
  }
  chart.groups.emplace_back("mean");
  for (std::size_t variant = 0; variant < variants().size(); ++variant) {
    pages::GroupedBars::Series series{variants()[variant].label, {}};
    for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
      series.values.push_back(at(variant, i, figure));
    }
    series.values.push_back(mean.at(variant));
    chart.series.push_back(std::move(series));
  }
  return chart;
}

ValueTable Study::table(std::string caption, const Grid::Figure& figure, const char* format,
                        const std::vector<double>& mean) const {
  ValueTable table{std::move(caption), {"benchmark"}, {}};
  for (const Variant& variant : variants()) {
    table.titles.push_back(variant.label);
  }
  const auto text = [format](double value) {
    return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
  };
  for (std::size_t i = 0; i <= benchmarks_.size(); ++i) {
    const bool last = i == benchmarks_.size();
    std::vector<std::string> row{last ? "mean" : benchmarks_[i].label};
    for (std::size_t variant = 0; variant < variants().size(); ++variant) {
      row.push_back(text(last ? mean.at(variant) : at(variant, i, figure)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace heddle::studies::ws
