// The warp unit: the one owner of the lives of a core's groups (warps, dynamic warps, warp-splits). Stages tell it what
// has become of instructions; the divergence mechanism (hw/divergence) decides, and the unit carries it out.
//
//   begins    begin(): a warp of a starting block. GroupMoves::allocate(): a group that the mechanism makes of others
//   goes on   retired(): once the issue discipline releases the instruction that was fetched last, the mechanism sets
//             the group's next PC and masks and says whether it runs, waits or is parked. A group that runs is ready in
//             the next cycle (CoreState::make_ready)
//             formed(): the same at decode, where discipline and mechanism let it go on so early; ready in that cycle
//   waits     at a barrier, from the retirement of its instruction until the barrier's release; whom a barrier counts
//             is the business of the block's home (hw/state/block_home.hpp). While lines, operations or instruction
//             words are on their way, the stage that waits for them says so in the group's state
//   is parted while its access to memory is in flight: the threads that have been answered leave as a group of
//             their own, with their part of the instruction (GroupMoves::part)
//   is merged its threads join another group that stands at the same PC (GroupMoves::merge)
//   moves     its threads go to other places, in the core or, with it, to another core (ThreadMoves), and keep their
//             homes
//   exits     its threads leave their block's count; the block ends with its last one
//   is freed  when it has no threads left, or when the mechanism has given them to others
//
// No sockets: the core's stages call it within their cycle. What it decides is seen in the next one.
// Watchdog: progress(), stuck() and describe_waiting() say who cannot go on and why.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/core/warps/barrier_unit.hpp"
#include "hw/core/warps/home_protocol.hpp"
#include "hw/core/warps/places.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/registers/register_file.hpp"
#include "hw/state/core_state.hpp"
#include "isa/loop_exits.hpp"

namespace heddle::hw {

// Who writes the results of sub-warps that have waited at a barrier: the write-back stage.
class BarrierResults {
 public:
  virtual ~BarrierResults() = default;
  virtual void write_released(link::SubWarp& sub_warp) = 0;
};

// The accesses that wait for lines: the memory stage.
class AccessesAside {
 public:
  virtual ~AccessesAside() = default;
  // The active threads of the group that its access which has been put aside keeps waiting no longer, as their lines
  // have come or their guard is false; 0 when it has none, or when the instruction has other sub-warps.
  [[nodiscard]] virtual LaneMask answered(const Group& group) const = 0;
  // Some of the answered threads leave with their part of the instruction, which is an instruction in flight of group
  // `to` now and goes to write-back.
  virtual void leave(const Group& group, LaneMask lanes, const Group& to) = 0;
};

class WarpUnit final : private GroupMoves, private ThreadMoves {
 public:
  // `registers`: where the watchdog sees whether a loop changes anything.
  WarpUnit(CoreState& state, RegisterArray& registers, std::unique_ptr<Divergence> divergence,
           std::unique_ptr<IssueDiscipline> issue);
  WarpUnit(const WarpUnit&) = delete;
  WarpUnit& operator=(const WarpUnit&) = delete;
  ~WarpUnit() override = default;

  // Before a launch: no thread waits at a barrier, no group leaves.
  void reset() {
    decide_nothing();
    barriers_.reset();
    grid_arrivals_.clear();
    at_grid_ = 0;
    departing_.clear();
    recalled_.reset();
    exits_.clear();
  }

  // ---- blocks
  // Warp number `warp` of the block in a slot begins at PC 0, in place number `place` of the warps. Its register rows
  // hold its threads already (CoreState::hold); it may be fetched in the next cycle. `here`: its number among the
  // block's warps that begin in this sub-core.
  void begin(unsigned slot, unsigned warp, unsigned place, unsigned here);
  std::function<void(unsigned block_slot)> block_finished;  // its last thread has exited

  // Likewise all live threads of a block have come to the grid's barrier, and other cores can see what was stored.
  std::function<void(unsigned block_slot)> block_at_grid;
  // Blocks wait there.
  [[nodiscard]] bool at_grid() const { return at_grid_ != 0; }
  // All blocks have come there.
  void leave_grid(BarrierResults& results);
  // Of a block that waits there, the first thread that does in this sub-core, and where; none: no thread does.
  struct Waiting {
    unsigned warp = 0;
    isa::Dim3 thread;
    std::uint32_t pc = 0;
  };
  [[nodiscard]] std::optional<Waiting> first_waiting(const BlockHome& block) const;

  // Before the stages' work of a cycle: the groups that were to run before it are ready.
  void wake_up(Cycle now) {
    if (!state_.wake_ups.empty()) {
      wake_up_groups(now);
    }
  }

