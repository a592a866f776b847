// What a run comes to, over all cores and channels: the counters of all units of a kind added up, as each declares
// them. The summary's figures (tb/measure/summary.inc) are made of totals.
#pragma once

#include <cstdint>
#include <string>

#include "hw/cache/statistics.hpp"
#include "hw/core/share/bulk_copy_statistics.hpp"
#include "hw/dram/statistics.hpp"
#include "hw/gpu/statistics.hpp"
#include "hw/noc/statistics.hpp"
#include "hw/private_memory/statistics.hpp"
#include "hw/registers/statistics.hpp"
#include "hw/scratchpad/statistics.hpp"
#include "hw/state/core_statistics.hpp"

namespace heddle::hw {

// A module that counts, with its kind as Totals::each_kind names it.
struct CountedUnit {
  std::string module;  // hierarchical SystemC name, as in StatisticDeclaration
  const char* kind;
};

struct Totals {
  std::uint64_t cycles = 0;   // from the first launch's start to the last one's end, launches back to back
  std::size_t sub_cores = 1;  // of all cores: units of kind 'core'
  unsigned channels = 1;

  DispatcherStatistics dispatcher;
  GlobalSchedulerStatistics global_scheduler;
  CoreStatistics core;
  ConvergenceStatistics convergence;  // of a mechanism that schedules threads independently; else all 0
  L0Statistics l0i;
  L0Statistics l0c;  // of constants
  CacheStatistics icache;
  CacheStatistics l1d;
  CacheStatistics texture;
  CacheStatistics constant_cache;
  ScratchpadStatistics scratchpad;
  PrivateMemoryStatistics private_memory;
  BulkCopyStatistics bulk_copies;  // of cores that have a unit for them; else all 0
  RegisterStatistics registers;    // of all banks
  InterconnectStatistics noc;
  PartitionStatistics partitions;  // of an L2 of several; else all 0
  L2Statistics l2_slice;           // the slices' queues
  CacheStatistics l2;              // their stores
  // Of caches whose lines have sectors; else all 0.
  SectorStatistics l1d_sectors;
  SectorStatistics l2_sectors;
  DramStatistics dram;
  // Of a coherence protocol with homes; else all 0.
  CoherenceStatistics coherence;  // the L1s' part
  HomeStatistics home;            // the slices'
  InterconnectStatistics probes;  // messages of homes

  // visit("kind", &Totals::kind), for each kind of unit.
  template <class Visitor>
  static void each_kind(Visitor&& visit) {
    visit("dispatcher", &Totals::dispatcher);
    visit("global_scheduler", &Totals::global_scheduler);
    visit("core", &Totals::core);
    visit("convergence", &Totals::convergence);
    visit("l0i", &Totals::l0i);
    visit("l0c", &Totals::l0c);
    visit("icache", &Totals::icache);
    visit("l1d", &Totals::l1d);
    visit("texture", &Totals::texture);
    visit("constant_cache", &Totals::constant_cache);
    visit("scratchpad", &Totals::scratchpad);
    visit("private_memory", &Totals::private_memory);
    visit("bulk_copies", &Totals::bulk_copies);
    visit("registers", &Totals::registers);
    visit("noc", &Totals::noc);
    visit("partitions", &Totals::partitions);
    visit("l2_slice", &Totals::l2_slice);
    visit("l2", &Totals::l2);
    visit("l1d_sectors", &Totals::l1d_sectors);
    visit("l2_sectors", &Totals::l2_sectors);
    visit("dram", &Totals::dram);
    visit("coherence", &Totals::coherence);
    visit("home", &Totals::home);
    visit("probes", &Totals::probes);
  }
};

}  // namespace heddle::hw
