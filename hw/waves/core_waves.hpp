// The waves of one core, and how they follow from its events.
//
// What a stage shows beside `valid` (warp, PC, opcode, masks, rows) holds while `valid` is 1 and keeps its value after.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/set_bits.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/state/core_state.hpp"
#include "hw/state/observer.hpp"
#include "hw/waves/enumerations.hpp"
#include "hw/waves/memory_waves.hpp"

namespace heddle::hw {

class Core;
class SubCore;

// Widths that follow from the machine.
struct CoreWidths {
  explicit CoreWidths(const Machine& machine);
  unsigned lanes;   // SIMD lanes
  unsigned rows;    // register rows
  unsigned groups;  // warps or dynamic groups, as waves know them
  bool dynamic;
  bool displaced;  // threads may leave their lanes
  Divergence::StackKind stack;
  unsigned stacks_per_block;
  unsigned group_rows;  // mask rows of a warp of the machine's size or of one with operations between lanes, the larger
  unsigned whole_warps;       // warps of the machine's size
  unsigned exchanging_warps;  // warps of a launch with operations between lanes; 0: there are none
  // Mask rows of a warp: of the largest warp that has its number. Further warps are of launches with smaller warps.
  [[nodiscard]] unsigned rows_of(unsigned warp, const Machine& machine) const;
  unsigned blocks;       // that begin on the core
  unsigned block_slots;  // for `blocks` and for guests, each of which has a thread here (BlockSlot)
  unsigned block_rows;   // of the largest thread block
  unsigned pending;
  unsigned fetch_groups;  // 0: the scheduler has none
  unsigned candidates;    // 0: the scheduler tries no others
  unsigned complex_queue;
  unsigned split_entries;  // of the warp-split table; 0: the mechanism has none
  unsigned split_slots;    // of the scheduler, beside it
  bool independent;        // the threads of a warp are scheduled independently
  bool mimd_lanes;         // each lane executes an instruction of its own
  unsigned queue_places;   // lsu.queue
  bool gathers;            // the sub-warps of an instruction ask for lines together
  bool register_banks;     // operands wait for ports of register banks
};

// An instruction or sub-warp that a stage holds in a cycle.
struct StageWaves {
  link::Wave valid, warp, pc, opcode;
  [[gnu::always_inline]] void show(link::WaveSetter& to, std::uint32_t group, std::uint32_t at,
                                   std::uint64_t operation) {
    to.pulse(valid);
    to.set(warp, group);
    to.set(pc, at);
    to.set(opcode, operation);
  }
  template <class Visitor>
  void describe(Visitor& visit, link::SignalGroup group, const CoreWidths& widths, const std::string& valid_means) {
    visit(group, "valid", valid, link::boolean(), valid_means);
    visit(group, "warp", warp, link::up_to(widths.groups - 1), "its warp, or group of threads");
    visit(group, "pc", pc, link::number(32), "its program counter, in instructions");
    visit(group, "opcode", opcode, link::one_of(opcodes()), "its operation");
  }
};

// Of the thread in each lane: the register row, and the home lane where threads may leave their own lane.
struct LaneWaves {
  explicit LaneWaves(const CoreWidths& widths) : row(widths.lanes), home(widths.displaced ? widths.lanes : 0) {}
  link::Wave uniform, first_row;
  std::vector<link::Wave> row, home;
  [[gnu::always_inline]] void show(link::WaveSetter& to, const link::SubWarp& sub_warp) {
    to.set(uniform, sub_warp.uniform ? 1 : 0);
    to.set(first_row, sub_warp.first_row);
    if (sub_warp.uniform) {  // first_row says it all
      return;
    }
    for (const unsigned lane : set_bits(sub_warp.lanes)) {
      to.set(row[lane], sub_warp.row_of(lane));
      if (!home.empty()) {
        to.set(home[lane], sub_warp.home_of(lane));
      }
    }
  }
  template <class Visitor>
  void describe(Visitor& visit, link::SignalGroup group, const CoreWidths& widths) {
    visit(group, "uniform", uniform, link::boolean(), "every lane reads register row first_row: nothing is packed");
    visit(group, "first_row", first_row, link::up_to(widths.rows - 1), "its first register row");
    for (std::size_t lane = 0; lane < row.size(); ++lane) {
      visit(group, "row.lane" + std::to_string(lane), row[lane], link::up_to(widths.rows - 1),
            "register row of the thread in this lane, where its bit of lanes is 1 and uniform is 0");
    }
    for (std::size_t lane = 0; lane < home.size(); ++lane) {
      visit(group, "home.lane" + std::to_string(lane), home[lane], link::up_to(widths.lanes - 1),
            "lane that the thread in this lane has its registers in, likewise");
    }
  }
};

struct FetchWaves {
  StageWaves stage;
  link::Wave state, missed, blocked;
  const CoreWidths* widths = nullptr;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    stage.describe(visit, fetch, *widths, "an instruction is fetched: statistic fetched counts these cycles");
    visit(fetch, "state", state, link::one_of(fetch_states()), "fetched, or why nothing is fetched");
    visit(fetch, "missed", missed, link::boolean(),
          "a warp waits for its word: a miss, or a hit that takes several cycles");
    visit(fetch, "blocked", blocked, link::boolean(), "what was fetched waits: decode has no room");
  }
};

