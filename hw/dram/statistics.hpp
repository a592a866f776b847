// Counters of a memory channel.
#pragma once

#include <cstdint>

#include "base/statistics.hpp"
#include "hw/dram/utilisation.hpp"

namespace heddle::hw {

struct HoldStatistics {
  std::uint64_t holds = 0;
  std::uint64_t hits = 0;         // holds that ended with a hit
  std::uint64_t expiries = 0;     // holds that ended without
  std::uint64_t cycles = 0;       // in which a conflict could have started but for a hold
  std::uint64_t lost_cycles = 0;  // of `cycles`: of holds that ended without a hit
};

struct DramStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t atomics = 0;
  std::uint64_t row_hits = 0;
  std::uint64_t row_conflicts = 0;
  std::uint64_t row_empty = 0;
  std::uint64_t activations = 0;
  std::uint64_t bus_busy_cycles = 0;
  std::uint64_t queue_wait_cycles = 0;
  std::uint64_t queue_max = 0;
  std::uint64_t queue_full = 0;
  std::uint64_t failures = 0;
  std::uint64_t refreshes = 0;
  std::uint64_t bank_busy_cycles = 0;
  HoldStatistics hints;
  UtilisationSeries series;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("reads", reads, "requests", "reads served");
    visit("writes", writes, "requests", "writes served");
    visit("atomics", atomics, "requests", "atomics served; each is one access and two bus slots");
    visit("row_hits", row_hits, "requests", "accesses that found their row open");
    visit("row_conflicts", row_conflicts, "requests", "accesses that did not, first accesses to a bank included");
    visit("row_empty", row_empty, "requests",
          "of row_conflicts: found no row of their bank open, so that none had to be closed first");
    visit("activations", activations, "rows", "rows opened");
    visit("bus_busy_cycles", bus_busy_cycles, "cycles", "cycles of the data bus that transfers occupied");
    visit(
        "queue_wait_cycles", queue_wait_cycles, "cycles",
        "cycles that requests waited before they started (dram.timing = none: before they were answered), summed: the "
        "integral of the queue's occupancy");
    visit("queue_max", OwnValue{queue_max}, "requests",
          "most requests waiting at once (dram.timing = none: unanswered)");
    visit("queue_full", queue_full, "requests", "requests that found the queue full");
    visit("failures", failures, "requests", "accesses that the memory answered with an error");
    visit("refreshes", refreshes, "commands", "refreshes (JEDEC timing only)");
    visit("bank_busy_cycles", bank_busy_cycles, "bank cycles",
          "cycles in which a bank had an access under way, from its first step to its data, summed over banks");
    visit("row_holds", hints.holds, "holds", "rows held open for a row-buffer hint (thesis 7.2)");
    visit("row_hold_hits", hints.hits, "holds", "of row_holds: ended by the hit that they were for");
    visit("row_hold_expiries", hints.expiries, "holds",
          "of row_holds: ended without a hit, by the threshold or by a starving request");
    visit("row_hold_cycles", hints.cycles, "bank cycles",
          "cycles in which a waiting conflict was kept from starting by nothing but a hold");
    visit("row_hold_lost_cycles", hints.lost_cycles, "bank cycles", "of row_hold_cycles: those of row_hold_expiries");
    visit("series_bucket_cycles", OwnValue{series.bucket_cycles}, "cycles",
          "width of each entry of the series below; entry n begins at cycle n x series_bucket_cycles");
    visit("bus_series", OwnValue{series.bus}, "cycles", "bus_busy_cycles over time");
    visit("bank_series", OwnValue{series.banks}, "bank cycles",
          "bank_busy_cycles over time; / (width x banks): share in use");
    visit("queue_series", OwnValue{series.queue}, "request cycles",
          "queue_wait_cycles over time; / width: mean number of waiting requests");
    visit("row_hit_series", OwnValue{series.row_hits}, "requests",
          "row_hits over time, by the cycle in which they started");
    visit("row_conflict_series", OwnValue{series.row_conflicts}, "requests", "row_conflicts over time, likewise");
  }
};

}  // namespace heddle::hw
