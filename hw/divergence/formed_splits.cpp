// Long: one class: every event of a group ends in joining, waiting or parting, which call each other.
#include "hw/divergence/formed_splits.hpp"

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"

namespace heddle::hw {

void FormedSplits::start(Group& group) {
  for (const Group& other : groups_.all()) {  // a fault has stopped it
    if (other.state == GroupState::free) {
      give_back(other);
    }
  }
  begin(group);
  Warp& warp = warps_[group.first_row];
  warp.stack.clear();
  warp.running = group.active[0];
  warp.arrived = 0;
  warp.number = group.warp_in_block;
  group.pc = 0;
}

void FormedSplits::started(Group& group, GroupMoves& moves) {
  place(group, moves);
}

bool FormedSplits::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  parting_.completed(group, moves);
  const isa::Instruction& instruction = outcome.instruction;
  const LaneMask active = group.active[0];
  rows_.clear();
  each_warp(group, active, [&](std::uint16_t row, LaneMask) { rows_.push_back(row); });
  if (instruction.op == isa::Op::EXIT) {
    each_warp(group, outcome.exited[0] & active, [&](std::uint16_t row, LaneMask lanes) {
      warps_[row].running &= ~lanes;
      warps_[row].stack.exit(lanes);
    });
    group.active[0] &= ~outcome.exited[0];
    changed_ = true;
  }
  const bool access = isa::info(instruction.op).unit == isa::Unit::memory;
  state_[group.id].stands_at_access = access;
  bool diverged = false;
  if (instruction.op == isa::Op::BRA && !instruction.guard.always()) {
    const LaneMask taken = outcome.taken[0] & active;
    diverged = taken != 0 && taken != active;
    branch(group, outcome, moves);
  } else {
    group.pc = instruction.op == isa::Op::BRA ? instruction.target : group.pc + 1;
    const std::uint32_t pc = group.pc;
    if (outcome.arrivals[0] != 0) {
      wait_by_block(group, outcome.arrivals[0], moves);
    } else {
      place(group, moves);
    }
    if (access && !at_access_.empty()) {
      let_accesses_go(pc, moves);
    }
  }
  settle(group, moves);
  return diverged;
}

void FormedSplits::released(Group& group, unsigned, LaneMask, bool last, GroupMoves& moves) {
  if (last && state_[group.id].waits == Waits::barrier) {
    state_[group.id].waits = Waits::none;
    rows_.clear();
    each_warp(group, group.active[0], [&](std::uint16_t row, LaneMask) { rows_.push_back(row); });
    place(group, moves);
    settle(group, moves);
  }
}

// ------------------------------------------------------------------------------------------- without completing

bool FormedSplits::goes_on(const Group& group) const {
  return moves_on_at(group, group.active[0], next_pc(group));
}

// A branch of all its threads, or of an undivided warp by itself by the stack: the threads stay the group's.
bool FormedSplits::branches_early(const Group& group, const isa::Instruction& instruction,
                                  std::span<const LaneMask> taken) const {
  const LaneMask active = group.active[0];
  const LaneMask take = taken[0] & active;
  const std::uint32_t fall_through = group.pc + 1;
  if (take == 0 || take == active) {
    return moves_on_at(group, active, take != 0 ? instruction.target : fall_through);
  }
  if (!whole(group) || (rules_.at_branches && instruction.subdivides)) {
    return false;
  }
  const bool taken_first = fall_through == instruction.reconvergence;
  return moves_on_at(group, taken_first ? take : active & ~take, taken_first ? instruction.target : fall_through);
}

// Threads of the group in `lanes` go on at a PC where nothing else happens to the group.
bool FormedSplits::moves_on_at(const Group& group, LaneMask lanes, std::uint32_t pc) const {
  const auto stands_there = [&](GroupId id) { return groups_[id].pc == pc; };
  const std::span<const GroupId> waiting = places_.waiting();
  return places_.has_slot(group.id) && places_.has_entry(group.id) != whole(group) && arriving(group, pc) == 0 &&
         std::none_of(waiting.begin(), waiting.end(), stands_there) &&
         std::none_of(at_access_.begin(), at_access_.end(), stands_there) && partner(group, lanes, pc) == nullptr;
}

