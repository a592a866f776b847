// on-h100: what the papers' mechanisms bring on GPUs of today, as far as they have a meaning there. A mechanism that
// `heddle check` refuses on the machine as it is runs on a machine with a key changed, beside that machine without the
// mechanism; one that it refuses even so is listed with its reason. When a refusal is lifted, the figure follows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/registry.hpp"
#include "studies/reproduce/figures/side_by_side.hpp"
#include "tb/config/config.hpp"

namespace heddle::studies::side {
namespace {

constexpr std::array<const char*, 2> kGpus = {"h100-8sm", "rtx3070-8sm"};
constexpr const char* kPrices = "v100-12nm";

// Smaller still than in all-on-one where the grid fills these machines all the same.
const std::vector<WorkloadSet>& sets_of_today() {
  static const std::vector<WorkloadSet> all = [] {
    const std::vector<StudyWorkload> smaller = {
        {"sort", 0.008},         {"kmeans", 0.004},     {"bfs", 0.004},    {"reduction", 0.03},
        {"svm", 0.003},          {"pathfinder", 0.025}, {"walsh", 0.03},   {"merge", 0.01},
        {"needleman", 0.03},     {"fft", 0.06},         {"neural", 0.015}, {"weather:steps=1", 0.1},
        {"suffix_array", 0.006}, {"decrypt", 0.06},     {"viterbi", 0.06}, {"blackjack", 0.006}};
    std::vector<WorkloadSet> sets = sets_of_all_papers();
    for (WorkloadSet& set : sets) {
      for (StudyWorkload& workload : set.workloads) {
        for (const StudyWorkload& one : smaller) {
          workload.scale = one.name == workload.name ? one.scale : workload.scale;
        }
      }
    }
    return sets;
  }();
  return all;
}

// The thesis's database workloads. Their loads have hint bits, and their warps work together, which mechanisms that
// form warps refuse.
const std::vector<WorkloadSet>& sets_of_searches() {
  static const std::vector<WorkloadSet> all = {{"searches",
                                                {{"table_scan", 0.02},
                                                 {"index_search:row_hints", 0.01},
                                                 {"index_join:row_hints", 0.002},
                                                 {"index_update:row_hints", 0.002},
                                                 {"hash_join", 0.02},
                                                 {"aggregates", 0.02}}}};
  return all;
}
constexpr auto kSearches = static_cast<Set>(0);  // of these sets

// What is asked for beside the mechanisms of all-on-one, and what a mechanism runs with where the machine as it is
// refuses it: keys that change on both sides.
struct MechanismOfToday {
  Mechanism mechanism;
  std::vector<std::string> instead = {};
};

// Control bits are of warps that go on behind their loads; the others have a scoreboard.
const std::vector<std::string>& on_access() {
  static const std::vector<std::string> settings = {"core.issue=scoreboard", "scoreboard.stall=on-access"};
  return settings;
}
const std::vector<std::string>& stacks() {
  static const std::vector<std::string> settings = {"core.divergence=stack"};
  return settings;
}
const std::vector<std::string>& one_sub_core() {
  static const std::vector<std::string> settings = {"core.sub_cores=1", "core.issue=scoreboard",
                                                    "scoreboard.stall=on-access"};
  return settings;
}

const std::vector<MechanismOfToday>& mechanisms_of_today() {
  static const std::vector<MechanismOfToday> all = [] {
    const auto& known = mechanisms_of_all_papers();
    const auto named = [&](Which which, const char* label) {
      return Mechanism{label, known[which].where, known[which].home, known[which].settings};
    };
    const auto smaller = [&](const char* label, const char* size) {
      Mechanism out = named(kStrict, label);
      for (std::string& setting : out.settings) {
        setting = setting.starts_with("core.warp_size=") ? size : setting;
      }
      return out;
    };
    return std::vector<MechanismOfToday>{
        {{"round robin", "LWM report 4", kSets, {"core.scheduler=round-robin"}}},
        {known[kGto]},
        {known[kTwoLevel]},
        {named(kStrict, "LWM 256"), stacks()},
        {smaller("LWM 64", "core.warp_size=64"), stacks()},
        {known[kTbc], on_access()},
        {known[kDwf], on_access()},
        {known[kDws], on_access()},
        {known[kSlip], on_access()},
        {known[kOdgs], one_sub_core()},
        {known[kCcws], one_sub_core()},
        {known[kScalar], with(stacks(), {"core.issue=relaxed", "registers.banks=0"})},
        {{"warp-aware", "thesis 9.2.4", kTwelve, {"dram.scheduler=warp-aware"}}},
        {known[kLwPlus]},
        {known[kMimd]},
    };
  }();
  return all;
}

const std::vector<MechanismOfToday>& mechanisms_of_searches() {
  static const std::vector<MechanismOfToday> all = {
      {{"hints", "thesis 7.2", kSearches, {"dram.hints=true"}}},
      {{"warp-aware", "thesis 9.2.4", kSets, {"dram.scheduler=warp-aware"}}},
      {{"2Lev", "thesis 4.3", kSets, mechanisms_of_all_papers()[kTwoLevel].settings}},
      {{"GTO", "thesis 3.3", kSets, mechanisms_of_all_papers()[kGto].settings}}};
  return all;
}

struct Refused {
  std::string label;
  const char* where;
  std::string reason;
};

// The machines of a GPU and what it refuses.
struct Machines {
  std::vector<Compared> compared;
  std::vector<std::size_t> mechanisms = {};  // of compared; the others are the machines without one
  std::vector<Refused> refused;
};

// What `heddle check` says against a machine, on one line; empty: it is good.
std::string refusal_of(const char* gpu, const std::vector<std::string>& settings) {
  try {
    static_cast<void>(tb::read_machine(gpu, settings));
  } catch (const InputError& error) {
    std::string why = error.what();
    std::replace(why.begin(), why.end(), '\n', ' ');
    return why;
  }
  return {};
}

Machines machines_of(const char* gpu, const std::vector<MechanismOfToday>& mechanisms) {
  Machines out;
  out.compared = {{{"as it is", gpu, {}, kPrices}, ""}};
  if (!refusal_of(gpu, {}).empty()) {  // no such machine: its runs say so
    return out;
  }
  // Changed keys alone stand beside the machine as it is.
  const auto base_with = [&](const std::vector<std::string>& settings) {
    const auto known = std::find_if(out.compared.begin(), out.compared.end(),
                                    [&](const Compared& one) { return one.variant.settings == settings; });
    const auto at = static_cast<std::size_t>(known - out.compared.begin());
    if (known == out.compared.end()) {
      out.compared.push_back({{join(settings, ", "), gpu, settings, kPrices}, "", 0, kSets});
    }
    return at;
  };
  for (const MechanismOfToday& one : mechanisms) {
    const Mechanism& mechanism = one.mechanism;
    const std::string refusal = refusal_of(gpu, mechanism.settings);
    const std::vector<std::string> changed = refusal.empty() ? std::vector<std::string>{} : one.instead;
    if (!refusal.empty()) {
      const std::string even_so = refusal_of(gpu, with(one.instead, mechanism.settings));
      if (!even_so.empty()) {
        out.refused.push_back({mechanism.label, mechanism.where, even_so});
        continue;
      }
    }
    const std::size_t base = base_with(changed);
    out.mechanisms.push_back(out.compared.size());
    out.compared.push_back({{mechanism.label, gpu, with(changed, mechanism.settings), kPrices},
                            join(changed, ", "),
                            base,
                            mechanism.home});
  }
  return out;
}

// The kernels of the database searches with and without the thesis's instructions, on the machine as it is.
struct KernelPair {
  const char* instruction;
  StudyWorkload without;
  const char* with;
};
const std::vector<KernelPair>& kernel_pairs() {
  static const std::vector<KernelPair> all = {
      {"COND_ACC (thesis 7.1)", {"table_scan", 0.02}, "table_scan:cond_acc"},
      {"COND_ACC (thesis 7.1)", {"hash_join", 0.02}, "hash_join:cond_acc"},
      {"TREE_TRAVERSE (thesis 7.2.1)", {"index_search:row_hints", 0.01}, "index_search:row_hints,tree_traverse"}};
  return all;
}
Run run_of_kernel(const char* gpu, const std::string& name, double scale) {
  return studies::run_of({"as it is", gpu, {}, kPrices}, {name, scale});
}

// The first of every set, the second of every set, and so on.
std::vector<StudyWorkload> workloads_in_turn(const std::vector<WorkloadSet>& sets) {
  std::vector<StudyWorkload> all = workloads_of_sets(sets);
  const auto place = [&](const StudyWorkload& workload) {
    std::size_t least = all.size();
    for (const WorkloadSet& set : sets) {
      const auto found = std::find_if(set.workloads.begin(), set.workloads.end(),
                                      [&](const StudyWorkload& one) { return one.name == workload.name; });
      if (found != set.workloads.end()) {
        least = std::min(least, static_cast<std::size_t>(found - set.workloads.begin()));
      }
    }
    return least;
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return all;
}

// Mechanisms on the workloads of sets, on one GPU.
class OnGpu {
 public:
  OnGpu(const Results& results, const char* gpu, const std::vector<MechanismOfToday>& mechanisms,
        const std::vector<WorkloadSet>& sets)
      : gpu_(gpu), machines_(machines_of(gpu, mechanisms)), all_(results, machines_.compared, sets) {}

  [[nodiscard]] bool measured() const { return !all_.grid().common().empty() && !machines_.mechanisms.empty(); }
  void count(Finding& finding) const {
    finding.measured += all_.grid().common().size();
    finding.wanted += all_.grid().workloads().size();
  }

  // "h100-8sm: most by 2Lev +3 %, least by slip -9 %"
  [[nodiscard]] std::string ours() const {
    std::vector<std::size_t> order = machines_.mechanisms;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all_.all(a) > all_.all(b); });
    return fmt::format("{}: most by {} {}, least by {} {}", gpu_, all_.label(order.front()),
                       gain_text(all_.all(order.front())), all_.label(order.back()), gain_text(all_.all(order.back())));
  }

