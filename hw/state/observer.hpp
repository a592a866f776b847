// Watching a core: what happens to its groups, sub-warps and memory accesses, cycle by cycle. For pipeline pictures,
// recorded traces and profiles; nothing of it changes what the core does.
//
// How to attach one: derive from CoreObserver, override what is of interest (every default is empty), and
//   - through the bench: put it into tb::DeviceOptions::observers, which also tells it of modules and launches where it
//     is a tb::RunObserver (tb/device/run_observer.hpp);
//   - through the GPU alone: hw::Gpu::observe(&observer), between launches. Several: hw::CoreObservers
//     (hw/state/observers.hpp) hands every event to each in turn.
// One observer may serve all cores of the GPU, or have a part for each (of_core; what the parts tell one another goes
// by Clock::tell): each event says in which core it happens, as the core's state. There, core.index is its number,
// core.now the present cycle, core.launch the launch, core.block(group.block_slot) the block (linear, index),
// core.thread_at(row, lane) who is in a register row's lane, core.groups the groups. Without an observer each event
// costs the test of a null pointer, at points that are passed anyway.
//
// Rests. Where nothing in a sub-core can go on until something comes from outside (its full pipeline waits for room in
// the L1), each cycle is like the one before. A sub-core sleeps through such cycles if all who observe it say that they
// know of that (knows_rests). They are told `rests` behind the last cycle that is told, and `rested` before the next
// one. In between, when the core wakes or its counters are asked for, held() and idle() come with the cycles that they
// are about. What else was told of the last cycle (in_memory, a refused line, cycle_ended) holds for each of them.
//
// Events come in the order of simulated time: within a cycle of one core from write-back to fetch, as its stages are
// advanced, and nothing is promised about the order of two cores within a cycle. What an event shows is valid during
// the call only, but the address of a SubWarp names it from `fetched` or `formed` to `retired`, after which the payload
// is used again. Which threads a sub-warp's lanes hold: lane l is the thread of register row sub_warp.row_of(l),
// register lane sub_warp.home_of(l).
//
// The life of one instruction of a group:
//
//   fetched       the word was read; the payload stands for the whole instruction
//   entered       decode, then per sub-warp register_read, execute, memory, write_back: it was handed to that stage in
//                 this cycle, and is there from the next cycle on
//   formed        one sub-warp of it leaves the former; the last one is the payload that `fetched` showed. How many
//                 there are is known when sub_warp.last comes. Where lanes execute each an instruction of its own,
//                 fetch makes them, a payload each
//   issued        it leaves for the functional units: sub_warp.executing are the lanes whose guard is true, and
//                 working_lanes() the lanes that the functional-unit statistics count
//   began         a complex operation that had to wait in the queue before its unit starts there
//   held          in this cycle, or in the cycles of a rest, it could not go on from the stage that it is in, and why:
//                 the sub-warp at the head of the stage, and each operation that waits before the complex unit
//   accessed      in the memory stage: lanes, addresses and lines of an access; then one `line` per request to the L1
//   put_aside     it waits for lines, or for the core's stores (membar), out of the pipeline; it comes back by entering
//                 CoreStage::returns. An access that waits for late hits alone comes back so too, without having been
//                 put aside, and so does each that has gone through a memory queue (lsu.queue)
//   parted        some of its lanes leave it while it is put aside: a sub-warp of another group of the same
//                 instruction, which comes back by entering CoreStage::returns and retires by itself
//   retired       its results are written. A barrier's sub-warp retires when it arrives (its group then waits in
//                 GroupState::barrier)
//   completed     the group goes on: its next PC and masks are decided. Strict issue: every sub-warp of the instruction
//                 has retired. Relaxed issue: at least the sub-warps that decide where it goes on. Early next PC
//                 (scoreboard): it has been formed, where that is enough
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "hw/state/group.hpp"
#include "hw/state/idle_cause.hpp"
#include "hw/state/warp_split.hpp"
#include "tlm/cycle.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

struct CoreState;
struct MemoryAccess;

// Where a sub-warp can be. `returns` is write-back's second input, for accesses that had been put aside, whose hits
// were late, or which came by a memory queue; `added` is any stage that a core has beside its own
// (hw/core/extension.hpp).
enum class CoreStage : std::uint8_t { fetch, decode, register_read, execute, memory, write_back, returns, added };
inline constexpr std::array<std::string_view, 8> kCoreStageNames = {"fetch",  "decode",     "register_read", "execute",
                                                                    "memory", "write_back", "returns",       "added"};
[[nodiscard]] constexpr std::string_view name_of(CoreStage stage) {
  return kCoreStageNames[static_cast<std::size_t>(stage)];
}

