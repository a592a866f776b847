#include "studies/reproduce/figures/dws_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace heddle::studies::dws {

namespace {

std::vector<StudyWorkload> workloads_of(const std::vector<Benchmark>& benchmarks) {
  std::vector<StudyWorkload> all;
  all.reserve(benchmarks.size());
  for (const Benchmark& benchmark : benchmarks) {
    all.push_back(benchmark.workload);
  }
  return all;
}

// All runs of the report's machines are priced, so that claims share them.
constexpr const char* kEnergy = "dws-65nm";

std::uint64_t idle(const tb::Summary& summary, hw::IdleCause cause) {
  return summary.idle_cycles_by_cause.cycles[static_cast<std::size_t>(cause)];
}

}  // namespace

double working_cycles(const tb::Summary& summary) {
  return static_cast<double>(tb::core_cycles(summary) - idle(summary, hw::IdleCause::flush));
}

double stalled_on_memory(const tb::Summary& summary) {
  std::uint64_t stalled = 0;
  for (std::size_t cause = 0; cause < hw::kIdleCauseCount; ++cause) {
    const auto which = static_cast<hw::IdleCause>(cause);
    stalled += which == hw::IdleCause::memory || hw::is_want_of_room(which) ? idle(summary, which) : 0;
  }
  return static_cast<double>(stalled) / working_cycles(summary);
}

double harmonic_mean(const std::vector<double>& values) {
  const double inverse =
      std::accumulate(values.begin(), values.end(), 0.0, [](double sum, double value) { return sum + 1 / value; });
  return values.empty() ? pages::kNoValue : static_cast<double>(values.size()) / inverse;
}

std::string times(double speedup) {
  return std::isfinite(speedup) ? fmt::format("{:.2f}", speedup) : "-";
}

Variant scheme(std::string label, std::string config, std::vector<std::string> settings) {
  return {std::move(label), std::move(config), std::move(settings), kEnergy};
}

std::vector<std::string> shape(unsigned warps, unsigned width) {
  std::vector<std::string> all = {fmt::format("core.simd_width={}", width),
                                  fmt::format("core.warp_size={}", width),
                                  fmt::format("core.threads={}", warps * width),
                                  fmt::format("core.blocks={}", warps),
                                  fmt::format("core.registers={}", 63 * warps * width),
                                  fmt::format("l1d.ports={}", width)};
  if (width != 1) {  // one port meets no other one in a bank
    all.push_back(fmt::format("l1d.banks={}", width));
  }
  return all;
}

Speedups::Speedups(const Results& results, std::vector<Variant> variants, std::vector<Benchmark> benchmarks)
    : grid_(results, std::move(variants), workloads_of(benchmarks)), benchmarks_(std::move(benchmarks)) {}

double Speedups::of(std::size_t variant, std::size_t benchmark, std::size_t base) const {
  const Results::Entry* const ours = grid_.at(variant, benchmark);
  const Results::Entry* const theirs = grid_.at(base, benchmark);
  return ours == nullptr || theirs == nullptr ? pages::kNoValue
                                              : working_cycles(theirs->summary) / working_cycles(ours->summary);
}

double Speedups::of(std::size_t variant, const std::string& label) const {
  for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
    if (benchmarks_[i].label == label) {
      return of(variant, i);
    }
  }
  return pages::kNoValue;
}

double Speedups::mean(std::size_t variant, std::size_t base) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
    if (const double value = of(variant, i, base); std::isfinite(value)) {
      values.push_back(value);
    }
  }
  return harmonic_mean(values);
}

std::string Speedups::below(std::size_t variant, double limit) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
    if (const double value = of(variant, i); value < limit) {
      names.push_back(fmt::format("{} {:.2f}", benchmarks_[i].label, value));
    }
  }
  return join(names);
}

double Speedups::energy(std::size_t variant, std::size_t benchmark) const {
  const Results::Entry* const ours = grid_.at(variant, benchmark);
  const Results::Entry* const base = grid_.at(0, benchmark);
  return ours == nullptr || base == nullptr || !ours->energy || !base->energy ? pages::kNoValue
                                                                              : ours->energy->pj / base->energy->pj;
}

double Speedups::average(std::size_t variant, const Grid::Figure& figure) const {
  double sum = 0;
  unsigned count = 0;
  for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
    if (const Results::Entry* const entry = grid_.at(variant, i); entry != nullptr) {
      sum += figure(entry->summary);
      ++count;
    }
  }
  return count == 0 ? pages::kNoValue : sum / count;
}

void Speedups::count(Finding& finding) const {
  finding.measured = grid_.common().size();
  finding.wanted = benchmarks_.size();
}

