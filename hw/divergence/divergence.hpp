// Question 1 of a core: which threads share a PC now, and what happens to them at a branch, a barrier, an exit, a merge
// point? One file per answer, registered by name in Registry<Divergence>.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "hw/divergence/thread_moves.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/core_statistics.hpp"
#include "hw/state/group.hpp"
#include "hw/state/warp_split.hpp"
#include "isa/instruction.hpp"
#include "isa/semantics.hpp"

namespace heddle::hw {

// A group's instruction has completed in all its sub-warps (under relaxed issue: in the first, where that is enough;
// with an early next PC: it has been decoded, see goes_on).
struct Outcome {
  const isa::Instruction& instruction;
  std::span<const LaneMask> taken;     // bra: per row, the lanes that take it
  std::span<const LaneMask> exited;    // exit: per row, the lanes that leave
  std::span<const LaneMask> arrivals;  // barrier that waits: per row, the lanes that have arrived and wait
  // Of a branch that is known to part the group before all sub-warps have completed (parts_at_once): per row, the lanes
  // that have not said yet where they go. Empty: all have.
  std::span<const LaneMask> undecided = {};
};

// What a mechanism decides about groups. Every group with threads must be told one of run, wait or park after an
// instruction of it has completed; a decision is seen in the next cycle.
class GroupMoves {
 public:
  virtual ~GroupMoves() = default;
  // The group may be fetched again, `delay` cycles later than the next. A group without threads is freed.
  virtual void run(Group& group, unsigned delay = 0) = 0;
  // All of its threads have arrived at a barrier: it stands still until Divergence::released.
  virtual void wait(Group& group) = 0;
  // It stands still until the mechanism runs it: it waits for other groups.
  virtual void park(Group& group) = 0;
  virtual void free(Group& group) = 0;
  // A free group of the same block as `like`, dynamic and without threads, to be run, waited or parked.
  [[nodiscard]] virtual Group& allocate(const Group& like) = 0;
  // A free group of the same warp as `like`, with its rows and without threads, to be run. Beyond the groups that warps
  // begin in.
  [[nodiscard]] virtual Group& twin(const Group& like) {
    (void)like;
    throw InternalError("no warp of several rows is parted here");
  }
  // Threads that wait at a barrier, all of one block, have gone over to another group.
  virtual void hand_over(const Group& from, unsigned block_slot, const Group& to) = 0;
  // The block of the thread in a place: its slot on this core.
  [[nodiscard]] virtual unsigned block_of(const Place& place) const = 0;

  // The present cycle.
  [[nodiscard]] virtual Cycle now() const = 0;
  // The threads of `from` join `to`, each in the lane that it has, and `from` is freed. Both are dynamic, at one PC and
  // not in flight; `to` waits to be fetched or is parked, and stays so.
  virtual void merge(Group& from, Group& to) = 0;
  // Of a group whose access to memory waits for lines: the threads that wait for none, as theirs have come or their
  // guard is false. 0 when it has no such access.
  [[nodiscard]] virtual LaneMask answered(const Group& group) const = 0;
  // Parts a dynamic group while that access is in flight: its answered threads become a group of their own and take
  // their part of the instruction with them, which completes by itself (Divergence::complete) as soon as it is written
  // back; the others go on waiting in `group`, and it completes with what is left. Null when it has no answered thread,
  // or no other.
  virtual Group* part(Group& group) = 0;

  // For observers: a warp or warp-split has been parted, `made` is of its threads and `rest` the others; a split
  // is none any more, as its threads join `into` in this cycle, have exited or are all of their warp (then `into` is
  // the split itself). Told before its threads go.
  virtual void split_made(const Group& made, const Group& rest, SplitCause cause) {
    (void)made;
    (void)rest;
    (void)cause;
  }
  virtual void split_ended(const Group& split, const Group& into, SplitEnd end) {
    (void)split;
    (void)into;
    (void)end;
  }

