#include "studies/reproduce/figures/lwm_gains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::studies::lwm {

Finding judge_gains(const Placed& placed, const std::vector<Gain>& gains) {
  Finding finding;
  std::size_t measured = twelve().size();
  for (const Gain& gain : gains) {
    Finding counted;
    count_workloads(counted, placed, {gain.over, gain.machine});
    measured = std::min(measured, counted.measured);
    const Spread speedup = mean_speedup(placed, gain.machine, gain.over);
    const std::string text = spread_text(speedup);
    if (!finding.ours.empty()) {
      finding.ours += "; ";
    }
    finding.ours += fmt::format("{} ({})", text, gain.machine.label);
    if (!std::isfinite(speedup.median)) {
      continue;
    }
    const bool faster = gain.paper > 0;
    finding.checks.push_back(main_check(
        fmt::format("{} is {} than {} on average", gain.machine.label, faster ? "faster" : "slower", gain.over.label),
        text, faster ? speedup.median > 1 : speedup.median < 1));
    finding.checks.push_back(
        check(fmt::format("the mean gain is of a size with the paper's {:+.1f} %", 100 * gain.paper), text,
              of_a_size(speedup.median - 1, gain.paper)));
    const Grid grid(placed.as_is, {gain.over, gain.machine}, twelve());
    finding.charts.push_back(grid.ipc_chart(fmt::format("IPC of {} and {}", gain.over.label, gain.machine.label)));
    finding.tables.push_back(
        placement_table(placed, gain.machine, gain.over, fmt::format("Speedup of {}", gain.machine.label)));
    if (speedup.median - 1 < gain.paper) {
      const std::vector<std::string> worst = grid.worst(1, 0, 3, 1 + gain.paper / 2);
      finding.causes.insert(finding.causes.end(), worst.begin(), worst.end());
    }
  }
  finding.measured = measured;
  finding.wanted = twelve().size();
  return finding;
}

std::vector<Run> runs_for(const std::vector<Gain>& gains) {
  std::vector<Run> runs;
  for (const Gain& gain : gains) {
    const std::vector<Run> more = runs_of({gain.over, gain.machine}, twelve());
    runs.insert(runs.end(), more.begin(), more.end());
  }
  return runs;
}

Finding judge_groups(const Placed& placed, const std::vector<Variant>& machines, const Group& gaining,
                     const Group& spared) {
  Finding finding;
  count_workloads(finding, placed, machines);
  for (const std::size_t base : {std::size_t{0}, std::size_t{2}}) {
    const Variant& over = machines[base];
    const Variant& machine = machines[base + 1];
    const Spread gain = mean_speedup(placed, machine, over, gaining.workloads);
    const Spread rest = mean_speedup(placed, machine, over, spared.workloads);
    if (!std::isfinite(gain.median) || !std::isfinite(rest.median)) {
      continue;
    }
    const std::string where = base == 0 ? "report" : "thesis";
    finding.ours +=
        fmt::format("{}{} and {} ({})", finding.ours.empty() ? "" : "; ", spread_text(gain), spread_text(rest), where);
    finding.checks.push_back(main_check(fmt::format("the {} gain 5 % or more on average ({})", gaining.name, where),
                                        spread_text(gain), gain.median >= 1.05));
    finding.checks.push_back(main_check(fmt::format("they gain more than the {} ({})", spared.name, where),
                                        spread_text(gain) + " and " + spread_text(rest), gain.median > rest.median));
    finding.checks.push_back(check(fmt::format("the {} change by 3 % or less on average ({})", spared.name, where),
                                   spread_text(rest), std::abs(rest.median - 1) <= 0.03));
    const Grid grid(placed.as_is, {over, machine}, twelve());
    finding.charts.push_back(grid.ipc_chart("IPC, " + where));
    const std::vector<std::string> worst = grid.worst(1, 0, 3, 0.98);
    finding.causes.insert(finding.causes.end(), worst.begin(), worst.end());
  }
  finding.tables.push_back(Grid(placed.as_is, machines, twelve()).ipc_table("IPC", false));
  return finding;
}

}  // namespace heddle::studies::lwm