struct DecodeWaves {
  StageWaves stage;
  const CoreWidths* widths = nullptr;
  template <class Visitor>
  void describe(Visitor& visit) {
    stage.describe(visit, link::SignalGroup::decode, *widths,
                   "an instruction is in the decode stage and forms a sub-warp or waits for its threads");
  }
};

struct FormerWaves {
  explicit FormerWaves(const CoreWidths& all)
      : lanes_of(all), candidates(all.group_rows), pending(all.group_rows), widths(&all) {}
  link::Wave valid, lanes, number, last, whole, scalar, stall, interlock;
  LaneWaves lanes_of;
  std::vector<link::Wave> candidates, pending;
  const CoreWidths* widths;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    visit(subwarp, "valid", valid, link::boolean(), "a sub-warp is formed");
    visit(subwarp, "lanes", lanes, link::mask(widths->lanes), "its lanes that hold a thread");
    visit(subwarp, "number", number, link::up_to(kLargestWarp), "which of its instruction's sub-warps, from 1");
    visit(subwarp, "last", last, link::boolean(), "it is the last one of its instruction");
    visit(subwarp, "whole", whole, link::boolean(), "it stands for every active thread (unconditional branch)");
    visit(subwarp, "scalar", scalar, link::boolean(), "its one lane computes for every active thread (core.scalar)");
    visit(subwarp, "stall_fetch", stall, link::boolean(),
          "the stall signal to fetch: threads of the instruction are left, or register read has no room");
    visit(subwarp, "interlock", interlock, link::boolean(),
          "nothing can be formed: the threads left are in flight with an earlier instruction (relaxed issue)");
    lanes_of.describe(visit, subwarp, *widths);
    for (std::size_t row = 0; row < candidates.size(); ++row) {
      visit(subwarp, "left.row" + std::to_string(row), candidates[row], link::mask(widths->lanes),
            "the copy of the active mask, cleared as threads go: what is left of this row after the cycle");
    }
    for (std::size_t row = 0; row < pending.size(); ++row) {
      visit(subwarp, "pending.row" + std::to_string(row), pending[row], link::mask(widths->lanes),
            "threads of this row that are still in flight with an earlier instruction");
    }
  }
};

struct ReadWaves {
  explicit ReadWaves(const CoreWidths& all) : lanes_of(all), widths(&all) {}
  StageWaves stage;
  link::Wave lanes, executing, bank_stall;
  LaneWaves lanes_of;
  const CoreWidths* widths;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    stage.describe(visit, registers, *widths, "a sub-warp reads its operands");
    visit(registers, "lanes", lanes, link::mask(widths->lanes), "lanes whose banks are read");
    visit(registers, "guard", executing, link::mask(widths->lanes), "of those, lanes whose guard is true");
    if (widths->register_banks) {
      visit(registers, "bank_stall", bank_stall, link::boolean(),
            "a sub-warp waits for ports of register banks: statistic bank_stalls counts these cycles");
    }
    lanes_of.describe(visit, registers, *widths);
  }
};

