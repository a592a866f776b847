#include "studies/reproduce/figures/side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/cost/cost.hpp"

namespace heddle::studies::side {
namespace {

constexpr double kWorthwhile = 0.05;  // a gain or loss that is listed as help or harm

std::vector<StudyWorkload> small_twelve() {
  return {{"blackjack", 0.01}, {"sort", 0.02},         {"viterbi", 0.1},    {"kmeans", 0.015},
          {"decrypt", 0.12},   {"blackscholes", 0.12}, {"needleman", 0.05}, {"hotspot", 0.06},
          {"matrixmult", 0.1}, {"reduction", 0.05},    {"histogram", 0.05}, {"bfs", 0.01}};
}
// Without KMeans, which adds the sums of all threads in one.
std::vector<StudyWorkload> small_eight() {
  return {{"fft", 0.12},   {"filter", 0.1}, {"hotspot:dws", 0.02}, {"lu", 0.02},
          {"merge", 0.02}, {"short", 0.08}, {"svm", 0.01}};
}
std::vector<StudyWorkload> small_sixteen() {
  return {{"bfs:thread_per_node", 0.05},
          {"backprop", 0.02},
          {"pathfinder", 0.05},
          {"walsh", 0.06},
          {"gaussian", 0.02},
          {"hotspot", 0.06},
          {"suffix_array", 0.012},
          {"matrixmult:rectangles", 0.5},
          {"suffix_tree", 0.03},
          {"nearest", 1},
          {"nqueens:small_blocks", 0.02},
          {"needleman:tile_blocks", 0.03},
          {"streamcluster", 0.05},
          {"scan", 0.05},
          {"srad_lists", 0.05},
          {"srad", 0.05}};
}
std::vector<StudyWorkload> small_five() {
  return {{"suffix_tree:small_blocks", 0.03},
          {"bfs:large_blocks", 0.1},
          {"raytrace", 0.1},
          {"neural", 0.03},
          {"weather:steps=1", 0.2}};
}

const std::vector<std::string>& large_warps() {
  static const std::vector<std::string> settings = {"core.warp_size=256", "core.former=packed",
                                                    "packing.memory_by_rows=true", "packing.branch_once=true"};
  return settings;
}

// What the papers count, and own estimates of what they do not.
std::uint64_t storage_bits(const Variant& variant) {
  const tb::StorageCost cost = tb::storage_cost(tb::read_machine(variant.config, variant.settings));
  return cost.bits(hw::CostLine::Kind::counted) + cost.bits(hw::CostLine::Kind::estimated);
}

}  // namespace

const std::vector<WorkloadSet>& sets_of_all_papers() {
  static const std::vector<WorkloadSet> all = {{"the twelve", small_twelve()},
                                               {"the eight", small_eight()},
                                               {"the sixteen", small_sixteen()},
                                               {"the five", small_five()}};
  return all;
}

const std::vector<Mechanism>& mechanisms_of_all_papers() {
  static const std::vector<Mechanism> all = {
      {"LWM strict", "LWM report 3.1", kTwelve, large_warps()},
      {"LWM", "thesis 4.2", kTwelve, with(large_warps(), {"core.issue=relaxed"})},
      {"2Lev",
       "thesis 4.3",
       kTwelve,
       {"core.scheduler=two-level", "two_level.fetch_group=8", "two_level.fetch_group_rule=stalled"}},
      {"TBC", "thesis 5.2", kTwelve, {"core.divergence=tbc", "core.scheduler=sticky"}},
      {"DWF", "LWM report 4", kTwelve, {"core.divergence=dwf", "core.scheduler=majority", "dwf.lane_aware=true"}},
      {"DWS",
       "DWS report 5.5",
       kEight,
       {"core.divergence=dws", "dws.branches=pc", "dws.memory=revive", "dws.reconvergence=branch-bypass"}},
      {"slip", "DWS report 5.7", kEight, {"core.divergence=slip", "slip.branch_bypass=true"}},
      {"LW+",
       "warp-size study 4.2",
       kSixteen,
       {"core.warp_size=64", "core.divergence=mimd", "mimd.step=true", "icache.ports=32"}},
      {"ODGS", "ODGS paper 3.5", kFive, {"core.divergence=odgs", "odgs.handling_latency=0"}},
      {"MIMD", "ODGS paper 2.3", kFive, {"core.divergence=mimd", "mimd.step=false", "icache.ports=32"}},
      {"scalar", "thesis 9.2.1", kSets, {"core.scalar=compiler"}},
      {"GTO", "thesis 3.3", kSets, {"core.scheduler=gto"}},
      {"CCWS", "Rogers et al.", kSets, {"core.load_limiter=ccws"}},
  };
  return all;
}

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

std::vector<StudyWorkload> workloads_of_sets(const std::vector<WorkloadSet>& sets) {
  std::vector<StudyWorkload> all;
  for (const WorkloadSet& set : sets) {
    for (const StudyWorkload& workload : set.workloads) {
      if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == workload.name; })) {
        all.push_back(workload);
      }
    }
  }
  return all;
}

