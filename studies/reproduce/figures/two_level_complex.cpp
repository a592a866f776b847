// 2lev-complex: two-level scheduling before slow functional units (LWM report 3.2.2).
#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_study.hpp"

namespace heddle::studies::lwm {
namespace {

// The two forms of the one workload with many complex operations (square root and division; in the CUDA form logarithm
// and exponential, too).
std::vector<StudyWorkload> options() {
  return {{"blackscholes:pthreads", 0.25}, {"blackscholes", 0.5}};
}

namespace complex_operations {

enum : std::size_t { kRoundRobin, kUncounted, kCounted };
// Share of the cycles.
double waiting(const Grid& grid, std::size_t variant, std::size_t workload) {
  return grid.value(variant, workload, [](const tb::Summary& summary) {
    const auto cause = static_cast<std::size_t>(hw::IdleCause::complex);
    return static_cast<double>(summary.idle_cycles_by_cause.cycles[cause]) / static_cast<double>(summary.cycles);
  });
}
std::vector<Variant> machines() {
  const std::vector<std::string> shared = {"dram.row_hit=20", "dram.row_conflict=20", "dram.bandwidth_gbs=256",
                                           "core.complex_interval=8"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), shared.begin(), shared.end());
    return more;
  };
  return {machine("round robin", "baseline", shared),
          machine("2Lev", "two-level", with({"two_level.fetch_group_rule=stalled"})),
          machine("2Lev, complex counts", "two-level",
                  with({"two_level.fetch_group_rule=stalled", "core.complex_long_latency=true"}))};
}

void judge(const Grid& grid, Finding& finding) {
  if (finding.measured == 0) {
    finding.ours = "-";
    return;
  }
  const double counted = grid.mean_speedup(kCounted, kRoundRobin);
  const double uncounted = grid.mean_speedup(kUncounted, kRoundRobin);
  finding.ours = fmt::format("{} over round robin, {} without counting them", gain_text(counted), gain_text(uncounted));
  finding.checks.push_back(
      main_check("two-level scheduling that counts them is faster than round robin", gain_text(counted), counted > 1));
  finding.checks.push_back(
      main_check("it is faster than two-level scheduling that does not", finding.ours, counted > uncounted));
  for (const std::size_t workload : grid.common()) {
    const double before = waiting(grid, kRoundRobin, workload);
    const double after = waiting(grid, kCounted, workload);
    finding.checks.push_back(check("fewer cycles idle for complex operations: " + grid.workloads()[workload].name,
                                   percent(before) + " to " + percent(after), after < before));
    finding.causes.push_back(grid.diagnosis(kCounted, kRoundRobin, workload));
  }
  finding.charts.push_back(grid.ipc_chart("IPC where complex operations decide"));
  finding.tables.push_back(grid.ipc_table("Speedups over round robin", true));
}

}  // namespace complex_operations

const std::vector<GridRow>& complex_operations_rows() {
  static const std::vector<GridRow> all = {
      {"2lev-complex",
       "Two-level scheduling and complex operations",
       {.rank = 1142,
        .statement =
            "Two-level scheduling tolerates any type of stall: if all warps arrive at a complex instruction at the "
            "same time there is significant stalling, while a fetch group that arrives alone leaves others simple "
            "instructions to execute while it slowly gets through. Expected: where complex operations decide, "
            "two-level scheduling that counts them as long latencies (core.complex_long_latency) is faster than round "
            "robin, and than without counting them",
        .paper = "no figure",
        .source = "LWM report, section 3.2.2",
        .note = "Complex operations leave little idle time to take away even so, since a queue before their "
                "unit (core.complex_queue) lets warps that come together go on one by one. Counting the "
                "operations takes much of that time away, as the report says. In the CUDA form two-level "
                "scheduling, with or without counting, adds more cycles in which all warps that do not wait "
                "are in the pipeline, at any size of the input.",
        .caveat =
            "On a machine whose memory hardly stalls (every DRAM access 20 cycles, 256 GB/s) and whose complex unit "
            "starts an operation every 8 cycles, so that complex operations are what warps wait for.",
        .given = {"20 cycles", "256 GB/s", "8 cycles"}},
       complex_operations::machines,
       options,
       complex_operations::judge}};
  return all;
}

const RegisterRows<GridClaim, GridRow> complex_operations_entry{complex_operations_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