  // Threads change their places.
  [[nodiscard]] virtual ThreadMoves& threads() { throw InternalError("no thread changes its place here"); }
};

class Divergence {
 public:
  struct Setup {
    GroupTable& groups;
    const CoreParameters& core;
    CoreStatistics* statistics = nullptr;  // of the core, to count in and to learn from; null: there are none
  };
  // What a mechanism can do (hw/parameters/policy.hpp); what it does not promise is refused.
  struct Traits {
    // A group is a warp of several rows (core.warp_size above core.simd_width), whose sub-warps a former may pack.
    bool large_warps = false;
    // Instructions of one warp may overlap (issue disciplines that say so).
    bool overlap = false;
    // The lanes of a warp are those that the program means whenever an instruction executes, so that operations between
    // lanes (vote, shfl, match, cond_acc, tree_traverse) find them all; if not, why.
    bool lockstep_lanes = false;
    const char* no_lockstep = "does not promise that the lanes of a warp are those that the program means";
    // Warps are formed at will, of any threads that stand at one PC.
    bool warp_pool = false;
    // A group is a warp of a block for as long as it lives: the threads that it began with, no others join.
    bool keeps_warps = false;
    // It parts groups while an instruction of theirs is in flight: it is told of memory_diverged() and starving().
    bool parts_in_flight = false;
    // It may subdivide a warp at branches that the compiler has marked (isa::Instruction::subdivides): where a basic
    // block of so many instructions at most begins at the re-convergence point. Null: it looks at no mark.
    unsigned (*short_block)(const CoreParameters& core) = nullptr;
    // With short_block: whether branches that lead back are marked.
    bool (*loop_branches)(const CoreParameters& core) = nullptr;
    // Its threads change cores (ThreadMoves::depart).
    bool changes_cores = false;
    // Blocks begin in the global scheduler (hw/gpu/global_scheduler.hpp), which gives warps of any threads to the cores
    // and takes them back (ThreadMoves::recall), in launches for which begin_launch() says so. How many threads it
    // keeps beyond the threads that the cores have places for. Null: blocks begin in cores.
    unsigned (*global_pool)(const CoreParameters& core) = nullptr;
    // With a global pool: blocks of kernels that use the scratchpad begin there too. Their warps are bound
    // (Group::bound) to the core with their block's part of it until the mechanism sets them free
    // (ThreadMoves::unbind), by the compiler's marks (isa::Instruction::past_scratchpad). Null or false: such blocks
    // begin in the cores and stay.
    bool (*after_last_access)(const CoreParameters& core) = nullptr;
    // Cycles from a warp's departure for there until it is in a core again, at most, where there is room. Null: 0.
    std::uint64_t (*longest_travel)(const CoreParameters& core) = nullptr;
    // Lanes fetch, decode and execute each for themselves: the threads of a group need not stand at one PC (lane_pc).
    bool mimd_lanes = false;
    // After an instruction that is neither a branch nor an exit nor a barrier, complete() does no more than to run the
    // group at the next PC, unless that is Group::merge_pc, which the mechanism sets; then it need not be told.
    bool steps_plainly = false;
    // The threads of a warp are scheduled independently, of which none waits for ever for another that could go on: it
    // is told who waits for whom in the warp (waits_for_lanes), lets threads go on at branches that are marked
    // (isa::Instruction::yields), and the active threads of a group may be others after any instruction.
    bool independent_threads = false;
    // Group::merge_points counts the re-convergence points that a group's threads have passed.
    bool counts_merge_points = false;
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  virtual ~Divergence() = default;

