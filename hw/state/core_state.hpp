// What the stages of one sub-core share: its groups, resident blocks, register rows, the launch, and the fault that
// stops it. Plain data; every stage module gets a reference. A core of the papers is one sub-core (core.sub_cores).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "base/instrument.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/block_home.hpp"
#include "hw/state/core_statistics.hpp"
#include "hw/state/group.hpp"
#include "hw/state/invariants.hpp"
#include "hw/state/launch.hpp"
#include "hw/state/launch_bytes.hpp"
#include "hw/state/local_memory.hpp"
#include "hw/state/observer.hpp"
#include "hw/state/replay.hpp"
#include "hw/state/thread_home.hpp"
#include "isa/device_memory.hpp"
#include "isa/fault.hpp"
#include "isa/special.hpp"
#include "tlm/inbox.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

// A block that has threads on the core: one that has begun there, in one of its core.blocks slots, or a guest, of which
// another core is the home, in a further slot.
struct BlockSlot {
  bool used = false;
  BlockHome* home = nullptr;  // a slot for blocks that begin here has its own, used or not
  unsigned threads = 0;       // of the block that are here
  bool moved = false;         // others have left from here for elsewhere, since the block has had the slot
};

struct CoreState {
  // Sub-core number `sub_core` of core number `in_core`; `machine`: with threads and registers of the sub-core alone.
  CoreState(const Machine& machine, unsigned in_core, const isa::DeviceMemory* bounds, unsigned sub_core = 0)
      : machine(machine),
        core(machine.core),
        in_core(in_core),
        sub_core(sub_core),
        index(in_core * machine.core.sub_cores + sub_core),
        bounds(bounds),
        allocations(bounds),
        rows_per_warp(machine.core.warp_size / machine.core.simd_width),
        groups(machine.core.threads / machine.core.warp_size, rows_per_warp, machine.core.complex_long_latency),
        rows(machine.core.threads / machine.core.simd_width),
        blocks(sub_core == 0 ? machine.core.blocks : 0),
        statistics(machine.core.simd_width, machine.core.thread_misses ? machine.core.threads : 0),
        invariants(static_cast<unsigned>(rows.size()), machine.core.simd_width),
        homes(blocks.size()) {
    place.smid = in_core;
    place.nsmid = machine.gpu.cores;
    local_memories = std::uint64_t{machine.gpu.cores} * threads_of_core();
    local_frame_bytes = machine.private_memory.frame_bytes;
    for (unsigned slot = 0; slot < homes.size(); ++slot) {
      homes[slot].core = index;
      homes[slot].slot = slot;
      blocks[slot].home = &homes[slot];
    }
  }
  CoreState(const CoreState&) = delete;
  CoreState& operator=(const CoreState&) = delete;

  const Machine& machine;
  CoreParameters core;                // the machine's, with the warp size of the present launch (with_warp_size)
  unsigned in_core;                   // the core's number
  unsigned sub_core;                  // the sub-core's number in its core
  unsigned index;                     // of all sub-cores of the GPU
  Cycle now = 0;                      // the cycle that the core is in
  const isa::DeviceMemory* bounds;    // allocation table for bounds checks; null: only the memory's own error responses
  isa::AllocationFinder allocations;  // the core's own look-ups in it
  unsigned rows_per_warp;             // core.warp_size / core.simd_width
  const Launch* launch = nullptr;
  [[nodiscard]] std::uint64_t instruction_address(std::uint32_t pc) const {
    return launch->code_address + std::uint64_t{pc} * machine.icache.instruction_bytes;
  }
  bool global_warps = false;  // the launch's blocks begin in the global scheduler (Divergence::Traits::global_pool)
  Instrument<CoreObserver> observer;  // null: none
  Instrument<ReplayRows> replay;      // null: threads compute
  GroupTable groups;
  std::vector<RowThreads> rows;   // whose threads are in which register row
  std::vector<BlockSlot> blocks;  // by slot; Group::block_slot
  CoreStatistics statistics;
  Invariants invariants;
  link::SubWarpPool pool;

  // Groups that become ready in the cycle after the one in which this was decided, or `delay` later.
  link::Inbox<GroupId> wake_ups;
  void make_ready(Group& group, unsigned delay = 0) { wake_ups.put(now + delay, group.id); }

