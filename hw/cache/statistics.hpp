// Counters of a cache, and of an L2 slice's queues.
#pragma once

#include <cstdint>

#include "base/statistics.hpp"

namespace heddle::hw {

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
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("accesses", accesses, "requests", "line requests accepted; hits + misses");
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
    visit("busy_order", busy_order, "refusals", "bypass loads and atomics refused: stores wait for the line's fetch");
    visit("busy_flush", busy_flush, "refusals", "requests refused during a flush");
    visit("failed_reads", failed_reads, "requests", "loads and atomics answered with a bus error");
    visit("failed_writes", failed_writes, "requests", "writes, and fetches for stores, that ended in a bus error");
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

}  // namespace heddle::hw
