#include "studies/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "tb/measure/host_cost.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {

double calibration_rate() {
  constexpr std::uint64_t kSteps = 20'000'000;
  std::array<std::uint32_t, 4096> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    table[i] = i * 2654435761U;
  }
  std::uint32_t value = 1;
  const double start = tb::cpu_clock();
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    value = (value ^ table[value >> 20U]) * 747796405U + 2891336453U;
    table[(value >> 7U) & 4095U] += value;
  }
  const double seconds = tb::cpu_clock() - start;
  volatile std::uint32_t result = value;  // keeps the loop
  (void)result;
  return static_cast<double>(kSteps) / seconds;
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

BenchResult run_bench(const std::vector<Benchmark>& list, const BenchOptions& options) {
  BenchResult result;
  std::vector<double> calibrations;
  for (const Benchmark& benchmark : list) {
    BenchRow row;
    row.benchmark = &benchmark;
    std::vector<double> seconds;
    for (unsigned repetition = 0; repetition < options.repetitions && row.failure.empty(); ++repetition) {
      if (options.progress) {
        options.progress(fmt::format("{}: {} of {}", benchmark.name, repetition + 1, options.repetitions));
      }
      const double calibration = calibration_rate();
      calibrations.push_back(calibration);
      try {
        const Sample sample = in_child(benchmark.measure);
        if (!(sample.cpu_seconds > 0)) {
          throw InternalError("took no measurable time");
        }
        row.rates.push_back(sample.work / sample.cpu_seconds);
        row.ratios.push_back(row.rates.back() / calibration);
        seconds.push_back(sample.cpu_seconds);
        row.memory_bytes = std::max(row.memory_bytes, sample.memory_bytes);
      } catch (const InternalError& error) {
        row.failure = error.what();
      }
    }
    row.rate = median(row.rates);
    row.ratio = median(row.ratios);
    row.seconds = median(seconds);
    result.rows.push_back(std::move(row));
  }
  result.calibration = median(calibrations);
  return result;
}

std::string bench_table(const BenchResult& result) {
  using Align = TextTable::Align;
  TextTable table({{"benchmark"},
                   {"median rate", Align::right},
                   {"unit"},
                   {"target", Align::right},
                   {"reached", Align::right},
                   {"spread", Align::right},
                   {"per 1000\ncalibration steps", Align::right},
                   {"CPU s", Align::right},
                   {"memory", Align::right}});
  std::size_t width = 22;
  for (const BenchRow& row : result.rows) {
    width = std::max(width, row.benchmark->name.size());
  }
  std::string notes;
  for (const BenchRow& row : result.rows) {
    const Benchmark& benchmark = *row.benchmark;
    notes += fmt::format("  {:<{}}  {}\n", benchmark.name, width, benchmark.what);
    if (!row.failure.empty()) {
      table.add({benchmark.name, "failed", benchmark.unit, "-", "-", "-", "-", "-", "-"});
      notes += fmt::format("  {:<{}}  FAILED: {}\n", "", width, row.failure);
      continue;
    }
    const auto [low, high] = std::minmax_element(row.rates.begin(), row.rates.end());
    table.add({benchmark.name, scaled(row.rate), benchmark.unit, benchmark.target ? scaled(*benchmark.target) : "-",
               benchmark.target ? fmt::format("{:.2f} x", row.rate / *benchmark.target) : "-",
               fmt::format("{:.0f} %", 100 * (*high - *low) / row.rate), fmt::format("{:.3g}", 1000 * row.ratio),
               fmt::format("{:.2f}", row.seconds),
               row.memory_bytes > 0 ? bytes_text(static_cast<std::uint64_t>(row.memory_bytes)) : "-"});
  }
  return table.text() + fmt::format(
                            "\ncalibration: {} steps of a fixed loop per CPU second on this machine now; targets are "
                            "for one 2.5 GHz core\n"
                            "memory: peak of the process without the device memory that the workload touched\n\n{}",
                            scaled(result.calibration), notes);
}

std::string bench_json(const BenchResult& result) {
  namespace json = boost::json;
  json::array rows;
  for (const BenchRow& row : result.rows) {
    rows.push_back({{"name", row.benchmark->name},
                    {"what", row.benchmark->what},
                    {"unit", row.benchmark->unit},
                    {"rate", row.rate},
                    {"ratio_to_calibration", row.ratio},
                    {"rates", json::array(row.rates.begin(), row.rates.end())},
                    {"target", row.benchmark->target ? json::value(*row.benchmark->target) : json::value(nullptr)},
                    {"cpu_seconds", row.seconds},
                    {"memory_bytes", row.memory_bytes},
                    {"failure", row.failure}});
  }
  return tb::json_text(json::object{{"schema", 1},
                                    {"heddle", json::string(tb::version())},
                                    {"calibration_steps_per_second", result.calibration},
                                    {"benchmarks", std::move(rows)}});
}

}  // namespace heddle::studies