  void judge(Finding& finding) const {
    for (const std::size_t one : machines_.mechanisms) {
      const std::size_t home = all_.machines()[one].home;
      if (home == kSets) {
        continue;
      }
      const double gain = all_.speedup(one, home);
      const bool gains = gain > 1 + kNoDifference;
      finding.checks.push_back(main_check(
          fmt::format("{} gains on {} ({})", all_.label(one), all_.sets()[home].name, gpu_), gain_text(gain), gains));
      for (const std::string& why : gains ? std::vector<std::string>{} : all_.worst(one, home)) {
        finding.causes.push_back(fmt::format("{}: {}", gpu_, why));
      }
    }
  }

  [[nodiscard]] pages::Chart chart() const {
    return all_.chart(fmt::format("Mechanisms on {}: mean gain by set of workloads", gpu_), "% faster than without",
                      machines_.mechanisms);
  }
  [[nodiscard]] ValueTable overview() const {
    return all_.overview(
        fmt::format("On {}{}: speedup over the machine without the mechanism, and what it costs", gpu_, of_one_set()),
        "both with");
  }
  [[nodiscard]] ValueTable help() const {
    return all_.help(fmt::format("On {}: workloads that gain or lose more than 5 %, the most first", gpu_),
                     machines_.mechanisms);
  }
  [[nodiscard]] ValueTable by_workload() const {
    return all_.by_workload(
        fmt::format("On {}{}: speedup over the machine without the mechanism, by workload", gpu_, of_one_set()),
        machines_.mechanisms);
  }
  void show_refused(ValueTable& table) const {
    for (const Refused& one : machines_.refused) {
      table.rows.push_back({one.label, one.where, gpu_, one.reason});
    }
  }