std::vector<Variant> variants_of(const std::vector<Compared>& machines) {
  std::vector<Variant> out;
  for (const Compared& machine : machines) {
    out.push_back(machine.variant);
  }
  return out;
}

SideBySide::SideBySide(const Results& results, std::vector<Compared> machines, std::vector<WorkloadSet> sets)
    : machines_(std::move(machines)),
      sets_(std::move(sets)),
      grid_(results, variants_of(machines_), workloads_of_sets(sets_)) {}

std::vector<std::size_t> SideBySide::workloads_of(std::size_t set) const {
  std::vector<std::size_t> out = grid_.common();
  if (set != sets_.size()) {
    const std::vector<StudyWorkload>& names = sets_[set].workloads;
    std::erase_if(out, [&](std::size_t workload) {
      return std::none_of(names.begin(), names.end(),
                          [&](const auto& one) { return one.name == grid_.workloads()[workload].name; });
    });
  }
  return out;
}

double SideBySide::over_base(std::size_t machine, std::size_t workload) const {
  return grid_.speedup(machine, machines_[machine].base, workload);
}

double SideBySide::speedup(std::size_t machine, std::size_t set) const {
  std::vector<double> values;
  for (const std::size_t workload : workloads_of(set)) {
    values.push_back(over_base(machine, workload));
  }
  return values.empty() ? pages::kNoValue : geometric_mean(values);
}

double SideBySide::mean(std::size_t machine, const Grid::Figure& figure) const {
  double sum = 0;
  for (const std::size_t workload : grid_.common()) {
    sum += grid_.value(machine, workload, figure);
  }
  return grid_.common().empty() ? pages::kNoValue : sum / static_cast<double>(grid_.common().size());
}

double SideBySide::energy(std::size_t machine) const {
  std::vector<double> values;
  for (const std::size_t workload : grid_.common()) {
    const Results::Entry* const ours = grid_.at(machine, workload);
    const Results::Entry* const base = grid_.at(machines_[machine].base, workload);
    if (!ours->energy || !base->energy || ours->energy->pj <= 0 || base->energy->pj <= 0) {
      return pages::kNoValue;
    }
    values.push_back(ours->energy->pj / base->energy->pj);
  }
  return values.empty() ? pages::kNoValue : geometric_mean(values);
}

// What a mechanism adds to a core; "-" without the machine's file.
std::string SideBySide::storage(std::size_t machine) const {
  try {
    const std::uint64_t ours = storage_bits(machines_[machine].variant);
    const std::uint64_t base = storage_bits(machines_[machines_[machine].base].variant);
    const std::uint64_t bits = ours < base ? base - ours : ours - base;
    return (ours < base ? "-" : "") +
           (bits < 8192 ? counted((bits + 7) / 8, "byte") : fmt::format("{:.1f} KB", static_cast<double>(bits) / 8192));
  } catch (const InputError&) {
    return "-";
  }
}

std::size_t SideBySide::best(const std::vector<std::size_t>& among, std::size_t set) const {
  return *std::max_element(among.begin(), among.end(),
                           [&](std::size_t a, std::size_t b) { return speedup(a, set) < speedup(b, set); });
}