  std::optional<isa::Fault> fault;  // the first one
  // Loads of the present launch that lay out of bounds and read 0 (core.load_trap), by instruction.
  struct StrayLoads {
    isa::Fault first;
    Cycle cycle = 0;  // of the first
    std::uint64_t count = 0;
  };
  std::vector<StrayLoads> stray_loads;
  std::shared_ptr<LaunchBytes> launch_bytes;  // null: nobody asks
  Cycle last_retirement = 0;
  // The latest cycle in which something in the pipeline went on. A cycle without is like the next one, unless something
  // comes from outside or was to happen at a time (Pipeline::stuck).
  Cycle last_move = link::kNever;
  void moved() { last_move = now; }
  // Why the stages behind fetch take nothing in this cycle (valid while execute is blocked).
  IdleCause block_cause = IdleCause::memory_port;
  // Every block of the launch is done; it ends when memory has the last stores of all caches.
  bool flushing = false;

  std::vector<BlockHome> homes;  // of the blocks that begin here, by slot
  isa::ThreadPlace place;        // what a thread that is here reads of that

  // A sub-warp cannot go on from a stage in this cycle: whoever observes is told, and again of a rest behind it.
  void tell_held(const link::SubWarp& sub_warp, CoreStage stage, IdleCause cause) {
    held.push_back({&sub_warp, stage, cause});
    observer->held(*this, sub_warp, stage, cause, now, 1);
  }
  struct Held {
    const link::SubWarp* sub_warp;
    CoreStage stage;
    IdleCause cause;
  };
  std::vector<Held> held;  // in the latest cycle that the core has had, while it is observed

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
  // Of one thread, wherever it is.
  void raise(isa::Fault::Kind kind, const HomeThread& thread, std::uint32_t pc, std::string detail);

  // ---- homes and places (hw/state/thread_home.hpp)
  // Threads that the global scheduler moves, or that have come to a fence, load past the L1: it writes through, no
  // protocol keeps it coherent, and other cores store what they must see. Their own stores are in memory before they
  // leave.
  bool moved_read_memory = false;
  // Local memories in the GPU's backing store: one for each place that a thread can have (hw::local_memories).
  std::uint64_t local_memories = 0;
  unsigned local_frame_bytes = 0;  // private.frame_bytes
  // Of the launch's threads.
  [[nodiscard]] LocalPlaces local_places() const {
    return {launch->local_base, local_memories, LocalPlaces::frame_of(local_frame_bytes, launch->local_bytes)};
  }
  // Before a launch: no block is here, and no thread.
  void vacate();
  // A block begins in a slot of the core, of which this is the first sub-core. Its threads are nowhere yet.
  void begin_home(unsigned slot, const isa::Dim3& block_index, std::uint64_t linear);
  // The threads of a warp of a block come, with warps of n rows to those from row place * n on, which are empty.
  void hold(BlockHome& home, unsigned warp, unsigned place_of_warp);
  [[nodiscard]] unsigned first_row(unsigned slot) const {
    return static_cast<unsigned>(slot * homes[slot].threads.size());
  }
  [[nodiscard]] const BlockHome& block(unsigned slot) const { return *blocks[slot].home; }
  [[nodiscard]] BlockHome& block(unsigned slot) { return *blocks[slot].home; }
  // A thread of a block comes from another core, or some are here no more. A guest has a slot while threads of it are.
  void joins(BlockHome& home, unsigned threads = 1);
  void leaves(const BlockHome& home, unsigned threads);
  void departs(const BlockHome& home);  // one leaves for elsewhere
  // Who is in a place.
  [[nodiscard]] HomeThread thread_at(unsigned row, unsigned lane) const { return rows[row].at(lane); }
  // Whose instruction a lane of a sub-warp executes.
  [[nodiscard]] HomeThread thread_at(const link::SubWarp& sub_warp, unsigned lane) const {
    return rows[sub_warp.row_of(lane)].at(sub_warp.home_of(lane));
  }
  // Its linear number in the launch, for the device heap; isa::DeviceHeap::kNobody where the launch does not use it.
  [[nodiscard]] std::uint64_t heap_thread(const link::SubWarp& sub_warp, unsigned lane) const;
  [[nodiscard]] isa::Dim3 thread_of(unsigned row, unsigned lane) const { return thread_at(row, lane).index(); }
  // Resident threads of all sub-cores of the core.
  [[nodiscard]] std::uint64_t threads_of_core() const {
    return std::uint64_t{machine.core.threads} * machine.core.sub_cores;
  }
  // What a group is called beyond the sub-core: its number in the core.
  [[nodiscard]] GroupId in_core_number(GroupId group) const { return sub_core * groups.size() + group; }
  [[nodiscard]] GroupId own_number(GroupId group_of_core) const { return group_of_core % groups.size(); }
  // The slot of a block that has threads here.
  [[nodiscard]] unsigned slot_of(const BlockHome& home) const;
};

}  // namespace heddle::hw