struct ExecuteWaves {
  explicit ExecuteWaves(const CoreWidths& all) : by_lane(all.mimd_lanes ? all.lanes : 0), widths(&all) {}
  // What a lane executes that executes for itself.
  struct Lane {
    link::Wave warp, pc, opcode;
  };
  StageWaves stage;
  link::Wave lanes, active, state, complex_starts, complex_waiting;
  std::vector<Lane> by_lane;
  const CoreWidths* widths;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    stage.describe(visit, execute, *widths, "a sub-warp enters the first execute stage, the complex unit or its queue");
    visit(execute, "lanes", lanes, link::mask(widths->lanes), "its lanes that work");
    visit(execute, "active", active, link::up_to(widths->lanes), "functional units active: lanes that work");
    visit(execute, "state", state, link::one_of(execute_states()),
          "active, or why the lanes are idle; adds up to the statistics idle_...");
    visit(execute, "complex.starts", complex_starts, link::boolean(), "the complex unit starts an operation");
    visit(execute, "complex.waiting", complex_waiting, link::up_to(widths->complex_queue),
          "operations in the queue before the complex unit, at the end of the cycle");
    for (std::size_t lane = 0; lane < by_lane.size(); ++lane) {
      const std::string name = "lane" + std::to_string(lane) + ".";
      visit(execute, name + "warp", by_lane[lane].warp, link::up_to(widths->groups - 1),
            "while its bit of lanes is 1: the warp, or group of threads, that the lane works for");
      visit(execute, name + "pc", by_lane[lane].pc, link::number(32), "and the program counter of its thread");
      visit(execute, name + "opcode", by_lane[lane].opcode, link::one_of(opcodes()), "and the operation");
    }
  }
};

struct MemoryWaves {
  StageWaves stage;
  link::Wave lanes, lines, stall, put_aside, gathered, queue, returned;
  const CoreWidths* widths = nullptr;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    stage.describe(visit, memory, *widths, "a sub-warp is in the memory stage");
    visit(memory, "lanes", lanes, link::mask(widths->lanes), "its lanes that work");
    visit(memory, "lines", lines, link::number(8), "distinct lines that its access needs, in the access's first cycle");
    visit(memory, "stall", stall, link::one_of(stall_causes()), "why it stays for another cycle");
    visit(memory, "put_aside", put_aside, link::up_to(widths->pending), "accesses that wait for lines");
    if (widths->queue_places != 0) {
      visit(memory, "queue", queue, link::up_to(widths->queue_places + 1), "places of the memory queue that are taken");
    }
    if (widths->gathers) {
      visit(memory, "gathered", gathered, link::up_to(widths->rows * widths->lanes),
            "accesses that wait until all sub-warps of their instruction have come and their lines have been sent");
    }
  }
};

struct RetireWaves {
  StageWaves stage;
  link::Wave lanes, last;
  const CoreWidths* widths = nullptr;
  bool returns = false;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    stage.describe(visit, writeback, *widths,
                   returns ? "a sub-warp that had been put aside retires" : "a sub-warp retires in pipeline order");
    visit(writeback, "lanes", lanes, link::mask(widths->lanes), "its lanes that work");
    visit(writeback, "last", last, link::boolean(), "it is the last one of its instruction in order of forming");
  }
};

struct SchedulerWaves {
  std::array<link::Wave, kGroupStates> states;
  link::Wave fetch_group, candidate, blocks;
  const CoreWidths* widths = nullptr;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    for (std::size_t state = 1; state < kGroupStates; ++state) {
      visit(scheduler, group_states().values[state], states[state], link::up_to(widths->groups),
            "warps in the state " + group_states().values[state]);
    }
    if (widths->fetch_groups != 0) {
      visit(scheduler, "fetch_group", fetch_group, link::up_to(widths->fetch_groups - 1),
            "the fetch group that has priority: warps n x two_level.fetch_group and following (of the candidate, where "
            "the scheduler is adaptive)");
    }
    if (widths->candidates != 0) {
      visit(scheduler, "candidate", candidate, link::up_to(widths->candidates - 1),
            "the candidate of the adaptive two-level scheduler that schedules");
    }
    visit(scheduler, "blocks", blocks, link::up_to(widths->blocks), "resident thread blocks");
  }
};