// The group's threads whose warp's stack is to be popped at the PC.
LaneMask FormedSplits::arriving(const Group& group, std::uint32_t pc) const {
  LaneMask there = 0;
  const auto look = [&](std::uint16_t row, LaneMask lanes) { there |= warps_[row].stack.ends_at(pc) ? lanes : 0; };
  if (group.aligned) {
    look(group.first_row, group.active[0]);
  } else {
    each_warp(group, group.active[0], look);
  }
  return there;
}

// ------------------------------------------------------------------------------------------- entries and slots

void FormedSplits::give_back(const Group& group) {
  if (state_[group.id].waits == Waits::access) {
    std::erase(at_access_, group.id);
  }
  SplitMechanism::give_back(group.id);
}

// A group of this number begins: nothing is known of it.
void FormedSplits::begin(const Group& group) {
  give_back(group);
  parting_.gone(group, false);
  state_[group.id] = {};
}

// It needs no entry, and is a split no longer.
void FormedSplits::is_undivided(const Group& group, GroupMoves& moves) {
  places_.drop_entry(group.id);
  if (std::exchange(state_[group.id].made, false)) {
    moves.split_ended(group, group, SplitEnd::alone);
  }
}

// Groups that are an undivided warp by itself now, since the others of their warp have gone.
void FormedSplits::look_for_undivided(GroupMoves& moves) {
  const auto look = [&](GroupId id) {
    if (whole(groups_[id])) {
      is_undivided(groups_[id], moves);
    }
  };
  for (const GroupId owner : places_.view().entries) {
    if (owner != OwnedPlaces::kNobody) {
      look(owner);
    }
  }
  std::for_each(places_.waiting().begin(), places_.waiting().end(), look);
  if (!places_.waiting().empty()) {
    places_.look_again();
  }
}

// ------------------------------------------------------------------------------------------- who runs where

void FormedSplits::look_at(Group& group, const GroupMoves& moves) const {
  group.look_at_lanes();
  group.block_slot = moves.block_of(group.place_of(static_cast<unsigned>(std::countr_zero(group.active[0]))));
}

// A group whose PC is known goes on, joins another one, or has no thread left.
void FormedSplits::place(Group& group, GroupMoves& moves) {
  if (group.active[0] == 0) {
    end(group, SplitEnd::exit, moves);
    return;
  }
  arrive(group);
  if (group.active[0] == 0) {
    end(group, SplitEnd::reconvergence, moves);
    return;
  }
  look_at(group, moves);
  if (whole(group)) {
    is_undivided(group, moves);
  }
  join(group, moves);
}

// Threads at the re-convergence point of their warp's top entry leave, and wait there without a group.
void FormedSplits::arrive(Group& group) {
  const LaneMask there = arriving(group, group.pc);
  if (there == 0) {
    return;
  }
  each_warp(group, there, [&](std::uint16_t row, LaneMask lanes) {
    Warp& warp = warps_[row];
    count_.merges_stack += warp.arrived != 0 ? 1 : 0;
    warp.progress = warp.arrived != 0 ? std::min(warp.progress, group.progress) : group.progress;
    warp.progress_before =
        warp.arrived != 0 ? std::min(warp.progress_before, group.progress_before) : group.progress_before;
    warp.arrived |= lanes;
  });
  group.active[0] &= ~there;
  changed_ = true;
}

void FormedSplits::end(Group& group, SplitEnd how, GroupMoves& moves) {
  if (state_[group.id].made) {
    moves.split_ended(group, group, how);
  }
  parting_.gone(group, how == SplitEnd::exit);
  give_back(group);
  state_[group.id] = {};
  if (spare_ == nullptr) {
    spare_ = &group;
  } else {
    moves.free(group);
  }
  changed_ = true;
}

