// Counters of one core's pipeline.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "hw/state/idle_cause.hpp"

namespace heddle::hw {

// Of a mechanism that schedules the threads of a warp independently (core.divergence = barriers).
struct ConvergenceStatistics {
  std::uint64_t set = 0;
  std::uint64_t joined = 0;
  std::uint64_t completed = 0;
  std::uint64_t left_behind = 0;
  std::uint64_t given_up = 0;
  std::uint64_t yields = 0;
  std::uint64_t warp_syncs = 0;
  std::uint64_t warp_sync_waits = 0;
  std::uint64_t spills = 0;

  template <class Visitor>
  void describe(Visitor& visit) {
    visit("set", set, "barriers", "convergence barriers that threads have set at branches which parted them");
    visit("joined", joined, "branches", "branches that parted threads whose convergence barrier was there already");
    visit("completed", completed, "barriers", "convergence barriers at which all their threads that live have met");
    visit("left_behind", left_behind, "barriers",
          "convergence barriers that went on without threads which had let others run (barriers.yield_after)");
    visit("given_up", given_up, "barriers",
          "convergence barriers that went on without threads which waited for threads at it (warp.sync)");
    visit("yields", yields, "branches", "marked branches at which threads have let others of their warp run");
    visit("warp_syncs", warp_syncs, "instructions", "warp-level barriers (__syncwarp, operations between lanes)");
    visit("warp_sync_waits", warp_sync_waits, "instructions", "of those, some of the lanes named were not there yet");
    visit("spills", spills, "barriers",
          "convergence barriers that were put into registers of their threads for want of a barrier register, or back");
  }
};

struct CoreStatistics {
  // `map_threads`: so many threads have each a count of their misses.
  explicit CoreStatistics(unsigned simd_width = 0, unsigned map_threads = 0)
      : fu_active(simd_width + 1), thread_misses(map_threads) {}

  std::vector<std::uint64_t> fu_active;
  std::array<std::uint64_t, kIdleCauseCount> idle{};
  std::uint64_t fetched = 0;
  std::uint64_t fetch_misses = 0;
  std::uint64_t group_instructions = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t lane_instructions = 0;
  std::uint64_t float_lane_instructions = 0;
  std::uint64_t tensor_multiply_adds = 0;
  std::uint64_t branches = 0;
  std::uint64_t divergent_branches = 0;
  std::uint64_t memory_instructions = 0;
  std::uint64_t line_requests = 0;
  std::uint64_t joined_lines = 0;
  std::uint64_t constant_accesses = 0;
  std::uint64_t constant_serialised = 0;
  std::uint64_t put_aside = 0;
  std::uint64_t missed_accesses = 0;
  std::uint64_t partly_missed_accesses = 0;
  std::vector<std::uint64_t> thread_misses;
  std::uint64_t divergent_accesses = 0;
  std::uint64_t divergent_stall_cycles = 0;
  std::uint64_t divergent_spread_cycles = 0;
  std::uint64_t complex_operations = 0;
  std::uint64_t complex_queued = 0;
  std::uint64_t complex_queue_full = 0;
  std::uint64_t complex_wait_cycles = 0;
  std::uint64_t interlock_stalls = 0;
  std::uint64_t dependence_waits = 0;
  std::uint64_t dependence_wait_cycles = 0;
  std::uint64_t stall_count_cycles = 0;
  std::uint64_t bank_conflicts = 0;
  std::uint64_t bank_stalls = 0;
  std::uint64_t bank_write_stalls = 0;
  std::uint64_t reused_operands = 0;
  std::uint64_t kept_operands = 0;
  std::uint64_t barriers = 0;
  std::uint64_t barrier_imbalance = 0;
  std::uint64_t progress = 0;
  std::uint64_t blocks = 0;
  std::uint64_t out_of_bounds_loads = 0;
  std::uint64_t heap_allocations = 0;
  std::uint64_t heap_bytes = 0;
  std::uint64_t heap_refusals = 0;
  std::uint64_t heap_frees = 0;
  std::uint64_t drift_samples = 0;
  std::uint64_t drift_instructions = 0;
  std::uint64_t lost_locality = 0;
  std::uint64_t throttled_loads = 0;
  std::uint64_t throttled_cycles = 0;
  std::uint64_t queue_waits = 0;
  std::uint64_t queue_wait_cycles = 0;
  std::uint64_t two_level_samples = 0;
  std::vector<std::uint64_t> two_level_candidates;
  std::uint64_t splits_branch = 0;
  std::uint64_t splits_memory = 0;
  std::uint64_t splits_revived = 0;
  std::uint64_t merges_pc = 0;
  std::uint64_t merges_stack = 0;
  std::uint64_t merges_barrier = 0;
  std::uint64_t merges_formed = 0;
  std::uint64_t split_table_full = 0;
  std::uint64_t split_slots_full = 0;
  std::uint64_t predictions = 0;
  std::uint64_t predictions_right = 0;
  std::uint64_t predictions_wrong = 0;
  std::uint64_t scalar_instructions = 0;
  std::uint64_t scalar_sub_warps_saved = 0;
  std::uint64_t scalar_reads = 0;
  std::uint64_t scalar_writes = 0;
  std::uint64_t lane_reads_saved = 0;
  std::uint64_t lane_writes_saved = 0;
  ConvergenceStatistics convergence;  // declared by itself, where the mechanism counts it

