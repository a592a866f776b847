#include "hw/divergence/subdivision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tlm/sub_warp.hpp"

namespace heddle::hw {

Subdivision::Subdivision(const Setup& setup, const SubdivisionRules& rules)
    : count_(setup.statistics != nullptr ? *setup.statistics : nobodys_),
      groups_(setup.groups),
      rules_(rules),
      split_(setup.core.threads),
      warps_(setup.core.threads / setup.core.simd_width) {}

void Subdivision::start(Group& group) {
  Warp& warp = warp_of(group);
  for (const GroupId id : warp.splits) {  // a fault has stopped it
    if (split_[id].row == group.first_row) {
      give_back(split_[id]);
    }
  }
  give_back(split_[group.id]);
  warp.stack.clear();
  warp.running = group.active[0];
  warp.taken = 0;
  warp.splits.assign(1, group.id);
  split_[group.id] = {};
  split_[group.id].row = group.first_row;
  group.pc = 0;
}

void Subdivision::started(Group& group, GroupMoves& moves) {
  proceed(group, moves);
}

bool Subdivision::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  Warp& warp = warp_of(group);
  const isa::Instruction& instruction = outcome.instruction;
  if (instruction.op == isa::Op::EXIT) {
    group.active[0] &= ~outcome.exited[0];
    warp.running &= ~outcome.exited[0];
    for (Entry& entry : warp.stack) {
      entry.active &= ~outcome.exited[0];
    }
  }
  split_[group.id].stands_at_access = isa::info(instruction.op).unit == isa::Unit::memory;
  bool diverged = false;
  if (instruction.op == isa::Op::BRA && !instruction.guard.always()) {
    diverged = branch(group, warp, outcome, moves);
  } else {
    group.pc = instruction.op == isa::Op::BRA ? instruction.target : group.pc + 1;
    if (outcome.arrivals[0] != 0) {
      at_barrier(group, warp, moves);
    } else if (split_[group.id].behind) {
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
  const isa::Instruction& instruction = group.decoded->instruction;
  return goes_on_at(group, instruction.op == isa::Op::BRA ? instruction.target : group.pc + 1);
}

// A branch of all its threads, or one by the stack, whose threads stay the group's.
bool Subdivision::branches_early(const Group& group, const isa::Instruction& instruction,
                                 std::span<const LaneMask> taken) const {
  const bool divided = warps_[group.first_row].splits.size() > 1;
  if (taken[0] == 0 || taken[0] == group.active[0]) {
    return (!divided || rules_.bypass) && goes_on_at(group, taken[0] != 0 ? instruction.target : group.pc + 1);
  }
  return !divided && !(rules_.at_branches && instruction.subdivides) && !split_[group.id].behind;
}

bool Subdivision::goes_on_at(const Group& group, std::uint32_t next) const {
  const Split& split = split_[group.id];
  const Warp& warp = warps_[group.first_row];
  const bool divided = warp.splits.size() > 1;
  if (split.behind || !split.slot || split.entry != divided) {
    return false;
  }
  const auto meets = [&](GroupId id) {
    const Waits waits = split_[id].waits;
    return id != group.id && groups_[id].pc == next &&
           (waits == Waits::resources || waits == Waits::ahead || waits == Waits::access ||
            groups_[id].state == GroupState::ready);
  };
  return !divided || ((warp.stack.empty() || next != warp.stack.back().reconvergence_pc) &&
                      !(rules_.by_pc && std::any_of(warp.splits.begin(), warp.splits.end(), meets)));
}

void Subdivision::released(Group& group, unsigned, LaneMask, bool last, GroupMoves& moves) {
  if (last && split_[group.id].waits == Waits::barrier) {
    Warp& warp = warp_of(group);
    split_[group.id].waits = Waits::none;
    go_on(group, warp, moves);
    settle(warp, moves);
    admit_waiting(moves);
  }
}

// ------------------------------------------------------------------------------------------- entries and slots

void Subdivision::give_back(Split& split) {
  used_ -= split.entry ? 1 : 0;
  slots_used_ -= split.slot ? 1 : 0;
  freed_ = freed_ || split.entry || split.slot;
  split.entry = split.slot = false;
  if (split.waits == Waits::resources) {
    std::erase_if(queue_, [&](GroupId id) { return &split_[id] == &split; });
  }
  split.waits = Waits::none;
  split.behind = false;
}

// A group that the mechanism has made, with what it needs if there is any left.
void Subdivision::begin(const Group& group, bool entry, bool slot) {
  Split& split = split_[group.id];
  give_back(split);
  split.row = group.first_row;
  split.entry = entry;
  used_ += entry ? 1 : 0;
  split.slot = slot;
  slots_used_ += slot ? 1 : 0;
}

void Subdivision::stand_still(Group& group, Waits waits) {
  Split& split = split_[group.id];
  const bool entry = split.entry;
  const bool behind = split.behind;
  if (waits == Waits::ahead && entry) {  // its PC and its threads are nowhere else
    split.entry = false;
    give_back(split);
    split.entry = true;
  } else {
    give_back(split);
  }
  split.behind = behind && waits == Waits::ahead;
  split.waits = waits;
}

// It goes on as soon as it has what it needs: now, if that is there.
void Subdivision::proceed(Group& group, GroupMoves& moves) {
  if (admit(group, moves)) {
    return;
  }
  Split& split = split_[group.id];
  const bool lacks_entry = warp_of(group).splits.size() > 1 && !split.entry;
  ++(lacks_entry ? count_.split_table_full : count_.split_slots_full);
  moves.park(group);
  split.waits = Waits::resources;
  queue_.push_back(group.id);
}

bool Subdivision::admit(Group& group, GroupMoves& moves) {
  Split& split = split_[group.id];
  const bool divided = warp_of(group).splits.size() > 1;
  if (divided && !split.entry && used_ < rules_.entries) {
    split.entry = true;
    ++used_;
  }
  if (!split.slot && slots_used_ < rules_.slots && (split.entry || !divided)) {
    split.slot = true;
    ++slots_used_;
  }
  if (!split.slot || (divided && !split.entry)) {
    return false;
  }
  split.waits = Waits::none;
  moves.run(group);
  return true;
}

void Subdivision::admit_waiting(GroupMoves& moves) {
  if (!freed_) {
    return;
  }
  freed_ = false;
  std::erase_if(queue_, [&](GroupId id) { return admit(groups_[id], moves); });
}

// ------------------------------------------------------------------------------------------- splits that meet

unsigned Subdivision::in(const Warp& warp, Waits waits) const {
  return static_cast<unsigned>(
      std::count_if(warp.splits.begin(), warp.splits.end(), [&](GroupId id) { return split_[id].waits == waits; }));
}

void Subdivision::forget(Warp& warp, const Group& split) {
  give_back(split_[split.id]);
  std::erase(warp.splits, split.id);
}

void Subdivision::absorb(Warp& warp, Group& from, Group& to, std::uint64_t& merges, GroupMoves& moves) {
  forget(warp, from);
  moves.merge(from, to);
  ++merges;
}

// A split whose PC is known goes on, waits at the re-convergence point, or has no thread left.
void Subdivision::go_on(Group& group, Warp& warp, GroupMoves& moves) {
  if (group.active[0] == 0 && warp.splits.size() > 1) {
    forget(warp, group);
    moves.free(group);
  } else if (group.active[0] == 0) {
    pop(group, warp, isa::kNoReconvergence, moves);
  } else if (!warp.stack.empty() && group.pc == warp.stack.back().reconvergence_pc) {
    if (warp.splits.size() > 1) {
      arrive(group, warp, moves);
    } else {
      pop(group, warp, group.pc, moves);
    }
  } else if (rules_.by_pc && warp.splits.size() > 1) {
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
    absorb(warp, group, *ahead, count_.merges_pc, moves);
    return;
  }
  stand_still(group, Waits::ahead);
  moves.park(group);
}

// PC-based re-convergence (4.5): those of the warp that could go on at this PC do so together.
void Subdivision::meet_at_pc(Group& group, Warp& warp, GroupMoves& moves) {
  for (std::size_t i = 0; i < warp.splits.size();) {
    Group& other = groups_[warp.splits[i]];
    const Waits waits = split_[other.id].waits;
    if (other.id != group.id && other.pc == group.pc &&
        (waits == Waits::resources || waits == Waits::ahead || waits == Waits::access)) {
      absorb(warp, other, group, count_.merges_pc, moves);
      continue;
    }
    ++i;
  }
  if (Group* const ready = ready_at_pc(warp, group)) {
    absorb(warp, group, *ready, count_.merges_pc, moves);
  } else {
    proceed(group, moves);
  }
}

// A split has come to the re-convergence point of the stack's top entry: those that are there are one.
void Subdivision::arrive(Group& group, Warp& warp, GroupMoves& moves) {
  stand_still(group, Waits::merge);
  moves.park(group);
  for (const GroupId id : warp.splits) {
    if (id != group.id && split_[id].waits == Waits::merge) {
      absorb(warp, group, groups_[id], count_.merges_stack, moves);
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
    if (id != group.id && split_[id].waits == Waits::barrier && other.pc == group.pc) {
      moves.hand_over(group, group.block_slot, other);
      absorb(warp, group, other, count_.merges_barrier, moves);
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
    Split& split = split_[whole.id];
    if (split.entry) {
      split.entry = false;
      --used_;
      freed_ = true;
    }
    if (split.waits == Waits::merge) {
      pop(whole, warp, whole.pc, moves);
      return;
    }
    freed_ = freed_ || split.waits == Waits::resources;
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
    if (split_[id].waits == Waits::ahead) {
      split_[id].waits = Waits::none;
      split_[id].behind = false;
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
  split_[group.id].behind = false;
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
    if (room_to_part(warp)) {
      subdivide(group, warp, instruction, taken, moves);
      return true;
    }
    ++count_.split_table_full;
  }
  return push(group, warp, instruction, taken, moves);
}

// All splits of the warp stand at the branch (BranchLimited, 5.3.1): it is the whole warp's.
void Subdivision::branch_together(Warp& warp, GroupMoves& moves) {
  Group& whole = groups_[warp.splits.front()];
  while (warp.splits.size() > 1) {
    absorb(warp, groups_[warp.splits.back()], whole, count_.merges_stack, moves);
  }
  split_[whole.id].waits = Waits::none;
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

// As StackDivergence::branch, for one row: the undivided warp executes one path after the other.
bool Subdivision::push(Group& group, Warp& warp, const isa::Instruction& instruction, LaneMask taken,
                       GroupMoves& moves) {
  const std::uint32_t fall_through = group.pc + 1;
  const std::uint32_t reconvergence = instruction.reconvergence;
  const bool joined = !warp.stack.empty() && warp.stack.back().reconvergence_pc == reconvergence &&
                      warp.stack.back().execute_pc == reconvergence;
  if (reconvergence != isa::kNoReconvergence && !joined) {
    warp.stack.push_back({reconvergence, reconvergence, warp.running});
  }
  const bool taken_first = fall_through == reconvergence;
  if (!taken_first && instruction.target != reconvergence) {
    warp.stack.push_back({reconvergence, instruction.target, taken});
  }
  warp.running = taken_first ? taken : warp.running & ~taken;
  group.active[0] = warp.running;
  group.pc = taken_first ? instruction.target : fall_through;
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
  begin(other, false, false);
  warp.splits.push_back(other.id);
  group.active[0] &= ~taken;
  group.pc = group.pc + 1;
  group.look_at_lanes();
  go_on(group, warp, moves);
  go_on(other, warp, moves);
}

// The path that ran has ended at `pc`, where its last split stands.
void Subdivision::pop(Group& group, Warp& warp, std::uint32_t pc, GroupMoves& moves) {
  bool ended = true;
  while (!warp.stack.empty() && (ended || pc == warp.stack.back().reconvergence_pc || warp.running == 0)) {
    ended = false;
    warp.running = warp.stack.back().active;
    pc = warp.stack.back().execute_pc;
    warp.stack.pop_back();
  }
  split_[group.id].waits = Waits::none;
  split_[group.id].behind = false;
  if (warp.running == 0) {
    forget(warp, group);
    moves.free(group);
    return;
  }
  group.active[0] = warp.running;
  group.pc = pc;
  proceed(group, moves);
}

// ------------------------------------------------------------------------------------------- accesses

// Whether the core has work but for groups that wait for memory, at barriers or for other splits.
bool Subdivision::others_work() const {
  return groups_.count(GroupState::ready) + groups_.count(GroupState::fetching) + groups_.count(GroupState::in_flight) +
             groups_.count(GroupState::complex) !=
         0;
}

// PCs are compared when the split that runs executes a memory instruction, with those of its warp that are ready, which
// stand at memory instructions as the core switches there (4.5). In the report's core such a split has the instruction
// before it still; here it has done it, and so waits until the others have.
void Subdivision::accesses(Group& group, GroupMoves& moves) {
  const Warp& warp = warp_of(group);
  if (!rules_.by_pc || rules_.memory == SubdivisionRules::Memory::slip || warp.splits.size() < 2) {
    return;
  }
  for (const GroupId id : warp.splits) {
    Group& other = groups_[id];
    if (id != group.id && other.pc == group.pc + 1 && split_[id].stands_at_access && other.state == GroupState::ready) {
      split_[id].waits = Waits::access;
      moves.park(other);
    }
  }
}

void Subdivision::memory_diverged(Group& group, GroupMoves& moves) {
  using Memory = SubdivisionRules::Memory;
  const Warp& warp = warp_of(group);
  const bool wants = rules_.memory == Memory::slip
                         ? may_slip(group, warp, moves)
                         : rules_.memory == Memory::aggressive || (rules_.memory != Memory::none && !others_work());
  if (wants && !room_to_part(warp)) {
    ++count_.split_table_full;
  } else if (wants) {
    part(group, count_.splits_memory, moves);
  }
}

void Subdivision::starving(GroupMoves& moves) {
  if (rules_.memory != SubdivisionRules::Memory::revive || used_ >= rules_.entries || others_work()) {
    return;
  }
  Group* oldest = nullptr;
  for (const Group& waiting : groups_.all()) {
    if (waiting.state == GroupState::memory && (oldest == nullptr || waiting.age < oldest->age) &&
        room_to_part(warps_[waiting.first_row]) && moves.answered(waiting) != 0) {
      oldest = &groups_[waiting.id];
    }
  }
  if (oldest != nullptr) {
    part(*oldest, count_.splits_revived, moves);
  }
}

// The threads behind, with those that would fall behind now, are not too many (5.7).
bool Subdivision::may_slip(const Group& group, const Warp& warp, GroupMoves& moves) {
  unsigned behind = 0;
  for (const GroupId id : warp.splits) {
    behind += split_[id].behind ? groups_[id].active_threads() : 0;
  }
  if (!split_[group.id].behind) {
    behind += group.active_threads() - static_cast<unsigned>(std::popcount(moves.answered(group)));
  }
  return !split_[group.id].behind && behind <= behind_at_most(moves.now());
}

void Subdivision::part(Group& group, std::uint64_t& splits, GroupMoves& moves) {
  Warp& warp = warp_of(group);
  const bool whole = warp.splits.size() == 1;
  Group* const ahead = moves.part(group);
  if (ahead == nullptr) {
    return;
  }
  ++splits;
  Split& rest = split_[group.id];
  if (whole) {
    rest.entry = true;
    ++used_;
  }
  const bool another = slots_used_ < rules_.slots;
  begin(*ahead, true, another || rest.slot);
  if (!another && rest.slot) {
    rest.slot = false;
    --slots_used_;
  }
  rest.behind = rules_.memory == SubdivisionRules::Memory::slip;
  warp.splits.push_back(ahead->id);
}

// ------------------------------------------------------------------------------------------- what is shown

// The splits of the warp hold each of its running threads once; of a waiting entry none, or, of a join, all.
std::string Subdivision::inconsistency(const Group& group) const {
  const Warp& warp = warps_[group.first_row];
  LaneMask held = 0;
  for (const GroupId id : warp.splits) {
    if ((held & groups_[id].active[0]) != 0) {
      return fmt::format("register row {}: a thread of it is in two warp-splits", group.first_row);
    }
    held |= groups_[id].active[0];
  }
  if (held != warp.running) {
    return fmt::format("register row {}: the warp-splits hold {:08x} of the running threads {:08x}", group.first_row,
                       held, warp.running);
  }
  for (const Entry& entry : warp.stack) {
    if ((entry.active & held) != 0 && (held & ~entry.active) != 0) {
      return fmt::format("register row {}: the entry for PC {} holds some of the running threads", group.first_row,
                         entry.execute_pc);
    }
  }
  if (used_ > rules_.entries) {
    return fmt::format("{} of {} entries of the warp-split table are in use", used_, rules_.entries);
  }
  const auto with = [this](bool Split::*what) {
    return static_cast<unsigned>(
        std::count_if(split_.begin(), split_.end(), [&](const Split& split) { return split.*what; }));
  };
  if (used_ != with(&Split::entry) || slots_used_ != with(&Split::slot)) {
    return fmt::format("{} entries and {} slots are counted, {} and {} are held", used_, slots_used_,
                       with(&Split::entry), with(&Split::slot));
  }
  return {};
}

Divergence::StackView Subdivision::stack_view(const Group& group) const {
  StackView view;
  const std::vector<Entry>& stack = warps_[group.first_row].stack;
  view.depth = stack.size();
  if (!stack.empty()) {
    view.reconvergence_pc = stack.back().reconvergence_pc;
    view.execute_pc = stack.back().execute_pc;
    view.active = {&stack.back().active, 1};
  }
  return view;
}

std::string Subdivision::describe(const Group& group) const {
  static constexpr const char* kWaits[] = {"",
                                           ", waits for an entry or a slot",
                                           ", waits at the re-convergence point",
                                           ", waits at the branch",
                                           ", waits at a barrier",
                                           ", waits for the others' access",
                                           ", waits for those ahead"};
  const Warp& warp = warps_[group.first_row];
  std::string text = fmt::format("{} warp-splits, {} stack entries", warp.splits.size(), warp.stack.size());
  for (const GroupId id : warp.splits) {
    text += fmt::format("; PC {} lanes {:08x}{}", groups_[id].pc, groups_[id].active[0],
                        kWaits[static_cast<std::size_t>(split_[id].waits)]);
  }
  return text;
}

}  // namespace heddle::hw
