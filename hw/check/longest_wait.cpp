#include "hw/check/longest_wait.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "hw/coherence/protocol.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/dram/jedec.hpp"

namespace heddle::hw {

namespace {

// Of the largest product of matrices, of f64, which has 256 multiply-adds and a 16th of the rate (tensor_interval()).
double tensor_cycles(const CoreParameters& core) {
  return core.tensor_rate == 0 ? 0 : core.tensor_latency + std::ceil(4096.0 / core.tensor_rate);
}

// With command timing: every distance between two commands, before the access and, of the one before it, behind.
double jedec_cycles(const Machine& machine) {
  JedecParameters jedec = resolve_jedec(machine.dram);
  double clocks = 0;
  JedecParameters::describe_clocks(jedec, [&](std::string_view name, unsigned field, std::string_view /*meaning*/) {
    clocks += name == "trefi" ? 0 : field;  // time between refreshes is no waiting time
  });
  const double columns = std::ceil(static_cast<double>(memory_line_bytes(machine)) / jedec.burst_bytes);
  clocks += 2 * columns * (jedec.tccd_l + jedec.burst);  // of an atomic, there and back
  return 2 * clocks * jedec.tck_ps / 1000 * machine.gpu.clock_ghz;
}

double hit_conflict_cycles(const Machine& machine) {
  const DramParameters& dram = machine.dram;
  const double slot = memory_line_bytes(machine) * dram.channels * machine.gpu.clock_ghz / dram.bandwidth_gbs;
  return 2.0 * dram.row_conflict + 2 * dram.turnaround + 3 * slot;
}

}  // namespace

LongestWait longest_wait(const Machine& machine) {
  const CoreParameters& core = machine.core;
  double dram = machine.dram.timing == "jedec" ? jedec_cycles(machine) : hit_conflict_cycles(machine);
  dram += machine.dram.hints ? machine.dram.hint_threshold : 0;
  dram += machine.dram.latency;
  const NocParameters& noc = machine.noc;
  double way = noc.request_latency + noc.response_latency;
  way += machine.l2.enabled && machine.l2.partitions > 1 ? noc.partition_latency : 0;
  way += noc.link_bytes == 0 ? 0 : 2 * std::ceil(static_cast<double>(memory_line_bytes(machine)) / noc.link_bytes);
  way *= noc.clock_ghz == 0 ? 1 : machine.gpu.clock_ghz / noc.clock_ghz;
  if (machine.l2.enabled) {
    way += (machine.l2.hit_latency + machine.l2.bank_interval) *
           (machine.l2.clock_ghz == 0 ? 1 : machine.gpu.clock_ghz / machine.l2.clock_ghz);
    way += machine.l2.slices > 1 ? 2 : 0;
  }
  if (about<CoherenceProtocol>(machine.gpu.coherence).traits.coherent) {
    way *= 2;  // the home asks an owner, and reads what that has given
  }
  // The registers of a vector of four 64-bit values.
  const double returns =
      machine.l1d.return_bytes == 0 ? 0 : std::ceil(8.0 * 4 * core.simd_width / machine.l1d.return_bytes);
  const double pipeline = core.fetch_latency + core.decode_latency + core.register_read_latency + core.execute_stages +
                          core.complex_latency + core.complex_interval + core.heap_latency + core.half_latency +
                          core.half_interval + tensor_cycles(core) + machine.icache.hit_latency +
                          std::max({machine.l1d.hit_latency, machine.texture.hit_latency,
                                    machine.constant_cache.hit_latency + machine.constant_cache.l0_latency}) +
                          returns;
  // Behind all places of all sub-cores.
  const double queue = machine.lsu.queue == 0 ? 0
                                              : machine.lsu.address_cycles +
                                                    1.0 * machine.lsu.interval * machine.lsu.queue * core.sub_cores;
  // A load of each sub-core, with an address for each lane.
  const double constants = 1.0 * machine.constant_cache.interval * core.simd_width * core.sub_cores;
  const double unseen = machine.gpu.launch_latency + (machine.scratchpad.latency - 1.0) + queue + constants;
  const auto travel = about<Divergence>(core.divergence).traits.longest_travel;
  way += travel == nullptr ? 0 : static_cast<double>(travel(core));
  LongestWait wait;
  wait.dram = static_cast<link::Cycle>(std::ceil(dram));
  wait.cycles = wait.dram + static_cast<link::Cycle>(way + pipeline + unseen);
  return wait;
}

}  // namespace heddle::hw
