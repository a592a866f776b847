// The machine: every parameter of the model, each declared once (base/parameter.hpp). A TOML file in configs/ sets
// them; sections are named as the members of Machine. Defaults are the LWM report's baseline (report table 1).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/parameter.hpp"
#include "hw/parameters/beyond_core.hpp"
#include "hw/parameters/cache_parameters.hpp"
#include "hw/parameters/jedec_parameters.hpp"
#include "hw/parameters/on_chip.hpp"
#include "hw/parameters/policy.hpp"
#include "hw/parameters/policy_limits.hpp"
#include "isa/instruction.hpp"
#include "tlm/clock_edges.hpp"

namespace heddle::hw {

struct GpuParameters {
  unsigned cores = 1;
  double clock_ghz = 1.0;
  std::string coherence = "none";
  bool perfect_memory = false;
  unsigned kernels = 16;
  unsigned grid_barrier_latency = 10;
  unsigned launch_latency = 0;
  double memory_gib = 3.75;
  std::string compute_capability = "6.0";
  // What CUDA programs may allocate.
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return static_cast<std::uint64_t>(std::llround(memory_gib * (std::uint64_t{1} << 30U)));
  }
  // compute_capability as names of architectures have it: 90 for "9.0".
  [[nodiscard]] unsigned architecture() const {
    unsigned digits = 0;
    for (const char c : compute_capability) {
      if (c != '.') digits = 10 * digits + static_cast<unsigned>(c - '0');
    }
    return digits;
  }
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("cores", cores, Limits::between(1, 256), "cores", "SIMT cores");
    visit("clock_ghz", clock_ghz, Limits::between(0.001, 10), "GHz", "clock of cores, caches and DRAM controller");
    visit("coherence", coherence, coherence_protocols(), "",
          "coherence protocol: what caches do with a line at each event");
    visit("perfect_memory", perfect_memory, Limits::any(), "",
          "true: every access is answered as a hit of the L1 or I-cache, with what is in memory; nothing goes beyond "
          "them "
          "(ODGS paper 3.3)");
    visit("kernels", kernels, Limits::between(1, 128), "launches",
          "kernels of different streams that run side by side, each on cores of its own (Fermi white paper: 16); one "
          "where threads change cores, or under gpu.coherence = launch");
    visit("grid_barrier_latency", grid_barrier_latency, Limits::between(1, 10000), "cycles",
          "of a message of the grid's barrier (cooperative launches): from a core to the dispatcher, and back");
    visit("launch_latency", launch_latency, Limits::between(0, 100000), "cycles",
          "from a kernel's launch by the host to the start of its first block; they are among the launch's cycles, as "
          "idle ones");
    visit(
        "memory_gib", memory_gib, Limits::between(0.0625, 120), "GiB",
        "device memory that a CUDA program finds and may allocate; the host needs as much of it as the program writes");
    visit(
        "compute_capability", compute_capability,
        Limits::one_of({"6.0", "6.1", "7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "12.0"}),
        "",
        "what a CUDA program finds, and by which it chooses what it runs; of device code for several architectures "
        "the newest one up to it is taken, or else the oldest. It adds nothing to the machine: core.tensor_rate says "
        "whether there are tensor cores");
  }
};

inline constexpr unsigned kLargestWarp = 1024;  // threads

struct CoreParameters {
  unsigned simd_width = 32;
  unsigned sub_cores = 1;
  unsigned warp_size = 32;
  unsigned threads = 1024;
  unsigned blocks = 8;
  unsigned registers = 16384;
  unsigned registers_per_thread = 16;
  std::string divergence = "stack";
  std::string scheduler = "round-robin";
  bool complex_long_latency = false;
  std::string former = "rows";
  std::string issue = "strict";
  std::string coalescer = "per-sub-warp";
  std::string load_limiter = "none";
  std::string scalar = "none";
  unsigned fetch_latency = 1;
  unsigned decode_latency = 1;
  unsigned register_read_latency = 1;
  unsigned execute_stages = 2;
  unsigned integer_interval = 1;
  unsigned float_interval = 1;
  unsigned double_interval = 1;
  unsigned half_latency = 1;
  unsigned half_interval = 1;
  unsigned tensor_rate = 0;
  unsigned tensor_latency = 10;
  unsigned complex_latency = 8;
  unsigned complex_interval = 4;
  unsigned complex_queue = 16;
  bool complex_conversions = false;
  unsigned prefix_levels_per_cycle = 5;
  unsigned heap_latency = 200;
  unsigned pending_accesses = 64;
  std::string stores = "posted";
  bool division_trap = false;
  bool load_trap = true;
  bool thread_misses = false;
  unsigned if_conversion = 0;
  bool predicated_loads = true;
  unsigned unroll = 0;
  bool software_division = false;
  bool peephole = false;
  bool convergence_instructions = false;
  PolicyParameters<CorePolicies> policies;  // what the policies above declare for themselves: a section each
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("simd_width", simd_width, Limits::between(1, 32), "lanes", "SIMD lanes, of each sub-core");
    visit(
        "sub_cores", sub_cores, Limits::between(1, 8), "sub-cores",
        "parts of a core, each with a scheduler, register banks, lanes and a load-store queue of its own, which share "
        "blocks, scratchpad and caches; threads and registers are shared out equally (4 in NVIDIA's cores since "
        "Maxwell); 1: the papers' cores");
    visit("warp_size", warp_size, Limits::between(1, kLargestWarp), "threads",
          "threads of one warp; a wider warp than simd_width issues as several sub-warps");
    visit("threads", threads, Limits::between(1, 4096), "threads", "resident threads");
    visit("blocks", blocks, Limits::between(1, 64), "blocks", "resident thread blocks");
    visit("registers", registers, Limits::between(64, 1 << 20), "registers", "32-bit registers of the register file");
    visit("registers_per_thread", registers_per_thread, Limits::between(8, 255), "registers",
          "what the compiler may use per thread; more live values spill to local memory");
    visit("divergence", divergence, divergence_policies(), "", "what happens to a warp's threads at a branch");
    visit("scheduler", scheduler, scheduler_policies(), "", "which ready warp is fetched next");
    visit("complex_long_latency", complex_long_latency, Limits::any(), "",
          "true: a complex operation counts as long-latency for the scheduler (LWM report 3.2.2)");
    visit("former", former, former_policies(), "", "which threads of a warp fill the lanes in a cycle");
    visit("issue", issue, issue_policies(), "", "when a warp may be fetched again");
    visit("coalescer", coalescer, coalescer_policies(), "", "how lane addresses become line requests");
    visit("load_limiter", load_limiter, load_limiters(), "", "which warps may issue loads");
    visit("scalar", scalar, scalar_policies(), "",
          "who finds instructions that one lane executes for all threads of a warp (thesis 9.2.1)");
    visit("fetch_latency", fetch_latency, Limits::between(1, 64), "cycles", "instruction fetch, on an I-cache hit");
    visit("decode_latency", decode_latency, Limits::between(1, 64), "cycles", "decode and sub-warp formation");
    visit("register_read_latency", register_read_latency, Limits::between(1, 64), "cycles", "register read");
    visit("execute_stages", execute_stages, Limits::between(1, 64), "stages", "execute stages");
    visit(
        "integer_interval", integer_interval, Limits::between(1, 64), "cycles",
        "between the starts of two operations on integers, moves among them: 2 where 16 lanes execute a warp of 32; an "
        "operation waits for its lanes at the head of the execute stages");
    visit("float_interval", float_interval, Limits::between(1, 64), "cycles",
          "between the starts of two operations on f32, conversions of f16 among them");
    visit("double_interval", double_interval, Limits::between(1, 64), "cycles",
          "between the starts of two operations on f64");
    visit("half_latency", half_latency, Limits::between(1, 1000), "cycles",
          "execute time of arithmetic on f16 and bf16, alone or in pairs; at least execute_stages");
    visit("half_interval", half_interval, Limits::between(1, 64), "cycles",
          "between the starts of two operations on f16 and bf16");
    visit("tensor_rate", tensor_rate, Limits::between(0, 65536), "multiply-adds",
          "of a tensor core, per cycle and sub-core: products of f16 or bf16 that mma adds; of 8-bit integers twice as "
          "many, of tf32 half, of f64 a 16th; 0: there is none, and kernels with mma are refused");
    visit("tensor_latency", tensor_latency, Limits::between(1, 1000), "cycles",
          "execute time of mma beside that of its products");
    visit("complex_latency", complex_latency, Limits::between(1, 1000), "cycles",
          "execute time of complex operations (division, square root, sine...)");
    visit("complex_interval", complex_interval, Limits::between(1, 1000), "cycles",
          "between the starts of two complex operations");
    visit("complex_queue", complex_queue, Limits::between(0, 4096), "sub-warps",
          "complex operations that wait before their unit while others pass them (LWM report 3.2.2); one that finds no "
          "place holds the execute stage");
    visit("complex_conversions", complex_conversions, Limits::any(), "",
          "true: conversions between integers, f32 and f64, popc, clz, bfind and brev are complex operations, as in "
          "NVIDIA's GPUs (pipeline XU); false: the lanes execute them");
    visit(
        "prefix_levels_per_cycle", prefix_levels_per_cycle, Limits::between(1, 5), "levels",
        "of the prefix-sum network of cond_acc and tree_traverse, which has log2(simd_width) levels of adders (thesis "
        "7.1); the sum is shifted and added to the base in one more cycle");
    visit("heap_latency", heap_latency, Limits::between(1, 10000), "cycles",
          "execute time of malloc and free in kernels, of which one sub-warp's can begin in every cycle");
    visit("pending_accesses", pending_accesses, Limits::between(1, 4096), "sub-warps",
          "memory accesses that can be put aside waiting for lines");
    visit("stores", stores, Limits::one_of({"posted", "waited"}), "",
          "posted: a store is done when the L1 has accepted it; waited: as a load when its line has come, and beyond a "
          "write-through L1 when memory has acknowledged it, as in a core in order without a store buffer (DWS report "
          "3.3: memory references \"are modeled faithfully\")");
    visit("division_trap", division_trap, Limits::any(), "",
          "true: an integer division by zero is a fault; false: it yields all ones, as GPUs do");
    visit("load_trap", load_trap, Limits::any(), "",
          "true: a load out of bounds is a fault; false: it reads 0, all of it, without a request to memory, and the "
          "run reports where (stores and atomics out of bounds are faults)");
    visit("thread_misses", thread_misses, Limits::any(), "",
          "count the misses of each hardware thread, as a map for stats.json and the report page (DWS report, figure "
          "14); the time of nothing depends on it");
    visit("if_conversion", if_conversion, Limits::between(0, 64), "instructions",
          "branches around at most so many instructions are compiled to predicated code (thesis 2.1.3.1); 0: none");
    visit("predicated_loads", predicated_loads, Limits::any(), "",
          "whether if_conversion makes predicated code of loads from global and local memory, textures and atomics, "
          "too; false: branches around them stay");
    visit("unroll", unroll, Limits::between(0, 16), "iterations",
          "loops are compiled to go through so many iterations at a time where their count is not known, and through "
          "more where it is; 0, 1: as they stand");
    visit(
        "software_division", software_division, Limits::any(), "",
        "true: divisions, remainders, reciprocals and roots to nearest are code that refines an approximation, as GPUs "
        "do them, and what is approximate takes subnormal numbers by code; false: each is one complex operation");
    visit("peephole", peephole, Limits::any(), "",
          "true: neighbouring operations are joined as compilers of GPUs do it: bitwise ones of up to three values to "
          "one, tests of bits to a comparison, sums of a product to multiply-adds, sums of addresses in the scratchpad "
          "to an offset; masks without effect go; false: as they stand");
    visit(
        "convergence_instructions", convergence_instructions, Limits::any(), "",
        "true: code has an instruction before branches on which threads of a warp may disagree, and one at the end of "
        "each path to where they meet, as GPUs with convergence barriers (BSSY, BSYNC); false: neither");
  }
};

