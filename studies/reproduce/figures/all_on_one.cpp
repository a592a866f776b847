// all-on-one: the mechanisms of all papers on one machine and one set of workloads (configs/all-on-one.toml), alone and
// in pairs. No paper compares them so; what is asked of each is what its own paper says of its own workloads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "base/text.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/grid.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/cost/cost.hpp"

namespace heddle::studies {
namespace {

constexpr const char* kMachineForAll = "all-on-one";
constexpr double kWorthwhile = 0.05;     // a gain or loss that is listed as help or harm
constexpr double kNoDifference = 0.005;  // speedups that lie closer are the same

// The papers' workloads; one that two sets name counts in both.
enum Set : std::size_t { kTwelve, kEight, kSixteen, kFive, kSets };
struct WorkloadSet {
  const char* name;
  std::vector<StudyWorkload> workloads;
};

// Smaller than in the papers' own claims: some thousand runs in a few minutes.
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

const std::array<WorkloadSet, kSets>& workload_sets() {
  static const std::array<WorkloadSet, kSets> all = {{{"the twelve", small_twelve()},
                                                      {"the eight", small_eight()},
                                                      {"the sixteen", small_sixteen()},
                                                      {"the five", small_five()}}};
  return all;
}

std::vector<StudyWorkload> workloads_of_all_sets() {
  std::vector<StudyWorkload> all;
  for (const WorkloadSet& set : workload_sets()) {
    for (const StudyWorkload& workload : set.workloads) {
      if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == workload.name; })) {
        all.push_back(workload);
      }
    }
  }
  return all;
}

struct Mechanism {
  const char* label;
  const char* where;  // which section describes it
  Set home;           // its paper's workloads; kSets: none of the sets
  std::vector<std::string> settings;
};

