// all-on-one: the mechanisms of all papers on one machine and one set of workloads (configs/all-on-one.toml), alone and
// in pairs. No paper compares them so; what is asked of each is what its own paper says of its own workloads.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/registry.hpp"
#include "studies/reproduce/figures/side_by_side.hpp"

namespace heddle::studies::side {
namespace {

constexpr const char* kMachineForAll = "all-on-one";

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
std::vector<Compared> machines_side_by_side() {
  const std::vector<Mechanism>& mechanisms = mechanisms_of_all_papers();
  std::vector<Compared> all = {{{"as it is", kMachineForAll, {}, "dws-65nm"}, ""}};
  for (const Mechanism& mechanism : mechanisms) {
    all.push_back(
        {{mechanism.label, kMachineForAll, mechanism.settings, "dws-65nm"}, mechanism.where, 0, mechanism.home});
  }
  for (const Pair& pair : pairs()) {
    const std::vector<std::string> both = with(mechanisms[pair.first].settings, mechanisms[pair.second].settings);
    all.push_back({{pair.label, kMachineForAll, last_of_each_key(with(both, pair.settings)), "dws-65nm"}, ""});
  }
  return all;
}

std::size_t machine(Which mechanism) {
  return 1 + mechanism;
}
std::vector<std::size_t> machines_of_mechanisms() {
  std::vector<std::size_t> out(mechanisms_of_all_papers().size());
  std::iota(out.begin(), out.end(), 1);
  return out;
}

// Two mechanisms on one machine beside each alone.
class Together {
 public:
  explicit Together(const SideBySide& all) : all_(all) {}

  [[nodiscard]] double alone(Which mechanism, std::size_t set) const { return all_.speedup(machine(mechanism), set); }
  [[nodiscard]] double both(std::size_t pair, std::size_t set) const {
    return all_.speedup(1 + mechanisms_of_all_papers().size() + pair, set);
  }

  // Whether two mechanisms together are faster than the better of them.
  [[nodiscard]] double over_the_better(std::size_t pair, std::size_t set) const {
    const double first = alone(pairs()[pair].first, set);
    const double second = alone(pairs()[pair].second, set);
    return both(pair, set) / std::max({first, second, 1.0});
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
      const double first = alone(pairs()[i].first, kSets);
      const double second = alone(pairs()[i].second, kSets);
      std::vector<std::string> row = {pairs()[i].label, gain_text(first), gain_text(second), gain_text(first * second),
                                      gain_text(both(i, kSets))};
      for (std::size_t set = 0; set <= kSets; ++set) {
        row.push_back(gain_text(over_the_better(i, set)));
      }
      row.push_back(adds_text(over_the_better(i, kSets)));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  [[nodiscard]] pages::Chart chart_of_pairs() const {
    pages::GroupedBars chart;
    chart.title = "Two mechanisms together beside each alone: mean gain over all workloads";
    chart.unit = "% faster than the machine as it is";
    chart.series = {{"the first alone", {}}, {"the second alone", {}}, {"both", {}}};
    for (std::size_t i = 0; i != pairs().size(); ++i) {
      chart.groups.emplace_back(pairs()[i].label);
      chart.series[0].values.push_back(100 * (alone(pairs()[i].first, kSets) - 1));
      chart.series[1].values.push_back(100 * (alone(pairs()[i].second, kSets) - 1));
      chart.series[2].values.push_back(100 * (both(i, kSets) - 1));
    }
    return chart;
  }

 private:
  const SideBySide& all_;
};

std::vector<Run> runs_of_all_on_one() {
  return runs_of(variants_of(machines_side_by_side()), workloads_of_sets(sets_of_all_papers()));
}

Finding judge_all_on_one(const Results& results) {
  const SideBySide all(results, machines_side_by_side(), sets_of_all_papers());
  const Together together(all);
  Finding finding;
  finding.measured = all.grid().common().size();
  finding.wanted = all.grid().workloads().size();
  if (finding.measured == 0) {
    finding.ours = "-";
    return finding;
  }
  // Those that take no time or have a decoder per lane stand apart.
  const std::vector<std::size_t> idealised = {machine(kLwPlus), machine(kOdgs), machine(kMimd)};
  std::vector<std::size_t> others = machines_of_mechanisms();
  std::erase_if(others,
                [&](std::size_t one) { return std::find(idealised.begin(), idealised.end(), one) != idealised.end(); });
  for (std::size_t set = 0; set != kSets; ++set) {
    const std::size_t best = all.best(others, set);
    const std::size_t ideal = all.best(idealised, set);
    finding.ours +=
        fmt::format("{}{}: {} {}, idealised {} {}", set == 0 ? "best on " : "; ", all.sets()[set].name, all.label(best),
                    gain_text(all.speedup(best, set)), all.label(ideal), gain_text(all.speedup(ideal, set)));
  }
  for (const Which mechanism : {kLwm, kTwoLevel, kDws, kLwPlus, kOdgs}) {
    const Set home = all.machines()[machine(mechanism)].home;
    const double gain = all.speedup(machine(mechanism), home);
    finding.checks.push_back(
        main_check(fmt::format("{} gains on {}", all.label(machine(mechanism)), all.sets()[home].name), gain_text(gain),
                   gain > 1 + kNoDifference));
  }
  finding.checks.push_back(check("LWM+2Lev gains more on the twelve than either alone",
                                 gain_text(together.over_the_better(0, kTwelve)) + " over the better",
                                 together.over_the_better(0, kTwelve) > 1 + kNoDifference));
  for (const std::size_t one : machines_of_mechanisms()) {
    const Set home = all.machines()[one].home;
    if (home != kSets && !(all.speedup(one, home) > 1 + kNoDifference)) {
      for (std::string& why : all.worst(one, home)) {
        finding.causes.push_back(std::move(why));
      }
    }
  }
  finding.charts = {all.chart("Each mechanism on one machine: mean gain by set of workloads",
                              "% faster than the machine as it is", machines_of_mechanisms()),
                    together.chart_of_pairs()};
  finding.tables = {
      all.overview("Speedup over the machine as it is, and what it costs", "after"),
      all.help("What helps what: workloads that gain or lose more than 5 %, the most first", machines_of_mechanisms()),
      together.pair_table(),
      all.by_workload("Speedup over the machine as it is, by workload", machines_of_mechanisms())};
  return finding;
}

const std::vector<ClaimRow>& all_on_one_rows() {
  static const std::vector<ClaimRow> all = {
      {"all-on-one",
       "All mechanisms on one machine",
       {.rank = 7000,
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
            "mechanism's own logic. SW+ is left out: its warps of 8 threads want a SIMD unit as narrow."},
       runs_of_all_on_one,
       judge_all_on_one}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> all_on_one_entry{all_on_one_rows()};

}  // namespace
}  // namespace heddle::studies::side