struct StackWaves {
  link::Wave depth, merge_pc, execute_pc;
  template <class Visitor>
  void describe(Visitor& visit, const std::string& whose) {
    using enum link::SignalGroup;
    visit(divergence, "stack.depth", depth, link::number(16), "entries of " + whose + " re-convergence stack");
    visit(divergence, "stack.merge_pc", merge_pc, link::number(32),
          "re-convergence PC of its top entry; all ones: the threads meet at their exit only");
    visit(divergence, "stack.execute_pc", execute_pc, link::number(32), "execute PC of its top entry");
  }
};

struct ThreadsWaves {
  link::Wave barriers, ready, meeting, syncing, at_barrier;
  template <class Visitor>
  void describe(Visitor& visit, unsigned lanes) {
    using enum link::SignalGroup;
    visit(divergence, "threads.barriers", barriers, link::number(8), "convergence barriers of the warp");
    visit(divergence, "threads.ready", ready, link::mask(lanes), "threads that may run, beside those that do");
    visit(divergence, "threads.meeting", meeting, link::mask(lanes), "threads that wait at convergence barriers");
    visit(divergence, "threads.syncing", syncing, link::mask(lanes),
          "threads that wait for the lanes which they name (__syncwarp, operations between lanes)");
    visit(divergence, "threads.at_barrier", at_barrier, link::mask(lanes),
          "threads that wait at a barrier of their block, while others of the warp go on");
  }
};

struct WarpWaves {
  WarpWaves(const CoreWidths& all, unsigned rows)
      : active(rows),
        waiting(all.stack == Divergence::StackKind::per_group ? rows : 0),
        taken(all.dynamic ? 0 : rows),
        not_taken(all.dynamic ? 0 : rows),
        widths(&all) {}
  link::Wave state, pc, block, progress;
  StackWaves stack;
  ThreadsWaves threads;
  std::vector<link::Wave> active, waiting, taken, not_taken;
  const CoreWidths* widths;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    visit(divergence, "state", state, link::one_of(group_states()), "what the warp does or waits for");
    visit(divergence, "pc", pc, link::number(32), "its program counter");
    visit(divergence, "block", block, link::up_to(widths->block_slots - 1), "block slot of its (first) thread");
    visit(divergence, "progress", progress, link::number(32), "its progress register");
    const auto rows = [&](const char* name, std::vector<link::Wave>& waves, const char* meaning) {
      for (std::size_t row = 0; row < waves.size(); ++row) {
        visit(divergence, name + std::to_string(row), waves[row], link::mask(widths->lanes), meaning);
      }
    };
    rows("active.row", active, "active mask, by row of SIMD lanes");
    if (widths->stack == Divergence::StackKind::per_group) {
      stack.describe(visit, "the warp's");
      rows("stack.mask.row", waiting, "mask of the top entry, by row");
    }
    if (widths->independent) {
      threads.describe(visit, widths->lanes);
    }
    rows("branch.taken.row", taken, "buffer of the branch whose sub-warps retire: threads that take it");
    rows("branch.not_taken.row", not_taken, "buffer of the branch whose sub-warps retire: threads that do not");
  }
};

