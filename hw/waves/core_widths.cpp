// How many signals of each kind a core of a machine has, and how wide they are.
#include <algorithm>

#include "hw/check/machine.hpp"
#include "hw/coalesce/coalescer.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/subwarp/former.hpp"
#include "hw/waves/core_waves.hpp"
#include "isa/launch_check.hpp"

namespace heddle::hw {

CoreWidths::CoreWidths(const Machine& machine)
    : lanes(machine.core.simd_width),
      rows(machine.core.threads / machine.core.simd_width),
      group_rows(machine.core.warp_size / machine.core.simd_width),
      whole_warps(machine.core.threads / machine.core.warp_size),
      exchanging_warps(why_no_warp_operations(machine.core).empty() ? machine.core.threads / isa::kLanes : 0),
      blocks(machine.core.blocks),
      block_slots(blocks),
      block_rows(std::min(rows, isa::kMaxBlockThreads / lanes)),
      pending(machine.core.pending_accesses),
      complex_queue(machine.core.complex_queue) {
  GroupTable none(0, 1);
  const auto mechanism = Registry<Divergence>::instance().make(machine.core.divergence, {none, machine.core});
  dynamic = mechanism->dynamic();
  stack = mechanism->stack_kind();
  stacks_per_block = mechanism->stacks_per_block();
  // A launch may have narrower warps than the machine, down to one row each.
  groups = dynamic ? mechanism->groups(machine.core.threads) : rows;
  group_rows = dynamic ? 1 : exchanging_warps != 0 ? std::max(group_rows, isa::kLanes / lanes) : group_rows;
  whole_warps = dynamic ? groups : whole_warps;
  displaced = about<SubWarpFormer>(machine.core.former).traits.displaces || mechanism->displaces();
  GroupTable table(groups, 1);
  const auto policy = Registry<WarpScheduler>::instance().make(machine.core.scheduler, {table, machine.core});
  split_entries = static_cast<unsigned>(mechanism->split_table().entries.size());
  split_slots = static_cast<unsigned>(mechanism->split_table().slots.size());
  const Divergence::Traits& traits = about<Divergence>(machine.core.divergence).traits;
  independent = traits.independent_threads;
  mimd_lanes = traits.mimd_lanes;
  block_slots += traits.changes_cores || traits.global_pool != nullptr ? machine.core.threads : 0;
  queue_places = machine.lsu.queue;
  gathers = about<Coalescer>(machine.core.coalescer).traits.gathers;
  register_banks = machine.registers.banks != 0;
  fetch_groups = policy->fetch_groups();
  candidates = policy->candidates();
}

unsigned CoreWidths::rows_of(unsigned warp, const Machine& machine) const {
  const unsigned own = dynamic ? 1 : machine.core.warp_size / lanes;
  const unsigned exchanging = !dynamic && warp < exchanging_warps ? isa::kLanes / lanes : 1;
  return std::max(warp < whole_warps ? own : 1, exchanging);
}

}  // namespace heddle::hw
