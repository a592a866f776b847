#include "hw/divergence/subdivision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::hw {
namespace {

bool is_access(const isa::Instruction& instruction) {
  return isa::info(instruction.op).unit == isa::Unit::memory;
}

}  // namespace

void Subdivision::start(Group& group) {
  Warp& warp = warp_of(group);
  for (const GroupId id : warp.splits) {  // a fault has stopped it
    if (state_[id].row == group.first_row) {
      give_back(id);
    }
  }
  give_back(group.id);
  parting_.gone(group, false);
  warp.stack.clear();
  warp.running = group.active[0];
  warp.taken = 0;
  warp.splits.assign(1, group.id);
  state_[group.id] = {};
  state_[group.id].row = group.first_row;
  group.pc = 0;
}

void Subdivision::started(Group& group, GroupMoves& moves) {
  proceed(group, moves);
}

bool Subdivision::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  Warp& warp = warp_of(group);
  const isa::Instruction& instruction = outcome.instruction;
  parting_.completed(group, moves);
  if (instruction.op == isa::Op::EXIT) {
    group.active[0] &= ~outcome.exited[0];
    warp.running &= ~outcome.exited[0];
    warp.stack.exit(outcome.exited[0]);
  }
  state_[group.id].stands_at_access = is_access(instruction);
  bool diverged = false;
  if (instruction.op == isa::Op::BRA && !instruction.guard.always()) {
    diverged = branch(group, warp, outcome, moves);
  } else {
    group.pc = instruction.op == isa::Op::BRA ? instruction.target : group.pc + 1;
    if (outcome.arrivals[0] != 0) {
      at_barrier(group, warp, moves);
    } else if (state_[group.id].behind) {
      fall_behind(group, warp, moves);
    } else {
      go_on(group, warp, moves);
    }
  }
  settle(warp, moves);
  admit_waiting(moves);
  return diverged;
}

// An undivided warp, or a split at whose next PC nothing happens but that it goes on.
bool Subdivision::goes_on(const Group& group) const {
  return goes_on_at(group, next_pc(group), is_access(group.decoded->instruction));
}

// A branch of all its threads, or one by the stack, whose threads stay the group's.
bool Subdivision::branches_early(const Group& group, const isa::Instruction& instruction,
                                 std::span<const LaneMask> taken) const {
  const bool divided = warps_[group.first_row].splits.size() > 1;
  if (taken[0] == 0 || taken[0] == group.active[0]) {
    return (!divided || rules_.bypass) && goes_on_at(group, taken[0] != 0 ? instruction.target : group.pc + 1, false);
  }
  return !divided && !(rules_.at_branches && instruction.subdivides) && !state_[group.id].behind;
}

bool Subdivision::goes_on_at(const Group& group, std::uint32_t next, bool access) const {
  const SubdivisionState& split = state_[group.id];
  const Warp& warp = warps_[group.first_row];
  const bool divided = warp.splits.size() > 1;
  if (split.behind || !places_.has_slot(group.id) || places_.has_entry(group.id) != divided) {
    return false;
  }
  const auto meets = [&](GroupId id) {
    const Waits waits = state_[id].waits;
    return id != group.id && groups_[id].pc == next &&
           (waits == Waits::resources || waits == Waits::ahead || waits == Waits::access ||
            groups_[id].state == GroupState::ready);
  };
  return !divided || (!warp.stack.ends_at(next) &&
                      !(compares_behind(access) && std::any_of(warp.splits.begin(), warp.splits.end(), meets)));
}

void Subdivision::released(Group& group, unsigned, LaneMask, bool last, GroupMoves& moves) {
  if (last && state_[group.id].waits == Waits::barrier) {
    Warp& warp = warp_of(group);
    state_[group.id].waits = Waits::none;
    go_on(group, warp, moves);
    settle(warp, moves);
    admit_waiting(moves);
  }
}

// ------------------------------------------------------------------------------------------- entries and slots

void Subdivision::give_back(GroupId group) {
  SplitMechanism::give_back(group);
  state_[group].behind = false;
}

// A group that the mechanism has made.
void Subdivision::begin(const Group& group) {
  SubdivisionState& split = state_[group.id];
  give_back(group.id);
  split.row = group.first_row;
  split.made = true;
}