  // ---- instructions, as the write-back stage sees them
  // A sub-warp has come to its end. For a barrier operation its threads arrive.
  enum class Arrival : std::uint8_t {
    goes_on,  // its results can be written
    waits,    // the payload stays until the barrier's release; its results are written then
    parted,   // it waits too, as a payload for each of its blocks; the payload that came is done
    faulted   // and the core stops
  };
  [[nodiscard]] Arrival arrive(link::SubWarp& sub_warp) {
    return sub_warp.decoded->unit != isa::Unit::barrier || sub_warp.executing == 0 ? Arrival::goes_on
                                                                                   : arrive_at_barrier(sub_warp);
  }
  // It is counted and, if it goes on, its results are written. Its payload belongs to the unit from here on.
  void retired(link::SubWarp& sub_warp, Arrival arrival, BarrierResults& results);
  // What follows for the usual instruction (DecodedInstruction::plain), of a group that has no other in flight: once
  // all its sub-warps have retired, every discipline releases it, and where this says so the mechanism would run the
  // group at the next PC.
  [[nodiscard]] bool steps_plainly(const Group& group) const {
    return steps_plainly_ && group.pc + 1 != group.merge_pc;
  }
  void step(Group& group, const link::DecodedInstruction& decoded) {
    ++group.pc;
    ++group.loop_instructions;
    ++state_.statistics.group_instructions;
    state_.make_ready(group);
    if (state_.observer != nullptr) {
      state_.observer->completed(state_, group, {group.pc - 1, &decoded, group.flight().formed, false, false});
    }
  }
  // The instruction of a group has come to its end, where the mechanism has a say: in the threads of the group's one
  // row, `executing` where its guard was true. Neither an exit nor a barrier, with strict issue.
  void completed(Group& group, const link::DecodedInstruction& decoded, LaneMask executing) {
    if (decoded.conditional_branch) {
      group.taken[0] = executing;
    }
    go_on(group, decoded);
  }

  // ---- instructions in flight one behind the other (IssueDiscipline::Traits::early_next_pc), as the stages before see
  // them
  [[nodiscard]] bool early_next_pc() const { return early_next_pc_; }
  // What the discipline says of an instruction.
  [[nodiscard]] link::IssueRules rules(const link::DecodedInstruction& decoded) const { return issue_->rules(decoded); }
  // The former has handed on the last sub-warp of the group's latest instruction; `whole`: SubWarp::whole. The group
  // may be fetched in this cycle, if its next PC is known.
  void formed(Group& group, bool whole);
  // Before the group's next instruction goes into the pipeline (IssueDiscipline::Traits::stalls_on_use). True: it waits
  // for one in flight, as the group's state says; then the group may be fetched again.
  [[nodiscard]] bool stalls_on_use() const { return stalls_on_use_; }
  [[nodiscard]] bool holds_back(Group& group, const link::DecodedInstruction& next);
  // It goes into the pipeline; only with control bits (by_control_bits).
  [[nodiscard]] bool by_control_bits() const { return by_control_bits_; }
  void issued(Group& group, const link::DecodedInstruction& next);
  // A sub-warp's operands have been read.
  void operands_read(const link::SubWarp& sub_warp) {
    if (by_control_bits_ && issue_->operands_read(sub_warp)) {
      look_again(state_.groups[sub_warp.group]);
    }
  }
  // Before a sub-warp's operands are read.
  [[nodiscard]] bool may_read(const link::SubWarp& sub_warp) { return issue_->read(sub_warp, state_.now); }
  // Its operation has been computed and is in the functional units up to cycle `last`.
  void computed(link::SubWarp& sub_warp, Cycle last);
  // It has left the functional units. A branch with a condition: the group goes on where it can (it is fetched in the
  // next cycle), without waiting for write-back.
  void resolved(link::SubWarp& sub_warp) {
    if (sub_warp.decoded->conditional_branch && !sub_warp.whole) {
      resolve_branch(sub_warp);
    }
  }

  // ---- branches known to part a warp before all sub-warps have completed (IssueDiscipline::releases_diverged)
  [[nodiscard]] bool releases_diverged() const { return releases_diverged_; }
  // Lanes of a row, of a group that has gone on at the branch of a flight, leave the path that it has gone on with.
  std::function<void(const Group& group, unsigned flight, unsigned row, LaneMask lanes)> left_path;