struct DramParameters {
  unsigned channels = 1;
  unsigned banks = 8;
  unsigned row_bytes = 4096;
  unsigned row_hit = 100;
  unsigned row_conflict = 300;
  unsigned row_closed = 0;
  double bandwidth_gbs = 32.0;
  unsigned queue = 64;
  std::string scheduler = "fcfs";
  std::string row_policy = "open";
  std::string mapping = "row-bank-column";
  bool bank_xor = false;
  bool channel_xor = false;
  bool channel_hash = false;
  unsigned starvation_bound = 10000;
  unsigned turnaround = 0;
  unsigned write_high = 0;
  unsigned write_low = 0;
  bool hints = true;
  unsigned hint_threshold = 0;
  std::string timing = "hit-conflict";
  std::string preset = "ddr4-2400";
  std::string write_pieces = "aligned";
  unsigned blocking_calls = 0;
  unsigned latency = 0;
  JedecParameters jedec;
  PolicyParameters<DramPolicies> policies;  // what scheduler and row policy declare for themselves: a section each
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("channels", channels, Limits::between(1, 128), "channels", "memory channels, one TLM socket each");
    visit("banks", banks, Limits::power_of_two(1, 1024), "banks", "banks per channel");
    visit("row_bytes", row_bytes, Limits::power_of_two(128, 1 << 20), "bytes", "row buffer of one bank");
    visit("row_hit", row_hit, Limits::between(1, 100000), "cycles", "latency of an access to the open row");
    visit("row_conflict", row_conflict, Limits::between(1, 100000), "cycles", "latency of an access to another row");
    visit("row_closed", row_closed, Limits::between(0, 100000), "cycles",
          "latency of an access to a bank whose row is closed; 0: that of row_conflict, as in the papers");
    visit("bandwidth_gbs", bandwidth_gbs, Limits::between(0.001, 100000), "GB/s",
          "bus bandwidth of all channels together (10^9 bytes per second)");
    visit("queue", queue, Limits::between(1, 65536), "requests", "requests that wait in a channel's controller");
    visit("scheduler", scheduler, dram_schedulers(), "", "which waiting request is served next");
    visit("row_policy", row_policy, dram_row_policies(), "", "what happens to a row after an access");
    visit(
        "mapping", mapping, Limits::any(), "",
        "address bits from most to least significant: row-bank-column, row-column-bank, or letters with counts, R row, "
        "B bank, C column (line of the row), H channel: \"R B3 C5 H1\" (heddle list mapping)");
    visit("bank_xor", bank_xor, Limits::any(), "", "true: the bank is exclusive-ored with the lowest bits of the row");
    visit("channel_xor", channel_xor, Limits::any(), "",
          "true: the channel is exclusive-ored with the lowest bits of the row");
    visit("channel_hash", channel_hash, Limits::any(), "",
          "true: the channel is rotated by a hash of row, bank and column, for any number of channels");
    visit(
        "starvation_bound", starvation_bound, Limits::between(0, 1e9), "cycles",
        "wait after which a request goes before row hits (fr-fcfs), rows held for hints and the write drain; 0: none");
    visit("turnaround", turnaround, Limits::between(0, 1000), "cycles",
          "rest of the bus between a read and a write, either way round (hit-conflict timing)");
    visit("write_high", write_high, Limits::between(0, 65536), "requests",
          "writes wait until this many do, or no read does; 0: writes do not wait");
    visit("write_low", write_low, Limits::between(0, 65536), "requests",
          "and are then served until this many are left");
    visit("hints", hints, Limits::any(), "", "true: a load with the row-buffer hint holds its row open");
    visit("hint_threshold", hint_threshold, Limits::between(0, 1000000), "cycles",
          "how long after its data a hinted row is held; 0: the latency of a conflict less that of a hit");
    visit("timing", timing, Limits::one_of({"hit-conflict", "jedec", "none"}), "",
          "hit-conflict: the papers' two latencies and bandwidth_gbs; jedec: commands and the distances of [jedec]; "
          "none: requests go to the memory as they come, at most queue of them unanswered, for a memory with timing of "
          "its own");
    visit("preset", preset, dram_presets(), "", "with timing = jedec: the device whose figures [jedec] starts from");
    visit("write_pieces", write_pieces, Limits::one_of({"runs", "aligned", "byte-enables"}), "",
          "how a line of which only some bytes are written reaches a memory that gives no direct access: each run of "
          "written bytes as it is; in powers of two, naturally aligned; or the whole line with byte enables");
    visit("blocking_calls", blocking_calls, Limits::between(0, 256), "calls",
          "blocking transport calls that a channel may have under way at once in a memory that gives no direct access; "
          "0: non-blocking transport");
    visit("latency", latency, Limits::between(0, 100000), "cycles",
          "that the way between the controller and the cores adds to each answer beyond DRAM's own time: queues of a "
          "controller, the crossing of clocks, address translation; any number of answers is on it at once");
  }
};