void Subdivision::stand_still(Group& group, Waits waits) {
  SubdivisionState& split = state_[group.id];
  const bool behind = split.behind;
  if (waits == Waits::ahead) {
    places_.drop_slot(group.id);  // its PC and its threads are nowhere but in its entry
  } else {
    give_back(group.id);
  }
  split.behind = behind && waits == Waits::ahead;
  split.waits = waits;
}

// ------------------------------------------------------------------------------------------- splits that meet

unsigned Subdivision::in(const Warp& warp, Waits waits) const {
  return static_cast<unsigned>(
      std::count_if(warp.splits.begin(), warp.splits.end(), [&](GroupId id) { return state_[id].waits == waits; }));
}

// It is a split no longer; who is left alone is none either.
void Subdivision::forget(Warp& warp, const Group& split, const Group& into, SplitEnd end, GroupMoves& moves) {
  moves.split_ended(split, into, end);
  parting_.gone(split, end == SplitEnd::exit);
  give_back(split.id);
  state_[split.id].made = false;
  std::erase(warp.splits, split.id);
  if (warp.splits.size() == 1 && state_[warp.splits.front()].made) {
    const Group& left = groups_[warp.splits.front()];
    state_[left.id].made = false;
    moves.split_ended(left, left, SplitEnd::alone);
  }
}

void Subdivision::absorb(Warp& warp, Group& from, Group& to, SplitEnd end, GroupMoves& moves) {
  forget(warp, from, to, end, moves);
  moves.merge(from, to);
  ++(end == SplitEnd::pc ? count_.merges_pc : end == SplitEnd::barrier ? count_.merges_barrier : count_.merges_stack);
}

// A split whose PC is known goes on, waits at the re-convergence point, or has no thread left.
void Subdivision::go_on(Group& group, Warp& warp, GroupMoves& moves) {
  if (group.active[0] == 0 && warp.splits.size() > 1) {
    forget(warp, group, group, SplitEnd::exit, moves);
    moves.free(group);
  } else if (group.active[0] == 0) {
    pop(group, warp, isa::kNoReconvergence, moves);
  } else if (warp.stack.ends_at(group.pc)) {
    if (warp.splits.size() > 1) {
      arrive(group, warp, moves);
    } else {
      pop(group, warp, group.pc, moves);
    }
  } else if (compares(group) && warp.splits.size() > 1) {
    meet_at_pc(group, warp, moves);
  } else {
    proceed(group, moves);
  }
}

Group* Subdivision::ready_at_pc(const Warp& warp, const Group& group) {
  for (const GroupId id : warp.splits) {
    if (id != group.id && groups_[id].pc == group.pc && groups_[id].state == GroupState::ready) {
      return &groups_[id];
    }
  }
  return nullptr;
}

// Slip: the access of the threads that have fallen behind has been completed.
void Subdivision::fall_behind(Group& group, Warp& warp, GroupMoves& moves) {
  if (Group* const ahead = ready_at_pc(warp, group)) {
    absorb(warp, group, *ahead, SplitEnd::pc, moves);
    return;
  }
  stand_still(group, Waits::ahead);
  moves.park(group);
}

// PC-based re-convergence (4.5): splits of the warp that could go on at this PC do so together. With at_accesses a
// split that goes on behind another instruction joins none, but others may join it where it stands.
void Subdivision::meet_at_pc(Group& group, Warp& warp, GroupMoves& moves) {
  for (std::size_t i = 0; i < warp.splits.size();) {
    Group& other = groups_[warp.splits[i]];
    const Waits waits = state_[other.id].waits;
    if (other.id != group.id && other.pc == group.pc &&
        (waits == Waits::resources || waits == Waits::ahead || waits == Waits::access)) {
      absorb(warp, other, group, SplitEnd::pc, moves);
      continue;
    }
    ++i;
  }
  if (Group* const ready = ready_at_pc(warp, group)) {
    absorb(warp, group, *ready, SplitEnd::pc, moves);
  } else {
    proceed(group, moves);
  }
}

