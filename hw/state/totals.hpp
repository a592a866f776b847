// What a run comes to, over all cores and channels: the raw material of the summary in stats.json.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/state/idle_cause.hpp"

namespace heddle::hw {

struct Totals {
  std::uint64_t cycles = 0;  // from the first launch's start to the last one's end, launches back to back
  std::uint64_t launches = 0;
  std::uint64_t warp_instructions = 0;    // sub-warps retired: one per warp when the warp is as wide as the SIMD unit
  std::uint64_t thread_instructions = 0;  // active threads of retired instructions
  std::uint64_t lane_instructions = 0;    // active lanes of retired sub-warps
  std::vector<std::uint64_t> fu_active;   // core cycles with 0..simd_width functional units active
  std::array<std::uint64_t, kIdleCauseCount> idle{};  // core cycles with none active, by cause; adds up to fu_active[0]
  std::uint64_t branches = 0;                         // conditional branches retired (warp level)
  std::uint64_t divergent_branches = 0;               // of those, with both outcomes
  std::uint64_t memory_instructions = 0;              // global-space loads, stores, atomics (sub-warps)
  std::uint64_t line_requests = 0;                    // distinct lines that those needed (requests to the L1)
  std::uint64_t offcore_requests = 0;                 // requests that left the cores towards memory (data)
  std::uint64_t l1d_accesses = 0, l1d_hits = 0, l1d_misses = 0;
  std::uint64_t l2_accesses = 0, l2_hits = 0, l2_misses = 0, l2_merged = 0, l2_write_backs = 0;  // all slices
  std::uint64_t icache_accesses = 0, icache_misses = 0;
  std::uint64_t scratchpad_accesses = 0, scratchpad_bank_conflicts = 0;  // conflicts: extra cycles
  std::uint64_t dram_reads = 0, dram_writes = 0, dram_row_hits = 0, dram_row_conflicts = 0;
  std::uint64_t dram_bus_busy_cycles = 0;  // summed over channels
  unsigned channels = 1;
  unsigned cores = 1;
  std::uint64_t barriers = 0;             // barrier releases
  std::uint64_t blocks = 0;               // thread blocks finished
  std::uint64_t out_of_bounds_loads = 0;  // of threads, read as 0
};

}  // namespace heddle::hw
