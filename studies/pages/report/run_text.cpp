#include "studies/pages/report/run_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "studies/pages/report/fu_classes.hpp"

namespace heddle::pages {
namespace {

constexpr std::size_t kShareBarWidth = 30;

void line(std::string& out, std::string_view name, const std::string& value, std::string_view meaning) {
  out += fmt::format("  {:<24}{:>16}  {}\n", name, value, meaning);
}

void share_line(std::string& out, std::string_view name, double share, std::string_view meaning) {
  out += fmt::format("    {:<18}{} {:>7}  {}", name, bar(share, kShareBarWidth), percent(share), meaning);
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

std::string headline(const tb::RunRecord& record) {
  std::string out = fmt::format("{} on {}: ", record.workload, record.machine.name);
  if (!record.complete) {
    out += "INCOMPLETE";
  } else if (!record.verdict) {
    out += "ran; no result was checked";
  } else {
    out += record.verdict->correct ? "result correct" : "RESULT WRONG";
  }
  if (record.verdict && !record.verdict->detail.empty()) {
    out += " (" + record.verdict->detail + ")";
  }
  out += '\n';
  if (record.scale && record.seed) {
    out += fmt::format("  scale {:g}, seed {}\n", *record.scale, *record.seed);
  }
  for (const auto& [kernel, threads] : record.warp_sizes) {
    out += fmt::format("  kernel {} ran with warps of {} threads instead of core.warp_size = {}\n", kernel, threads,
                       record.machine.core.warp_size);
  }
  if (!record.stop_reason.empty()) {
    out += "  stopped: " + record.stop_reason + "\n";
  }
  return out;
}

// Of launches on a machine with a global pool: in how many threads could move, and why not in others.
std::string moves_text(const tb::Summary& summary) {
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t launches, std::string_view form) {
    if (launches != 0) {
      const std::string counted = fmt::format("{} launch{}", grouped(launches), launches == 1 ? "" : "es");
      parts.push_back(fmt::format(fmt::runtime(form), counted));
    }
  };
  add(summary.moving_launches - summary.scratchpad_launches, "freely in {}");
  add(summary.scratchpad_launches, "after the last access to the scratchpad in {}");
  add(summary.staying_launches, "not in {} with scratchpad (odgs.scratchpad)");
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_work(std::string& out, const tb::Summary& summary, const hw::Machine& machine) {
  out += "\nWork\n";
  line(out, "cycles", grouped(summary.cycles),
       fmt::format("{} launch{}, {}", summary.launches, summary.launches == 1 ? "" : "es",
                   counted(summary.blocks, "block")));
  line(out, "warp instructions", grouped(summary.warp_instructions), "retired; one per sub-warp");
  line(out, "thread instructions", grouped(summary.thread_instructions), "active lanes of all of them");
  line(out, "IPC", fmt::format("{:.2f}", summary.ipc),
       fmt::format("thread instructions per cycle, {} at most", machine.core.simd_width * hw::all_sub_cores(machine)));
  line(out, "lanes per instruction", fmt::format("{:.2f}", summary.lanes_per_warp_instruction),
       fmt::format("of {}; less when branches split warps", machine.core.simd_width));
  line(out, "divergent branches", grouped(summary.divergent_branches),
       fmt::format("of {} conditional branches", grouped(summary.branches)));
  line(out, "barriers", grouped(summary.barriers), "released");
  if (summary.moving_launches + summary.staying_launches != 0) {
    line(out, "warps that moved", grouped(summary.diverged_warps), moves_text(summary));
  }
}

void add_use(std::string& out, const tb::Summary& summary) {
  const auto all = static_cast<double>(tb::core_cycles(summary));
  if (all == 0) {
    return;
  }
  out += "\nFunctional units active per cycle\n";
  for (const FuClass& part : fu_classes(summary.fu_active_cycles)) {
    share_line(out, part.label, static_cast<double>(part.cycles) / all, part.first == 0 ? "idle" : "");
  }
  if (summary.idle_cycles == 0) {
    return;
  }
  out += fmt::format("\nIdle cycles by cause: {} ({} of all)\n", grouped(summary.idle_cycles),
                     percent(summary.idle_share));
  std::vector<std::size_t> order(hw::kIdleCauseCount);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& cycles = summary.idle_cycles_by_cause.cycles;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cycles[a] > cycles[b]; });
  for (const std::size_t cause : order) {
    if (cycles[cause] != 0) {
      share_line(out, hw::kIdleCauses[cause].name,
                 static_cast<double>(cycles[cause]) / static_cast<double>(summary.idle_cycles),
                 hw::kIdleCauses[cause].meaning);
    }
  }
}

void add_memory(std::string& out, const tb::Summary& summary) {
  out += "\nMemory\n";
  line(out, "memory instructions", grouped(summary.memory_instructions), "warp instructions to global memory");
  line(out, "lines per instruction", fmt::format("{:.2f}", summary.line_requests_per_memory_instruction),
       "distinct lines; 1 is perfect coalescing");
  line(out, "coalescing rate", fmt::format("{:.3f}", summary.coalescing_rate),
       "off-core requests per memory instruction");
  line(out, "L1D hit rate", percent(summary.l1d_hit_rate),
       fmt::format("of {} line accesses", grouped(summary.l1d_accesses)));
  line(out, "I-cache misses", grouped(summary.icache_misses),
       fmt::format("of {} fetches", grouped(summary.icache_accesses)));
  line(out, "bank conflicts", grouped(summary.scratchpad_bank_conflicts),
       fmt::format("extra cycles in {} scratchpad accesses", grouped(summary.scratchpad_accesses)));
  const std::uint64_t lines = summary.dram_reads + summary.dram_writes;
  line(out, "DRAM lines", grouped(lines),
       fmt::format("{} read, {} written", grouped(summary.dram_reads), grouped(summary.dram_writes)));
  if (lines == 0 || summary.dram_row_hits + summary.dram_row_conflicts != 0) {  // dram.timing = "none" has no rows
    line(out, "DRAM row-hit rate", percent(summary.dram_row_hit_rate), "accesses that found their row open");
    line(out, "DRAM bus use", percent(summary.dram_bus_utilisation), "of the bandwidth");
  }
}

std::string launch_count(std::uint64_t launches) {
  return grouped(launches) + (launches == 1 ? " launch" : " launches");
}

void add_selection(std::string& out, const tb::LaunchSelection& selection) {
  const bool blocks = selection.what().blocks > 1;
  out += blocks ? "\nLaunches and blocks that were interpreted (all else is of those that were simulated)\n"
                : "\nLaunches that were interpreted (all else is of those that were simulated)\n";
  for (const auto& [kernel, launches] : selection.kernels()) {
    line(out, "  " + kernel, fmt::format("{} of {}", launches.interpreted, launches.interpreted + launches.simulated),
         launches.estimated_cycles()
             ? fmt::format("{} cycles simulated, {} estimated for all", grouped(launches.cycles),
                           grouped(static_cast<std::uint64_t>(std::llround(*launches.estimated_cycles()))))
             : "none was simulated");
    if (launches.in_part != 0) {
      line(out, "    blocks", fmt::format("{} of {}", launches.blocks - launches.blocks_simulated, launches.blocks),
           fmt::format("in {}", launch_count(launches.in_part)));
    }
    if (launches.blocks_differing != 0) {
      line(out, "    differing", grouped(launches.blocks_differing),
           "of the blocks simulated did other things than in the interpreter: the order of their threads matters");
    }
    if (!launches.whole_because.empty()) {
      out += fmt::format("    {} simulated whole: {}\n", launch_count(launches.simulated - launches.in_part),
                         launches.whole_because);
    }
  }
  if (const std::optional<double> cycles = selection.estimated_cycles()) {
    line(out, "estimated cycles", grouped(static_cast<std::uint64_t>(std::llround(*cycles))),
         fmt::format("of all {}, by thread instructions: those simulated for those interpreted of the same kernel",
                     blocks ? "launches and blocks" : "launches"));
  }
}

void add_energy(std::string& out, const tb::Energy& energy) {
  out += fmt::format("\nEnergy by the table {}\n", energy.table);
  line(out, "energy", fmt::format("{:.3f} uJ", energy.pj * 1e-6), "of the activities and the leakage that it names");
  line(out, "mean power", fmt::format("{:.3f} mW", energy.average_mw),
       fmt::format("over {:.3f} us of the machine's clock", energy.nanoseconds * 1e-3));
  line(out, "energy-delay product", fmt::format("{:.3f} uJ us", energy.delay_product * 1e-9), "energy times that time");
  for (const tb::Energy::Kind& kind : energy.kinds) {
    line(out, "  " + kind.name, percent(energy.pj == 0 ? 0 : kind.pj / energy.pj),
         fmt::format("{:.3f} uJ, {:.3f} of them leakage", kind.pj * 1e-6, kind.leakage_pj * 1e-6));
  }
}

void add_host(std::string& out, const tb::Summary& summary, const tb::HostCost& cost) {
  const double seconds = cost.simulation_cpu_seconds;
  out += "\nHost\n";
  line(out, "simulation", fmt::format("{:.2f} s", seconds), "CPU time inside launches");
  if (seconds > 0) {
    line(out, "speed", scaled(static_cast<double>(summary.cycles) / seconds), "simulated cycles per CPU second");
    line(out, "", scaled(static_cast<double>(summary.warp_instructions) / seconds), "warp instructions per CPU second");
  }
  line(out, "peak memory", bytes_text(cost.peak_memory_bytes),
       fmt::format("of it {} device memory", bytes_text(cost.device_memory_bytes)));
}

}  // namespace

std::string run_text(const tb::RunRecord& record, const tb::HostCost& cost) {
  std::string out = headline(record);
  add_work(out, record.summary, record.machine);
  if (record.selection) {
    add_selection(out, *record.selection);
  }
  add_use(out, record.summary);
  add_memory(out, record.summary);
  if (record.energy) {
    add_energy(out, *record.energy);
  }
  add_host(out, record.summary, cost);
  out += fmt::format("\nretirement hash {}\n", record.summary.retirement_hash);
  return out;
}

}  // namespace heddle::pages
