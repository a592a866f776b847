// What the stages of one core share: its groups, resident blocks, register rows, the launch, and the fault that stops
// it. Plain data; every stage module gets a reference.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/instrument.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/core_statistics.hpp"
#include "hw/state/group.hpp"
#include "hw/state/invariants.hpp"
#include "hw/state/launch.hpp"
#include "hw/state/observer.hpp"
#include "hw/state/replay.hpp"
#include "isa/device_memory.hpp"
#include "isa/fault.hpp"
#include "isa/special.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

// A resident thread block.
struct BlockSlot {
  bool used = false;
  isa::Dim3 index;           // ctaid
  std::uint64_t linear = 0;  // block-linear index
  unsigned live_threads = 0;
  std::uint32_t scratchpad_base = 0;  // bytes into the core's scratchpad
  std::vector<GroupId> groups;
};

// One register-file row: the threads of simd_width consecutive thread ids of a block.
struct RowState {
  isa::ThreadContext context;
  unsigned block_slot = 0;
  std::uint32_t* hashes = nullptr;  // of the row's first thread; null: not wanted
  unsigned threads = 0;             // lanes that have a thread
};

struct CoreState {
  CoreState(const Machine& machine, unsigned index, const isa::DeviceMemory* bounds)
      : machine(machine),
        core(machine.core),
        index(index),
        bounds(bounds),
        rows_per_warp(machine.core.warp_size / machine.core.simd_width),
        groups(machine.core.threads / machine.core.warp_size, rows_per_warp, machine.core.complex_long_latency),
        rows(machine.core.threads / machine.core.simd_width),
        blocks(machine.core.blocks),
        statistics(machine.core.simd_width),
        invariants(static_cast<unsigned>(rows.size()), machine.core.simd_width) {}

  const Machine& machine;
  CoreParameters core;  // the machine's, with the warp size of the present launch (with_warp_size)
  unsigned index;
  Cycle now = 0;                    // the cycle that the core is in
  const isa::DeviceMemory* bounds;  // allocation table for bounds checks; null: only the memory's own error responses
  unsigned rows_per_warp;           // core.warp_size / core.simd_width
  const Launch* launch = nullptr;
  Instrument<CoreObserver> observer;  // null: nobody looks
  Instrument<ReplayRows> replay;      // null: threads compute
  GroupTable groups;
  std::vector<RowState> rows;
  std::vector<BlockSlot> blocks;
  CoreStatistics statistics;
  Invariants invariants;
  link::SubWarpPool pool;

  // Groups that become ready in the cycle after the one in which this was decided.
  struct WakeUp {
    Cycle decided;  // ready from the cycle after this one
    GroupId group;
  };
  std::vector<WakeUp> wake_ups;
  void make_ready(Group& group, unsigned delay = 0) { wake_ups.push_back({now + delay, group.id}); }

  std::optional<isa::Fault> fault;  // the first one
  // Loads of the present launch that lay out of bounds and read 0 (core.load_trap), by instruction.
  struct StrayLoads {
    isa::Fault first;
    Cycle cycle = 0;  // of the first
    std::uint64_t count = 0;
  };
  std::vector<StrayLoads> stray_loads;
  Cycle last_retirement = 0;
  // The latest cycle in which something in the pipeline went on. A cycle without is like the next one, unless something
  // comes from outside or was to happen at a time (Core::stuck).
  Cycle last_move = link::kNever;
  void moved() { last_move = now; }
  // Why the stages behind fetch take nothing in this cycle (valid while execute is blocked).
  IdleCause block_cause = IdleCause::memory_port;
  // Every block of the launch is done; it ends when memory has the last stores of all caches.
  bool flushing = false;

  // No functional unit was active in `cycles` cycles from `first` on. Counts them and tells the observer.
  void count_idle(Cycle first, Cycle cycles, IdleCause cause) {
    statistics.idle[static_cast<std::size_t>(cause)] += cycles;
    if (observer != nullptr && cycles != 0) {
      observer->idle(*this, first, cycles, cause);
    }
  }

  // A fault of one lane of a sub-warp, without its kernel.
  [[nodiscard]] isa::Fault fault_of(isa::Fault::Kind kind, const link::SubWarp& sub_warp, unsigned lane,
                                    std::uint64_t address, std::uint32_t size, std::string detail) const;
  // Records it. The first fault stays.
  void raise(isa::Fault::Kind kind, const link::SubWarp& sub_warp, unsigned lane, std::uint64_t address,
             std::uint32_t size, std::string detail);
  // A fault of a whole group (barrier mismatch, livelock): its first active thread stands for it.
  void raise(isa::Fault::Kind kind, const Group& group, std::string detail);
  [[nodiscard]] isa::Dim3 thread_of(unsigned row, unsigned lane) const;
};

}  // namespace heddle::hw
