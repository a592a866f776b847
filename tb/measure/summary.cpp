#include "tb/measure/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace heddle::tb {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Summary summarise(const hw::Totals& totals, const hw::Machine& machine, std::uint64_t retirement_hash) {
  Summary summary;
  summary.cycles = totals.cycles;
  summary.warp_instructions = totals.warp_instructions;
  summary.thread_instructions = totals.thread_instructions;
  summary.ipc = ratio(totals.thread_instructions, totals.cycles);
  summary.lanes_per_warp_instruction = ratio(totals.lane_instructions, totals.warp_instructions);
  summary.simd_efficiency = summary.lanes_per_warp_instruction / machine.core.simd_width;
  summary.fu_active_cycles = totals.fu_active;
  summary.fu_active_cycles.resize(std::max<std::size_t>(totals.fu_active.size(), machine.core.simd_width + 1U));
  summary.idle_cycles = summary.fu_active_cycles.front();
  summary.idle_cycles_by_cause.cycles = totals.idle;
  summary.branches = totals.branches;
  summary.divergent_branches = totals.divergent_branches;
  summary.memory_instructions = totals.memory_instructions;
  summary.coalescing_rate = ratio(totals.offcore_requests, totals.memory_instructions);
  summary.l1d_accesses = totals.l1d_accesses;
  summary.l1d_hits = totals.l1d_hits;
  summary.l1d_misses = totals.l1d_misses;
  summary.l2_accesses = totals.l2_accesses;
  summary.l2_hits = totals.l2_hits;
  summary.l2_misses = totals.l2_misses;
  summary.l2_merged = totals.l2_merged;
  summary.l2_write_backs = totals.l2_write_backs;
  summary.l2_hit_rate = ratio(totals.l2_hits, totals.l2_accesses);
  summary.icache_misses = totals.icache_misses;
  summary.scratchpad_bank_conflicts = totals.scratchpad_bank_conflicts;
  summary.dram_reads = totals.dram_reads;
  summary.dram_writes = totals.dram_writes;
  summary.dram_row_hits = totals.dram_row_hits;
  summary.dram_row_conflicts = totals.dram_row_conflicts;
  summary.dram_row_hit_rate = ratio(totals.dram_row_hits, totals.dram_row_hits + totals.dram_row_conflicts);
  summary.dram_bus_utilisation = ratio(totals.dram_bus_busy_cycles, totals.cycles * totals.channels);
  summary.barriers = totals.barriers;
  summary.retirement_hash = fmt::format("0x{:016x}", retirement_hash);
  summary.launches = totals.launches;
  summary.blocks = totals.blocks;
  summary.idle_share = ratio(summary.idle_cycles, core_cycles(summary));
  summary.line_requests = totals.line_requests;
  summary.line_requests_per_memory_instruction = ratio(totals.line_requests, totals.memory_instructions);
  summary.offcore_requests = totals.offcore_requests;
  summary.l1d_hit_rate = ratio(totals.l1d_hits, totals.l1d_accesses);
  summary.icache_accesses = totals.icache_accesses;
  summary.scratchpad_accesses = totals.scratchpad_accesses;
  summary.out_of_bounds_loads = totals.out_of_bounds_loads;
  return summary;
}

std::uint64_t core_cycles(const Summary& summary) {
  return std::accumulate(summary.fu_active_cycles.begin(), summary.fu_active_cycles.end(), std::uint64_t{0});
}

std::size_t main_idle_cause(const Summary& summary) {
  const auto& cycles = summary.idle_cycles_by_cause.cycles;
  return static_cast<std::size_t>(std::max_element(cycles.begin(), cycles.end()) - cycles.begin());
}

std::vector<SummaryDeclaration> summary_declarations() {
  std::vector<SummaryDeclaration> declarations;
  const Summary summary;
  summary.describe([&](std::string_view name, const auto&, std::string_view unit, std::string_view definition) {
    declarations.push_back({std::string(name), std::string(unit), std::string(definition)});
  });
  return declarations;
}

}  // namespace heddle::tb