 private:
  [[nodiscard]] std::string of_one_set() const {
    return all_.sets().size() == 1 ? std::string(", ") + all_.sets().front().name : "";
  }

  const char* gpu_;
  Machines machines_;
  SideBySide all_;
};

ValueTable instructions_table(const Results& results) {
  ValueTable table{"What the thesis's instructions bring there: kernels without and with, by cycles",
                   {"instruction", "without", "with"},
                   {}};
  for (const char* const gpu : kGpus) {
    table.titles.emplace_back(gpu);
  }
  for (const KernelPair& pair : kernel_pairs()) {
    std::vector<std::string> row = {pair.instruction, pair.without.name, pair.with};
    for (const char* const gpu : kGpus) {
      const Results::Entry* const before = results.find(run_of_kernel(gpu, pair.without.name, pair.without.scale));
      const Results::Entry* const after = results.find(run_of_kernel(gpu, pair.with, pair.without.scale));
      const bool both = before != nullptr && after != nullptr && after->summary.cycles != 0;
      row.push_back(
          gain_text(both ? static_cast<double>(before->summary.cycles) / static_cast<double>(after->summary.cycles)
                         : pages::kNoValue));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Run> runs_of_on_h100() {
  // Workload by workload, of every set in turn: what an interrupted reproduction has says something of each GPU and
  // set.
  std::vector<Run> out;
  const auto add = [&](const std::vector<MechanismOfToday>& mechanisms, const std::vector<WorkloadSet>& sets) {
    std::vector<std::vector<Variant>> variants;
    for (const char* const gpu : kGpus) {
      variants.push_back(variants_of(machines_of(gpu, mechanisms).compared));
    }
    for (const StudyWorkload& workload : workloads_in_turn(sets)) {
      for (const std::vector<Variant>& of_gpu : variants) {
        for (const Variant& variant : of_gpu) {
          out.push_back(studies::run_of(variant, workload));
        }
      }
    }
  };
  add(mechanisms_of_searches(), sets_of_searches());
  for (const char* const gpu : kGpus) {
    for (const KernelPair& pair : kernel_pairs()) {
      out.push_back(run_of_kernel(gpu, pair.without.name, pair.without.scale));
      out.push_back(run_of_kernel(gpu, pair.with, pair.without.scale));
    }
  }
  add(mechanisms_of_today(), sets_of_today());
  return out;
}

Finding judge_on_h100(const Results& results) {
  Finding finding;
  ValueTable refused{"Refused there, as heddle check has it", {"mechanism", "after", "machine", "why"}, {}};
  std::vector<OnGpu> papers;
  std::vector<OnGpu> searches;
  for (const char* const gpu : kGpus) {
    papers.emplace_back(results, gpu, mechanisms_of_today(), sets_of_today());
    searches.emplace_back(results, gpu, mechanisms_of_searches(), sets_of_searches());
    papers.back().show_refused(refused);
    papers.back().count(finding);
    searches.back().count(finding);
  }
  const auto nothing = [](const OnGpu& one) { return !one.measured(); };
  std::erase_if(papers, nothing);
  std::erase_if(searches, nothing);
  for (const OnGpu& one : papers) {
    finding.ours += (finding.ours.empty() ? "" : "; ") + one.ours();
    one.judge(finding);
    finding.charts.push_back(one.chart());
    finding.tables.push_back(one.overview());
  }
  finding.ours = finding.ours.empty() ? "-" : finding.ours;
  for (const OnGpu& one : searches) {
    one.judge(finding);
    finding.tables.push_back(one.overview());
  }
  finding.tables.push_back(instructions_table(results));
  finding.tables.push_back(std::move(refused));
  for (const OnGpu& one : papers) {
    finding.tables.push_back(one.help());
    finding.tables.push_back(one.by_workload());
  }
  for (const OnGpu& one : searches) {
    finding.tables.push_back(one.by_workload());
  }
  return finding;
}

const std::vector<ClaimRow>& on_h100_rows() {
  static const std::vector<ClaimRow> all = {
      {"on-h100",
       "The papers' mechanisms on GPUs of today",
       {.rank = 8000,
        .statement =
            "Each mechanism gains on the workloads of its own paper on a GPU of today, too; none of the papers says "
            "what it brings there",
        .paper = "no figure",
        .source = "GPUs of today",
        .caveat =
            "The machines are cuts of a GPU (docs/gpus.md), with their share of L2 and DRAM bandwidth. A mechanism "
            "that the machine as it is refuses stands beside a machine with the named keys changed, and so does not "
            "say what it would bring to the GPU as it is; rows named by keys say what the keys alone come to. "
            "Mechanisms that form warps work within a sub-core; global warp re-formation moves threads between SMs "
            "of one sub-core each, in no time. Inputs are small; a grid fills these machines once at most. Energy is "
            "by the table of a V100 (v100-12nm), as there are no public figures for later GPUs: only ratios mean "
            "something. The database searches stand apart: their kernels alone have hint bits, and their warps work "
            "together, which mechanisms that form warps refuse."},
       runs_of_on_h100,
       judge_on_h100}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> on_h100_entry{on_h100_rows()};

}  // namespace
}  // namespace heddle::studies::side
