#include "studies/reproduce/figures/lwm_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace heddle::studies::lwm {
namespace {

// Most of a claim's readings are there to show what it depends on: smaller inputs do for them, and keep the whole
// reproduction short.
constexpr double kPapersShare = 0.4;
constexpr double kCudaShare = 0.2;

const std::vector<std::string>& per_bank() {
  static const std::vector<std::string> settings = {"dram.scheduler=fcfs-per-bank"};
  return settings;
}

Reading at_random(Reading reading, unsigned seed) {
  reading.settings.emplace_back("allocation.placement=seeded");
  reading.settings.push_back(fmt::format("allocation.seed={}", seed));
  return reading;
}

const Benchmark* benchmark_of(const std::string& workload) {
  const auto found = std::find_if(benchmarks().begin(), benchmarks().end(),
                                  [&](const Benchmark& benchmark) { return benchmark.workload.name == workload; });
  return found == benchmarks().end() ? nullptr : &*found;
}

}  // namespace

Reading papers_form() {
  return {"papers' form", true};
}
Reading cuda_form() {
  return {"CUDA form", false};
}

Run under(const Reading& reading, const Run& run) {
  Run out = run;
  out.settings.insert(out.settings.end(), reading.settings.begin(), reading.settings.end());
  out.scale *= reading.scale;
  if (const Benchmark* benchmark = benchmark_of(run.workload); benchmark != nullptr && reading.pthreads) {
    out.workload += ":pthreads";
    out.scale *= benchmark->pthreads_scale / benchmark->workload.scale;
  }
  return out;
}

Results under(const Reading& reading, const std::vector<Run>& asked, const Results& results) {
  Results out;
  for (const Run& run : asked) {
    if (const Results::Entry* entry = results.find(under(reading, run))) {
      out.add(run, entry->summary, entry->scale, entry->timeline);
    }
  }
  return out;
}

Spread spread(std::vector<double> values, bool of_placements) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) {
    return {pages::kNoValue, pages::kNoValue, pages::kNoValue, 0};
  }
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back(), of_placements ? values.size() : 0};
}

Spread mean_speedup(const Placed& placed, const Variant& machine, const Variant& over,
                    const std::vector<std::string>& among) {
  const auto mean = [&](const Results& results) {
    return Grid(results, {over, machine}, twelve()).mean_speedup(1, 0, among);
  };
  if (placed.random.empty()) {
    return spread({mean(placed.as_is)}, false);
  }
  std::vector<double> means;
  std::transform(placed.random.begin(), placed.random.end(), std::back_inserter(means), mean);
  return spread(std::move(means));
}

std::string spread_text(const Spread& speedup) {
  if (speedup.placements == 0) {
    return gain_text(speedup.median);
  }
  const std::string fewer =
      speedup.placements == kPlacements ? "" : ", " + counted(speedup.placements, "placement") + " only";
  return fmt::format("{} ({:+.1f} to {:+.1f}{})", gain_text(speedup.median), 100 * (speedup.low - 1),
                     100 * (speedup.high - 1), fewer);
}

ValueTable placement_table(const Placed& placed, const Variant& machine, const Variant& over, std::string caption) {
  ValueTable table{std::move(caption), {"workload", over.label + " (IPC)", machine.label}, {}};
  if (!placed.random.empty()) {
    table.titles.insert(table.titles.end(), {"placed at random: median", "lowest", "highest"});
  }
  const Grid grid(placed.as_is, {over, machine}, twelve());
  const auto cell = [](double value) { return std::isfinite(value) ? fmt::format("{:.3f}x", value) : "-"; };
  const auto add = [&](std::vector<std::string> row, const std::vector<double>& values) {
    if (!placed.random.empty()) {
      const Spread all = spread(values);
      row.insert(row.end(), {cell(all.median), cell(all.low), cell(all.high)});
    }
    table.rows.push_back(std::move(row));
  };
  std::vector<double> means;
  for (std::size_t workload = 0; workload < grid.workloads().size(); ++workload) {
    std::vector<double> values;
    for (const Results& results : placed.random) {
      values.push_back(Grid(results, {over, machine}, twelve()).speedup(1, 0, workload));
    }
    const double ipc = grid.value(0, workload, [](const tb::Summary& summary) { return summary.ipc; });
    add({grid.workloads()[workload].name, std::isfinite(ipc) ? fmt::format("{:.2f}", ipc) : "-",
         cell(grid.speedup(1, 0, workload))},
        values);
  }
  for (const Results& results : placed.random) {
    means.push_back(Grid(results, {over, machine}, twelve()).mean_speedup(1, 0));
  }
  add({"geometric mean", "", cell(grid.mean_speedup(1, 0))}, means);
  return table;
}