// After a change: warps all of whose threads have arrived go on, and who waits for what has been freed.
void FormedSplits::settle(const Group& like, GroupMoves& moves) {
  for (const std::uint16_t row : rows_) {
    const Warp& warp = warps_[row];
    if (warp.running != 0 ? warp.arrived == warp.running : !warp.stack.empty()) {
      pop(row, like, moves);
    }
  }
  if (spare_ != nullptr) {
    moves.free(*spare_);
    spare_ = nullptr;
  }
  if (std::exchange(changed_, false)) {
    look_for_undivided(moves);
  }
  admit_waiting(moves);
}

// The path that ran has ended, with its threads or where they are to meet: the warp goes on as one group.
void FormedSplits::pop(std::uint16_t row, const Group& like, GroupMoves& moves) {
  Warp& warp = warps_[row];
  const RowStack::Path next = warp.stack.pop({warp.running, isa::kNoReconvergence});
  warp.running = next.lanes;
  const bool arrived = std::exchange(warp.arrived, 0) != 0;
  if (warp.running == 0) {
    return;
  }
  Group& group = spare_ != nullptr ? *spare_ : moves.allocate(like);
  spare_ = nullptr;
  begin(group);
  group.warp_in_block = warp.number;
  group.lane_row.fill(row);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    group.lane_home[lane] = static_cast<std::uint8_t>(lane);
  }
  group.active[0] = warp.running;
  group.look_at_lanes();
  group.pc = next.pc;
  if (arrived) {
    group.progress = warp.progress;
    group.progress_before = warp.progress_before;
  }
  place(group, moves);
}

// ------------------------------------------------------------------------------------------- formation

bool FormedSplits::share_a_warp(const Group& one, const Group& other) {
  if (one.aligned && other.aligned) {
    return one.first_row == other.first_row;
  }
  bool share = false;
  each_warp(one, one.active[0], [&](std::uint16_t row, LaneMask) {
    for (const unsigned lane : set_bits(other.active[0])) {
      share = share || other.lane_row[lane] == row;
    }
  });
  return share;
}

// With `lanes` of the one beside `other_lanes` of the other: a running thread of a warp of the one, which is in
// neither, would find its lane taken by another warp's.
bool FormedSplits::blocks(const Group& one, LaneMask lanes, const Group& other, LaneMask other_lanes) const {
  bool taken = false;
  each_warp(one, lanes, [&](std::uint16_t row, LaneMask own) {
    LaneMask own_there = 0;
    for (const unsigned lane : set_bits(other_lanes)) {
      own_there |= other.lane_row[lane] == row ? LaneMask{1} << lane : 0;
    }
    const Warp& warp = warps_[row];
    const LaneMask elsewhere = warp.running & ~warp.arrived & ~own & ~own_there;
    taken = taken || (elsewhere & other_lanes) != 0;
  });
  return taken;
}

// All of `lanes`, threads of `from`, find theirs free, and there is an entry for what they become.
bool FormedSplits::can_join(const Group& from, LaneMask lanes, const Group& to) const {
  if ((lanes & to.active[0]) != 0 ||
      (rules_.unblocking && (blocks(from, lanes, to, to.active[0]) || blocks(to, to.active[0], from, lanes)))) {
    return false;
  }
  const bool undivided = from.aligned && to.aligned && from.first_row == to.first_row &&
                         (lanes | to.active[0]) == warps_[to.first_row].running;
  return undivided || places_.has_entry(from.id) || places_.has_entry(to.id) || places_.entries_left(1);
}