struct WatchdogParameters {
  std::uint64_t deadlock_cycles = 1'000'000;
  std::uint64_t livelock_instructions = 200'000;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("deadlock_cycles", deadlock_cycles, Limits::between(1000, 1e15), "cycles",
          "cycles without a retired instruction, or without the answer of a memory to a request, after which the run "
          "stops as a deadlock");
    visit("livelock_instructions", livelock_instructions, Limits::between(1000, 1e15), "instructions",
          "instructions that a warp retires inside one loop with its registers unchanged after which it counts as "
          "spinning (100 times as many when registers change, but none that decides whether the loop ends); a run all "
          "of whose warps spin, or wait at a barrier, stops as a livelock");
  }
};

struct Machine {
  std::string name = "baseline";
  std::string description;
  std::string energy;  // the energy table that a review prices it by where none is named; empty: it says none
  GpuParameters gpu;
  CoreParameters core;
  RegisterFileParameters registers;
  LoadStoreParameters lsu;
  BulkCopyParameters bulk_copy;
  L0Parameters l0i;
  InstructionCacheParameters icache{{true, 4 * 1024, 4, 128, 1, 1, 2, 32, "write-through"}};
  DataCacheParameters l1d;
  TextureCacheParameters texture;
  ConstantCacheParameters constant_cache;
  ScratchpadParameters scratchpad;
  PrivateMemoryParameters private_memory;
  NocParameters noc;
  L2Parameters l2;
  DramParameters dram;
  AllocationParameters allocation;
  WatchdogParameters watchdog;