// What became of one offer of a line to the L1.
enum class LineOutcome : std::uint8_t {
  answered,  // in this cycle: a hit, or a store that was taken
  late,      // a hit whose answer takes its time (l1d.hit_latency)
  missed,    // the line has to come
  refused    // no port or no room left in this cycle: offered again
};

// What a completed instruction did to its group.
struct Completion {
  std::uint32_t pc = 0;                               // of the instruction; group.pc is the group's next one
  const link::DecodedInstruction* decoded = nullptr;  // its instruction
  unsigned sub_warps = 0;                             // that its former has made of it so far
  bool conditional = false;                           // a conditional branch, counted by the statistics
  bool diverged = false;                              // a conditional branch that some threads only have taken
};

// The lanes that an instruction keeps busy, as the statistics count them: every active thread evaluates a branch.
[[nodiscard]] inline LaneMask working_lanes(const link::SubWarp& sub_warp) {
  return sub_warp.decoded->instruction.op == isa::Op::BRA ? sub_warp.lanes : sub_warp.executing;
}

// What is left of an instruction in the decode stage: per row of its group's masks, threads that can go, and threads
// that are still in flight with an earlier instruction.
struct FormerWork {
  const link::DecodedInstruction& decoded;
  std::span<const LaneMask> left;
  std::span<const LaneMask> pending;
  bool formed = false;
};

// How things stand when all stages of a core have had their cycle.
struct CycleEnd {
  IdleCause fetch = IdleCause::no_work;  // of a cycle without a fetch: why
  bool fetch_waits = false;              // an instruction was fetched and decode has no room
  unsigned put_aside = 0;                // accesses that wait for lines
  unsigned gathered = 0;         // accesses, put aside or not, that wait for their instruction's other sub-warps
  unsigned complex_waiting = 0;  // operations in the queue before the complex unit
  unsigned queue_places = 0;     // of the memory queue that are taken
};

class CoreObserver {
 public:
  CoreObserver() = default;
  CoreObserver(const CoreObserver&) = default;
  CoreObserver& operator=(const CoreObserver&) = default;
  virtual ~CoreObserver() = default;

  // Who is told of one core's events: this observer, which then hears of all cores, one after the other, or a part of
  // it that shares nothing that can change with the parts of other cores. Asked for each core when it is attached to a
  // GPU.
  [[nodiscard]] virtual CoreObserver& of_core(unsigned /*core*/) { return *this; }
  // Asked when it is attached: it need not be told of each cycle of a rest (see above).
  [[nodiscard]] virtual bool knows_rests() const { return false; }

  // ---- launches and thread blocks
  // Who has joined (Gpu::observe) is told of the core from this cycle on, which has not begun. `core` says how things
  // stand; no other event tells. Within a launch every sub-core has a turn in this cycle.
  virtual void joined(const CoreState& /*core*/) {}
  // Cycles [first, end) of the launch are accounted in this core; core.launch is set.
  virtual void launch_began(const CoreState& /*core*/, Cycle /*first*/) {}
  virtual void launch_ended(const CoreState& /*core*/, Cycle /*end*/) {}
  // A block's warps and rows are set up, before they can be fetched; and: its last thread has exited.
  virtual void block_started(const CoreState& /*core*/, unsigned /*block_slot*/) {}
  virtual void block_finished(const CoreState& /*core*/, unsigned /*block_slot*/) {}

  // ---- groups
  // A warp of a starting block: group.block_slot, warp_in_block, first_row and active say which.
  virtual void warp_started(const CoreState& /*core*/, const Group& /*group*/) {}
  // A group's state has changed (group.state, from `before`): GroupState::free ends it, leaving `free` starts it.
  // Dynamic mechanisms make and merge groups at any time. A change takes effect in the cycle core.now.
  virtual void group_changed(const CoreState& /*core*/, const Group& /*group*/, GroupState /*before*/) {}
  // Threads have joined a group that waits to be fetched: its masks have changed, its state has not.
  virtual void group_grown(const CoreState& /*core*/, const Group& /*group*/) {}
  // Warp-splits (core.divergence = dws or slip). A warp or split has been parted: `made` begins, a new split,
  // with the threads that leave `rest`; its parts take effect in this cycle.
  virtual void split_made(const CoreState& /*core*/, const Group& /*made*/, const Group& /*rest*/,
                          SplitCause /*cause*/) {}
  // A group is a split no more: its threads, which it still has, join `into` in this cycle, have exited, or are all
  // that is left of their warp (`into` is the split itself then). Also told of a warp's first group when that joins one
  // of the splits that were made of it; of each that was made it is told once.
  virtual void split_ended(const CoreState& /*core*/, const Group& /*split*/, const Group& /*into*/, SplitEnd /*end*/) {
  }