  // Groups that a core with so many threads needs at most.
  [[nodiscard]] virtual unsigned groups(unsigned threads) const = 0;
  // Groups that the core's scheduler chooses among at most: what its tables are sized by
  // (hw/parameters/cost.hpp).
  [[nodiscard]] virtual unsigned scheduled(unsigned threads) const { return groups(threads); }
  // True: groups are formed of any threads (one row, SIMD width) and made and freed at will. False: a group is a warp.
  [[nodiscard]] virtual bool dynamic() const { return false; }
  // A thread may run in another lane than the one in whose register bank it lives.
  [[nodiscard]] virtual bool displaces() const { return dynamic(); }
  // A launch begins; `global`: its blocks begin in the global scheduler (Traits::global_pool).
  virtual void begin_launch(bool global) { (void)global; }
  // A warp's threads start at PC 0: `group` has its rows, block and active masks set. The warps of a block start in
  // order, the first one with warp_here 0.
  virtual void start(Group& group) = 0;
  // A warp that start() has set up is to be fetched.
  virtual void started(Group& group, GroupMoves& moves) { moves.run(group); }
  // Updates the group's PC and active masks after an instruction and says what it does next. Threads that exited are
  // gone from the masks afterwards. Returns true when a conditional branch diverged.
  virtual bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) = 0;
  // For issue disciplines that let a group go on before its instruction has completed (IssueDiscipline::early), which
  // is neither a branch with a condition nor an exit nor a barrier: whether complete() may be told of it at once. It
  // must do no more then than move this group on, with threads that are its own throughout: other instructions of it
  // are in flight.
  [[nodiscard]] virtual bool goes_on(const Group& group) const {
    (void)group;
    return false;
  }
  // For disciplines that let a group go on early, of a branch with a condition that has left the functional units
  // (`taken`: per row, the lanes that take it): whether complete() may be told of it now, while the instructions before
  // it are on their way to write-back. It must not give threads to other groups then, whose instructions would not wait
  // for those results.
  [[nodiscard]] virtual bool branches_early(const Group& group, const isa::Instruction& instruction,
                                            std::span<const LaneMask> taken) const {
    (void)group;
    (void)instruction;
    (void)taken;
    return false;
  }
  // For disciplines that let a group go on at a branch whose sub-warps have gone both ways so far
  // (IssueDiscipline::releases_diverged): whether complete() may be told of it now. The threads that have not said yet
  // where they go (Outcome::undecided) are with the path that runs until decided() is told; none of them is in another
  // instruction before.
  [[nodiscard]] virtual bool parts_at_once(const Group& group, const isa::Instruction& branch) const {
    (void)group;
    (void)branch;
    return false;
  }
  // Lanes of a row that were undecided at the latest branch take it, or do not. Returns those that leave the path that
  // runs for the other one.
  virtual LaneMask decided(Group& group, unsigned row, LaneMask lanes, bool taken) {
    (void)group;
    (void)row;
    (void)lanes;
    (void)taken;
    return 0;
  }
  // With the trait independent_threads: threads of a row of the group have executed warp.sync, and wait each for the
  // lanes that `members` says. Before complete().
  virtual void waits_for_lanes(const Group& group, unsigned row, LaneMask lanes, const isa::LaneWord& members) {
    (void)group;
    (void)row;
    (void)lanes;
    (void)members;
  }
  // Threads of a row of the group were released from a barrier; `last`: no thread of it waits at one any more.
  virtual void released(Group& group, unsigned row, LaneMask lanes, bool last, GroupMoves& moves) {
    (void)row;
    (void)lanes;
    if (last && group.state == GroupState::barrier) {
      moves.run(group);
    }
  }
  // An access of a group to memory beyond the core begins. Told to mechanisms with the trait parts_in_flight.
  virtual void accesses(Group& group, GroupMoves& moves) {
    (void)group;
    (void)moves;
  }
  // The access that began last is put aside, since it waits for lines. Told to mechanisms with the trait
  // parts_in_flight, before memory_diverged().
  virtual void misses(Group& group, GroupMoves& moves) {
    (void)group;
    (void)moves;
  }
  // An access of a group is put aside: some of its threads have been answered (GroupMoves::answered), the others wait
  // for lines. Told when it begins to wait, or when its last late hit has come; not of accesses that all threads wait
  // for.
  virtual void memory_diverged(Group& group, GroupMoves& moves) {
    (void)group;
    (void)moves;
  }
  // ---- with the trait mimd_lanes alone
  // Each group is one thread, and fetch takes groups of different lanes in one cycle. False: the rows of one group,
  // each in a cycle.
  [[nodiscard]] virtual bool lanes_of_several_groups() const { return false; }
  // Where an active thread of the group stands.
  [[nodiscard]] virtual std::uint32_t lane_pc(const Group& group, unsigned row, unsigned lane) const {
    (void)row;
    (void)lane;
    return group.pc;
  }
  // The instruction of `lanes` has been written back; `taken`: of a branch, the lanes that take it. Before
  // complete(), which is told when every thread's instruction has; it is told the instruction of one of the threads.
  virtual void executed(const Group& group, unsigned row, LaneMask lanes, const isa::Instruction& instruction,
                        LaneMask taken) {
    (void)group;
    (void)row;
    (void)lanes;
    (void)instruction;
    (void)taken;
  }
  // A group has come from another core, or from the global scheduler. It stands at its PC.
  virtual void arrived(Group& group, GroupMoves& moves) { moves.run(group); }
  // With the trait global_pool, in launches whose blocks begin there: whether threads of the group that come to this
  // barrier wait where they are (GroupMoves::wait), or leave for the pool (ThreadMoves::recall).
  [[nodiscard]] virtual bool waits_in_core(const Group& group, const isa::Instruction& barrier) const {
    (void)group;
    (void)barrier;
    return false;
  }
  // No group of the core can be fetched in this cycle. Told in each such cycle in which the core is awake; lines that
  // come for it, whether they are all that an access wants or not, wake it.
  virtual void starving(GroupMoves& moves) { (void)moves; }
  // For tests and debug builds, after complete(): why the masks that the mechanism holds for the group, or for the
  // threads that share its fate, do not partition those threads; empty when they do.
  [[nodiscard]] virtual std::string inconsistency(const Group& group) const = 0;
  // What waves show of a re-convergence stack: whose the stacks are, and the one that decides about a group.
  enum class StackKind : std::uint8_t { none, per_group, per_block };
  struct StackView {
    std::size_t depth = 0;
    // Of the top entry; `active` one mask per row.
    std::uint32_t reconvergence_pc = 0;
    std::uint32_t execute_pc = 0;
    std::span<const LaneMask> active;
    // Of a block's stack: warps of the path that runs, and how many of them wait for the others.
    std::size_t warps = 0;
    unsigned at_branch = 0;
    unsigned at_merge = 0;
    unsigned part = 0;  // of the block, whose stack it is; below stacks_per_block()
  };
  [[nodiscard]] virtual StackKind stack_kind() const { return StackKind::none; }
  [[nodiscard]] virtual unsigned stacks_per_block() const { return 1; }
  [[nodiscard]] virtual StackView stack_view(const Group& group) const {
    (void)group;
    return {};
  }
  // What waves show of a warp-split table and of the scheduler's slots: by number, the group that owns it, or
  // OwnedPlaces::kNobody. Empty where there is none; of one size as long as the mechanism lives.
  struct SplitTableView {
    std::span<const GroupId> entries;
    std::span<const GroupId> slots;
  };
  [[nodiscard]] virtual SplitTableView split_table() const { return {}; }
  // With the trait independent_threads, what waves show of a warp's threads beside those that run.
  struct ThreadsView {
    std::size_t barriers = 0;  // convergence barriers
    LaneMask ready = 0;        // threads that may run and those that have let others run
    LaneMask meeting = 0;      // that wait at convergence barriers
    LaneMask syncing = 0;      // that wait for lanes which they name (warp.sync)
    LaneMask at_barrier = 0;   // that wait at a barrier of their block
  };
  [[nodiscard]] virtual ThreadsView threads_view(const Group& group) const {
    (void)group;
    return {};
  }
  // A core has come to rest: why threads of the group can never go on, whatever others do. Empty: they may.
  [[nodiscard]] virtual std::string deadlock(const Group& group) const {
    (void)group;
    return {};
  }
  // What the mechanism holds for a group, for deadlock messages, waves and tests: "2 entries: ...".
  [[nodiscard]] virtual std::string describe(const Group& group) const = 0;
};

// Warps that a core's scheduler chooses among: as many as the machine has, or as many as its mechanism may form.
[[nodiscard]] std::uint64_t warp_pool_size(const Machine& machine);

// Whether the core's mechanism says Divergence::Traits::independent_threads: the compiler then has operations between
// lanes wait for their lanes.
[[nodiscard]] bool schedules_threads(const CoreParameters& core);

// The cores' mechanism says Divergence::Traits::after_last_access.
[[nodiscard]] bool moves_after_last_access(const CoreParameters& core);

// Local memories that the GPU has: one for each place of a thread, in its cores and in its global pool.
[[nodiscard]] std::uint64_t local_memories(const Machine& machine);

}  // namespace heddle::hw
