// 2lev-causes, tbc-srr-causes, columns-causes, perfect-rf-causes, adaptive-causes, ws-simd-causes: why claims do not
// hold, put to the test. Each runs the two machines of a claim again with one thing changed at a time, on both or on
// the mechanism's alone: what brings the figure to where the paper has it is the cause. A row each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/figures/lwm_forms.hpp"
#include "studies/reproduce/figures/ws_study.hpp"

namespace heddle::studies {
namespace {

struct Change {
  const char* label;
  std::vector<std::string> settings;     // of both machines
  std::vector<std::string> of_one = {};  // of the mechanism's
  double inputs = 1;                     // times the workloads' scales
};

struct CauseRow {
  std::string id;
  std::string title;
  ClaimText text;
  Variant base, machine;  // the figure is the mean speedup of the second over the first
  std::vector<StudyWorkload> (*workloads)();
  std::vector<Change> changes;
  const char* goal;  // what the paper has, to be read after a change: "is of a size with +10.1 %"
  double target;     // the speedup meant by it
  bool (*reached)(double speedup);
};

// The papers' form of the twelve, or their CUDA form, on smaller inputs.
std::vector<StudyWorkload> smaller_twelve(bool pthreads, double share) {
  std::vector<StudyWorkload> all;
  for (const lwm::Benchmark& benchmark : lwm::benchmarks()) {
    all.push_back(pthreads ? StudyWorkload{benchmark.workload.name + ":pthreads", benchmark.pthreads_scale * share}
                           : StudyWorkload{benchmark.workload.name, benchmark.workload.scale * share});
  }
  return all;
}
std::vector<StudyWorkload> papers_twelve() {
  return smaller_twelve(true, 1);
}
std::vector<StudyWorkload> cuda_twelve() {
  return smaller_twelve(false, 0.2);
}

bool faster(double speedup) {
  return speedup > 1;
}

const std::vector<CauseRow>& cause_rows() {
  static const std::vector<CauseRow> all = {
      {"2lev-causes",
       "What two-level scheduling loses by",
       {.rank = 1056,
        .statement =
            "Two-level scheduling gains about as much as the papers' 10.1 % where one of these is otherwise: rows of "
            "DRAM, the cost of a conflict, one queue for all banks, spilled registers, groups that drift apart, for "
            "longer the "
            "longer they run",
        .paper = "+10.1 %",
        .source = "LWM report, sections 3.2 and 6.1, table 1",
        .caveat =
            "An experiment on 2lev-avg and the claims that rest on it, with the rule \"stalled\": one thing changed at "
            "a time, round robin and two-level scheduling alike."},
       lwm::baseline(),
       lwm::machine("2Lev", "two-level", {"two_level.fetch_group_rule=stalled"}),
       papers_twelve,
       {{"as it is", {}},
        {"rows of 1 KB", {"dram.row_bytes=1024"}},
        {"conflicts as short as hits", {"dram.row_conflict=100"}},
        {"a queue per bank", {"dram.scheduler=fcfs-per-bank"}},
        {"row hits first", {"dram.scheduler=fr-fcfs"}},
        {"nothing spills", {"core.registers=64512", "core.registers_per_thread=63"}},
        {"spills on the chip", {"private.bytes=128"}},
        {"a bound of 1K instructions", {}, {"two_level.fetch_group_timeout=1024"}},
        {"a quarter of the bandwidth", {"dram.bandwidth_gbs=8"}},
        {"inputs of two fifths", {}, {}, 0.4}},
       "is of a size with +10.1 %",
       1.101,
       [](double speedup) { return of_a_size(speedup - 1, 0.101); }},
      {"tbc-srr-causes",
       "What sticky round robin loses by",
       {.rank = 1105,
        .statement =
            "Sticky round robin is better than round robin under thread block compaction where blocks that drift apart "
            "cost no row hits",
        .paper = "slightly better",
        .source = "thesis, section 5.2.1",
        .caveat = "An experiment on tbc-srr: one thing changed at a time, both schedulers alike. In the CUDA form, as "
                  "in the papers' form all threads are one block, to which nothing can stick."},
       lwm::machine("TBC, round robin", "tbc", {"core.scheduler=round-robin"}),
       lwm::machine("TBC, sticky", "tbc"),
       cuda_twelve,
       {{"as it is", {}},
        {"conflicts as short as hits", {"dram.row_conflict=100"}},
        {"a queue per bank", {"dram.scheduler=fcfs-per-bank"}},
        {"row hits first", {"dram.scheduler=fr-fcfs"}}},
       "is faster",
       1,
       faster},
      {"columns-causes",
       "Free packing on blackjack by threads per column",
       {.rank = 1121,
        .statement =
            "One thread per column comes within 90 % of free packing on blackjack, too, where a warp has more threads "
            "per column, over which its few active ones lie more evenly",
        .paper = "within 10 %",
        .source = "thesis, section 5.2.2.2, figure 5.4",
        .caveat = "An experiment on lwm-perfect-rf."},
       lwm::thesis_large(),
       lwm::machine("LWM perfect RF", "thesis-lwm", {"core.former=packed-freely"}),
       [] {
         return std::vector<StudyWorkload>{{"blackjack:pthreads", 0.1}};
       },
       {{"256 threads, as it is", {}},
        {"64 threads", {"core.warp_size=64"}},
        {"128 threads", {"core.warp_size=128"}},
        {"512 threads", {"core.warp_size=512"}},
        {"1024 threads", {"core.warp_size=1024"}}},
       "is within 10 %",
       1 / 0.9,
       [](double speedup) { return speedup < 1 / 0.9; }},
      {"perfect-rf-causes",
       "Free packing on sort by memory",
       {.rank = 1122,
        .statement = "Free packing gains about 15.2 % on sort where the time does not go into memory",
        .paper = "+15.2 %",
        .source = "thesis, section 5.2.2.2, figure 5.4",
        .caveat = "An experiment on lwm-perfect-rf."},
       lwm::thesis_large(),
       lwm::machine("LWM perfect RF", "thesis-lwm", {"core.former=packed-freely"}),
       [] {
         return std::vector<StudyWorkload>{{"sort:pthreads", 0.05}};
       },
       {{"as it is", {}},
        {"conflicts as short as hits", {"dram.row_conflict=100"}},
        {"memory that answers at once", {"gpu.perfect_memory=true"}}},
       "is of a size with +15.2 %",
       1.152,
       [](double speedup) { return of_a_size(speedup - 1, 0.152); }},
      {"adaptive-causes",
       "What the adaptive scheduler loses by",
       {.rank = 1183,
        .statement =
            "The adaptive scheduler is better than round robin at both levels where no candidate does harm that "
            "outlives its sample, or samples are longer",
        .paper = "expected: better",
        .source = "thesis, section 9.2.2",
        .caveat = "An experiment on adaptive-2lev: what is tried, and for how long."},
       {"8 RR/RR", "thesis-two-level", {}},
       lwm::machine("adaptive", "thesis-two-level", {"core.scheduler=two-level-adaptive"}),
       [] {
         return std::vector<StudyWorkload>{{"sort", 0.1},      {"kmeans", 0.25},    {"blackscholes", 0.15},
                                           {"needleman", 0.1}, {"matrixmult", 0.1}, {"hotspot", 0.15},
                                           {"histogram", 0.1}, {"reduction", 0.1}};
       },
       {{"as it is", {}},
        {"without greedy-then-oldest", {}, {"two_level_adaptive.inner_schedulers=round-robin"}},
        {"without oldest", {}, {"two_level_adaptive.outer_schedulers=round-robin"}},
        {"one try alone", {}, {"two_level_adaptive.run=1000000000"}},
        {"row hits first", {"dram.scheduler=fr-fcfs"}}},
       "is faster",
       1,
       faster},
      {"ws-simd-causes",
       "Wide warps by what their stores cost",
       {.rank = 5006,
        .statement =
            "With eight lanes, warps of 16 are faster than warps of 64 where half lines that are stored meet in the "
            "L1, or memory has room for them",
        .paper = "1 to 2 times the width",
        .source = "warp-size study, section 1, figure 1",
        .caveat = "An experiment on ws-simd: L1s that write back (ws-write-back), and more bandwidth."},
       {"64", "ws-64", {}},
       {"16", "ws-16", {}},
       ws::workloads,
       {{"as it is", {}},
        {"L1s that write back", {"gpu.coherence=launch", "l1d.write_policy=write-back"}},
        {"DRAM of half the cycle", {"jedec.tck_ps=625"}}},
       "is faster",
       1,
       [](double speedup) { return speedup > 1.005; }},
  };
  return all;
}

class CauseClaim final : public Claim {
 public:
  explicit CauseClaim(const CauseRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override {
    std::vector<Run> all;
    for (const Change& change : row_.changes) {
      const std::vector<Run> runs = runs_of(machines(change), workloads(change));
      all.insert(all.end(), runs.begin(), runs.end());
    }
    return all;
  }
  [[nodiscard]] Finding judge(const Results& results) const override {
    Finding finding;
    finding.wanted = row_.workloads().size();
    finding.measured = finding.wanted;
    std::vector<Grid> grids;  // by change
    for (const Change& change : row_.changes) {
      grids.emplace_back(results, machines(change), workloads(change));
      finding.measured = std::min(finding.measured, grids.back().common().size());
    }
    if (finding.measured == 0) {
      finding.ours = "-";
      return finding;
    }
    ValueTable each{
        fmt::format("{} over {}, by what is changed", row_.machine.label, row_.base.label), {"workload"}, {}};
    for (const StudyWorkload& workload : row_.workloads()) {
      each.rows.push_back({workload.name});
    }
    bool already = false;  // then there is nothing to explain
    double first = 1;
    std::string causes;
    std::string halfway;
    for (std::size_t i = 0; i != row_.changes.size(); ++i) {
      const char* const label = row_.changes[i].label;
      const double gain = grids[i].mean_speedup(1, 0);
      finding.ours += fmt::format("{}{} {}", i == 0 ? "" : "; ", label, gain_text(gain));
      const bool reached = row_.reached(gain);
      first = i == 0 ? gain : first;
      if (i != 0 && std::abs(row_.target - gain) <= std::abs(row_.target - first) / 2) {
        halfway += fmt::format("{}{} {}", halfway.empty() ? "" : "; ", label, gain_text(gain));
      }
      already = already || (i == 0 && reached);
      if (i != 0 && reached) {
        causes += fmt::format("{}{} {}", causes.empty() ? "" : "; ", label, gain_text(gain));
      }
      each.titles.emplace_back(label);
      for (std::size_t workload = 0; workload != each.rows.size(); ++workload) {
        each.rows[workload].push_back(gain_text(grids[i].speedup(1, 0, workload)));
      }
    }
    const auto none = [&](const std::string& list) {
      return already ? "without any" : list.empty() ? "with none" : list;
    };
    finding.checks = {
        main_check(fmt::format("with one of the changes it {}, and not without", row_.goal), none(causes),
                   !already && !causes.empty()),
        main_check("with one of them half of what is missing is made up", none(halfway), !already && !halfway.empty())};
    finding.tables.push_back(std::move(each));
    return finding;
  }

 private:
  // The base and the mechanism.
  [[nodiscard]] std::vector<Variant> machines(const Change& change) const {
    std::vector<Variant> both = {row_.base, row_.machine};
    for (Variant& variant : both) {
      variant.settings.insert(variant.settings.end(), change.settings.begin(), change.settings.end());
    }
    both[1].settings.insert(both[1].settings.end(), change.of_one.begin(), change.of_one.end());
    return both;
  }
  [[nodiscard]] std::vector<StudyWorkload> workloads(const Change& change) const {
    std::vector<StudyWorkload> all = row_.workloads();
    for (StudyWorkload& workload : all) {
      workload.scale *= change.inputs;
    }
    return all;
  }

  const CauseRow& row_;
};

const RegisterRows<CauseClaim, CauseRow> cause_entries{cause_rows()};

}  // namespace
}  // namespace heddle::studies