  // Calls visit.section("core", "what it holds") before each section's parameters.
  template <class Visitor>
  void describe(Visitor& visit) {
    visit.section("gpu", "the whole GPU");
    gpu.describe(visit);
    visit.section("core", "one SIMT core");
    core.describe(visit);
    core.policies.describe(visit);
    visit.section("registers", "register file of a sub-core");
    registers.describe(visit);
    visit.section("lsu", "load-store unit of a core, and what is before it in each sub-core");
    lsu.describe(visit);
    visit.section("bulk_copy", "unit of a core that copies in bulk from device memory to the scratchpad");
    bulk_copy.describe(visit);
    visit.section("l0i", "instruction cache of a sub-core");
    l0i.describe(visit);
    visit.section("icache", "instruction cache of a core");
    icache.describe(visit);
    visit.section("l1d", "L1 data cache of a core");
    l1d.describe(visit);
    visit.section("texture", "texture cache of a core");
    texture.describe(visit);
    visit.section("constant_cache", "cache of constants and kernel parameters of a core");
    constant_cache.describe(visit);
    visit.section("scratchpad", "scratchpad (shared memory) of a core");
    scratchpad.describe(visit);
    visit.section("private", "private memory of a core's threads");
    private_memory.describe(visit);
    visit.section("noc", "interconnect between cores and memory partitions");
    noc.describe(visit);
    visit.section("l2", "L2 cache, shared by all cores, between interconnect and memory channels");
    l2.describe(visit);
    visit.section("dram", "memory channels");
    dram.describe(visit);
    visit.section("jedec", "DRAM command timing, with dram.timing = jedec; 0: as dram.preset has it");
    dram.jedec.describe(visit);
    dram.policies.describe(visit);
    visit.section("allocation", "where the host's allocator puts buffers in device memory");
    allocation.describe(visit);
    visit.section("watchdog", "when a run that makes no progress is stopped");
    watchdog.describe(visit);
  }
};

