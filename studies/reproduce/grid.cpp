#include "studies/reproduce/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "studies/pages/report/fu_classes.hpp"

namespace heddle::studies {
namespace {

constexpr double kWorthNaming = 0.005;  // an idle cause below this share of the cycles explains nothing

double busy_share(const tb::Summary& summary) {
  return 1 - summary.idle_share;
}

std::string cell(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

}  // namespace

Grid::Grid(const Results& results, std::vector<Variant> variants, std::vector<StudyWorkload> workloads)
    : variants_(std::move(variants)), workloads_(std::move(workloads)) {
  for (const Variant& variant : variants_) {
    for (const StudyWorkload& workload : workloads_) {
      entries_.push_back(results.find(run_of(variant, workload)));
    }
  }
}

const Results::Entry* Grid::at(std::size_t variant, std::size_t workload) const {
  return entries_[variant * workloads_.size() + workload];
}

std::vector<std::size_t> Grid::common(const std::vector<std::size_t>& variants) const {
  std::vector<std::size_t> found;
  for (std::size_t workload = 0; workload < workloads_.size(); ++workload) {
    bool all = true;
    for (std::size_t i = 0; i < (variants.empty() ? variants_.size() : variants.size()); ++i) {
      all = all && at(variants.empty() ? i : variants[i], workload) != nullptr;
    }
    if (all) {
      found.push_back(workload);
    }
  }
  return found;
}

std::size_t Grid::index_of(const std::string& workload) const {
  const auto found = std::find_if(workloads_.begin(), workloads_.end(),
                                  [&](const StudyWorkload& known) { return known.name == workload; });
  return static_cast<std::size_t>(found - workloads_.begin());
}

double Grid::value(std::size_t variant, std::size_t workload, const Figure& figure) const {
  const Results::Entry* entry = workload < workloads_.size() ? at(variant, workload) : nullptr;
  return entry == nullptr ? pages::kNoValue : figure(entry->summary);
}

double Grid::speedup(std::size_t variant, std::size_t base, std::size_t workload) const {
  const Results::Entry* ours = workload < workloads_.size() ? at(variant, workload) : nullptr;
  const Results::Entry* theirs = workload < workloads_.size() ? at(base, workload) : nullptr;
  return ours == nullptr || theirs == nullptr || theirs->summary.ipc <= 0 || ours->summary.ipc <= 0
             ? pages::kNoValue
             : ours->summary.ipc / theirs->summary.ipc;
}

double Grid::mean_speedup(std::size_t variant, std::size_t base, const std::vector<std::string>& among) const {
  std::vector<double> speedups;
  for (std::size_t workload = 0; workload < workloads_.size(); ++workload) {
    const bool wanted =
        among.empty() || std::find(among.begin(), among.end(), workloads_[workload].name) != among.end();
    const double ratio = wanted ? speedup(variant, base, workload) : pages::kNoValue;
    if (std::isfinite(ratio)) {
      speedups.push_back(ratio);
    }
  }
  return speedups.empty() ? pages::kNoValue : geometric_mean(speedups);
}

pages::Chart Grid::ipc_chart(std::string title) const {
  pages::GroupedBars chart;
  chart.title = std::move(title);
  chart.unit = "IPC";
  for (const StudyWorkload& workload : workloads_) {
    chart.groups.push_back(workload.name);
  }
  chart.groups.emplace_back("gmean");
  const std::vector<std::size_t> shared = common();
  for (std::size_t variant = 0; variant < variants_.size(); ++variant) {
    pages::GroupedBars::Series series{variants_[variant].label, {}};
    std::vector<double> meant;
    meant.reserve(shared.size());
    for (std::size_t workload = 0; workload < workloads_.size(); ++workload) {
      series.values.push_back(value(variant, workload, [](const tb::Summary& summary) { return summary.ipc; }));
    }
    for (const std::size_t workload : shared) {
      meant.push_back(series.values[workload]);
    }
    series.values.push_back(meant.empty() ? pages::kNoValue : geometric_mean(meant));
    chart.series.push_back(std::move(series));
  }
  return chart;
}

pages::Chart Grid::utilisation_chart(std::string title) const {
  pages::StackedGroups chart;
  chart.title = std::move(title);
  for (const Variant& variant : variants_) {
    chart.members.push_back(variant.label);
  }
  for (std::size_t workload = 0; workload < workloads_.size(); ++workload) {
    pages::StackedGroups::Group group{workloads_[workload].name, {}};
    for (std::size_t variant = 0; variant < variants_.size(); ++variant) {
      std::vector<double> shares;
      if (const Results::Entry* entry = at(variant, workload)) {
        const double all = static_cast<double>(std::max<std::uint64_t>(1, tb::core_cycles(entry->summary)));
        const std::vector<pages::FuClass> classes = pages::fu_classes(entry->summary.fu_active_cycles);
        for (const pages::FuClass& part : classes) {
          shares.push_back(static_cast<double>(part.cycles) / all);
        }
        if (chart.parts.empty()) {
          for (const pages::FuClass& part : classes) {
            chart.parts.push_back(part.label + (part.last == 0 ? " (idle)" : ""));
          }
        }
      }
      group.bars.push_back(std::move(shares));
    }
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

ValueTable Grid::ipc_table(std::string caption, bool relative) const {
  ValueTable table;
  table.caption = std::move(caption);
  table.titles.emplace_back("workload");
  for (std::size_t variant = 0; variant < variants_.size(); ++variant) {
    table.titles.push_back(variants_[variant].label + (relative && variant == 0 ? " (IPC)" : ""));
  }
  const auto ipc = [](const tb::Summary& summary) { return summary.ipc; };
  for (std::size_t workload = 0; workload < workloads_.size(); ++workload) {
    std::vector<std::string> row = {workloads_[workload].name};
    for (std::size_t variant = 0; variant < variants_.size(); ++variant) {
      row.push_back(relative && variant != 0 ? cell(speedup(variant, 0, workload), "{:.3f}x")
                                             : cell(value(variant, workload, ipc), "{:.2f}"));
    }
    table.rows.push_back(std::move(row));
  }
  if (relative) {
    std::vector<std::string> row = {"geometric mean", ""};
    for (std::size_t variant = 1; variant < variants_.size(); ++variant) {
      row.push_back(cell(mean_speedup(variant, 0), "{:.3f}x"));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string Grid::diagnosis(std::size_t variant, std::size_t base, std::size_t workload) const {
  const double ratio = speedup(variant, base, workload);
  if (!std::isfinite(ratio)) {
    return {};
  }
  const tb::Summary& ours = at(variant, workload)->summary;
  const tb::Summary& theirs = at(base, workload)->summary;
  std::string out = fmt::format(
      "{}: {} {:.3f}x over {} = lanes per instruction {:.2f} to {:.2f} ({:.3f}x) and busy cycles {} to {} ({:.3f}x); "
      "idle {} to {}",
      workloads_[workload].name, variants_[variant].label, ratio, variants_[base].label,
      theirs.lanes_per_warp_instruction, ours.lanes_per_warp_instruction,
      ours.lanes_per_warp_instruction / theirs.lanes_per_warp_instruction, percent(busy_share(theirs)),
      percent(busy_share(ours)), busy_share(ours) / busy_share(theirs), idle_text(theirs), idle_text(ours));
  const auto moved = [&](std::string_view name, double before, double after, bool share) {
    if (std::abs(after - before) > 0.02 * std::max(std::abs(before), share ? 0.5 : 0.0)) {
      out += share ? fmt::format("; {} {} to {}", name, percent(before), percent(after))
                   : fmt::format("; {} {:.2f} to {:.2f}", name, before, after);
    }
  };
  moved("lines per memory instruction", theirs.line_requests_per_memory_instruction,
        ours.line_requests_per_memory_instruction, false);
  moved("L1 hits", theirs.l1d_hit_rate, ours.l1d_hit_rate, true);
  moved("row hits", theirs.dram_row_hit_rate, ours.dram_row_hit_rate, true);
  moved("bus use", theirs.dram_bus_utilisation, ours.dram_bus_utilisation, true);
  return out + ".";
}

std::vector<std::string> Grid::worst(std::size_t variant, std::size_t base, std::size_t most, double limit) const {
  std::vector<std::size_t> order = common({variant, base});
  std::erase_if(order, [&](std::size_t workload) { return !(speedup(variant, base, workload) < limit); });
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return speedup(variant, base, a) < speedup(variant, base, b); });
  order.resize(std::min(order.size(), most));
  std::vector<std::string> out;
  out.reserve(order.size());
  for (const std::size_t workload : order) {
    out.push_back(diagnosis(variant, base, workload));
  }
  return out;
}

std::string idle_text(const tb::Summary& summary) {
  const double all = static_cast<double>(std::max<std::uint64_t>(1, tb::core_cycles(summary)));
  std::vector<std::size_t> order(hw::kIdleCauseCount);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& cycles = summary.idle_cycles_by_cause.cycles;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cycles[a] > cycles[b]; });
  std::string causes;
  for (std::size_t i = 0; i < 2; ++i) {
    const double share = static_cast<double>(cycles[order[i]]) / all;
    if (share >= kWorthNaming) {
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", hw::kIdleCauses[order[i]].name, percent(share));
    }
  }
  return percent(summary.idle_share) + (causes.empty() ? "" : " (" + causes + ")");
}

std::string gain_text(double speedup) {
  return std::isfinite(speedup) ? fmt::format("{:+.1f} %", 100 * (speedup - 1)) : "-";
}

bool of_a_size(double ours, double paper) {
  return std::isfinite(ours) && ours * paper > 0 && std::abs(ours) >= std::abs(paper) / 2 &&
         std::abs(ours) <= std::abs(paper) * 2;
}

}  // namespace heddle::studies
