// The summary of a run: every figure declared once, with unit and definition, in the order in which stats.json, the
// listings and docs/statistics.md show them. Derived figures follow docs/statistics.md; a ratio whose denominator is
// zero is 0.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "hw/state/totals.hpp"

namespace heddle::tb {

// Core cycles by hw::IdleCause; an object of one number per cause in stats.json.
struct IdleByCause {
  std::array<std::uint64_t, hw::kIdleCauseCount> cycles{};
};

struct Summary {
  std::uint64_t cycles = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  double ipc = 0;
  double lanes_per_warp_instruction = 0;
  double simd_efficiency = 0;
  std::vector<std::uint64_t> fu_active_cycles;
  std::uint64_t idle_cycles = 0;
  IdleByCause idle_cycles_by_cause;
  std::uint64_t branches = 0;
  std::uint64_t divergent_branches = 0;
  std::uint64_t memory_instructions = 0;
  double coalescing_rate = 0;
  std::uint64_t l1d_accesses = 0;
  std::uint64_t l1d_hits = 0;
  std::uint64_t l1d_misses = 0;
  std::uint64_t icache_misses = 0;
  std::uint64_t scratchpad_bank_conflicts = 0;
  std::uint64_t dram_reads = 0;
  std::uint64_t dram_writes = 0;
  std::uint64_t dram_row_hits = 0;
  std::uint64_t dram_row_conflicts = 0;
  double dram_row_hit_rate = 0;
  double dram_bus_utilisation = 0;
  std::uint64_t barriers = 0;
  std::string retirement_hash;
  // Beyond the papers' figures.
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  double idle_share = 0;
  std::uint64_t line_requests = 0;
  double line_requests_per_memory_instruction = 0;
  std::uint64_t offcore_requests = 0;
  double l1d_hit_rate = 0;
  std::uint64_t icache_accesses = 0;
  std::uint64_t scratchpad_accesses = 0;
  std::uint64_t l2_accesses = 0;
  std::uint64_t l2_hits = 0;
  std::uint64_t l2_misses = 0;
  std::uint64_t l2_merged = 0;
  std::uint64_t l2_write_backs = 0;
  double l2_hit_rate = 0;
  std::uint64_t out_of_bounds_loads = 0;

  // visit(name, field, unit, definition), in order.
  template <class Visitor>
  void describe(Visitor&& visit) {
    describe_fields(*this, visit);
  }
  template <class Visitor>
  void describe(Visitor&& visit) const {
    describe_fields(*this, visit);
  }