// A split has come to the re-convergence point of the stack's top entry: the splits that are there become one.
void Subdivision::arrive(Group& group, Warp& warp, GroupMoves& moves) {
  stand_still(group, Waits::merge);
  moves.park(group);
  for (const GroupId id : warp.splits) {
    if (id != group.id && state_[id].waits == Waits::merge) {
      absorb(warp, group, groups_[id], SplitEnd::reconvergence, moves);
      return;
    }
  }
}

// Splits of a warp that wait at one barrier operation are one (5.4).
void Subdivision::at_barrier(Group& group, Warp& warp, GroupMoves& moves) {
  moves.wait(group);
  if (group.state != GroupState::barrier) {
    return;  // the barrier's release has come before
  }
  stand_still(group, Waits::barrier);
  for (const GroupId id : warp.splits) {
    Group& other = groups_[id];
    if (id != group.id && state_[id].waits == Waits::barrier && other.pc == group.pc) {
      moves.hand_over(group, group.block_slot, other);
      absorb(warp, group, other, SplitEnd::barrier, moves);
      return;
    }
  }
}

// After a change of the warp's splits: whether all that are left wait for each other.
void Subdivision::settle(Warp& warp, GroupMoves& moves) {
  if (warp.splits.empty()) {
    return;
  }
  if (warp.splits.size() == 1) {
    Group& whole = groups_[warp.splits.front()];
    SubdivisionState& split = state_[whole.id];
    places_.drop_entry(whole.id);
    if (split.waits == Waits::merge) {
      pop(whole, warp, whole.pc, moves);
      return;
    }
    if (split.waits == Waits::resources) {
      places_.look_again();
    }
    if (split.waits != Waits::ahead) {
      split.behind = false;
    }
  }
  const unsigned at_branch = in(warp, Waits::branch);
  if (at_branch == warp.splits.size()) {
    branch_together(warp, moves);
    return;
  }
  // Slip: the threads behind go on when none ahead could come to them, or when one wants the table's entries.
  const unsigned behind = in(warp, Waits::ahead);
  if (behind != 0 && (behind + at_branch + in(warp, Waits::merge) + in(warp, Waits::barrier) == warp.splits.size() ||
                      in(warp, Waits::resources) != 0)) {
    resume(warp, moves);
  }
}

void Subdivision::resume(Warp& warp, GroupMoves& moves) {
  const std::vector<GroupId> all = warp.splits;
  for (const GroupId id : all) {
    if (state_[id].waits == Waits::ahead) {
      state_[id].waits = Waits::none;
      state_[id].behind = false;
      go_on(groups_[id], warp, moves);
    }
  }
  settle(warp, moves);
}

// ------------------------------------------------------------------------------------------- branches

bool Subdivision::branch(Group& group, Warp& warp, const Outcome& outcome, GroupMoves& moves) {
  const isa::Instruction& instruction = outcome.instruction;
  const LaneMask taken = outcome.taken[0];
  const bool divided = warp.splits.size() > 1;
  if (divided && !rules_.bypass) {
    stand_still(group, Waits::branch);
    moves.park(group);
    warp.branch = instruction;
    warp.taken |= taken;
    return in(warp, Waits::branch) == warp.splits.size() && warp.taken != 0 && warp.taken != warp.running;
  }
  state_[group.id].behind = false;
  if (taken == 0 || taken == group.active[0]) {
    group.pc = taken != 0 ? instruction.target : group.pc + 1;
    go_on(group, warp, moves);
    return false;
  }
  if (divided) {
    subdivide(group, warp, instruction, taken, moves);
    return true;
  }
  if (rules_.at_branches && instruction.subdivides) {
    if (finds_room(group)) {
      subdivide(group, warp, instruction, taken, moves);
      return true;
    }
  }
  return push(group, warp, instruction, taken, moves);
}

// All splits of the warp stand at the branch (BranchLimited, 5.3.1): it is the whole warp's.
void Subdivision::branch_together(Warp& warp, GroupMoves& moves) {
  Group& whole = groups_[warp.splits.front()];
  while (warp.splits.size() > 1) {
    absorb(warp, groups_[warp.splits.back()], whole, SplitEnd::branch, moves);
  }
  state_[whole.id].waits = Waits::none;
  const LaneMask taken = warp.taken;
  warp.taken = 0;
  if (taken == 0 || taken == warp.running) {
    whole.pc = taken != 0 ? warp.branch.target : whole.pc + 1;
    go_on(whole, warp, moves);
    settle(warp, moves);
  } else {
    push(whole, warp, warp.branch, taken, moves);
  }
}

