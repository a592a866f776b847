// Counters of a cache, and of an L2 slice's queues.
#pragma once

#include <cstdint>

#include "base/statistics.hpp"

namespace heddle::hw {

// Of a sub-core's own instruction cache, or cache of constants, whose requests are the addresses of loads and which
// fetches nothing ahead.
struct L0Statistics {
  std::uint64_t accesses = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t prefetches = 0;
  std::uint64_t prefetch_hits = 0;
  std::uint64_t prefetch_late = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("accesses", accesses, "requests",
          "fetches, or addresses of constants, accepted; hits + misses. A fetch that is looked up again when its line "
          "has come is one request");
    visit("hits", hits, "requests", "requests that found their line here or in the stream buffer");
    visit("misses", misses, "requests", "requests that waited for their line, or for the core's cache to take them");
    visit("prefetches", prefetches, "lines", "lines that the stream buffer has asked for");
    visit("prefetch_hits", prefetch_hits, "lines", "of those, were there when fetch wanted them");
    visit("prefetch_late", prefetch_late, "lines", "of those, were on their way when fetch wanted them");
  }
};

struct CacheStatistics {
  std::uint64_t accesses = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t merged = 0;
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t atomics = 0;
  std::uint64_t bypasses = 0;
  std::uint64_t fills = 0;
  std::uint64_t evictions = 0;
  std::uint64_t write_backs = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t memory_reads = 0;
  std::uint64_t memory_writes = 0;
  std::uint64_t busy_ports = 0;
  std::uint64_t busy_banks = 0;
  std::uint64_t busy_mshrs = 0;
  std::uint64_t busy_targets = 0;
  std::uint64_t busy_writes = 0;
  std::uint64_t busy_order = 0;
  std::uint64_t busy_flush = 0;
  std::uint64_t failed_reads = 0;
  std::uint64_t failed_writes = 0;
  // For want of anything.
  [[nodiscard]] std::uint64_t refusals() const {
    return busy_ports + busy_banks + busy_mshrs + busy_targets + busy_writes + busy_order + busy_flush;
  }
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "accesses", accesses, "requests",
        "line requests accepted; hits + misses. A fetch that is looked up again when its line has come is one request");
    visit("hits", hits, "requests", "loads and stores that found their line, and atomics executed on it (L2)");
    visit("misses", misses, "requests",
          "requests that needed the memory beyond: line absent, bypass loads, atomics not executed here");
    visit("merged", merged, "requests", "misses that joined a line already on its way (MSHR hits)");
    visit("loads", loads, "requests", "loads accepted, bypass loads included");
    visit("stores", stores, "requests", "stores accepted");
    visit("atomics", atomics, "requests", "atomics accepted");
    visit("bypasses", bypasses, "requests", "loads that must not be answered from the cache");
    visit("fills", fills, "lines", "lines that came from memory and were kept");
    visit("evictions", evictions, "lines", "lines replaced by another line");
    visit("write_backs", write_backs, "lines", "dirty lines written to memory");
    visit("invalidations", invalidations, "lines", "copies dropped because an inclusive L2 gave their line up");
    visit("memory_reads", memory_reads, "requests", "reads sent to memory");
    visit("memory_writes", memory_writes, "requests", "writes sent to memory, write-backs included");
    visit("busy_ports", busy_ports, "refusals",
          "requests refused: every port used in this cycle; of all refusals the L1 counts each attempt, the L2 each "
          "request once");
    visit("busy_banks", busy_banks, "refusals", "requests refused: another line of their bank in this cycle");
    visit("busy_mshrs", busy_mshrs, "refusals", "requests refused: no MSHR free");
    visit("busy_targets", busy_targets, "refusals", "requests refused: the line's MSHR has no target free");
    visit("busy_writes", busy_writes, "refusals", "requests refused: write buffer full");
    visit("busy_order", busy_order, "refusals",
          "requests refused until a line under way, or leaving for its home, is done with: bypass loads and atomics "
          "behind "
          "stores, and what a coherence protocol has wait");
    visit("busy_flush", busy_flush, "refusals", "requests refused during a flush");
    visit("failed_reads", failed_reads, "requests", "loads and atomics answered with a bus error");
    visit("failed_writes", failed_writes, "requests", "writes, and fetches for stores, that ended in a bus error");
  }
};