// What the memory channels transfer and interleave by: the line size of the cache before them.
[[nodiscard]] inline unsigned memory_line_bytes(const Machine& machine) {
  return machine.l2.enabled ? machine.l2.line_bytes : machine.l1d.line_bytes;
}

// What the memory channels transfer at least: the sector of the cache before them.
[[nodiscard]] inline unsigned memory_sector_bytes(const Machine& machine) {
  const unsigned sector = machine.l2.enabled ? machine.l2.sector_bytes : machine.l1d.sector_bytes;
  return sector != 0 ? sector : memory_line_bytes(machine);
}

// Slices of the L2, all channels together; without an L2 what would be them: the channels.
[[nodiscard]] inline unsigned memory_slices(const Machine& machine) {
  return machine.dram.channels * (machine.l2.enabled ? machine.l2.slices : 1);
}

// The edges of the interconnect's clock, and of the slices'. Only for a machine that hw::check() has passed.
[[nodiscard]] inline link::ClockEdges noc_edges(const Machine& machine) {
  return {machine.noc.clock_ghz == 0 ? machine.gpu.clock_ghz : machine.noc.clock_ghz, machine.gpu.clock_ghz};
}
[[nodiscard]] inline link::ClockEdges l2_edges(const Machine& machine) {
  return {machine.l2.clock_ghz == 0 ? machine.gpu.clock_ghz : machine.l2.clock_ghz, machine.gpu.clock_ghz};
}