void count_workloads(Finding& finding, const Placed& placed, const std::vector<Variant>& machines) {
  count_workloads(finding, Grid(placed.as_is, machines, twelve()));
  for (const Results& results : placed.random) {
    finding.measured = std::min(finding.measured, Grid(results, machines, twelve()).common().size());
  }
}

FormsClaim::FormsClaim(std::unique_ptr<Claim> claim, Over over)
    : claim_(std::move(claim)), placed_(dynamic_cast<const PlacedClaim*>(claim_.get())), over_(over) {}

// The first decides the verdict, the second stands beside it in full, the others in a table.
std::vector<FormsClaim::Row> FormsClaim::rows() const {
  std::vector<Row> all = {{papers_form(), over_ == Over::placements}, {cuda_form()}};
  if (over_ == Over::readings || over_ == Over::small_readings) {
    const bool small = over_ == Over::small_readings;
    all.push_back({{"papers' form, a queue per bank", true, per_bank(), small ? kPapersShare : 1}});
    all.push_back({{"CUDA form, a queue per bank", false, per_bank(), small ? kCudaShare : 1}});
  }
  if (over_ == Over::placements) {
    all.push_back({{"papers' form, arrays where the machine puts them", true}});
    all.push_back({{"papers' form, arrays in pages", true, {"allocation.placement=page"}, kPapersShare}});
    all.push_back({{"papers' form, a queue per bank", true, per_bank(), kPapersShare}, true});
    all.push_back({{"CUDA form", false, {}, kCudaShare}, true});
    all.push_back({{"CUDA form, a queue per bank", false, per_bank(), kCudaShare}});
  }
  return all;
}

std::vector<Run> FormsClaim::runs() const {
  const std::vector<Run> asked = claim_->runs();
  std::vector<Run> all;
  const auto add = [&](const Reading& reading) {
    std::transform(asked.begin(), asked.end(), std::back_inserter(all),
                   [&](const Run& run) { return under(reading, run); });
  };
  for (const Row& row : rows()) {
    for (unsigned seed = 1; row.random && seed <= kPlacements; ++seed) {
      add(at_random(row.reading, seed));
    }
    if (!row.random || row.reading.scale == 1) {
      add(row.reading);
    }
  }
  return all;
}

Finding FormsClaim::judged(const Row& row, const Results& results) const {
  const std::vector<Run> asked = claim_->runs();
  if (!row.random || placed_ == nullptr) {
    return claim_->judge(under(row.reading, asked, results));
  }
  Placed placed{under(row.reading, asked, results)};
  for (unsigned seed = 1; seed <= kPlacements; ++seed) {
    placed.random.push_back(under(at_random(row.reading, seed), asked, results));
  }
  if (row.reading.scale != 1) {  // charts and tables of such a row are not shown
    placed.as_is = placed.random.front();
  }
  return placed_->judge_placed(placed);
}

Finding FormsClaim::judge(const Results& results) const {
  const std::vector<Row> all = rows();
  Finding finding = judged(all[0], results);
  finding.label = all[0].reading.name;
  Finding beside = judged(all[1], results);
  beside.label = all[1].reading.name;
  beside.note = claim_->text().beside_note;
  ValueTable readings{"Under other readings", {"reading", "ours", "shape"}, {}};
  for (std::size_t i = 2; i < all.size(); ++i) {
    const Row& row = all[i];
    const Finding other = judged(row, results);
    const Shape shape = shape_of(other.checks);
    if (shape != Shape::not_measured) {
      const std::string at = row.reading.scale == 1 ? "" : fmt::format(", inputs x {:g}", row.reading.scale);
      readings.rows.push_back({row.reading.name + (row.random ? ", arrays at random" : "") + at, other.ours,
                               std::string(shape_text(shape))});
    }
  }
  finding.beside.push_back(std::move(beside));
  if (!readings.rows.empty()) {
    finding.tables.insert(finding.tables.begin(), std::move(readings));
  }
  return finding;
}

}  // namespace heddle::studies::lwm