// The undivided warp executes one path after the other.
bool Subdivision::push(Group& group, Warp& warp, const isa::Instruction& instruction, LaneMask taken,
                       GroupMoves& moves) {
  const RowStack::Path path = warp.stack.branch(group.pc, instruction, warp.running, taken);
  group.active[0] = warp.running = path.lanes;
  group.pc = path.pc;
  proceed(group, moves);
  return true;
}

// Both paths can go on at once; the stack stays as it is (4.4).
void Subdivision::subdivide(Group& group, Warp& warp, const isa::Instruction& instruction, LaneMask taken,
                            GroupMoves& moves) {
  ++count_.splits_branch;
  Group& other = moves.allocate(group);
  other.warp_in_block = group.warp_in_block;
  other.first_row = group.first_row;
  other.lane_row = group.lane_row;
  other.lane_home = group.lane_home;
  other.active[0] = taken;
  other.pc = instruction.target;
  other.look_at_lanes();
  begin(other);
  warp.splits.push_back(other.id);
  group.active[0] &= ~taken;
  group.pc = group.pc + 1;
  group.look_at_lanes();
  moves.split_made(other, group, SplitCause::branch);
  go_on(group, warp, moves);
  go_on(other, warp, moves);
}

// The path that ran has ended at `pc`, where its last split stands.
void Subdivision::pop(Group& group, Warp& warp, std::uint32_t pc, GroupMoves& moves) {
  const RowStack::Path next = warp.stack.pop({warp.running, pc});
  warp.running = next.lanes;
  state_[group.id].waits = Waits::none;
  state_[group.id].behind = false;
  if (warp.running == 0) {
    forget(warp, group, group, SplitEnd::exit, moves);
    moves.free(group);
    return;
  }
  group.active[0] = warp.running;
  group.pc = next.pc;
  proceed(group, moves);
}

// ------------------------------------------------------------------------------------------- accesses

// PCs are compared when the split that runs executes a memory instruction, with the PCs of ready splits of its warp,
// which stand at memory instructions as the core switches there (4.5). In the report's core such a split has the
// instruction before it still; here it has done it, and so waits until the others have. With at_accesses it goes on,
// and joins the others only if they are done while it has not been scheduled yet.
void Subdivision::accesses(Group& group, GroupMoves& moves) {
  parting_.accesses(group);
  const Warp& warp = warp_of(group);
  if (!rules_.by_pc || rules_.at_accesses || rules_.memory == SplitRules::Memory::slip || warp.splits.size() < 2) {
    return;
  }
  for (const GroupId id : warp.splits) {
    Group& other = groups_[id];
    if (id != group.id && other.pc == group.pc + 1 && state_[id].stands_at_access && other.state == GroupState::ready) {
      state_[id].waits = Waits::access;
      moves.park(other);
    }
  }
}

void Subdivision::memory_diverged(Group& group, GroupMoves& moves) {
  if (rules_.memory != SplitRules::Memory::slip) {
    SplitMechanism::memory_diverged(group, moves);
  } else if (may_slip(group, warp_of(group), moves) && finds_room(group)) {
    part(group, SplitCause::slip, moves);
  }
}

// The threads behind, with the threads that would fall behind now, are not too many (5.7).
bool Subdivision::may_slip(const Group& group, const Warp& warp, GroupMoves& moves) {
  unsigned behind = 0;
  for (const GroupId id : warp.splits) {
    behind += state_[id].behind ? groups_[id].active_threads() : 0;
  }
  if (!state_[group.id].behind) {
    behind += group.active_threads() - static_cast<unsigned>(std::popcount(moves.answered(group)));
  }
  return !state_[group.id].behind && behind <= behind_at_most(moves.now());
}

void Subdivision::has_parted(Group& group, Group& ahead, GroupMoves& /*moves*/) {
  begin(ahead);
  state_[group.id].behind = rules_.memory == SplitRules::Memory::slip;
  warp_of(group).splits.push_back(ahead.id);
}

}  // namespace heddle::hw
