// progress: scheduling by the progress that kernels report (thesis 9.2.2, 9.2.3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_study.hpp"

namespace heddle::studies::lwm {
namespace {

// Of one machine to another's, geometric mean over the workloads that both have; kNoValue for none.
double mean_ratio(const Grid& grid, std::size_t variant, std::size_t base, const Grid::Figure& figure) {
  std::vector<double> ratios;
  for (const std::size_t workload : grid.common()) {
    const double under = grid.value(base, workload, figure);
    const double over = grid.value(variant, workload, figure);
    if (under > 0 && over > 0) {
      ratios.push_back(over / under);
    }
  }
  return ratios.empty() ? pages::kNoValue : geometric_mean(ratios);
}

double imbalance(const tb::Summary& summary) {
  return summary.barrier_imbalance;
}

namespace progress_at_barriers {

enum : std::size_t { kRoundRobin, kGreedy, kLeast, kTwoLevel, kLeastLevels, kSince, kInside };
std::vector<Variant> machines() {
  return {machine("round robin", "thesis-baseline"),
          machine("GTO", "thesis-baseline", {"core.scheduler=gto"}),
          machine("least progress", "thesis-baseline", {"core.scheduler=least-progress"}),
          machine("2Lev", "thesis-two-level"),
          machine("2Lev least progress", "thesis-two-level",
                  {"two_level.inner_scheduler=least-progress", "two_level.outer_scheduler=least-progress"}),
          machine("least progress since barrier", "thesis-baseline",
                  {"core.scheduler=least-progress", "least_progress.since=barrier"}),
          machine("2Lev least progress inside", "thesis-two-level", {"two_level.inner_scheduler=least-progress"})};
}
std::vector<StudyWorkload> without_calls() {
  return {{"aggregates", 0.25}, {"histogram", 0.1}, {"kmeans", 0.25}, {"reduction", 0.1}, {"matrixmult", 0.1}};
}
std::vector<StudyWorkload> workloads() {
  std::vector<StudyWorkload> all = without_calls();
  for (StudyWorkload& workload : all) {
    workload.name += ":progress";
  }
  return all;
}
// What calling progress() takes, under round robin.
ValueTable price(const Results& results, const Grid& grid) {
  const Grid plain(results, {machines().front()}, without_calls());
  ValueTable table{"What the calls cost under round robin", {"workload", "cycles without", "with"}, {}};
  for (std::size_t workload = 0; workload < plain.workloads().size(); ++workload) {
    const Results::Entry* const without = plain.at(0, workload);
    const Results::Entry* const with = grid.at(kRoundRobin, workload);
    if (without != nullptr && with != nullptr) {
      table.rows.push_back({plain.workloads()[workload].name, fmt::format("{}", without->summary.cycles),
                            fmt::format("{} ({})", with->summary.cycles,
                                        gain_text(static_cast<double>(with->summary.cycles) /
                                                  static_cast<double>(without->summary.cycles)))});
    }
  }
  return table;
}

std::vector<Run> runs() {
  std::vector<Run> all = runs_of(machines(), workloads());
  const std::vector<Run> plain = runs_of({machines().front()}, without_calls());
  all.insert(all.end(), plain.begin(), plain.end());
  return all;
}

Finding judge(const Results& results) {
  const Grid grid(results, machines(), workloads());
  Finding finding;
  count_workloads(finding, grid);
  if (finding.measured == 0) {
    finding.ours = "-";
    return finding;
  }
  const double flat = mean_ratio(grid, kLeast, kRoundRobin, imbalance);
  const double over_greedy = mean_ratio(grid, kLeast, kGreedy, imbalance);
  const double levels = mean_ratio(grid, kLeastLevels, kTwoLevel, imbalance);
  const double speed = common_speedup(grid, kLeast, kRoundRobin);
  const double levels_speed = common_speedup(grid, kLeastLevels, kTwoLevel);
  finding.ours = fmt::format(
      "imbalance {} of round robin's, {} of GTO's, at two levels {} of round robin's there; speed {} and {}",
      percent(flat), percent(over_greedy), percent(levels), gain_text(speed), gain_text(levels_speed));
  const auto fewer = [&](const char* rule, double ratio) {
    finding.checks.push_back(main_check(rule, percent(ratio), ratio < 1));
  };
  fewer("less imbalance at barriers than round robin on average", flat);
  fewer("less than greedy-then-oldest", over_greedy);
  fewer("at both of two levels, less than round robin at both", levels);
  const double since = mean_ratio(grid, kSince, kLeast, imbalance);
  finding.checks.push_back(check("counted since the latest barrier, less imbalance than counted since the start",
                                 percent(since), since < 1));
  const double since_flat = mean_ratio(grid, kSince, kRoundRobin, imbalance);
  finding.checks.push_back(check("and less than round robin", percent(since_flat), since_flat < 1));
  // A fetch group of eight warps is a block of 256 threads: its warps are compared with each other only.
  const double inside = mean_ratio(grid, kInside, kTwoLevel, imbalance);
  finding.checks.push_back(
      check("between the warps of a block only (inside fetch groups of 8), no more than round robin there",
            percent(inside), inside <= 1));
  double widest = 1;  // between schedulers on one workload
  ValueTable table{"Cycles from the first to the last arrival at a barrier, mean", {"workload"}, {}};
  for (const Variant& variant : grid.variants()) {
    table.titles.push_back(variant.label);
  }
  for (const std::size_t workload : grid.common()) {
    std::vector<double> values;
    std::vector<std::string> row = {grid.workloads()[workload].name};
    for (std::size_t variant = 0; variant < grid.variants().size(); ++variant) {
      values.push_back(grid.value(variant, workload, imbalance));
      row.push_back(fmt::format("{:.0f}", values.back()));
    }
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    widest = *least > 0 ? std::max(widest, *most / *least) : widest;
    table.rows.push_back(std::move(row));
  }
  finding.checks.push_back(check("the policy changes a workload's imbalance by half or more",
                                 fmt::format("up to {:.1f} times", widest), widest >= 1.5));
  finding.checks.push_back(check("not slower than round robin on average", gain_text(speed), speed >= 0.995));
  if (const std::size_t aggregates = grid.index_of(workloads().front().name);
      grid.at(kLeast, aggregates) != nullptr && grid.at(kRoundRobin, aggregates) != nullptr) {
    const double of_aggregates =
        grid.value(kLeast, aggregates, imbalance) / grid.value(kRoundRobin, aggregates, imbalance);
    finding.checks.push_back(check("less imbalance on aggregates", percent(of_aggregates), of_aggregates < 1));
  }
  finding.tables.push_back(std::move(table));
  finding.tables.push_back(grid.ipc_table("Speedups over round robin", true));
  finding.tables.push_back(price(results, grid));
  finding.causes = grid.worst(kLeast, kRoundRobin, 3, 0.99);
  return finding;
}

}  // namespace progress_at_barriers

const std::vector<ClaimRow>& progress_at_barriers_rows() {
  static const std::vector<ClaimRow> all = {
      {"progress",
       "Scheduling by the progress that kernels report",
       {.rank = 1184,
        .statement =
            "Warps that reach a barrier last can be a significant bottleneck, and the scheduling policy can "
            "significantly affect the imbalance. A progress register per warp, incremented by a progress() call, "
            "lets the scheduler prioritise warps that have made less progress, which would reduce imbalance by "
            "making warps arrive at the barrier at roughly the same time; it may be particularly useful for "
            "aggregate queries",
        .paper = "expected: less imbalance",
        .source = "thesis, sections 9.2.2 and 9.2.3",
        .note = "Least progress first takes away the imbalance that a scheduler makes, as greedy-then-oldest "
                "does, and round robin makes hardly any on kernels whose warps have the same work. What it "
                "adds there comes from comparing warps that do not wait for each other: with one resident "
                "block, and inputs that give every thread as many rounds, it adds nothing; with several "
                "blocks it does, most when progress is counted since the latest barrier: a block that has "
                "just passed a barrier comes before warps for which their own block waits. Where some "
                "threads have a round more than others, as at the scale here, those without it come first "
                "for the rest of their lives. The speed is lost as warps in step access memory together: "
                "more idle cycles on histogram and aggregates.",
        .caveat =
            "A direction for future work: the thesis has no figures. What was expected before the first run: less "
            "time between the first and the last arrival at a barrier under least progress first than under any "
            "scheduler that does not know progress, flat or at both levels; cycles at least no more than round "
            "robin's. The kernels call progress() in the loops before their barriers, in all runs alike. The second "
            "reading, progress since the latest barrier (least_progress.since), was added after the first results; "
            "what was expected of it before its own: less imbalance than under the first, since loops that end and "
            "blocks that begin leave no differences behind."},
       progress_at_barriers::runs,
       progress_at_barriers::judge}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> progress_entry{progress_at_barriers_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
