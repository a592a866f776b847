// ccws-32: cache-conscious scheduling with the published L1, on kernels whose warps use their own lines again, with the
// core's share of the memory's bandwidth as two readings (Rogers, O'Connor and Aamodt, MICRO 2012).
#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_study.hpp"

namespace heddle::studies::lwm {
namespace {

struct BandwidthShare {
  const char* label;
  std::vector<std::string> settings;
};

const std::vector<BandwidthShare>& bandwidth_shares() {
  static const std::vector<BandwidthShare> all = {{"32 GB/s", {}}, {"8 GB/s", {"dram.bandwidth_gbs=8"}}};
  return all;
}

double misses_of_l1(const tb::Summary& summary) {
  return static_cast<double>(summary.l1d_misses);
}

namespace locality {

enum : std::size_t { kRoundRobin, kLimited, kGreedy, kGreedyLimited, kMachines };
std::vector<Variant> machines() {
  std::vector<Variant> all;
  for (const BandwidthShare& share : bandwidth_shares()) {
    const auto add = [&](const char* label, const char* config, std::vector<std::string> more) {
      more.insert(more.end(), share.settings.begin(), share.settings.end());
      all.push_back(machine(fmt::format("{}, {}", label, share.label), config, std::move(more)));
    };
    add("round robin", "ccws-baseline", {});
    add("round robin, CCWS", "ccws", {});
    add("GTO", "ccws-baseline", {"core.scheduler=gto"});
    add("GTO, CCWS", "ccws", {"core.scheduler=gto"});
  }
  return all;
}
std::vector<StudyWorkload> workloads() {
  return {{"kmeans:dws", 0.05}, {"svm", 0.02}, {"filter", 0.2}, {"short", 0.2}, {"bfs", 0.01}};
}

void judge_one(Finding& finding, const Grid& grid, std::size_t share, std::size_t scheduler) {
  const std::size_t base = share * kMachines + scheduler;
  const double gain = grid.mean_speedup(base + 1, base);
  std::vector<double> ratios;
  for (const std::size_t workload : grid.common()) {
    ratios.push_back(grid.value(base + 1, workload, misses_of_l1) / grid.value(base, workload, misses_of_l1));
  }
  const double fewer = geometric_mean(ratios);
  const std::string over = grid.variants()[base].label;
  finding.ours += fmt::format("{}{} over {}", finding.ours.empty() ? "" : "; ", gain_text(gain), over);
  finding.checks.push_back(main_check("gains over " + over + " on average", gain_text(gain), gain > 1));
  finding.checks.push_back(
      check("by about as much as published (12 to 48 %), over " + over, gain_text(gain), of_a_size(gain - 1, 0.24)));
  finding.checks.push_back(check("with fewer L1 misses than " + over, gain_text(fewer), fewer < 1));
}

ValueTable table(const Grid& grid, std::size_t share) {
  const std::size_t first = share * kMachines;
  ValueTable table{
      fmt::format("Cache-conscious scheduling with an L1 of 32 KB and {}", bandwidth_shares()[share].label),
      {"workload", "CCWS over round robin", "CCWS over GTO", "L1 hits: round robin", "CCWS", "GTO", "GTO, CCWS"},
      {}};
  for (const std::size_t workload : grid.common()) {
    std::vector<std::string> row = {grid.workloads()[workload].name,
                                    gain_text(grid.speedup(first + kLimited, first + kRoundRobin, workload)),
                                    gain_text(grid.speedup(first + kGreedyLimited, first + kGreedy, workload))};
    for (std::size_t machine = first; machine < first + kMachines; ++machine) {
      row.push_back(percent(grid.at(machine, workload)->summary.l1d_hit_rate));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void judge(const Grid& grid, Finding& finding) {
  if (finding.measured == 0) {
    finding.ours = "-";
    return;
  }
  for (std::size_t share = 0; share < bandwidth_shares().size(); ++share) {
    for (const std::size_t scheduler : {kRoundRobin, kGreedy}) {
      judge_one(finding, grid, share, scheduler);
    }
    finding.tables.push_back(table(grid, share));
  }
}

}  // namespace locality

const std::vector<GridRow>& locality_rows() {
  static const std::vector<GridRow> all = {
      {"ccws-32",
       "Cache-conscious scheduling, L1 of 32 KB",
       {.rank = 3011,
        .statement = "Limiting the warps that may issue loads by their lost locality raises the performance of highly "
                     "cache-sensitive kernels by 24 % over earlier schedulers, with 25 % fewer L1 misses",
        .paper = "+24 %; 25 % fewer misses",
        .source = "Rogers, O'Connor and Aamodt, \"Cache-Conscious Wavefront Scheduling\", MICRO 2012 (abstract)",
        .note = "A core that has the memory to itself waits less for what it misses than one that shares it.",
        .caveat =
            "As ccws, with the published L1 of 32 KB, and on kernels whose warps come back to their own lines. One "
            "core with 32 warps stands for the published machine's many: once with all of the memory's bandwidth, once "
            "with a quarter, as if others took the rest. The earlier schedulers are round robin and "
            "greedy-then-oldest here."},
       locality::machines,
       locality::workloads,
       locality::judge}};
  return all;
}

const RegisterRows<GridClaim, GridRow> ccws_locality_entry{locality_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