// The group that threads in `lanes` join at the PC, of the groups that wait to be fetched there; null: none.
const Group* FormedSplits::partner(const Group& group, LaneMask lanes, std::uint32_t pc) const {
  const Group* best = nullptr;
  bool best_shares = false;
  const GroupBits& ready = groups_.ready();
  for (std::size_t word = 0; word < ready.size(); ++word) {
    for (const unsigned bit : set_bits(ready[word])) {
      const Group& other = groups_[static_cast<GroupId>(word * 64 + bit)];
      if (other.pc != pc || other.id == group.id || !can_join(group, lanes, other)) {
        continue;
      }
      const bool shares = share_a_warp(group, other);
      if (best == nullptr || (shares != best_shares ? shares : other.age > best->age)) {
        best = &other;
        best_shares = shares;
      }
    }
  }
  return best;
}

// Groups that stand still at its PC and could go on join the group; then it joins one that is ready there, or goes on.
void FormedSplits::join(Group& group, GroupMoves& moves) {
  const auto take = [&](std::span<const GroupId> standing) {
    for (std::size_t i = 0; i < standing.size(); ++i) {
      Group& other = groups_[standing[i]];
      if (other.pc == group.pc && other.id != group.id && can_join(other, other.active[0], group)) {
        absorb(other, group, moves);
        return true;
      }
    }
    return false;
  };
  while (take(places_.waiting()) || take(at_access_)) {
  }
  if (const Group* const to = partner(group, group.active[0], group.pc)) {
    absorb(group, groups_[to->id], moves);
  } else {
    proceed(group, moves);
  }
}

void FormedSplits::absorb(Group& from, Group& to, GroupMoves& moves) {
  const bool at_barrier = state_[to.id].waits == Waits::barrier;
  const bool shares = share_a_warp(from, to);
  if (state_[from.id].made) {
    moves.split_ended(from, to, at_barrier ? SplitEnd::barrier : shares ? SplitEnd::pc : SplitEnd::formation);
  }
  ++(at_barrier ? count_.merges_barrier : shares ? count_.merges_pc : count_.merges_formed);
  parting_.gone(from, false);
  give_back(from);
  state_[from.id] = {};
  moves.merge(from, to);
  to.look_at_lanes();
  if (whole(to)) {
    is_undivided(to, moves);
  } else if (!at_barrier && !places_.has_entry(to.id)) {
    places_.take_entry(to.id);
  }
  changed_ = true;
}

// ------------------------------------------------------------------------------------------- barriers

void FormedSplits::wait_by_block(Group& group, LaneMask waiting, GroupMoves& moves) {
  const LaneMask active = group.active[0];
  give_back(group);
  bool first = true;
  LaneMask kept = 0;
  for (LaneMask left = waiting; left != 0;) {
    const unsigned block = moves.block_of(group.place_of(static_cast<unsigned>(std::countr_zero(left))));
    LaneMask lanes = 0;
    for (const unsigned lane : set_bits(left)) {
      lanes |= moves.block_of(group.place_of(lane)) == block ? LaneMask{1} << lane : 0;
    }
    left &= ~lanes;
    if (std::exchange(first, false)) {
      kept = lanes;
      continue;
    }
    Group& part = split_off(group, lanes, group.pc, moves);
    moves.hand_over(group, block, part);
    stand_at_barrier(part, moves);
  }
  Group* const going = active != waiting ? &split_off(group, active & ~waiting, group.pc, moves) : nullptr;
  group.active[0] = kept;
  look_at(group, moves);
  stand_at_barrier(group, moves);
  if (going != nullptr) {
    place(*going, moves);
  }
}

void FormedSplits::stand_at_barrier(Group& group, GroupMoves& moves) {
  moves.wait(group);
  if (group.state != GroupState::barrier) {
    return;  // the barrier's release has come before
  }
  state_[group.id].waits = Waits::barrier;
  for (const Group& other : groups_.all()) {
    if (other.id != group.id && state_[other.id].waits == Waits::barrier && other.pc == group.pc &&
        other.block_slot == group.block_slot && (other.active[0] & group.active[0]) == 0) {
      state_[group.id].waits = Waits::none;
      moves.hand_over(group, group.block_slot, other);
      absorb(group, groups_[other.id], moves);
      return;
    }
  }
}