  template <class Visitor>
  void describe(Visitor& visit) {
    visit("fu_active_cycles", fu_active, "cycles", "cycles with 0, 1, ... simd_width functional units active");
    for (std::size_t cause = 0; cause < kIdleCauseCount; ++cause) {
      visit("idle_" + std::string(kIdleCauses[cause].name), idle[cause], "cycles", kIdleCauses[cause].meaning);
    }
    visit("fetched", fetched, "instructions", "warp instructions handed to decode");
    visit("fetch_misses", fetch_misses, "instructions", "fetches put off by an instruction cache miss");
    visit("group_instructions", group_instructions, "instructions",
          "instructions that groups (warps, or what a divergence mechanism makes of them) have completed: each counts "
          "once, however many sub-warps it took");
    visit("warp_instructions", warp_instructions, "sub-warps", "sub-warp instructions retired");
    visit("thread_instructions", thread_instructions, "threads", "threads of retired sub-warps whose guard was true");
    visit("lane_instructions", lane_instructions, "lanes",
          "active lanes of retired sub-warps: thread_instructions, less what an unconditional branch that takes one "
          "sub-warp spares");
    visit("float_lane_instructions", float_lane_instructions, "lanes",
          "of those, of instructions that calculate with, compare or convert floating-point numbers");
    visit("tensor_multiply_adds", tensor_multiply_adds, "multiply-adds",
          "of products of matrices (mma), in those of f16 that take a tensor core as long: of 8-bit integers half as "
          "many, of tf32 twice, of f64 16 times");
    visit("branches", branches, "instructions", "conditional branches retired, per warp");
    visit("divergent_branches", divergent_branches, "instructions", "of those, taken by some threads only");
    visit("memory_instructions", memory_instructions, "sub-warps",
          "loads, stores and atomics on global or local memory");
    visit("line_requests", line_requests, "lines", "distinct lines that those needed");
    visit(
        "joined_lines", joined_lines, "lines",
        "of those, asked for by another sub-warp of the instruction (core.coalescer = whole-warp); each of the others "
        "is a request to the L1");
    visit("constant_accesses", constant_accesses, "sub-warps",
          "loads of constants and kernel parameters through constant caches (constant_cache.bytes)");
    visit("constant_serialised", constant_serialised, "addresses",
          "of those, different addresses beyond the first of each: cycles that they took besides");
    visit("put_aside", put_aside, "sub-warps", "accesses put aside until lines arrived");
    visit("missed_accesses", missed_accesses, "sub-warps",
          "accesses with a thread whose line was absent from the L1 (SIMD cache misses; DWS report, table 1)");
    visit("partly_missed_accesses", partly_missed_accesses, "sub-warps",
          "of those, other threads of the sub-warp found theirs there (the DWS report's divergent memory accesses)");
    visit("thread_misses", OwnValue{thread_misses}, "accesses",
          "by hardware thread, register row x core.simd_width + lane: its accesses whose line was absent from the L1 "
          "(DWS report, figure 14); none without core.thread_misses");
    visit("divergent_accesses", divergent_accesses, "sub-warps",
          "accesses for which more than one line had to come (memory divergence, thesis 9.2.4)");
    visit("divergent_stall_cycles", divergent_stall_cycles, "cycles",
          "cycles of those from their first miss to their last line, summed");
    visit("divergent_spread_cycles", divergent_spread_cycles, "cycles",
          "of those, cycles from the first line that came to the last, summed");
    visit("complex_operations", complex_operations, "sub-warps", "operations of the complex unit");
    visit("complex_queued", complex_queued, "sub-warps", "of those, waited in the queue before the unit");
    visit("complex_queue_full", complex_queue_full, "sub-warps",
          "of those, held the execute stage, since the queue was full");
    visit("complex_wait_cycles", complex_wait_cycles, "cycles", "cycles that operations waited in the queue, summed");
    visit(
        "interlock_stalls", interlock_stalls, "cycles",
        "decode waited for threads in flight with the warp's earlier instruction (relaxed issue), or register read for "
        "its results (scoreboard)");
    visit("dependence_waits", dependence_waits, "instructions",
          "that waited in front of fetch for what outlasts the instructions behind it: results of loads and long "
          "operations (scoreboard.stall = on-use), dependence counters (core.issue = control-bits)");
    visit("dependence_wait_cycles", dependence_wait_cycles, "cycles", "cycles that their warps waited, summed");
    visit("stall_count_cycles", stall_count_cycles, "cycles",
          "cycles that warps waited for the stall counts of their instructions, beyond those that fetch and decode "
          "take (core.issue = control-bits), summed");
    visit("bank_conflicts", bank_conflicts, "sub-warps",
          "that could not read their operands at once, since earlier ones had the ports of the register banks "
          "(registers.banks)");
    visit("bank_stalls", bank_stalls, "cycles", "that those waited: bubbles");
    visit("bank_write_stalls", bank_write_stalls, "cycles",
          "that results from memory waited for a write port of their register banks (registers.write_ports)");
    visit("reused_operands", reused_operands, "words",
          "that sub-warps had from the register file cache instead of a bank (registers.cache)");
    visit("kept_operands", kept_operands, "words", "that stayed there to be reused");
    visit("barriers", barriers, "barriers", "barriers that released their threads");
    visit(
        "barrier_imbalance", barrier_imbalance, "cycles",
        "cycles between the first and the last arrival at those barriers, summed (an exit that completes a barrier is "
        "its last arrival)");
    visit("progress", progress, "instructions", "progress() executed by groups: what their progress registers counted");
    visit("blocks", blocks, "blocks", "thread blocks finished");
    visit("out_of_bounds_loads", out_of_bounds_loads, "loads",
          "threads' loads that lay out of bounds and read 0 (core.load_trap = false)");
    visit("heap_allocations", heap_allocations, "blocks", "blocks that malloc has given to threads");
    visit("heap_bytes", heap_bytes, "bytes", "bytes that they have asked for in those");
    visit("heap_refusals", heap_refusals, "calls", "calls of malloc that yielded null");
    visit("heap_frees", heap_frees, "blocks", "blocks given to free (null is none)");
    visit("drift_samples", drift_samples, "instructions",
          "every 1024th that was fetched: how far the live warps of its block are apart was looked at");
    visit("drift_instructions", drift_instructions, "instructions",
          "by how many the furthest of those warps was ahead of the last one since their block began, summed");
    visit("lost_locality", lost_locality, "lines",
          "lines that a warp's load missed and that the warp had lost from the L1 shortly before (core.load_limiter = "
          "ccws)");
    visit("throttled_loads", throttled_loads, "loads", "warps' loads that had to wait for the load limiter");
    visit("throttled_cycles", throttled_cycles, "cycles", "cycles that they waited, summed");
    visit("queue_waits", queue_waits, "accesses",
          "warps' accesses that waited in front of fetch for a place of the memory queue (lsu.queue)");
    visit("queue_wait_cycles", queue_wait_cycles, "cycles", "cycles that they waited, summed");
    visit("two_level_samples", two_level_samples, "intervals",
          "sampling intervals that the adaptive two-level scheduler has measured");
    visit(
        "two_level_candidates", two_level_candidates, "cycles",
        "cycles of launches under candidate 0, 1, ... of the adaptive two-level scheduler; none where there is no such "
        "scheduler");
    visit("splits_branch", splits_branch, "splits",
          "warps and warp-splits subdivided at a branch (core.divergence = dws or slip)");
    visit("splits_memory", splits_memory, "splits",
          "subdivided when an access had answered some of their threads: those ran ahead");
    visit("splits_revived", splits_revived, "splits",
          "subdivided while they waited already, as the core had nothing else to do (ReviveSplit)");
    visit("merges_pc", merges_pc, "splits", "warp-splits that joined one of their warp at the same PC");
    visit("merges_stack", merges_stack, "splits",
          "warp-splits that joined others where all of their warp wait for each other: re-convergence point, branch");
    visit("merges_barrier", merges_barrier, "splits", "warp-splits that joined one of their warp at a barrier");
    visit("merges_formed", merges_formed, "splits",
          "warps and warp-splits that joined one of another warp at the same PC (core.divergence = dws-dwf, or odgs "
          "with odgs.local_paths)");
    visit("split_table_full", split_table_full, "splits",
          "subdivisions that did not take place, or not at once, for want of an entry of the warp-split table");
    visit("split_slots_full", split_slots_full, "splits",
          "times that a warp or warp-split could go on but had to wait for a slot of the scheduler");
    visit("predictions", predictions, "accesses",
          "answered for some threads: whether it pays to part there was predicted (dws.memory = predict)");
    visit(
        "predictions_right", predictions_right, "accesses",
        "of those: those who ran ahead missed while the others still waited, or, not parted, the next miss came later "
        "than the lines had been away");
    visit("predictions_wrong", predictions_wrong, "accesses",
          "of those: not so. The others are undecided, as who would have told has joined another warp or warp-split");
    visit("scalar_instructions", scalar_instructions, "instructions",
          "executed by one lane for all threads of their warp (core.scalar)");
    visit("scalar_sub_warps_saved", scalar_sub_warps_saved, "sub-warps",
          "rows with active threads of their warps beyond the first: sub-warps that those would have taken besides");
    visit("scalar_reads", scalar_reads, "words", "operands read from the warp-wide register file, once per sub-warp");
    visit("scalar_writes", scalar_writes, "words", "results written to the warp-wide register file");
    visit("lane_reads_saved", lane_reads_saved, "words",
          "threads' operands that no lane's bank was read for, since they are warp-wide");
    visit("lane_writes_saved", lane_writes_saved, "words",
          "threads' results that no lane's bank was written for, since they are warp-wide");
  }
};

}  // namespace heddle::hw
