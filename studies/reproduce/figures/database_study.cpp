#include "studies/reproduce/figures/database_study.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace heddle::studies::database {
namespace {

// The default scales let the whole reproduction end within 20 minutes on two cores; 1 is the input of thesis 8.1. The
// tree has its full size at every scale: fewer searches are made in it.
constexpr double kScanScale = 1;
constexpr double kWideScanScale = 0.25;  // of several columns
constexpr double kSearchScale = 0.25;
constexpr double kUsualBandwidth = 32;

double per_instruction(const tb::Summary& summary) {
  return static_cast<double>(summary.cycles) /
         static_cast<double>(std::max<std::uint64_t>(1, summary.warp_instructions));
}

}  // namespace

Case scan(const Scan& scan, std::string label) {
  std::string workload = fmt::format("table_scan:{}selectivity={}", scan.cond_acc ? "cond_acc," : "", scan.selectivity);
  if (scan.columns != 1) {
    workload += fmt::format(",columns={}", scan.columns);
  }
  Case out{std::move(label),
           {"database-baseline", "database-baseline", {}},
           {workload, scan.wide ? kWideScanScale : kScanScale}};
  if (scan.bandwidth_gbs != kUsualBandwidth) {
    out.machine.settings.push_back(fmt::format("dram.bandwidth_gbs={:g}", scan.bandwidth_gbs));
  }
  return out;
}

std::vector<Case> two_scans() {
  return {scan({}, "ballot and popc"), scan({.cond_acc = true}, "COND_ACC")};
}

Case index_search(bool tree_traverse, bool row_hints, std::string label, const std::vector<std::string>& settings) {
  std::string workload = "index_search:levels=3";
  workload += tree_traverse ? ",tree_traverse" : "";
  workload += row_hints ? ",row_hints" : "";
  const std::string config = row_hints ? "database-hints" : "database-baseline";
  return {std::move(label), {config, config, settings}, {workload, kSearchScale}};
}

std::vector<Case> four_searches() {
  return {index_search(false, false, "baseline"), index_search(true, false, "tree traverse"),
          index_search(false, true, "row hints"), index_search(true, true, "row hints and tree traverse")};
}

std::vector<Run> runs_of(const std::vector<Case>& cases) {
  std::vector<Run> runs;
  runs.reserve(cases.size());
  for (const Case& one : cases) {
    runs.push_back(run_of(one.machine, one.workload));
  }
  return runs;
}

Measured::Measured(const Results& results, std::vector<Case> cases) : cases_(std::move(cases)) {
  for (const Case& one : cases_) {
    const Results::Entry* entry = results.find(run_of(one.machine, one.workload));
    summaries_.push_back(entry == nullptr ? nullptr : &entry->summary);
  }
}

bool Measured::complete() const {
  return std::all_of(summaries_.begin(), summaries_.end(),
                     [](const tb::Summary* summary) { return summary != nullptr && summary->cycles != 0; });
}

double Measured::speedup(std::size_t index, std::size_t base) const {
  return static_cast<double>(at(base).cycles) / static_cast<double>(at(index).cycles);
}

double Measured::fewer_instructions(std::size_t index, std::size_t base) const {
  return 1 - static_cast<double>(at(index).warp_instructions) /
                 static_cast<double>(std::max<std::uint64_t>(1, at(base).warp_instructions));
}

pages::Chart Measured::bars(std::string title, std::string unit, Figure figure) const {
  pages::GroupedBars chart{std::move(title), std::move(unit), {""}, {}, pages::kNoValue};
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    chart.series.push_back({cases_[i].label, {figure(at(i))}});
  }
  return chart;
}

pages::Chart Measured::speedup_bars(std::string title, std::string unit) const {
  pages::GroupedBars chart{std::move(title), std::move(unit), {""}, {}, 1.0};
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    chart.series.push_back({cases_[i].label, {speedup(i, 0)}});
  }
  return chart;
}

ValueTable Measured::table(std::string caption) const {
  ValueTable table{std::move(caption),
                   {"", "cycles", "warp instructions", "cycles per warp instruction", "idle", "row hits", "bus use"},
                   {}};
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const tb::Summary& summary = at(i);
    table.rows.push_back({cases_[i].label, grouped(summary.cycles), grouped(summary.warp_instructions),
                          fmt::format("{:.3f}", per_instruction(summary)), idle_text(summary),
                          percent(summary.dram_row_hit_rate), percent(summary.dram_bus_utilisation)});
  }
  return table;
}

std::string Measured::diagnosis(std::size_t index, std::size_t base) const {
  const tb::Summary& ours = at(index);
  const tb::Summary& theirs = at(base);
  return fmt::format(
      "{}: {:.3f}x over {} = warp instructions {} to {} ({:.3f}x) and cycles per warp instruction {:.3f} to {:.3f} "
      "({:.3f}x); idle {} to {}; row hits {} to {}; bus use {} to {}.",
      cases_[index].label, speedup(index, base), cases_[base].label, grouped(theirs.warp_instructions),
      grouped(ours.warp_instructions), 1 / (1 - fewer_instructions(index, base)), per_instruction(theirs),
      per_instruction(ours), per_instruction(theirs) / per_instruction(ours), idle_text(theirs), idle_text(ours),
      percent(theirs.dram_row_hit_rate), percent(ours.dram_row_hit_rate), percent(theirs.dram_bus_utilisation),
      percent(ours.dram_bus_utilisation));
}

SweptGains gains_of(const Measured& measured) {
  SweptGains gains;
  for (std::size_t i = 0; i + 1 < measured.cases().size(); i += 2) {
    gains.speedups.push_back(measured.speedup(i + 1, i));
    gains.fewer.push_back(measured.fewer_instructions(i + 1, i));
  }
  return gains;
}

std::string gains_text(const std::vector<std::string>& places, const std::vector<double>& speedups) {
  std::string out;
  for (std::size_t i = 0; i < places.size(); ++i) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", places[i], gain_text(speedups[i]));
  }
  return out;
}

pages::Chart speedup_line(std::string title, const std::vector<std::string>& places,
                          const std::vector<double>& speedups) {
  return pages::LineChart{std::move(title), "speedup of COND_ACC", places, {{"speedup", speedups, true}}};
}

Finding CasesClaim::judge(const Results& results) const {
  const Measured measured(results, row_.cases());
  Finding finding;
  finding.ours = "-";
  if (!measured.complete()) {
    return finding;
  }
  row_.judge(finding, measured);
  finding.tables.push_back(measured.table(row_.caption));
  for (const CasesRow::Explained& one : row_.explained) {
    finding.causes.push_back(measured.diagnosis(one.index, one.base));
  }
  for (std::size_t i = 1; row_.explained.empty() && i < measured.cases().size(); ++i) {
    finding.causes.push_back(measured.diagnosis(i, 0));
  }
  if (row_.lanes) {
    ValueTable lanes{"Lanes per warp instruction", {"", "lanes"}, {}};
    for (std::size_t i = 0; i < measured.cases().size(); ++i) {
      lanes.rows.push_back(
          {measured.cases()[i].label, fmt::format("{:.1f}", measured.at(i).lanes_per_warp_instruction)});
    }
    finding.tables.push_back(std::move(lanes));
  }
  return finding;
}

}  // namespace heddle::studies::database