// ------------------------------------------------------------------------------------------- branches

// Some of the warp's threads in the group, `lanes`, take the branch and some do not: whether they part.
bool FormedSplits::parts_at(const Group& group, const Warp& warp, LaneMask lanes,
                            const isa::Instruction& instruction) const {
  return lanes != warp.running || (rules_.at_branches && instruction.subdivides && room_to_part(group));
}

// Which threads go on where. Warps that use their stack do so here.
FormedSplits::Ways FormedSplits::ways(const Group& group, const isa::Instruction& instruction, LaneMask taken) {
  Ways go;
  each_warp(group, group.active[0], [&](std::uint16_t row, LaneMask lanes) {
    Warp& warp = warps_[row];
    const LaneMask take = taken & lanes;
    if (take == 0 || take == lanes || parts_at(group, warp, lanes, instruction)) {
      go.taken |= take;
      go.falls |= lanes & ~take;
      return;
    }
    count_.split_table_full += rules_.at_branches && instruction.subdivides ? 1 : 0;
    warp.running = warp.stack.branch(group.pc, instruction, warp.running, take).lanes;
    (warp.running == take ? go.taken : go.falls) |= warp.running;
  });
  return go;
}

void FormedSplits::branch(Group& group, const Outcome& outcome, GroupMoves& moves) {
  const isa::Instruction& instruction = outcome.instruction;
  const std::uint32_t fall_through = group.pc + 1;
  const Ways go = ways(group, instruction, outcome.taken[0] & group.active[0]);
  if (go.taken == 0 || go.falls == 0) {
    group.active[0] = go.taken | go.falls;
    group.pc = go.taken != 0 ? instruction.target : fall_through;
    place(group, moves);
    return;
  }
  Group& other = split_off(group, go.taken, instruction.target, moves);
  group.active[0] = go.falls;
  group.pc = fall_through;
  look_at(group, moves);
  if (!whole(other)) {
    ++count_.splits_branch;
    state_[other.id].made = true;
    moves.split_made(other, group, SplitCause::branch);
  }
  changed_ = true;
  place(group, moves);
  place(other, moves);
}

// A group of some threads of another one, which go on at the PC. The other one's masks stay as they are.
Group& FormedSplits::split_off(const Group& from, LaneMask lanes, std::uint32_t pc, GroupMoves& moves) {
  Group& made = moves.allocate(from);
  made.warp_in_block = from.warp_in_block;
  made.lane_row = from.lane_row;
  made.lane_home = from.lane_home;
  made.active[0] = lanes;
  made.pc = pc;
  look_at(made, moves);
  begin(made);
  return made;
}

// ------------------------------------------------------------------------------------------- accesses

// As Subdivision::accesses: groups of its warps that have done this access and are ready wait for the group.
void FormedSplits::accesses(Group& group, GroupMoves& moves) {
  parting_.accesses(group);
  if (whole(group)) {
    return;
  }
  for (const Group& other : groups_.all()) {
    if (other.state == GroupState::ready && other.pc == group.pc + 1 && state_[other.id].stands_at_access &&
        (other.active[0] & group.active[0]) == 0 && share_a_warp(group, other)) {
      state_[other.id].waits = Waits::access;
      at_access_.push_back(other.id);
      moves.park(groups_[other.id]);
    }
  }
}

// A group that waits behind the access at `pc` and has found no place among the groups that complete it now waits no
// longer.
void FormedSplits::let_accesses_go(std::uint32_t pc, GroupMoves& moves) {
  std::erase_if(at_access_, [&](GroupId id) {
    if (groups_[id].pc != pc) {
      return false;
    }
    state_[id].waits = Waits::none;
    moves.run(groups_[id]);
    return true;
  });
}

void FormedSplits::has_parted(Group& group, Group& ahead, GroupMoves& moves) {
  look_at(group, moves);
  look_at(ahead, moves);
  begin(ahead);
  state_[ahead.id].made = true;
}

}  // namespace heddle::hw