  // ---- parting in flight
  // Whether the mechanism wants to hear of what follows, and who holds the accesses that can be parted then.
  [[nodiscard]] bool parts_in_flight() const { return parts_in_flight_; }
  void accesses(AccessesAside& aside) { aside_ = &aside; }
  // An access of the group begins (Divergence::accesses).
  void accesses(GroupId group) { divergence_->accesses(state_.groups[group], *this); }
  // It is put aside (Divergence::misses).
  void misses(GroupId group) { divergence_->misses(state_.groups[group], *this); }
  // Some threads of the group have been answered, others wait (Divergence::memory_diverged).
  void memory_diverged(GroupId group) { divergence_->memory_diverged(state_.groups[group], *this); }
  // Before fetch, in a cycle in which no group is ready.
  void starving() { divergence_->starving(*this); }

  // ---- other cores (hw/core/warps/home_protocol.hpp)
  std::function<void(HomeMessage&)> tell;  // a message of this core's; none: it sends no messages
  // Groups wait to leave, or arrivals at barriers, until every store of the core has been acknowledged.
  [[nodiscard]] bool departing() const { return !departing_.empty() || !grid_arrivals_.empty(); }
  void send_departing();
  void hear(HomeMessage& message, BarrierResults& results);

  // ---- the watchdog
  // What the core's live groups do, as far as can be said (WatchdogParameters).
  enum class Progress : std::uint8_t {
    some,  // some group can go on
    none,  // each waits at a barrier
    spins  // each spins or waits at a barrier, and one spins
  };
  [[nodiscard]] Progress progress() const;
  // What every live group of the core waits for, for deadlock and livelock messages.
  [[nodiscard]] std::string describe_waiting() const;
  // The core has come to rest: whether threads of a warp wait for each other (Divergence::deadlock), which raises a
  // fault.
  [[nodiscard]] bool finds_deadlock() const;
  // Who waits at barriers here, for the core to say why its threads can never go on (BarrierUnit::stuck).
  [[nodiscard]] BarrierUnit::Waiters waiters() const { return {&state_, &barriers_}; }

  [[nodiscard]] Divergence& divergence() { return *divergence_; }
  // Another mechanism and discipline, for another table of groups. Between launches.
  void diverge_by(std::unique_ptr<Divergence> divergence, std::unique_ptr<IssueDiscipline> issue);

 private:
  // What the divergence mechanism decides.
  void run(Group& group, unsigned delay) override;
  void wait(Group& group) override;
  void park(Group& group) override;
  void free(Group& group) override;
  [[nodiscard]] Group& allocate(const Group& like) override;
  [[nodiscard]] Group& twin(const Group& like) override;
  void hand_over(const Group& from, unsigned block_slot, const Group& to) override;
  [[nodiscard]] unsigned block_of(const Place& place) const override;
  [[nodiscard]] Cycle now() const override { return state_.now; }
  void merge(Group& from, Group& to) override;
  [[nodiscard]] LaneMask answered(const Group& group) const override;
  Group* part(Group& group) override;
  void split_made(const Group& made, const Group& rest, SplitCause cause) override;
  void split_ended(const Group& split, const Group& into, SplitEnd end) override;
  [[nodiscard]] ThreadMoves& threads() override { return *this; }
  // How it moves threads (warp_unit_travel.cpp).
  [[nodiscard]] std::optional<Place> vacant(unsigned lane) const override { return places_.vacant(lane); }
  void move(Group& group, unsigned lane, const Place& to) override;
  void exchange(Group& one, unsigned lane, Group& other, unsigned other_lane) override;
  [[nodiscard]] unsigned core() const override { return state_.index; }
  [[nodiscard]] unsigned cores() const override { return state_.machine.gpu.cores; }
  void depart(Group& group, unsigned to) override;
  void recall(Group& group, bool waits, unsigned places) override;
  void unbind(Group& group) override;
  void give_place() override;
  void require_movable(const Group& group) const;
  [[nodiscard]] HomeMessage lift(Group& group, unsigned to);
  void take_in(const HomeMessage& message, BarrierResults& results);
  void write_released(const Group& group, const HomeMessage& message, BarrierResults& results);
  void send(HomeMessage& message);

  void retired_plainly(Group& group, link::SubWarp& sub_warp);
  void executed(Group& group, const link::SubWarp& sub_warp);
  void instruction_completed(Group& group, unsigned flight);
  // Something has come about that the group's next instruction may wait for.
  void look_again(Group& group);
  [[nodiscard]] unsigned stall_count(const Group& group, unsigned delay);
  void resolve_branch(link::SubWarp& sub_warp);
  void tell_members(const Group& group, const link::SubWarp& sub_warp);