 private:
  template <class Self, class Visitor>
  static void describe_fields(Self& self, Visitor& visit) {
    visit("cycles", self.cycles, "cycles", "from the start of the first launch to the end of the last, back to back");
    visit("warp_instructions", self.warp_instructions, "warp instructions",
          "sub-warps retired: one per warp instruction when the warp is as wide as the SIMD unit");
    visit("thread_instructions", self.thread_instructions, "thread instructions",
          "active lanes of all retired warp instructions (active in the mask and guard true)");
    visit("ipc", self.ipc, "thread instructions per cycle",
          "thread_instructions / cycles: active threads per retired warp instruction, summed (LWM report, section 5)");
    visit("lanes_per_warp_instruction", self.lanes_per_warp_instruction, "lanes",
          "active lanes per retired warp instruction (LWM report, table 2); an unconditional branch that takes one "
          "sub-warp counts the lanes of that");
    visit("simd_efficiency", self.simd_efficiency, "share", "lanes_per_warp_instruction / core.simd_width");
    visit("fu_active_cycles", self.fu_active_cycles, "core cycles",
          "entry n: core cycles with n functional units active, n from 0 to core.simd_width (LWM report, figure 1)");
    visit("idle_cycles", self.idle_cycles, "core cycles",
          "core cycles with no functional unit active; fu_active_cycles[0]");
    visit("idle_cycles_by_cause", self.idle_cycles_by_cause, "core cycles",
          "the idle cycles by their one cause; the causes add up to idle_cycles");
    visit("branches", self.branches, "warp instructions", "conditional branches retired");
    visit("divergent_branches", self.divergent_branches, "warp instructions",
          "of branches: those after which a warp's threads go both ways");
    visit("memory_instructions", self.memory_instructions, "warp instructions",
          "loads, stores and atomics in the global space");
    visit("coalescing_rate", self.coalescing_rate, "requests per instruction",
          "offcore_requests / memory_instructions (warp-size study, equation 1)");
    visit("l1d_accesses", self.l1d_accesses, "lines", "line accesses to the L1 data caches");
    visit("l1d_hits", self.l1d_hits, "lines", "of l1d_accesses: line present");
    visit("l1d_misses", self.l1d_misses, "lines", "of l1d_accesses: line absent");
    visit("icache_misses", self.icache_misses, "lines", "instruction fetches whose line was absent");
    visit("scratchpad_bank_conflicts", self.scratchpad_bank_conflicts, "cycles",
          "extra cycles of scratchpad accesses whose lanes met in one bank");
    visit("dram_reads", self.dram_reads, "lines", "lines read from memory, all channels");
    visit("dram_writes", self.dram_writes, "lines", "lines written to memory, all channels");
    visit("dram_row_hits", self.dram_row_hits, "lines", "DRAM accesses that found their row open");
    visit("dram_row_conflicts", self.dram_row_conflicts, "lines", "DRAM accesses that had to open their row");
    visit("dram_row_hit_rate", self.dram_row_hit_rate, "share", "dram_row_hits / (dram_row_hits + dram_row_conflicts)");
    visit("dram_bus_utilisation", self.dram_bus_utilisation, "share",
          "cycles in which a channel's bus moves a line / (cycles x channels)");
    visit("barriers", self.barriers, "releases", "barriers at which all expected threads arrived");
    visit("retirement_hash", self.retirement_hash, "hexadecimal",
          "every thread's program counters and written values in its program order, folded; equal hashes mean equal "
          "instruction streams");
    visit("launches", self.launches, "launches", "kernel launches");
    visit("blocks", self.blocks, "blocks", "thread blocks finished");
    visit("idle_share", self.idle_share, "share", "idle_cycles / all core cycles");
    visit("line_requests", self.line_requests, "lines", "distinct lines that the memory instructions needed");
    visit("line_requests_per_memory_instruction", self.line_requests_per_memory_instruction, "lines per instruction",
          "line_requests / memory_instructions: 1 is perfect coalescing, core.simd_width none");
    visit("offcore_requests", self.offcore_requests, "requests", "data requests that left the cores towards memory");
    visit("l1d_hit_rate", self.l1d_hit_rate, "share", "l1d_hits / l1d_accesses");
    visit("icache_accesses", self.icache_accesses, "lines", "instruction fetches");
    visit("scratchpad_accesses", self.scratchpad_accesses, "warp instructions", "accesses to the scratchpad");
    visit("l2_accesses", self.l2_accesses, "lines", "requests to the L2, all slices; 0 where there is none");
    visit("l2_hits", self.l2_hits, "lines", "of l2_accesses: line present");
    visit("l2_misses", self.l2_misses, "lines", "of l2_accesses: line absent");
    visit("l2_merged", self.l2_merged, "lines",
          "of l2_misses: those that joined a line already on its way (MSHR hits)");
    visit("l2_write_backs", self.l2_write_backs, "lines", "dirty lines that the L2 wrote to memory");
    visit("l2_hit_rate", self.l2_hit_rate, "share", "l2_hits / l2_accesses");
    visit(
        "out_of_bounds_loads", self.out_of_bounds_loads, "loads",
        "threads' loads that lay out of bounds and read 0 (core.load_trap = false); the list of that name says where");
  }
};

// `retirement_hash` is isa::RetirementHash::total().
[[nodiscard]] Summary summarise(const hw::Totals& totals, const hw::Machine& machine, std::uint64_t retirement_hash);

// Core cycles in all: the sum of fu_active_cycles.
[[nodiscard]] std::uint64_t core_cycles(const Summary& summary);

// The cause of most idle cycles (the first among equals); meaningless when there are none.
[[nodiscard]] std::size_t main_idle_cause(const Summary& summary);

// What the declarations say, for the listings.
struct SummaryDeclaration {
  std::string name;
  std::string unit;
  std::string definition;
};
[[nodiscard]] std::vector<SummaryDeclaration> summary_declarations();

}  // namespace heddle::tb
