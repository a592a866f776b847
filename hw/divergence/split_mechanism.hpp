// What every mechanism of warp-splits does alike (hw/divergence/subdivision.hpp, hw/divergence/formed_splits.hpp): who
// has entries of the warp-split table and slots of the scheduler, who waits for one, which accesses part a group, and
// what is shown of it. What becomes of splits is the mechanism's own affair.
//
//   SplitMechanism<Own, Rules, Warp, State>
//     Own     the mechanism, with
//               needs_entry(group)            the group goes on with an entry alone: it is not an undivided warp
//               room_to_part(group)           there are entries for what it would become
//               has_parted(group, ahead, moves)   threads have left it as the new group `ahead`
//     Rules   a SplitRules; Warp a SplitWarp, by register row; State a SplitState, by group
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/divergence/divergence.hpp"
#include "hw/divergence/parting_rule.hpp"
#include "hw/divergence/row_stack.hpp"
#include "hw/divergence/split_places.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

struct SplitRules {
  using Memory = PartingRule::Memory;
  bool at_branches = false;  // undivided warps part at marked branches
  Memory memory = Memory::none;
  SplitPredictor::Setup predictor;  // Memory::predict
  unsigned entries = 16;
  unsigned slots = 8;
};

// What a group waits for, of what the mechanism holds.
enum class SplitWait : std::uint8_t {
  none,       // it can go on, waits for memory or has an instruction in flight
  resources,  // an entry or a slot: it can go on as soon as it has them
  merge,      // the other splits of its warp, at the re-convergence point
  branch,     // the same, at a branch
  barrier,    // its release
  access,  // a group with threads of its warp, whose access is the one that it has done: they go on behind it together
  ahead    // slip: a split of its warp that comes to its PC
};
// ", waits at a barrier"; of none nothing.
[[nodiscard]] const char* text_of(SplitWait wait);

struct SplitState {
  SplitWait waits = SplitWait::none;
  bool stands_at_access = false;  // its latest instruction was an access
  bool made = false;              // it is a split, of another group, which has been told; it has not ended
};

struct SplitWarp {
  RowStack stack;
  LaneMask running = 0;  // threads of the path that runs
};

template <class Own, class Rules, class Warp, class State>
class SplitMechanism : public Divergence {
 public:
  // Each thread may be a group of its own.
  [[nodiscard]] unsigned groups(unsigned threads) const override { return threads; }
  [[nodiscard]] unsigned scheduled(unsigned threads) const override { return std::min(rules_.slots, threads); }
  [[nodiscard]] bool dynamic() const override { return true; }
  [[nodiscard]] bool displaces() const override { return false; }  // every thread keeps its lane
  void misses(Group& group, GroupMoves& moves) override { parting_.misses(group, moves); }
  void memory_diverged(Group& group, GroupMoves& moves) override {
    if (parting_.occasion(group) && finds_room(group) && parting_.takes(group, moves)) {
      part(group, SplitCause::access, moves);
    }
  }
  void starving(GroupMoves& moves) override {
    const auto room = [this](const Group& waiting) { return own().room_to_part(waiting); };
    if (Group* const oldest = places_.entries_left(1) ? parting_.revives(moves, room) : nullptr) {
      part(*oldest, SplitCause::revived, moves);
    }
  }
  // Of its warp, or of the warp of its first thread.
  [[nodiscard]] StackKind stack_kind() const override { return StackKind::per_group; }
  [[nodiscard]] StackView stack_view(const Group& group) const override { return warps_[group.first_row].stack.view(); }
  [[nodiscard]] SplitTableView split_table() const override { return places_.view(); }

 protected:
  SplitMechanism(const Setup& setup, const Rules& rules)
      : groups_(setup.groups),
        rules_(rules),
        count_(setup.statistics != nullptr ? *setup.statistics : nobodys_),
        parting_(rules.memory, rules.predictor, setup.groups, count_),
        places_(rules.entries, std::min(rules.slots, setup.core.threads), setup.core.threads),
        state_(setup.core.threads),
        warps_(setup.core.threads / setup.core.simd_width) {}

  // The PC behind the group's instruction, which is no branch that only some of its threads take.
  [[nodiscard]] static std::uint32_t next_pc(const Group& group) {
    const isa::Instruction& instruction = group.decoded->instruction;
    return instruction.op == isa::Op::BRA ? instruction.target : group.pc + 1;
  }

  // It goes on as soon as it has what it needs: now, if that is there.
  void proceed(Group& group, GroupMoves& moves) {
    if (admit(group, moves)) {
      return;
    }
    const bool lacks_entry = own().needs_entry(group) && !places_.has_entry(group.id);
    ++(lacks_entry ? count_.split_table_full : count_.split_slots_full);
    moves.park(group);
    state_[group.id].waits = SplitWait::resources;
    places_.queue(group.id);
  }
  bool admit(Group& group, GroupMoves& moves) {
    if (!places_.equip(group.id, own().needs_entry(group))) {
      return false;
    }
    state_[group.id].waits = SplitWait::none;
    moves.run(group);
    return true;
  }
  // Groups that wait for what has been freed are served.
  void admit_waiting(GroupMoves& moves) {
    places_.serve([&](GroupId id) { return admit(groups_[id], moves); });
  }
  // The group waits for nothing, and has neither entry nor slot.
  void give_back(GroupId group) {
    places_.drop_entry(group);
    places_.drop_slot(group);
    if (state_[group].waits == SplitWait::resources) {
      places_.leave_queue(group);
    }
    state_[group].waits = SplitWait::none;
  }

  // There are entries for what the group becomes if it parts; else that is counted.
  [[nodiscard]] bool finds_room(const Group& group) {
    const bool room = own().room_to_part(group);
    count_.split_table_full += room ? 0 : 1;
    return room;
  }
  // Threads whose access has been answered leave the group.
  void part(Group& group, SplitCause cause, GroupMoves& moves) {
    Group* const ahead = moves.part(group);
    if (ahead == nullptr) {
      return;
    }
    ++(cause == SplitCause::revived ? count_.splits_revived : count_.splits_memory);
    own().has_parted(group, *ahead, moves);
    places_.part(group.id, ahead->id);
    parting_.parted(group, *ahead);
    moves.split_made(*ahead, group, cause);
  }

  GroupTable& groups_;
  const Rules rules_;
  CoreStatistics nobodys_;
  CoreStatistics& count_;
  PartingRule parting_;
  SplitPlaces places_;
  std::vector<State> state_;  // by group
  std::vector<Warp> warps_;   // by register row

 private:
  [[nodiscard]] Own& own() { return static_cast<Own&>(*this); }
  [[nodiscard]] const Own& own() const { return static_cast<const Own&>(*this); }
};

// Why a warp's splits do not fit together: they hold each of its running threads once; an entry of its stack that waits
// holds none of them, or, of a join, all. Empty: they do.
[[nodiscard]] std::string inconsistency_of_splits(const GroupTable& groups, const std::vector<GroupId>& splits,
                                                  unsigned row, LaneMask running, const RowStack& stack);

}  // namespace heddle::hw