  static void clear_masks(Group& group, unsigned rows);
  [[nodiscard]] Group& fresh(Group* free);
  Group& made_like(const Group& like, Group* free, bool dynamic, unsigned rows);
  // It goes on when its latest instruction has completed, or before, without what only an exit needs.
  void complete(Group& group, const link::DecodedInstruction& decoded, BarrierResults& results);
  void go_on(Group& group, const link::DecodedInstruction& decoded);
  [[nodiscard]] bool goes_on_early(const Group& group) const;
  void decide_nothing();
  void decide(Group& group, const link::SubWarp& sub_warp);
  [[nodiscard]] bool known_to_part(const Group& group);
  [[nodiscard]] bool is_deciding(const Group& group) const {
    return releases_diverged_ && deciding_[group.id].flight != Deciding::kNone;
  }
  void wake_up_groups(Cycle now);
  [[nodiscard]] Arrival arrive_at_barrier(link::SubWarp& sub_warp);
  [[nodiscard]] Arrival arrive_by_block(link::SubWarp& sub_warp, bool waits);
  [[nodiscard]] Arrival arrive_globally(link::SubWarp& sub_warp);
  [[nodiscard]] bool arrive_in(unsigned block_slot, link::SubWarp& sub_warp);
  [[nodiscard]] LaneMask lanes_of_block(const link::SubWarp& sub_warp, unsigned block_slot) const;
  // What happens to a block, its home hears at once where it is here and no other sub-core has a part in it.
  [[nodiscard]] bool tells_home(const BlockHome& block) const { return block.core != state_.index || shared_home_; }
  void release(BlockHome& block, BarrierResults& results);
  void let_go_everywhere(BlockHome& block, BlockHome::Release& release, BarrierResults& results);
  void let_go(const BlockHome::Release& release, BarrierResults& results);
  void note_exits(const Group& group);
  void leave_blocks(BarrierResults& results);
  void threads_exited(BlockHome& block, unsigned threads, BarrierResults& results);
  void watch_loop(Group& group, std::uint32_t pc, const isa::Instruction& instruction);
  [[nodiscard]] bool goes_round(Group& group, std::uint32_t pc, const isa::Instruction& instruction) const;
  void watch_exits(Group& group);
  [[nodiscard]] std::uint64_t fingerprint(const Group& group, const isa::LoopExits& of) const;

  CoreState& state_;
  RegisterArray& registers_;
  std::unique_ptr<Divergence> divergence_;
  std::unique_ptr<IssueDiscipline> issue_;
  const bool overlaps_;            // IssueDiscipline::Traits
  const bool early_next_pc_;       // likewise
  const bool stalls_on_use_;       // likewise
  const bool by_control_bits_;     // likewise
  std::vector<Cycle> held_since_;  // by group, of those whose next instruction is held back
  const unsigned refetch_;         // IssueDiscipline::refetch
  const bool releases_diverged_;   // likewise, and branches have several sub-warps
  // With releases_diverged_, of the group's latest branch: the lanes that have said where they go, by row, and, where
  // the group has gone on before all had, its flight.
  struct Deciding {
    static constexpr unsigned kNone = ~0U;
    std::vector<LaneMask> decided;
    unsigned flight = kNone;
  };
  std::vector<Deciding> deciding_;   // by group
  std::vector<LaneMask> undecided_;  // Outcome::undecided
  bool at_decode_ = false;           // a group goes on there: it is ready at once
  const bool parts_in_flight_;       // Divergence::Traits
  const bool mimd_lanes_;            // likewise
  const bool independent_;           // likewise: independent_threads
  const bool shared_home_;           // the core has several sub-cores, the first of which has its blocks' homes
  const bool steps_plainly_;         // likewise, and every instruction of a group completes before the next is fetched
  AccessesAside* aside_ = nullptr;
  Places places_;
  std::vector<HomeMessage> departing_;
  std::vector<unsigned> grid_arrivals_;  // slots of blocks that have come to the grid's barrier and have not said so
  unsigned at_grid_ = 0;                 // blocks at the grid's barrier, with those in grid_arrivals_
  BarrierUnit barriers_;
  // With a global scheduler: the barrier at which threads of the instruction that retires arrive, until they leave.
  struct Recalled {
    BarrierArrival arrival;
    const link::DecodedInstruction* decoded = nullptr;
    std::uint32_t pc = 0;
    LaneMask true_lanes = 0;
  };
  std::optional<Recalled> recalled_;
  std::vector<unsigned> arrived_blocks_;  // of the barrier operation that retires, when its group is dynamic
  struct Leaving {
    unsigned block_slot;
    unsigned threads;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, isa::LoopExits> exits_;  // of loops that last, by first and last PC
  std::vector<Leaving> leaving_;  // the threads of the exit that completes, by block
};

}  // namespace heddle::hw