const std::vector<std::string>& large_warps() {
  static const std::vector<std::string> settings = {"core.warp_size=256", "core.former=packed",
                                                    "packing.memory_by_rows=true", "packing.branch_once=true"};
  return settings;
}
std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// As the papers' own machine files have them.
const std::vector<Mechanism>& mechanisms() {
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
enum Which : std::size_t {
  kStrict,
  kLwm,
  kTwoLevel,
  kTbc,
  kDwf,
  kDws,
  kSlip,
  kLwPlus,
  kOdgs,
  kMimd,
  kScalar,
  kGto,
  kCcws
};

struct Pair {
  const char* label;
  Which first, second;
  std::vector<std::string> settings;  // beyond both mechanisms', whose keys the later ones win
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all = {
      {"LWM+2Lev", kLwm, kTwoLevel, {"two_level.fetch_group=1", "two_level.fetch_group_timeout=32768"}},
      {"LWM+GTO", kLwm, kGto, {}},
      {"LWM+CCWS", kLwm, kCcws, {}},
      {"LWM+scalar", kLwm, kScalar, {}},
      {"TBC+2Lev", kTbc, kTwoLevel, {}},
      {"TBC+GTO", kTbc, kGto, {}},
      {"DWS+2Lev", kDws, kTwoLevel, {}},
      {"DWS+GTO", kDws, kGto, {}},
      {"DWF+DWS", kDwf, kDws, {"core.divergence=dws-dwf", "core.scheduler=round-robin"}},
      {"ODGS+2Lev", kOdgs, kTwoLevel, {}},
      {"GTO+CCWS", kGto, kCcws, {}},
      {"2Lev+CCWS", kTwoLevel, kCcws, {}},
      {"2Lev+scalar", kTwoLevel, kScalar, {}},
  };
  return all;
}

// One setting per key: the last.
std::vector<std::string> last_of_each_key(const std::vector<std::string>& settings) {
  std::vector<std::string> out;
  for (auto setting = settings.begin(); setting != settings.end(); ++setting) {
    const std::string key = setting->substr(0, setting->find('=') + 1);
    if (std::none_of(setting + 1, settings.end(), [&](const auto& later) { return later.starts_with(key); })) {
      out.push_back(*setting);
    }
  }
  return out;
}

// The machine as it is, each mechanism, each pair.
std::vector<Variant> machines_side_by_side() {
  std::vector<Variant> all = {{"as it is", kMachineForAll, {}, "dws-65nm"}};
  for (const Mechanism& mechanism : mechanisms()) {
    all.push_back({mechanism.label, kMachineForAll, mechanism.settings, "dws-65nm"});
  }
  for (const Pair& pair : pairs()) {
    const std::vector<std::string> both = with(mechanisms()[pair.first].settings, mechanisms()[pair.second].settings);
    all.push_back({pair.label, kMachineForAll, last_of_each_key(with(both, pair.settings)), "dws-65nm"});
  }
  return all;
}

// What the papers count, and own estimates of what they do not.
std::uint64_t storage_bits(const Variant& variant) {
  const tb::StorageCost cost = tb::storage_cost(tb::read_machine(variant.config, variant.settings));
  return cost.bits(hw::CostLine::Kind::counted) + cost.bits(hw::CostLine::Kind::estimated);
}

// What a mechanism adds to a core; "-" without the machine's file.
std::string storage_text(const Variant& variant) {
  try {
    const std::uint64_t more = storage_bits(variant);  // the machine as it is adds nothing
    return more < 8192 ? counted((more + 7) / 8, "byte") : fmt::format("{:.1f} KB", static_cast<double>(more) / 8192);
  } catch (const InputError&) {
    return "-";
  }
}

class SideBySide {
 public:
  explicit SideBySide(const Results& results) : grid_(results, machines_side_by_side(), workloads_of_all_sets()) {}

  [[nodiscard]] const Grid& grid() const { return grid_; }
  static std::size_t machine(Which mechanism) { return 1 + mechanism; }
  static std::size_t machine_of_pair(std::size_t pair) { return 1 + mechanisms().size() + pair; }

  // Geometric mean over the workloads of a set, or of all sets, that every machine has: all are compared on the same.
  [[nodiscard]] double speedup(std::size_t machine, std::size_t set) const {
    std::vector<double> values;
    for (const std::size_t workload : workloads_of(set)) {
      values.push_back(grid_.speedup(machine, 0, workload));
    }
    return values.empty() ? pages::kNoValue : geometric_mean(values);
  }
  [[nodiscard]] double mean(std::size_t machine, const Grid::Figure& figure) const {
    double sum = 0;
    for (const std::size_t workload : grid_.common()) {
      sum += grid_.value(machine, workload, figure);
    }
    return grid_.common().empty() ? pages::kNoValue : sum / static_cast<double>(grid_.common().size());
  }
  // Energy over that of the machine as it is; kNoValue where one run was not priced.
  [[nodiscard]] double energy(std::size_t machine) const {
    std::vector<double> values;
    for (const std::size_t workload : grid_.common()) {
      const Results::Entry* const ours = grid_.at(machine, workload);
      const Results::Entry* const base = grid_.at(0, workload);
      if (!ours->energy || !base->energy || ours->energy->pj <= 0 || base->energy->pj <= 0) {
        return pages::kNoValue;
      }
      values.push_back(ours->energy->pj / base->energy->pj);
    }
    return values.empty() ? pages::kNoValue : geometric_mean(values);
  }

  [[nodiscard]] ValueTable overview() const {
    ValueTable table{"Speedup over the machine as it is, and what it costs",
                     {"machine", "after", "the twelve", "the eight", "the sixteen", "the five", "all", "lanes",
                      "idle cycles", "energy", "storage added to a core"},
                     {}};
    for (std::size_t i = 0; i != grid_.variants().size(); ++i) {
      const bool alone = i != 0 && i <= mechanisms().size();
      std::vector<std::string> row = {grid_.variants()[i].label, alone ? mechanisms()[i - 1].where : ""};
      for (std::size_t set = 0; set <= kSets; ++set) {
        row.push_back(i == 0 ? "" : gain_text(speedup(i, set)));
      }
      row.push_back(fmt::format("{:.1f}", mean(i, [](const auto& one) { return one.lanes_per_warp_instruction; })));
      row.push_back(percent(mean(i, [](const auto& one) { return one.idle_share; })));
      row.push_back(i == 0 ? "" : gain_text(energy(i)));
      row.push_back(storage_text(grid_.variants()[i]));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  [[nodiscard]] ValueTable help() const {
    ValueTable table{"What helps what: workloads that gain or lose more than 5 %, the most first",
                     {"machine", "gain", "lose", "which gain", "which lose"},
                     {}};
    for (std::size_t i = 1; i <= mechanisms().size(); ++i) {
      std::vector<std::pair<double, std::size_t>> order;
      for (const std::size_t workload : grid_.common()) {
        order.emplace_back(grid_.speedup(i, 0, workload), workload);
      }
      std::sort(order.begin(), order.end());
      std::string losing;
      std::string gaining;
      std::size_t losers = 0;
      std::size_t gainers = 0;
      const auto name = [&](std::string& list, std::size_t& count, const auto& one) {
        constexpr std::size_t kNamed = 4;
        if (++count <= kNamed) {
          list += fmt::format("{}{} {}", list.empty() ? "" : ", ", grid_.workloads()[one.second].name,
                              gain_text(one.first));
        }
      };
      for (auto one = order.begin(); one != order.end() && one->first < 1 - kWorthwhile; ++one) {
        name(losing, losers, *one);
      }
      for (auto one = order.rbegin(); one != order.rend() && one->first > 1 + kWorthwhile; ++one) {
        name(gaining, gainers, *one);
      }
      table.rows.push_back(
          {grid_.variants()[i].label, std::to_string(gainers), std::to_string(losers), gaining, losing});
    }
    return table;
  }

  // Whether two mechanisms together are faster than the better of them.
  [[nodiscard]] double over_the_better(std::size_t pair, std::size_t set) const {
    const double first = speedup(machine(pairs()[pair].first), set);
    const double second = speedup(machine(pairs()[pair].second), set);
    return speedup(machine_of_pair(pair), set) / std::max({first, second, 1.0});
  }
  static std::string adds_text(double over) {
    return over > 1 + kNoDifference ? "add up" : over < 1 - kNoDifference ? "less than one of them" : "as one of them";
  }

  [[nodiscard]] ValueTable pair_table() const {
    ValueTable table{
        "Which two add up: both together beside each alone, and over the better of the two (or the machine as it is)",
        {"pair", "first", "second", "their product", "both", "over the better: the twelve", "the eight", "the sixteen",
         "the five", "all", ""},
        {}};
    for (std::size_t i = 0; i != pairs().size(); ++i) {
      const double first = speedup(machine(pairs()[i].first), kSets);
      const double second = speedup(machine(pairs()[i].second), kSets);
      std::vector<std::string> row = {pairs()[i].label, gain_text(first), gain_text(second), gain_text(first * second),
                                      gain_text(speedup(machine_of_pair(i), kSets))};
      for (std::size_t set = 0; set <= kSets; ++set) {
        row.push_back(gain_text(over_the_better(i, set)));
      }
      row.push_back(adds_text(over_the_better(i, kSets)));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  [[nodiscard]] ValueTable by_workload() const {
    ValueTable table{"Speedup over the machine as it is, by workload", {"workload", "as it is (IPC)"}, {}};
    for (std::size_t i = 1; i <= mechanisms().size(); ++i) {
      table.titles.push_back(grid_.variants()[i].label);
    }
    for (std::size_t workload = 0; workload != grid_.workloads().size(); ++workload) {
      const double ipc = grid_.value(0, workload, [](const auto& one) { return one.ipc; });
      std::vector<std::string> row = {grid_.workloads()[workload].name,
                                      std::isfinite(ipc) ? fmt::format("{:.2f}", ipc) : "-"};
      for (std::size_t i = 1; i <= mechanisms().size(); ++i) {
        row.push_back(gain_text(grid_.speedup(i, 0, workload)));
      }
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  [[nodiscard]] pages::Chart chart() const {
    pages::GroupedBars chart;
    chart.title = "Each mechanism on one machine: mean gain by set of workloads";
    chart.unit = "% faster than the machine as it is";
    for (const Mechanism& mechanism : mechanisms()) {
      chart.groups.emplace_back(mechanism.label);
    }
    for (std::size_t set = 0; set <= kSets; ++set) {
      pages::GroupedBars::Series series{set == kSets ? "all" : workload_sets()[set].name, {}};
      for (std::size_t i = 1; i <= mechanisms().size(); ++i) {
        series.values.push_back(100 * (speedup(i, set) - 1));
      }
      chart.series.push_back(std::move(series));
    }
    std::rotate(chart.series.begin(), chart.series.end() - 1, chart.series.end());  // all in grey, first
    return chart;
  }

  [[nodiscard]] pages::Chart chart_of_pairs() const {
    pages::GroupedBars chart;
    chart.title = "Two mechanisms together beside each alone: mean gain over all workloads";
    chart.unit = "% faster than the machine as it is";
    chart.series = {{"the first alone", {}}, {"the second alone", {}}, {"both", {}}};
    for (std::size_t i = 0; i != pairs().size(); ++i) {
      chart.groups.emplace_back(pairs()[i].label);
      chart.series[0].values.push_back(100 * (speedup(machine(pairs()[i].first), kSets) - 1));
      chart.series[1].values.push_back(100 * (speedup(machine(pairs()[i].second), kSets) - 1));
      chart.series[2].values.push_back(100 * (speedup(machine_of_pair(i), kSets) - 1));
    }
    return chart;
  }

  // The mechanism with the highest mean on a set; those that take no time or have a decoder per lane apart.
  [[nodiscard]] std::size_t best(std::size_t set, bool idealised) const {
    std::size_t found = 0;
    for (std::size_t i = 1; i <= mechanisms().size(); ++i) {
      const bool ideal = i == machine(kLwPlus) || i == machine(kOdgs) || i == machine(kMimd);
      if (ideal == idealised && (found == 0 || speedup(i, set) > speedup(found, set))) {
        found = i;
      }
    }
    return found;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> workloads_of(std::size_t set) const {
    std::vector<std::size_t> out = grid_.common();
    if (set != kSets) {
      const std::vector<StudyWorkload>& names = workload_sets()[set].workloads;
      std::erase_if(out, [&](std::size_t workload) {
        return std::none_of(names.begin(), names.end(),
                            [&](const auto& one) { return one.name == grid_.workloads()[workload].name; });
      });
    }
    return out;
  }

  Grid grid_;
};

class AllOnOne final : public Claim {
 public:
  explicit AllOnOne(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {
        .rank = 7000,
        .statement =
            "Each mechanism gains on the workloads of its own paper, and large warps and two-level scheduling together "
            "gain more than either; whether a mechanism gains on other papers' workloads, and with which other one, "
            "no paper says",
        .paper = "a gain on its own workloads",
        .source = "all papers",
        .note =
            "The machine is none of the papers' (configs/all-on-one.toml): what a mechanism takes away must be there "
            "to be taken. It has an L2, a memory that reorders and 32 warps per core, so that fewer cycles idle than "
            "in the LWM report's, and a core has sixteen times the threads of the DWS report's.",
        .caveat =
            "Inputs are smaller than in the claims of each paper. Blocks are the workloads' own: the eight have blocks "
            "of 64 threads, of which a warp of 256 threads holds one, so that large warps are a quarter full there. "
            "KMeans of the eight is left out: its sums over 4096 threads take longer than all else. LW+ and MIMD have "
            "a decoder per lane, and ODGS moves threads between cores in no time: idealised, not machines of the same "
            "cost. MIMD's lanes share one port of the L1, thread by thread. "
            "Energy is by the parts of the DWS report at 65 nm, which know nothing of a "
            "mechanism's own logic. SW+ is left out: its warps of 8 threads want a SIMD unit as narrow."};
  }
  [[nodiscard]] std::vector<Run> runs() const override {
    return runs_of(machines_side_by_side(), workloads_of_all_sets());
  }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const SideBySide all(results);
    Finding finding;
    finding.measured = all.grid().common().size();
    finding.wanted = all.grid().workloads().size();
    if (finding.measured == 0) {
      finding.ours = "-";
      return finding;
    }
    for (std::size_t set = 0; set != kSets; ++set) {
      const std::size_t best = all.best(set, false);
      const std::size_t ideal = all.best(set, true);
      finding.ours +=
          fmt::format("{}{}: {} {}, idealised {} {}", set == 0 ? "best on " : "; ", workload_sets()[set].name,
                      all.grid().variants()[best].label, gain_text(all.speedup(best, set)),
                      all.grid().variants()[ideal].label, gain_text(all.speedup(ideal, set)));
    }
    for (const Which mechanism : {kLwm, kTwoLevel, kDws, kLwPlus, kOdgs}) {
      const Set home = mechanisms()[mechanism].home;
      const double gain = all.speedup(SideBySide::machine(mechanism), home);
      finding.checks.push_back(
          main_check(fmt::format("{} gains on {}", mechanisms()[mechanism].label, workload_sets()[home].name),
                     gain_text(gain), gain > 1 + kNoDifference));
    }
    finding.checks.push_back(check("LWM+2Lev gains more on the twelve than either alone",
                                   gain_text(all.over_the_better(0, kTwelve)) + " over the better",
                                   all.over_the_better(0, kTwelve) > 1 + kNoDifference));
    for (std::size_t i = 0; i != mechanisms().size(); ++i) {
      const Set home = mechanisms()[i].home;
      if (home != kSets && !(all.speedup(1 + i, home) > 1 + kNoDifference)) {
        for (std::string& why : worst_of(all, 1 + i, home)) {
          finding.causes.push_back(std::move(why));
        }
      }
    }
    finding.charts = {all.chart(), all.chart_of_pairs()};
    finding.tables = {all.overview(), all.help(), all.pair_table(), all.by_workload()};
    return finding;
  }

 private:
  // Why the mechanism loses, where it loses most, on its own paper's workloads.
  static std::vector<std::string> worst_of(const SideBySide& all, std::size_t machine, Set home) {
    std::size_t worst = all.grid().workloads().size();
    for (const StudyWorkload& workload : workload_sets()[home].workloads) {
      const std::size_t at = all.grid().index_of(workload.name);
      const double one = all.grid().speedup(machine, 0, at);
      if (std::isfinite(one) &&
          (worst == all.grid().workloads().size() || one < all.grid().speedup(machine, 0, worst))) {
        worst = at;
      }
    }
    return worst == all.grid().workloads().size() ? std::vector<std::string>{}
                                                  : std::vector{all.grid().diagnosis(machine, 0, worst)};
  }
};

const Register<Claim, AllOnOne> all_on_one_entry{"all-on-one", "All mechanisms on one machine"};

}  // namespace
}  // namespace heddle::studies