pages::Chart Speedups::chart(std::string title) const {
  pages::GroupedBars chart;
  chart.title = std::move(title);
  chart.unit = "speedup";
  chart.reference = 1;
  for (const Benchmark& benchmark : benchmarks_) {
    chart.groups.push_back(benchmark.label);
  }
  chart.groups.emplace_back("h-mean");
  for (std::size_t variant = 1; variant < variants().size(); ++variant) {
    pages::GroupedBars::Series series{variants()[variant].label, {}};
    for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
      series.values.push_back(of(variant, i));
    }
    series.values.push_back(mean(variant));
    chart.series.push_back(std::move(series));
  }
  return chart;
}

ValueTable Speedups::table(std::string caption) const {
  ValueTable table{std::move(caption), {"benchmark"}, {}};
  for (std::size_t variant = 1; variant < variants().size(); ++variant) {
    table.titles.push_back(variants()[variant].label);
  }
  for (std::size_t i = 0; i <= benchmarks_.size(); ++i) {
    const bool last = i == benchmarks_.size();
    std::vector<std::string> row{last ? "h-mean" : benchmarks_[i].label};
    for (std::size_t variant = 1; variant < variants().size(); ++variant) {
      row.push_back(times(last ? mean(variant) : of(variant, i)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

ValueTable Speedups::why(std::string caption) const {
  ValueTable table{std::move(caption),
                   {"benchmark", "machine", "cycles that issue", "lanes per instruction", "D-cache hits", "memory bus",
                    "stalled on memory"},
                   {}};
  for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
    for (std::size_t variant = 0; variant < variants().size(); ++variant) {
      const Results::Entry* const entry = grid_.at(variant, i);
      if (entry == nullptr) {
        continue;
      }
      const tb::Summary& one = entry->summary;
      table.rows.push_back({benchmarks_[i].label, variants()[variant].label,
                            percent(static_cast<double>(one.warp_instructions) / working_cycles(one)),
                            fmt::format("{:.1f}", one.lanes_per_warp_instruction), percent(one.l1d_hit_rate),
                            percent(one.dram_bus_utilisation), percent(stalled_on_memory(one))});
    }
  }
  return table;
}

Variant conventional() {
  return scheme("Conv", "dws-conv");
}

// Where the threads' data must exceed the D-caches for the claims to mean anything, they do; the conflicts of FFT,
// HotSpot and Short are there on smaller inputs, too. Some eighty machines run all eight.
const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all = {
      {"FFT", {"fft", 0.25}, 59, 0.034, 7, 0.69, 1},
      {"Filter", {"filter", 0.5}, 12, 0, 27, 0.88, 1},
      {"HotSpot", {"hotspot:dws", 0.05}, 16, 0.014, 7, 0.77, 0.1},
      {"LU", {"lu", 0.125}, 53, 0.043, 5, 0.81, 0.5},
      {"Merge", {"merge", 0.25}, 9, 0.131, 45, 0.60, 0.25},
      {"Short", {"short", 0.25}, 19, 0.22, 6, 0.79, 1},
      {"KMeans", {"kmeans:dws", 0.3}, 10, 0.02, 47, 0.83, 0.5},
      {"SVM", {"svm", 0.125}, 12, 0.043, 11, 0.62, 0.25},
  };
  return all;
}

std::vector<StudyWorkload> eight() {
  std::vector<StudyWorkload> all;
  for (const Benchmark& benchmark : benchmarks()) {
    all.push_back(benchmark.workload);
  }
  return all;
}

std::vector<StudyWorkload> eight_of_table(const std::string& variant) {
  std::vector<StudyWorkload> all;
  for (const Benchmark& benchmark : benchmarks()) {
    StudyWorkload workload{benchmark.workload.name, benchmark.table_scale};
    if (!variant.empty()) {
      workload.name += (workload.name.find(':') == std::string::npos ? ":" : ",") + variant;
    }
    all.push_back(workload);
  }
  return all;
}

Characterisation characterise(const tb::Summary& summary) {
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {ratio(summary.warp_instructions, summary.branches), ratio(summary.divergent_branches, summary.branches),
          ratio(summary.warp_instructions, summary.missed_accesses),
          ratio(summary.partly_missed_accesses, summary.missed_accesses)};
}

std::size_t of_the_reports_size(const Characterisation& ours, const Benchmark& report) {
  constexpr double kSmall = 0.02;
  const std::array<std::pair<double, double>, kFiguresOfTable1> figures = {
      {{ours.between_branches, report.between_branches},
       {ours.divergent_branches, report.divergent_branches},
       {ours.between_misses, report.between_misses},
       {ours.divergent_misses, report.divergent_misses}}};
  return static_cast<std::size_t>(std::count_if(figures.begin(), figures.end(), [](const auto& figure) {
    const double mine = figure.first;
    const double theirs = figure.second;
    return (mine < kSmall && theirs < kSmall) || (mine >= 0.5 * theirs && mine <= 2 * theirs);
  }));
}

}  // namespace heddle::studies::dws