std::vector<std::string> SideBySide::worst(std::size_t machine, std::size_t set) const {
  std::size_t worst = grid_.workloads().size();
  for (const StudyWorkload& workload : sets_[set].workloads) {
    const std::size_t at = grid_.index_of(workload.name);
    const double one = over_base(machine, at);
    if (std::isfinite(one) && (worst == grid_.workloads().size() || one < over_base(machine, worst))) {
      worst = at;
    }
  }
  return worst == grid_.workloads().size() ? std::vector<std::string>{}
                                           : std::vector{grid_.diagnosis(machine, machines_[machine].base, worst)};
}

ValueTable SideBySide::overview(std::string caption, std::string remark) const {
  ValueTable table{std::move(caption), {"machine", std::move(remark)}, {}};
  for (const WorkloadSet& set : sets_) {
    table.titles.emplace_back(set.name);
  }
  for (const char* const title : {"all", "lanes", "idle cycles", "energy", "storage added to a core"}) {
    table.titles.emplace_back(title);
  }
  for (std::size_t i = 0; i != machines_.size(); ++i) {
    const bool alone = i == 0;
    std::vector<std::string> row = {label(i), machines_[i].remark};
    for (std::size_t set = 0; set <= sets_.size(); ++set) {
      row.push_back(alone ? "" : gain_text(speedup(i, set)));
    }
    row.push_back(fmt::format("{:.1f}", mean(i, [](const auto& one) { return one.lanes_per_warp_instruction; })));
    row.push_back(percent(mean(i, [](const auto& one) { return one.idle_share; })));
    row.push_back(alone ? "" : gain_text(energy(i)));
    row.push_back(storage(i));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ValueTable SideBySide::help(std::string caption, const std::vector<std::size_t>& among) const {
  ValueTable table{std::move(caption), {"machine", "gain", "lose", "which gain", "which lose"}, {}};
  for (const std::size_t machine : among) {
    std::vector<std::pair<double, std::size_t>> order;
    for (const std::size_t workload : grid_.common()) {
      order.emplace_back(over_base(machine, workload), workload);
    }
    std::sort(order.begin(), order.end());
    std::string losing;
    std::string gaining;
    std::size_t losers = 0;
    std::size_t gainers = 0;
    const auto name = [&](std::string& list, std::size_t& count, const auto& one) {
      constexpr std::size_t kNamed = 4;
      if (++count <= kNamed) {
        list +=
            fmt::format("{}{} {}", list.empty() ? "" : ", ", grid_.workloads()[one.second].name, gain_text(one.first));
      }
    };
    for (auto one = order.begin(); one != order.end() && one->first < 1 - kWorthwhile; ++one) {
      name(losing, losers, *one);
    }
    for (auto one = order.rbegin(); one != order.rend() && one->first > 1 + kWorthwhile; ++one) {
      name(gaining, gainers, *one);
    }
    table.rows.push_back({label(machine), std::to_string(gainers), std::to_string(losers), gaining, losing});
  }
  return table;
}

ValueTable SideBySide::by_workload(std::string caption, const std::vector<std::size_t>& among) const {
  ValueTable table{std::move(caption), {"workload", "as it is (IPC)"}, {}};
  for (const std::size_t machine : among) {
    table.titles.push_back(label(machine));
  }
  for (std::size_t workload = 0; workload != grid_.workloads().size(); ++workload) {
    const double ipc = grid_.value(0, workload, [](const auto& one) { return one.ipc; });
    std::vector<std::string> row = {grid_.workloads()[workload].name,
                                    std::isfinite(ipc) ? fmt::format("{:.2f}", ipc) : "-"};
    for (const std::size_t machine : among) {
      row.push_back(gain_text(over_base(machine, workload)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

pages::Chart SideBySide::chart(std::string title, std::string unit, const std::vector<std::size_t>& among) const {
  pages::GroupedBars chart;
  chart.title = std::move(title);
  chart.unit = std::move(unit);
  for (const std::size_t machine : among) {
    chart.groups.push_back(label(machine));
  }
  for (std::size_t set = 0; set <= sets_.size(); ++set) {
    pages::GroupedBars::Series series{set == sets_.size() ? "all" : sets_[set].name, {}};
    for (const std::size_t machine : among) {
      series.values.push_back(100 * (speedup(machine, set) - 1));
    }
    chart.series.push_back(std::move(series));
  }
  std::rotate(chart.series.begin(), chart.series.end() - 1, chart.series.end());  // all in grey, first
  return chart;
}

}  // namespace heddle::studies::side