// The parameters that a core has in a launch with warps of so many threads (why_no_warp_size).
[[nodiscard]] inline CoreParameters with_warp_size(const CoreParameters& core, std::uint32_t warp_size) {
  CoreParameters result = core;
  result.warp_size = warp_size;
  return result;
}

// That an instruction can name.
[[nodiscard]] inline unsigned most_registers(const Machine& machine) {
  return machine.icache.instruction_bytes > 8 ? isa::kRegisters : isa::kNarrowRegisters;
}

// Whether what is behind an access to the scratchpad in the pipeline can pass it.
[[nodiscard]] inline bool scratchpad_goes_on(const Machine& machine) {
  return machine.lsu.queue != 0 || machine.scratchpad.latency > 1;
}

// Whether what is behind a load of constants in the pipeline can pass it.
[[nodiscard]] inline bool constants_go_on(const Machine& machine) {
  return machine.constant_cache.bytes != 0;
}

[[nodiscard]] inline unsigned all_sub_cores(const Machine& machine) {
  return machine.gpu.cores * machine.core.sub_cores;
}

// The machine as one of its sub-cores sees it: with its share of the core's threads and registers (core.sub_cores).
[[nodiscard]] inline Machine machine_of_sub_core(const Machine& machine) {
  Machine result = machine;
  result.core.threads /= machine.core.sub_cores;
  result.core.registers /= machine.core.sub_cores;
  return result;
}

// A contradiction between parameters (hw/check/machine.hpp): one sentence, naming the keys ("core.warp_size (48) is no
// multiple of ...").
struct Contradiction {
  std::string key;  // the key to point at
  std::string message;
};

// Parameters that change nothing on a machine, because another one switches off what they describe.
struct WithoutEffect {
  std::vector<std::string> keys;
  std::string because;  // what is so: "l2.enabled is false"
};

}  // namespace heddle::hw
