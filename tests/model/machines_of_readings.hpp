// Machines with what the papers mention, or leave open (tests/model/machines.hpp).
#pragma once

#include "hw/divergence/dwf.hpp"
#include "hw/divergence/dws.hpp"
#include "hw/divergence/mimd.hpp"
#include "hw/issue/relaxed.hpp"
#include "hw/issue/scoreboard.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/schedule/dynamic_warps.hpp"

namespace heddle::test {

template <class Add>
void add_machines_of_readings(Add add) {
  // Private memory for some of a thread's local memory, with few registers, so that kernels spill: in order; of threads
  // that are packed with others of their column, or of other warps.
  add("private", [](hw::Machine& machine) {
    machine.core.registers_per_thread = 10;
    machine.private_memory.bytes = 64;
    machine.gpu.cores = 2;
    machine.l1d.write_policy = "write-through";
  });
  add("privatefreely", [](hw::Machine& machine) {
    machine.core.registers_per_thread = 12;
    machine.core.warp_size = 128;
    machine.core.former = "packed-freely";
    machine.core.issue = "relaxed";
    machine.private_memory.bytes = 16;
  });
  add("privatedwf", [](hw::Machine& machine) {
    machine.core.registers_per_thread = 12;
    machine.core.divergence = "dwf";
    machine.core.scheduler = "majority";
    machine.core.policies.of<hw::DwfParameters>().lane_aware = false;
    machine.private_memory.bytes = 128;
  });
  add("privatemimd", [](hw::Machine& machine) {
    machine.core.registers_per_thread = 12;
    machine.core.divergence = "mimd";
    machine.private_memory.bytes = 32;
  });
  // Other orders of dynamic warps.
  add("dwflowest", [](hw::Machine& machine) {
    machine.core.divergence = "dwf";
    machine.core.scheduler = "lowest-pc";
  });
  add("dwfmajoritywarps", [](hw::Machine& machine) {
    machine.core.divergence = "dwf";
    machine.core.scheduler = "majority";
    machine.core.policies.of<hw::MajorityParameters>().counts = "warps";
  });
  // Large warps that part at branches: packed, in rows; with room for few warp-splits.
  add("largesplits", [](hw::Machine& machine) {
    machine.core.warp_size = 256;
    machine.core.former = "packed";
    machine.core.divergence = "dws-large";
  });
  add("largesplitsfew", [](hw::Machine& machine) {
    machine.core.warp_size = 64;
    machine.core.simd_width = 16;
    machine.core.divergence = "dws-large";
    machine.core.scheduler = "least-progress";
    machine.core.policies.of<hw::DwsParameters>().entries = 3;
    machine.core.policies.of<hw::DwsParameters>().short_block = 1000;
  });
  add("largesplitsboard", [](hw::Machine& machine) {
    machine.core.warp_size = 128;
    machine.core.former = "packed-freely";
    machine.core.issue = "scoreboard";
    machine.core.scheduler = "two-level";
    machine.core.divergence = "dws-large";
  });
  // Large warps go on at a branch once it is known to part them: packed; in rows, memory accesses included.
  add("divergedearly", [](hw::Machine& machine) {
    machine.core.warp_size = 256;
    machine.core.former = "packed";
    machine.core.issue = "relaxed";
    machine.core.policies.of<hw::RelaxedParameters>().diverged_early = true;
  });
  add("divergedearlyrows", [](hw::Machine& machine) {
    machine.core.simd_width = 8;
    machine.core.warp_size = 128;
    machine.core.issue = "relaxed-memory";
    machine.core.scheduler = "two-level";
    machine.core.scalar = "compiler";
    machine.core.policies.of<hw::RelaxedParameters>().diverged_early = true;
  });
  // Threads in whatever lane is free, each for itself; with little room for instruction words, and late hits.
  add("mimdanylane", [](hw::Machine& machine) {
    machine.core.divergence = "mimd";
    machine.core.policies.of<hw::MimdParameters>().step = false;
    machine.core.policies.of<hw::MimdParameters>().lanes = "any";
    machine.icache.ports = 32;
  });
  add("mimdanylanelate", [](hw::Machine& machine) {
    machine.core.divergence = "mimd";
    machine.core.simd_width = 8;
    machine.core.warp_size = 16;
    machine.core.registers_per_thread = 12;
    machine.core.policies.of<hw::MimdParameters>().step = false;
    machine.core.policies.of<hw::MimdParameters>().lanes = "any";
    machine.private_memory.bytes = 32;
    machine.icache.bytes = 512;
    machine.icache.ways = 1;
    machine.icache.mshrs = 2;
    machine.icache.hit_latency = 3;
    machine.icache.ports = 2;
    machine.l1d.hit_latency = 3;
  });
  // A warp is fetched again some cycles after it could be.
  add("refetch", [](hw::Machine& machine) {
    machine.core.issue = "scoreboard";
    machine.core.policies.of<hw::ScoreboardParameters>().refetch = 3;
  });
}

}  // namespace heddle::test
