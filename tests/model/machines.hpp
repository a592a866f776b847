// Machines that differ where results must not: timing, sizes and widths.
// Long: one list, in which a test finds its machines by name.
#pragma once

#include <string>
#include <vector>

#include "hw/divergence/dwf.hpp"
#include "hw/divergence/dws.hpp"
#include "hw/divergence/mimd.hpp"
#include "hw/divergence/odgs.hpp"
#include "hw/divergence/tbc.hpp"
#include "hw/dram/warp_aware.hpp"
#include "hw/issue/scoreboard.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/schedule/least_progress.hpp"
#include "hw/schedule/lost_locality.hpp"
#include "hw/schedule/two_level.hpp"
#include "hw/schedule/two_level_adaptive.hpp"
#include "hw/subwarp/packing.hpp"
#include "tests/model/machines_of_parts.hpp"
#include "tests/model/machines_of_readings.hpp"

namespace heddle::test {

[[nodiscard]] inline std::vector<hw::Machine> make_machines() {
  std::vector<hw::Machine> all;
  all.reserve(256);
  // Each starts from the baseline with whatever many registers the compiler likes; change() says what is different.
  const auto add = [&all](const char* name, auto change) {
    hw::Machine machine;
    machine.name = name;
    machine.core.registers_per_thread = 63;
    change(machine);
    all.push_back(machine);
  };
  add("baseline", [](hw::Machine&) {});
  add("registers16", [](hw::Machine& machine) { machine.core.registers_per_thread = 16; });
  add("predicated", [](hw::Machine& machine) { machine.core.if_conversion = 8; });
  add("warp64", [](hw::Machine& machine) { machine.core.warp_size = 64; });
  add("warp256", [](hw::Machine& machine) { machine.core.warp_size = 256; });
  add("simd8", [](hw::Machine& machine) { machine.core.simd_width = machine.core.warp_size = 8; });
  add("simd8warp32", [](hw::Machine& machine) { machine.core.simd_width = 8; });
  add("tiny", [](hw::Machine& machine) {
    machine.l1d.bytes = 256;
    machine.l1d.ways = 1;
    machine.l1d.mshrs = 1;
    machine.l1d.mshr_targets = 1;
    machine.l1d.write_buffer = 1;
    machine.icache.bytes = 256;
    machine.icache.ways = 1;
    machine.icache.mshrs = 1;
    machine.icache.mshr_targets = 1;
    machine.core.pending_accesses = 1;
    machine.noc.queue = 1;
    machine.dram.queue = 1;
    machine.scratchpad.banks = 2;
  });
  add("throughcores2", [](hw::Machine& machine) {
    machine.gpu.cores = 2;
    machine.l1d.write_policy = "write-through";
  });
  add("throughcores4", [](hw::Machine& machine) {
    machine.gpu.cores = 4;
    machine.l1d.write_policy = "write-through";
    machine.l1d.bytes = 1024;
    machine.dram.channels = 2;
  });
  // Write-back caches that a home keeps coherent, roomy and tight.
  add("mesicores4", [](hw::Machine& machine) {
    machine.gpu.cores = 4;
    machine.gpu.coherence = "mesi";
    machine.l2.enabled = machine.l2.inclusive = true;
    machine.dram.channels = 2;
  });
  add("mesitight", [](hw::Machine& machine) {
    machine.gpu.cores = 4;
    machine.gpu.coherence = "mesi";
    machine.l1d.bytes = 8192;
    machine.l1d.ways = 2;
    machine.l1d.mshrs = 4;
    machine.l1d.write_buffer = 2;
    machine.l2.enabled = machine.l2.inclusive = true;
    machine.l2.bytes = 24576;
    machine.l2.ways = 3;
    machine.l2.mshrs = 4;
    machine.l2.queue = machine.l2.write_buffer = machine.noc.queue = 2;
  });
  // Memory scheduling by warps, over several cores and an L2, and before row hits; loads limited by lost locality.
  add("fewestmisses", [](hw::Machine& machine) {
    machine.gpu.cores = 3;
    machine.l1d.write_policy = "write-through";
    machine.l1d.bytes = 1024;
    machine.dram.channels = 2;
    machine.dram.scheduler = "warp-aware";
    machine.l2.enabled = true;
    machine.l2.bytes = 8192;
  });
  add("fewestmissesfirst", [](hw::Machine& machine) {
    machine.dram.scheduler = "warp-aware";
    machine.dram.policies.of<hw::WarpAwareParameters>().first = "warps";
    machine.dram.write_high = 8;
    machine.dram.write_low = 2;
    machine.l1d.bytes = 1024;
  });
  add("ccws", [](hw::Machine& machine) {
    machine.core.load_limiter = "ccws";
    machine.core.scheduler = "gto";
    machine.l1d.bytes = 1024;
    machine.icache.bytes = 256;
    machine.icache.ways = 1;
    machine.icache.hit_latency = 3;
  });
  add("ccwstwolevel", [](hw::Machine& machine) {
    machine.core.load_limiter = "ccws";
    machine.core.policies.of<hw::CcwsParameters>().throttle = 100;
    machine.core.scheduler = "two-level";
    machine.core.issue = "scoreboard";
    machine.l1d.bytes = 512;
    machine.l1d.hit_latency = 3;
  });
  add("channels2", [](hw::Machine& machine) {
    machine.dram.channels = 2;
    machine.l1d.ports = 4;
    machine.l1d.banks = 3;
    machine.l1d.hit_latency = 5;
  });
  add("through", [](hw::Machine& machine) {
    machine.l1d.write_policy = "write-through";
    machine.l1d.enabled = true;
    machine.core.execute_stages = 1;
    machine.core.complex_latency = 20;
    machine.core.complex_interval = 7;
  });
  add("nocache", [](hw::Machine& machine) {
    machine.l1d.enabled = false;
    machine.icache.enabled = false;
    machine.core.fetch_latency = 3;
    machine.core.decode_latency = 2;
    machine.core.register_read_latency = 2;
    machine.core.execute_stages = 5;
  });
  // With an L2: of thesis table 8.1; so small that every line goes and every queue fills; inclusive with lines longer
  // than the L1s'; and writing through behind cores without caches.
  add("l2large", [](hw::Machine& machine) {
    machine.l2.enabled = true;
    machine.dram.scheduler = "fr-fcfs";
  });
  add("l2small", [](hw::Machine& machine) {
    machine.gpu.cores = 2;
    machine.l1d.write_policy = "write-through";
    machine.l1d.bytes = 1024;
    machine.dram.channels = 2;
    machine.l2.enabled = true;
    machine.l2.bytes = 2048;
    machine.l2.ways = 2;
    machine.l2.hit_latency = 1;
    machine.l2.banks = 1;
    machine.l2.mshrs = 2;
    machine.l2.mshr_targets = 2;
    machine.l2.write_buffer = 1;
    machine.l2.queue = 1;
  });
  add("l2inclusive", [](hw::Machine& machine) {
    machine.gpu.cores = 4;
    machine.l1d.write_policy = "write-through";
    machine.l1d.line_bytes = 64;
    machine.icache.line_bytes = 64;
    machine.l2.enabled = true;
    machine.l2.inclusive = true;
    machine.l2.bytes = 8192;
    machine.l2.ways = 4;
    machine.l2.banks = 2;
    machine.l2.bank_interval = 3;
  });
  add("l2inclusiveback", [](hw::Machine& machine) {
    machine.l2.enabled = true;
    machine.l2.inclusive = true;
    machine.l2.bytes = 4096;
    machine.l2.ways = 2;
  });
  add("l2through", [](hw::Machine& machine) {
    machine.l1d.enabled = false;
    machine.icache.enabled = false;
    machine.l2.enabled = true;
    machine.l2.bytes = 16384;
    machine.l2.write_policy = "write-through";
    machine.dram.channels = 2;
  });
  // Sectors, hashed sets, slices and channels of any number, and a clock each; tight, and with a write-back L1.
  add("sectors", [](hw::Machine& machine) {
    machine.gpu.cores = 3;
    machine.l1d.write_policy = "write-through";
    machine.l1d.bytes = 1536;
    machine.l1d.hit_latency = 4;
    machine.l1d.sector_bytes = 32;
    machine.l1d.index = machine.l2.index = "hash";
    machine.l1d.mshrs = 3;
    machine.l1d.mshr_targets = 2;
    machine.noc.clock_ghz = 1.4;
    machine.noc.link_bytes = 16;
    machine.noc.slice_bytes = 8;
    machine.noc.packed = true;
    machine.l2.enabled = true;
    machine.l2.bytes = 9216;
    machine.l2.ways = 3;
    machine.l2.slices = 2;
    machine.l2.slice_hash = machine.dram.channel_hash = true;
    machine.l2.sector_bytes = 32;
    machine.l2.clock_ghz = 0.7;
    machine.l2.mshrs = 2;
    machine.dram.channels = 3;
    machine.dram.latency = 25;
  });
  add("sectorsback", [](hw::Machine& machine) {
    machine.l1d.bytes = 2560;
    machine.l1d.sector_bytes = 64;
    machine.l2.enabled = true;
    machine.l2.bytes = 6144;
    machine.l2.ways = 6;
    machine.l2.sector_bytes = 32;
    machine.dram.timing = "jedec";
    machine.dram.preset = "hbm3";
    machine.dram.banks = 32;
  });
  // The mechanisms, combined as the named configurations do not combine them.
  add("packed64", [](hw::Machine& machine) {
    machine.core.warp_size = 64;
    machine.core.former = "packed";
    machine.core.policies.of<hw::PackingParameters>().memory_by_rows = false;
    machine.core.policies.of<hw::PackingParameters>().branch_once = false;
  });
  add("packed1024relaxed", [](hw::Machine& machine) {
    machine.core.warp_size = 1024;
    machine.core.registers_per_thread = 16;  // a block has whole warps' registers
    machine.core.former = "packed";
    machine.core.issue = "relaxed";
    machine.core.scheduler = "oldest";
  });
  // Scalar instructions, found by the compiler or at run time; warps of one row and of many, packed and not, with
  // instructions of a warp that overlap.
  add("scalarrows", [](hw::Machine& machine) { machine.core.scalar = "compiler"; });
  add("scalarrelaxed", [](hw::Machine& machine) {
    machine.core.scalar = "compiler";
    machine.core.warp_size = 256;
    machine.core.former = "packed";
    machine.core.issue = "relaxed";
  });
  add("scalarmemory", [](hw::Machine& machine) {
    machine.core.scalar = "detector";
    machine.core.warp_size = 512;
    machine.core.registers_per_thread = 16;
    machine.core.former = "packed-freely";
    machine.core.issue = "relaxed-memory";
    machine.core.if_conversion = 8;
  });
  add("scalarsimd8", [](hw::Machine& machine) {
    machine.core.scalar = "detector";
    machine.core.simd_width = 8;
    machine.core.warp_size = 64;
  });
  add("packedsimd8", [](hw::Machine& machine) {
    machine.core.simd_width = 8;
    machine.core.warp_size = 128;
    machine.core.former = "packed";
    machine.core.issue = "relaxed-memory";
    machine.core.scheduler = "gto";
  });
  add("freely", [](hw::Machine& machine) {
    machine.core.warp_size = 256;
    machine.core.former = "packed-freely";
    machine.core.issue = "relaxed";
    machine.core.complex_long_latency = true;
  });
  add("rowsrelaxed", [](hw::Machine& machine) {
    machine.core.warp_size = 128;
    machine.core.issue = "relaxed";
    machine.core.scheduler = "two-level";
    machine.core.policies.of<hw::TwoLevelParameters>().fetch_group = 3;
    machine.core.policies.of<hw::TwoLevelParameters>().inner_scheduler = "gto";
    machine.core.policies.of<hw::TwoLevelParameters>().fetch_group_timeout = 100;
  });
  add("tbcsimd8", [](hw::Machine& machine) {
    machine.core.simd_width = machine.core.warp_size = 8;
    machine.core.divergence = "tbc";
    machine.core.scheduler = "two-level";
    machine.core.policies.of<hw::TwoLevelParameters>().outer_scheduler = "oldest";
    machine.core.policies.of<hw::TwoLevelParameters>().inner_scheduler = "oldest";
  });
  add("tbcparts", [](hw::Machine& machine) {
    machine.core.simd_width = machine.core.warp_size = 16;
    machine.core.divergence = "tbc";
    machine.core.scheduler = "sticky";
    machine.core.policies.of<hw::TbcParameters>().width = 48;
  });
  add("dwfanylane", [](hw::Machine& machine) {
    machine.core.divergence = "dwf";
    machine.core.policies.of<hw::DwfParameters>().lane_aware = false;
    machine.core.scheduler = "majority";
  });
  add("dwfsimd8", [](hw::Machine& machine) {
    machine.core.simd_width = machine.core.warp_size = 8;
    machine.core.divergence = "dwf";
    machine.core.scheduler = "round-robin";
  });
  add("pcsticky", [](hw::Machine& machine) {
    machine.core.divergence = "per-thread-pc";
    machine.core.scheduler = "sticky";
  });
  add("splits", [](hw::Machine& machine) {
    machine.core.divergence = "memory-split";
    machine.l1d.bytes = 4096;
    machine.l1d.hit_latency = 3;
  });
  // Warps that part: at branches alone, at accesses alone, at both; with little room for splits.
  add("dwsstack", [](hw::Machine& machine) {
    machine.core.divergence = "dws";
    auto& own = machine.core.policies.of<hw::DwsParameters>();
    own.branches = "stack";
    own.memory = "none";
  });
  add("dwslimited", [](hw::Machine& machine) {
    machine.core.divergence = "dws";
    auto& own = machine.core.policies.of<hw::DwsParameters>();
    own.branches = "none";
    own.memory = "aggressive";
    own.reconvergence = "branch-limited";
    own.slots = 5;
    machine.l1d.bytes = 4096;
  });
  add("dwsrevive", [](hw::Machine& machine) {
    machine.core.divergence = "dws";
    machine.core.issue = "scoreboard";
    machine.core.simd_width = machine.core.warp_size = 16;
    machine.core.policies.of<hw::DwsParameters>().short_block = 1000000;
    machine.l1d.bytes = 4096;
    machine.l1d.hit_latency = 3;
  });
  add("dwstight", [](hw::Machine& machine) {
    machine.core.divergence = "dws";
    machine.core.scheduler = "two-level";
    auto& own = machine.core.policies.of<hw::DwsParameters>();
    own.memory = "aggressive";
    own.entries = 3;
    own.slots = 4;
    own.short_block = 1000000;
    machine.l1d.bytes = 4096;
  });
  // Warps that wait for their stores, and part at them; splits that meet behind accesses alone; banks of words.
  add("dwswaits", [](hw::Machine& machine) {
    machine.core.divergence = "dws";
    machine.core.issue = "scoreboard";
    machine.core.stores = "waited";
    machine.core.simd_width = machine.core.warp_size = 16;
    auto& own = machine.core.policies.of<hw::DwsParameters>();
    own.meet = "accesses";
    own.short_block = 1000000;
    own.loop_branches = false;
    machine.l1d.bytes = 4096;
    machine.l1d.hit_latency = 3;
    machine.l1d.ports = machine.l1d.banks = 16;
    machine.l1d.bank_bytes = 8;
    machine.l1d.conflict_cycles = 1;
  });
  add("throughwaits", [](hw::Machine& machine) {
    machine.gpu.cores = 2;
    machine.core.stores = "waited";
    machine.l1d.write_policy = "write-through";
    machine.l1d.bytes = 1024;
    machine.l1d.write_buffer = 2;
  });
  // Where a predictor says so; across warps, with a table that aliases, and with little room.
  add("dwspredict", [](hw::Machine& machine) {
    machine.core.divergence = "dws";
    auto& own = machine.core.policies.of<hw::DwsParameters>();
    own.memory = "predict";
    own.predictor_entries = 3;
    own.predictor_bits = 6;
    own.short_block = 1000000;
    machine.l1d.bytes = 4096;
    machine.l1d.hit_latency = 3;
  });
  add("dwsformed", [](hw::Machine& machine) {
    machine.core.divergence = "dws-dwf";
    machine.core.issue = "scoreboard";
    machine.core.simd_width = machine.core.warp_size = 16;
    auto& own = machine.core.policies.of<hw::DwsParameters>();
    own.memory = "predict";
    own.predictor_threshold = 200;
    own.short_block = 1000000;
    machine.l1d.bytes = 4096;
    machine.l1d.hit_latency = 3;
  });
  add("dwsformedtight", [](hw::Machine& machine) {
    machine.core.divergence = "dws-dwf";
    machine.core.scheduler = "majority";
    auto& own = machine.core.policies.of<hw::DwsParameters>();
    own.memory = "aggressive";
    own.entries = 3;
    own.slots = 4;
    own.short_block = 1000000;
    machine.l1d.bytes = 4096;
  });
  add("slip", [](hw::Machine& machine) {
    machine.core.divergence = "slip";
    machine.core.policies.of<hw::SlipParameters>().interval = 100;
    machine.l1d.bytes = 4096;
  });
  add("slipbypass", [](hw::Machine& machine) {
    machine.core.divergence = "slip";
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::SlipParameters>().branch_bypass = true;
    machine.core.policies.of<hw::DwsParameters>().entries = 6;
    machine.core.policies.of<hw::DwsParameters>().slots = 6;
    machine.l1d.bytes = 4096;
  });
  // Lanes that execute each an instruction of its own: the threads of a warp of four rows in step, with hits that take
  // several cycles; and each for itself.
  add("mimd", [](hw::Machine& machine) {
    machine.core.divergence = "mimd";
    machine.core.simd_width = 16;
    machine.core.warp_size = 64;
    machine.icache.ports = 2;
    machine.icache.hit_latency = 3;
    machine.l1d.hit_latency = 2;
    machine.l1d.bytes = 4096;
  });
  add("mimdthreads", [](hw::Machine& machine) {
    machine.core.divergence = "mimd";
    machine.core.policies.of<hw::MimdParameters>().step = false;
    machine.core.simd_width = machine.core.warp_size = 8;
    machine.core.threads = 256;
    machine.icache.ports = 8;
    machine.icache.bytes = 1024;
    machine.l1d.ports = 4;
    machine.l1d.bytes = 4096;
  });
  // Lines of whole warps: of rows, of packed sub-warps with hits that take several cycles and little room, and of lanes
  // with an instruction each. Reads that do not merge, with stores that wait for their line and without.
  add("wholewarp", [](hw::Machine& machine) {
    machine.core.coalescer = "whole-warp";
    machine.core.simd_width = 8;
    machine.core.warp_size = 32;
    machine.gpu.cores = 2;
    machine.l1d.line_bytes = machine.icache.line_bytes = 64;
    machine.l1d.write_policy = "write-through";
    machine.l1d.merge_reads = false;
    machine.dram.channels = 6;
  });
  add("wholewarppacked", [](hw::Machine& machine) {
    machine.core.coalescer = "whole-warp";
    machine.core.former = "packed";
    machine.core.simd_width = 8;
    machine.core.warp_size = 64;
    machine.core.pending_accesses = 2;
    machine.l1d.hit_latency = 3;
    machine.l1d.bytes = 2048;
    machine.l1d.mshrs = 3;
    machine.l1d.merge_reads = false;
  });
  add("wholewarpmimd", [](hw::Machine& machine) {
    machine.core.coalescer = "whole-warp";
    machine.core.divergence = "mimd";
    machine.core.simd_width = 8;
    machine.core.warp_size = 64;
    machine.l1d.bytes = 2048;
  });
  // Every access a hit; with atomics that come late, and with one core's.
  add("perfect", [](hw::Machine& machine) {
    machine.gpu.perfect_memory = true;
    machine.gpu.cores = 3;
    machine.l1d.hit_latency = 3;
    machine.dram.channels = 2;
  });
  // Warps of the whole grid: ideal; with contexts that take time, little room in the pool and no L1s; and with branches
  // that stay in the core, few moves and coherent L1s.
  add("odgs", [](hw::Machine& machine) {
    machine.core.divergence = "odgs";
    machine.gpu.perfect_memory = true;
    machine.gpu.cores = 3;
  });
  add("odgslinks", [](hw::Machine& machine) {
    machine.core.divergence = "odgs";
    machine.core.threads = 512;
    machine.gpu.cores = 2;
    machine.l1d.enabled = false;
    machine.l1d.write_policy = "write-through";
    hw::OdgsParameters& odgs = machine.core.policies.of<hw::OdgsParameters>();
    odgs.handling_latency = 17;
    odgs.link_bytes = 64;
    odgs.pool = 1024;
  });
  add("odgsstack", [](hw::Machine& machine) {
    machine.core.divergence = "odgs";
    machine.gpu.cores = 3;
    machine.gpu.coherence = "mesi";
    machine.l2.enabled = true;
    machine.l2.inclusive = true;
    hw::OdgsParameters& odgs = machine.core.policies.of<hw::OdgsParameters>();
    odgs.short_branch = 12;
    odgs.moves_per_1024 = 8;
  });
  // L1s that write through, and that are not kept coherent: threads that have moved read past them. Local re-formation
  // first.
  add("odgsthrough", [](hw::Machine& machine) {
    machine.core.divergence = "odgs";
    machine.gpu.cores = 3;
    machine.l1d.write_policy = "write-through";
    machine.dram.channels = 2;
    hw::OdgsParameters& odgs = machine.core.policies.of<hw::OdgsParameters>();
    odgs.local_paths = 6;
    odgs.local_wait = 200;
    odgs.own_blocks = true;
  });
  add("odgsranked", [](hw::Machine& machine) {
    machine.core.divergence = "odgs";
    machine.gpu.cores = 2;
    machine.l1d.write_policy = "write-through";
    machine.l2.enabled = true;
    hw::OdgsParameters& odgs = machine.core.policies.of<hw::OdgsParameters>();
    odgs.rank_after = 1;
    odgs.rank_loss = 40;
    odgs.local_paths = 2;
    odgs.handling_latency = 9;
  });
  // Kernels with scratchpad move after their last access to it: ideal; through L1s that are not kept coherent, with
  // local re-formation, links and few places; and with coherent L1s, short branches and few parts of the scratchpad.
  add("odgslast", [](hw::Machine& machine) {
    machine.core.divergence = "odgs";
    machine.gpu.perfect_memory = true;
    machine.gpu.cores = 3;
    machine.core.policies.of<hw::OdgsParameters>().scratchpad = "after-last-access";
  });
  add("odgslastthrough", [](hw::Machine& machine) {
    machine.core.divergence = "odgs";
    machine.gpu.cores = 3;
    machine.core.threads = 512;
    machine.l1d.write_policy = "write-through";
    machine.dram.channels = 2;
    hw::OdgsParameters& odgs = machine.core.policies.of<hw::OdgsParameters>();
    odgs.scratchpad = "after-last-access";
    odgs.handling_latency = 11;
    odgs.link_bytes = 256;
    odgs.local_paths = 4;
    odgs.local_wait = 300;
  });
  add("odgslastmesi", [](hw::Machine& machine) {
    machine.core.divergence = "odgs";
    machine.core.blocks = 2;
    machine.gpu.cores = 2;
    machine.gpu.coherence = "mesi";
    machine.l2.enabled = true;
    machine.l2.inclusive = true;
    hw::OdgsParameters& odgs = machine.core.policies.of<hw::OdgsParameters>();
    odgs.scratchpad = "after-last-access";
    odgs.short_branch = 10;
    odgs.rank_after = 2;
  });
  // Learns in short intervals, so that every candidate takes over often.
  add("adaptive", [](hw::Machine& machine) {
    machine.core.scheduler = "two-level-adaptive";
    auto& own = machine.core.policies.of<hw::AdaptiveTwoLevelParameters>();
    own.fetch_groups = "1,8";
    own.inner_schedulers = "gto,least-progress,sticky";
    own.outer_schedulers = "fixed,least-progress,oldest,round-robin";
    own.settle = 0;
    own.sample = 40;
    own.run = 150;
    own.kernels = 1;
  });
  add("progresslarge", [](hw::Machine& machine) {
    machine.core.warp_size = 64;
    machine.core.former = "packed";
    machine.core.issue = "relaxed";
    machine.core.scheduler = "least-progress";
  });
  add("progressdwf", [](hw::Machine& machine) {
    machine.core.divergence = "dwf";
    machine.core.scheduler = "two-level";
    machine.core.policies.of<hw::TwoLevelParameters>().inner_scheduler = "least-progress";
    machine.core.policies.of<hw::TwoLevelParameters>().outer_scheduler = "least-progress";
    machine.core.policies.of<hw::LeastProgressParameters>().since = "barrier";
  });
  add_machines_of_readings(add);
  add_machines_of_parts(add);
  return all;
}

// Made once: each test case is a process of its own, and names its parameters at its start.
[[nodiscard]] inline const std::vector<hw::Machine>& machines() {
  static const std::vector<hw::Machine> all = make_machines();
  return all;
}

}  // namespace heddle::test