  // ---- sub-warps (see above)
  virtual void fetched(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/) {}
  virtual void entered(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/, CoreStage /*stage*/) {}
  // `instruction`: the payload that `fetched` showed; it is sub_warp itself where that is the last.
  virtual void formed(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/,
                      const link::SubWarp& /*instruction*/) {}
  // Active threads of the group whose guard is false: a packing former leaves them out of the instruction at `pc`.
  // Lanes of a row of the group's masks: the thread of register row group.row_of(row, lane), register lane
  // group.home_of(lane).
  virtual void left_out(const CoreState& /*core*/, const Group& /*group*/, std::uint32_t /*pc*/, unsigned /*row*/,
                        LaneMask /*lanes*/) {}
  // In the cycles [first, first + cycles): the present one, or cycles of a rest.
  virtual void held(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/, CoreStage /*stage*/,
                    IdleCause /*cause*/, Cycle /*first*/, Cycle /*cycles*/) {}
  // The former has worked on an instruction in this cycle; what is left of it. `formed`: a sub-warp has come of it.
  virtual void former_worked(const CoreState& /*core*/, const link::SubWarp& /*instruction*/,
                             const FormerWork& /*work*/) {}
  // The sub-warp has its operands.
  virtual void read(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/) {}
  // The sub-warp is at the head of the memory stage in this cycle (whatever its operation).
  virtual void in_memory(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/) {}
  // `last`: the last cycle in which it is in the functional units; kNever: `began` says, as it waits for the complex
  // unit first.
  virtual void issued(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/, Cycle /*last*/) {}
  virtual void began(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/, Cycle /*last*/) {}
  virtual void retired(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/) {}
  virtual void completed(const CoreState& /*core*/, const Group& /*group*/, const Completion& /*completion*/) {}

  // ---- memory accesses (hw/core/memory/memory_access.hpp; access.sub_warp is whose)
  // The access begins: lanes by space (access.shared, constant, parameter, local, on_chip, global), sub_warp->address,
  // and the lines that it needs (access.lines[0..access.count), with addresses and lanes). `scratchpad_last`: the last
  // cycle in which scratchpad and private memory serve it, the present one without a bank conflict.
  virtual void accessed(const CoreState& /*core*/, const MemoryAccess& /*access*/, Cycle /*scratchpad_last*/) {}
  // Line number `line` of the access was offered to the L1.
  virtual void line(const CoreState& /*core*/, const MemoryAccess& /*access*/, unsigned /*line*/,
                    LineOutcome /*outcome*/) {}
  // The answer of a line that was late or missed.
  virtual void line_came(const CoreState& /*core*/, const MemoryAccess& /*access*/, std::uint64_t /*address*/) {}
  virtual void put_aside(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/) {}
  // It has left the memory stage's head until the other sub-warps of its instruction have come, and the lines of all of
  // them have been sent (Coalescer::Traits::gathers), or is the last of them and waits for hits of lines that they have
  // asked for. It may be put aside then.
  virtual void gathered(const CoreState& /*core*/, const link::SubWarp& /*sub_warp*/) {}

  // `part` has left `rest` (see above); its lanes are rest.lanes' no longer.
  virtual void parted(const CoreState& /*core*/, const link::SubWarp& /*part*/, const link::SubWarp& /*rest*/) {}

  // ---- cycles. A core that has nothing to do sleeps: it has no cycles until something arrives.
  virtual void cycle_ended(const CoreState& /*core*/, const CycleEnd& /*end*/) {}
  // A rest (see above) begins behind the present cycle, and is over in cycle `now`. `sleeps` comes with its begin where
  // execute has nothing; lines may come in it, and a block may start in cycle `now` before `rested` does.
  virtual void rests(const CoreState& /*core*/) {}
  virtual void rested(const CoreState& /*core*/, Cycle /*now*/) {}
  // The core sleeps from a cycle on, unless something arrives in it: why execute will be idle in the first cycles, and
  // why execute will be after them, and fetch at once.
  virtual void sleeps(const CoreState& /*core*/, Cycle /*from*/, std::span<const IdleCause> /*first*/,
                      IdleCause /*cause*/) {}

  // ---- idle cycles
  // No functional unit was active in the cycles [first, first + cycles), for this cause. Every idle cycle of the
  // statistics is told exactly once; cycles that a core slept through are told together when it wakes.
  virtual void idle(const CoreState& /*core*/, Cycle /*first*/, Cycle /*cycles*/, IdleCause /*cause*/) {}
};

}  // namespace heddle::hw