struct BlockWaves {
  explicit BlockWaves(const CoreWidths& all) : mask(all.block_rows), widths(&all) {}
  link::Wave warps, at_branch, at_merge, mask_threads;
  StackWaves stack;
  std::vector<link::Wave> mask;
  const CoreWidths* widths;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    stack.describe(visit, "the block's");
    visit(divergence, "stack.threads", mask_threads, link::number(16), "threads of the top entry");
    for (std::size_t row = 0; row < mask.size(); ++row) {
      visit(divergence, "stack.mask.row" + std::to_string(row), mask[row], link::mask(widths->lanes),
            "mask of the top entry, by row of the block's threads");
    }
    visit(divergence, "warps", warps, link::number(16), "warps that run its present path");
    visit(divergence, "at_branch", at_branch, link::number(16), "of those, wait at the branch for the others");
    visit(divergence, "at_merge", at_merge, link::number(16), "of those, wait at the re-convergence point");
  }
};

// A place of the warp-split table, or a slot of the scheduler beside it, and who owns it.
struct OwnerWaves {
  link::Wave valid, row, group;
  void show(const GroupTable& groups, GroupId owner);
  template <class Visitor>
  void describe(Visitor& visit, const CoreWidths& widths, const std::string& name, const std::string& what) {
    using enum link::SignalGroup;
    visit(divergence, name + "valid", valid, link::boolean(), what + " is taken");
    visit(divergence, name + "row", row, link::up_to(widths.rows - 1),
          "while it is: whose, the register row of the warp");
    visit(divergence, name + "group", group, link::up_to(widths.groups - 1), "and the group (warpN) that has it");
  }
};

// The warp-split table entry by entry (DWS report 5.6), the slots, and what splits are made and end.
struct SplitWaves {
  explicit SplitWaves(const CoreWidths& all) : entries(all.split_entries), slots(all.split_slots), widths(&all) {}
  struct Entry : OwnerWaves {
    link::Wave mask, pc, status;
  };
  std::vector<Entry> entries;
  std::vector<OwnerWaves> slots;
  std::array<link::Wave, kSplitCauses.size()> made;
  std::array<link::Wave, kSplitEnds.size()> ended;
  const CoreWidths* widths;
  void show(const GroupTable& groups, const Divergence::SplitTableView& view);
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    const auto text = [](auto cause) { return std::string(name_of(cause)); };
    for (std::size_t cause = 0; cause < made.size(); ++cause) {
      const std::string name = text(static_cast<SplitCause>(cause));
      visit(divergence, "made." + name, made[cause], link::number(8),
            "warps and splits parted in this cycle, by cause: " + name);
    }
    for (std::size_t end = 0; end < ended.size(); ++end) {
      const std::string name = text(static_cast<SplitEnd>(end));
      visit(divergence, "ended." + name, ended[end], link::number(8), "splits that end in this cycle, by how: " + name);
    }
    for (std::size_t at = 0; at < entries.size(); ++at) {
      const std::string name = "entry" + std::to_string(at) + ".";
      entries[at].describe(visit, *widths, name, "this entry of the warp-split table");
      visit(divergence, name + "mask", entries[at].mask, link::mask(widths->lanes), "its threads' lanes");
      visit(divergence, name + "pc", entries[at].pc, link::number(32), "its program counter");
      visit(divergence, name + "status", entries[at].status, link::one_of(group_states()),
            "what it does or waits for; parked: for a slot, or (slip) for those ahead");
    }
    for (std::size_t at = 0; at < slots.size(); ++at) {
      slots[at].describe(visit, *widths, "slot" + std::to_string(at) + ".", "this slot of the scheduler");
    }
  }
};

// All of it, and how it follows from the core's events (hw/state/observer.hpp).
class CoreWaves {
 public:
  explicit CoreWaves(const Machine& machine);
  // `core`: the name of the sub-core, or of the core whose only one it is. The caches are the core's.
  void describe(link::SignalCatalogue& catalogue, const std::string& core);
  void describe_caches(link::SignalCatalogue& catalogue, const std::string& core);
  void attach(SubCore& core);
  void attach_caches(Core& core);
  static void leave_caches(Core& core);
  [[nodiscard]] bool shows_caches() const {
    return icache_.traced() || l1d_.traced() || texture_.traced() || (constant_cache_ && constant_cache_->traced()) ||
           (bulk_copies_ && bulk_copies_->traced());
  }