// Of a cache whose lines have sectors.
struct SectorStatistics {
  std::uint64_t misses = 0;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("misses", misses, "requests",
          "loads and atomics that found their line, but not all its sectors that they want");
    visit("read", read, "sectors", "asked for from memory");
    visit("written", written, "sectors", "written to memory, of each all bytes or some");
  }
};

struct L2Statistics {
  std::uint64_t requests = 0;
  std::uint64_t queue_full = 0;
  std::uint64_t queue_max = 0;
  std::uint64_t queue_wait_cycles = 0;
  std::uint64_t back_invalidations = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("requests", requests, "requests", "requests that arrived");
    visit("queue_full", queue_full, "requests", "requests that found the queue full");
    visit("queue_max", OwnValue{queue_max}, "requests", "most requests waiting at once");
    visit("queue_wait_cycles", queue_wait_cycles, "cycles",
          "cycles that requests waited for their bank's access, summed");
    visit("back_invalidations", back_invalidations, "messages",
          "told to cores whose caches may hold a line that an inclusive L2 replaced");
  }
};

// Of a data cache whose lines have homes.
struct CoherenceStatistics {
  std::uint64_t invalidated = 0;
  std::uint64_t invalidated_late = 0;
  std::uint64_t shared = 0;
  std::uint64_t given_up = 0;
  std::uint64_t given_data = 0;
  std::uint64_t stalled = 0;
  std::uint64_t upgrades = 0;
  std::uint64_t puts = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("invalidated", invalidated, "lines", "copies dropped because their home said so");
    visit("invalidated_late", invalidated_late, "messages", "invalidations of lines that were not here");
    visit("shared", shared, "lines", "lines that this cache owned and shares since their home asked for it");
    visit("given_up", given_up, "lines", "lines that this cache owned and gave up because their home asked for it");
    visit("given_data", given_data, "messages", "answers to homes with a line's changed bytes");
    visit("stalled", stalled, "messages", "messages of homes that waited for the line under way");
    visit("upgrades", upgrades, "requests", "stores and atomics that found a copy, but not their own");
    visit("puts", puts, "lines", "lines that this cache owned and told their home it has no more");
  }
};

// Of a slice of the L2 that is home to its lines.
struct HomeStatistics {
  std::uint64_t shares = 0;
  std::uint64_t owns = 0;
  std::uint64_t puts = 0;
  std::uint64_t puts_late = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t forwards = 0;
  std::uint64_t forwards_data = 0;
  std::uint64_t recalls = 0;
  std::uint64_t waited = 0;
  std::uint64_t busy_max = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("shares", shares, "requests", "requests for a copy");
    visit("owns", owns, "requests", "requests for a line that nobody else may keep");
    visit("puts", puts, "requests", "lines that their owner gave up");
    visit("puts_late", puts_late, "requests", "puts that crossed a message to their sender, who was the owner no more");
    visit("invalidations", invalidations, "messages", "told to caches that may have copies, recalls included");
    visit("forwards", forwards, "messages", "told to owners: share the line, or give it up; recalls included");
    visit("forwards_data", forwards_data, "messages", "answers of owners that brought changed bytes");
    visit("recalls", recalls, "lines", "lines taken back from all caches, since the slice needs the frame");
    visit("waited", waited, "requests", "requests that waited because the home was busy with their line");
    visit("busy_max", OwnValue{busy_max}, "lines", "most lines known at once of which caches have copies or want any");
  }
};

}  // namespace heddle::hw
