// Of the machines of tests (machines.hpp), those on which a warp has several instructions in flight, those whose
// threads are scheduled independently, and those whose cores have several parts.
#pragma once

#include <string>

#include "hw/divergence/barriers.hpp"
#include "hw/issue/scoreboard.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::test {

// add(name, change): a machine that starts from the baseline.
template <class Add>
void add_machines_of_parts(Add add) {
  // One warp by itself in the whole pipeline: every operation in one cycle; and deep, narrow and without bypasses.
  add("scoreboard", [](hw::Machine& machine) {
    machine.core.issue = "scoreboard";
    machine.core.scheduler = "sticky";
    machine.core.execute_stages = 1;
    machine.core.complex_latency = 1;
    machine.core.complex_interval = 1;
    machine.core.prefix_levels_per_cycle = 1;
  });
  add("scoreboarddeep", [](hw::Machine& machine) {
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 3;
    machine.core.policies.of<hw::ScoreboardParameters>().forwarding = false;
    machine.core.simd_width = 16;
    machine.core.warp_size = 64;
    machine.core.former = "packed";
    machine.core.fetch_latency = 2;
    machine.core.decode_latency = 3;
    machine.core.register_read_latency = 2;
    machine.core.execute_stages = 4;
    machine.l1d.hit_latency = 3;
    machine.icache.hit_latency = 2;
  });
  // A warp that goes on while its loads and divisions are under way: until its records are used up, with few places for
  // accesses and a store buffer that fills; in rows, whose sub-warps come back in any order.
  add("onuse", [](hw::Machine& machine) {
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 32;
    machine.core.policies.of<hw::ScoreboardParameters>().loads_ahead = true;
    machine.core.scheduler = "gty";
    machine.core.pending_accesses = 5;
    machine.l1d.bytes = 2048;
    machine.l1d.mshrs = 4;
    machine.l1d.hit_latency = 9;
    machine.l1d.write_policy = "write-through";
    machine.l1d.write_buffer = 3;
  });
  add("onuserows", [](hw::Machine& machine) {
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 6;
    machine.core.policies.of<hw::ScoreboardParameters>().loads_ahead = true;
    machine.core.registers = 64 * 1024;
    machine.core.scheduler = "two-level";
    machine.registers = {3, 1, 2, 2, true};
    machine.core.simd_width = 8;
    machine.core.warp_size = 64;
    machine.core.former = "packed";
    machine.l1d.bytes = 4096;
    machine.l2.enabled = true;
    machine.gpu.cores = 2;
    machine.l1d.write_policy = "write-through";
  });
  // Threads that are scheduled independently; with one barrier register, and letting others run in every round.
  add("barriers", [](hw::Machine& machine) {
    machine.core.divergence = "barriers";
    machine.l1d.bytes = 4096;
  });
  add("barrierstight", [](hw::Machine& machine) {
    machine.core.divergence = "barriers";
    machine.registers = {4, 1, 1, 1, true};
    machine.core.scheduler = "two-level";
    machine.core.simd_width = machine.core.warp_size = 16;
    machine.core.policies.of<hw::BarriersParameters>() = {1, 3, 1, "taken"};
    machine.l1d.hit_latency = 3;
  });
  // Cores of several parts: with an L0 and narrow lanes, several of them behind an L2 of two halves, with one store for
  // L1 and scratchpad; with large warps; with few ports; with threads that form warps within their part.
  add("subcores", [](hw::Machine& machine) {
    machine.core.sub_cores = 4;
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.core.scheduler = "gty";
    machine.core.integer_interval = machine.core.float_interval = 2;
    machine.core.double_interval = 16;
    machine.registers = {2, 1, 3, 1, true};
    machine.l0i = {true, 1024, 2, 3};
    machine.icache.hit_latency = 12;
    machine.gpu.cores = 2;
    machine.l1d.write_policy = "write-through";
    machine.l1d.hit_latency = 20;
    machine.l1d.return_bytes = 64;
    machine.l2.enabled = true;
    machine.l2.partitions = 2;
    machine.noc.partition_latency = 60;
    machine.dram.channels = 2;
    machine.icache.instruction_bytes = 16;
    machine.l1d.bytes = 160 * 1024;  // and the scratchpad
    machine.scratchpad.carve_outs = "0 32 64 128";
    machine.scratchpad.least_carve_out = 32;
  });
  // With caches that keep their lines from launch to launch: some of an L2's two halves, all of the code.
  add("subcoreskept", [](hw::Machine& machine) {
    machine.core.sub_cores = 2;
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.l0i = {true, 512, 1, 2};
    machine.icache.kept = true;
    machine.gpu.cores = 2;
    machine.gpu.kernels = 2;
    machine.l1d.write_policy = "write-through";
    machine.l1d.sector_bytes = 32;
    machine.l2.enabled = machine.l2.kept = true;
    machine.l2.write_back_at_end = false;
    machine.l2.bytes = 64 * 1024;
    machine.l2.sector_bytes = 32;
    machine.l2.partitions = 2;
    machine.noc.partition_latency = 60;
    machine.dram.channels = 2;
    machine.constant_cache.bytes = 512;
    machine.constant_cache.hit_latency = 5;
  });
  // With a memory queue and results of the scratchpad that take their time: as today's GPUs; where one instruction of a
  // warp is in flight, of several sub-warps, and threads change groups.
  add("queue", [](hw::Machine& machine) {
    machine.core.sub_cores = 4;
    machine.core.divergence = "barriers";
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 32;
    machine.core.policies.of<hw::ScoreboardParameters>().loads_ahead = true;
    machine.core.scheduler = "gty";
    machine.lsu = {5, 4, 2};
    machine.scratchpad.latency = 17;
    machine.l1d.write_policy = "write-through";
    machine.l1d.hit_latency = 20;
    machine.l1d.return_bytes = 64;
    machine.gpu.launch_latency = 300;
  });
  // Constant caches: too small for what is read, with one line on its way at most; behind L0s, beside a memory queue;
  // where sub-warps of an instruction wait for each other, and where threads that have been answered run ahead.
  add("constants", [](hw::Machine& machine) {
    machine.constant_cache.bytes = 128;
    machine.constant_cache.line_bytes = 32;
    machine.constant_cache.ways = 1;
    machine.constant_cache.mshrs = machine.constant_cache.mshr_targets = 1;
    machine.core.pending_accesses = 2;
  });
  add("constantsl0", [](hw::Machine& machine) {
    machine.core.sub_cores = 4;
    machine.core.divergence = "barriers";
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 32;
    machine.core.policies.of<hw::ScoreboardParameters>().loads_ahead = true;
    machine.core.scheduler = "gty";
    machine.lsu = {2, 4, 2};
    machine.scratchpad.latency = 17;
    machine.scratchpad.return_bytes = 128;
    machine.l1d.write_policy = "write-through";
    machine.l1d.sector_bytes = 32;
    machine.l1d.hit_latency = 20;
    machine.l1d.return_bytes = 64;
    machine.l2.enabled = true;
    machine.l2.sector_bytes = 32;
    machine.core.pending_accesses = 5;
    machine.constant_cache.bytes = 512;
    machine.constant_cache.hit_latency = 30;
    machine.constant_cache.mshrs = 2;
    machine.constant_cache.l0_bytes = 128;
    machine.constant_cache.l0_ways = 1;
    machine.constant_cache.l0_latency = 9;
  });
  add("constantsgathered", [](hw::Machine& machine) {
    machine.core.simd_width = 8;
    machine.core.warp_size = 32;
    machine.core.coalescer = "whole-warp";
    machine.core.issue = "scoreboard";
    machine.gpu.cores = 2;
    machine.l1d.write_policy = "write-through";
    machine.l2.enabled = machine.l2.inclusive = true;
    machine.l2.bytes = 16 * 1024;
    machine.constant_cache.bytes = 256;
    machine.constant_cache.hit_latency = 4;
    machine.constant_cache.ports = 2;
  });
  add("constantsdws", [](hw::Machine& machine) {
    machine.core.divergence = "dws";
    machine.core.issue = "scoreboard";
    machine.l1d.bytes = 4096;
    machine.constant_cache.bytes = 256;
    machine.constant_cache.hit_latency = 3;
  });
  add("constantsmimd", [](hw::Machine& machine) {
    machine.core.divergence = "mimd";
    machine.constant_cache.bytes = 256;
  });
  add("queuestrict", [](hw::Machine& machine) {
    machine.core.warp_size = 128;
    machine.core.former = "packed";
    machine.core.issue = "relaxed";
    machine.core.scheduler = "two-level";
    machine.lsu = {1, 3, 5};
    machine.scratchpad.latency = 2;
    machine.core.pending_accesses = 3;
  });
  add("queuedws", [](hw::Machine& machine) {
    machine.core.divergence = "dws";
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 4;
    machine.lsu = {2, 4, 2};
    machine.scratchpad.latency = 9;
    machine.l1d.bytes = 4096;
    machine.l1d.mshrs = 8;
  });
  add("latescratchpad", [](hw::Machine& machine) {
    machine.scratchpad.latency = 30;
    machine.core.divergence = "tbc";
    machine.core.scheduler = "sticky";
  });
  add("subcoreslarge", [](hw::Machine& machine) {
    machine.core.sub_cores = 2;
    machine.core.warp_size = 128;
    machine.core.former = "packed";
    machine.core.scheduler = "two-level";
    machine.l1d.ports = 2;
    machine.icache.ports = 2;
  });
  add("subcoresbarriers", [](hw::Machine& machine) {
    machine.core.sub_cores = 4;
    machine.core.divergence = "barriers";
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 32;
    machine.core.policies.of<hw::ScoreboardParameters>().loads_ahead = true;
    machine.core.policies.of<hw::BarriersParameters>().yield_after = 2;
    machine.core.scheduler = "gty";
    machine.l1d.write_policy = "write-through";
    machine.l1d.hit_latency = 20;
  });
  // Dependences by control bits: as today's GPUs; and with several sub-warps and records that are used up.
  add("controlbits", [](hw::Machine& machine) {
    machine.core.sub_cores = 4;
    machine.core.divergence = "barriers";
    machine.core.issue = "control-bits";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 32;
    machine.core.policies.of<hw::ScoreboardParameters>().loads_ahead = true;
    machine.core.scheduler = "gty";
    machine.core.execute_stages = 4;
    machine.core.half_latency = 6;
    machine.core.integer_interval = 2;
    machine.registers = {2, 1, 3, 1, true};
    machine.lsu = {5, 4, 2};
    machine.scratchpad.latency = 17;
    machine.icache.instruction_bytes = 16;
    machine.icache.hit_latency = 12;
    machine.l0i = {true, 1024, 2, 3};
    machine.l1d.write_policy = "write-through";
    machine.l1d.hit_latency = 20;
    machine.l1d.return_bytes = 64;
  });
  add("controlbitsrows", [](hw::Machine& machine) {
    machine.core.sub_cores = 2;
    machine.core.issue = "control-bits";
    machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
    machine.core.policies.of<hw::ScoreboardParameters>().entries = 3;
    machine.core.scheduler = "two-level";
    machine.core.simd_width = 8;
    machine.core.warp_size = 64;
    machine.core.former = "packed";
    machine.core.fetch_latency = 2;
    machine.core.register_read_latency = 3;
    machine.core.execute_stages = 5;
    machine.icache.instruction_bytes = 16;
    machine.l1d.write_policy = "write-through";
    machine.l2.enabled = true;
    machine.gpu.cores = 2;
  });
  add("subcorestbc", [](hw::Machine& machine) {
    machine.core.sub_cores = 2;
    machine.core.divergence = "tbc";
    machine.core.scheduler = "sticky";
    machine.l0i = {true, 512, 1, 0};
    machine.icache.bytes = 512;
    machine.icache.ways = 1;
  });
  add("subcoresdws", [](hw::Machine& machine) {
    machine.core.sub_cores = 8;
    machine.core.divergence = "dws";
    machine.core.issue = "scoreboard";
    machine.l1d.bytes = 4096;
    machine.l1d.mshrs = 8;
  });
}

}  // namespace heddle::test