  void joined(const CoreState& core);
  void launch_ended();
  void block_started() { scheduler_.blocks.set(++blocks_resident_); }
  void block_finished() { scheduler_.blocks.set(--blocks_resident_); }
  void group_changed(const CoreState& core, const Group& group, GroupState before);
  void changed(const Group& group);
  void split_made(SplitCause cause) { splits_.made[static_cast<std::size_t>(cause)].count(); }
  void split_ended(SplitEnd end) { splits_.ended[static_cast<std::size_t>(end)].count(); }
  void fetched(const CoreState& core, const link::SubWarp& sub_warp);
  void fetch_missed() { fetch_.missed.pulse(); }
  void former_worked(const CoreState& core, const link::SubWarp& instruction, const FormerWork& work);
  void formed(const CoreState& core, const link::SubWarp& sub_warp);
  void read(const link::SubWarp& sub_warp);
  void issued(const link::SubWarp& sub_warp, Cycle last);
  void complex_began() { execute_.complex_starts.pulse(); }
  void idle(IdleCause cause) { execute_.state.set(static_cast<std::uint64_t>(cause)); }
  void in_memory(const link::SubWarp& sub_warp);
  void accessed(unsigned lines) { memory_.lines.pulse(lines); }
  void held(const CoreState& core, CoreStage stage, IdleCause cause);
  void returning(const link::SubWarp& sub_warp) { returning_.push_back(&sub_warp); }
  void retired(const CoreState& core, const link::SubWarp& sub_warp);
  void completed(const Group& group, bool conditional_branch);
  void cycle_ended(const CoreState& core, const CycleEnd& end);
  // What was pulsed in the present cycle stays; and is over in the present one.
  void rests(const CoreState& core);
  void rested();
  void sleeps(Cycle from, std::span<const IdleCause> first, IdleCause cause);

 private:
  void count_groups(link::WaveSetter& to, const CoreState& core, GroupState state);
  void show_scheduler();
  void show(const Group& group);
  static void show_position(link::WaveSetter& to, WarpWaves& warp, const Group& group);
  void show_stack(link::WaveSetter& to, const Group& group);
  void show_threads(const Group& group, ThreadsWaves& threads) const;
  void branch(const link::SubWarp& sub_warp, const Group& group);
  void empty_branch_buffers(WarpWaves& warp);

  const CoreWidths widths_;
  // Masks and stack of a warp change when it starts, ends or completes an instruction, and at no other time.
  const bool masks_by_completion_;
  FetchWaves fetch_;
  DecodeWaves decode_;
  FormerWaves former_;
  ReadWaves read_;
  ExecuteWaves execute_;
  MemoryWaves memory_;
  std::array<RetireWaves, 2> retire_;
  SchedulerWaves scheduler_;
  std::vector<std::unique_ptr<WarpWaves>> warps_;
  std::vector<std::unique_ptr<BlockWaves>> blocks_;
  SplitWaves splits_;
  CacheWaves icache_, l1d_, texture_;
  std::unique_ptr<CacheWaves> constant_cache_;  // null: there is none
  std::unique_ptr<BulkCopyWaves> bulk_copies_;  // likewise
  SubCore* core_ = nullptr;
  unsigned blocks_resident_ = 0;
  Cycle fetched_at_ = link::kNever;              // the latest cycle with a fetch
  Cycle issued_at_ = link::kNever;               // the latest cycle in which a sub-warp was issued
  LaneMask issued_lanes_ = 0;                    // the lanes that work then, of all sub-warps beside each other
  Cycle stalled_at_ = link::kNever;              // the latest cycle in which the memory stage was held
  bool rests_ = false;                           // what is held has been shown
  Cycle in_memory_at_ = link::kNever;            // the latest cycle in which a sub-warp was in the memory stage
  Cycle decode_held_at_ = link::kNever;          // the latest cycle in which the stall signal to fetch was on for that
  Cycle formed_last_at_ = link::kNever;          // the latest cycle in which an instruction's last sub-warp was formed
  std::vector<const link::SubWarp*> returning_;  // have come back from memory and not retired
};

}  // namespace heddle::hw
