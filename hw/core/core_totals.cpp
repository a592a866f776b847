#include "hw/core/core.hpp"

namespace heddle::hw {

void Core::add_to(Totals& totals) {
  const CoreStatistics& own = state_.statistics;
  totals.warp_instructions += own.warp_instructions;
  totals.thread_instructions += own.thread_instructions;
  totals.lane_instructions += own.lane_instructions;
  totals.fu_active.resize(own.fu_active.size());
  for (std::size_t i = 0; i < own.fu_active.size(); ++i) {
    totals.fu_active[i] += own.fu_active[i];
  }
  for (std::size_t i = 0; i < kIdleCauseCount; ++i) {
    totals.idle[i] += own.idle[i];
  }
  totals.branches += own.branches;
  totals.divergent_branches += own.divergent_branches;
  totals.memory_instructions += own.memory_instructions;
  totals.line_requests += own.line_requests;
  totals.barriers += own.barriers;
  totals.blocks += own.blocks;
  totals.out_of_bounds_loads += own.out_of_bounds_loads;
  const CacheStatistics& l1d = l1d_.statistics();
  totals.l1d_accesses += l1d.accesses;
  totals.l1d_hits += l1d.hits;
  totals.l1d_misses += l1d.misses;
  totals.offcore_requests += l1d.memory_reads + l1d.memory_writes;
  const CacheStatistics& icache = icache_.statistics();
  totals.icache_accesses += icache.accesses;
  totals.icache_misses += icache.misses;
  totals.scratchpad_accesses += scratchpad_.statistics.accesses;
  totals.scratchpad_bank_conflicts += scratchpad_.statistics.bank_conflicts;
}

}  // namespace heddle::hw
