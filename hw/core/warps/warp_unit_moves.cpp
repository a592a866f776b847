// Where groups begin, and what the divergence mechanism decides about them.
#include <algorithm>

#include "base/set_bits.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/effects/each_row.hpp"

namespace heddle::hw {

void WarpUnit::clear_masks(Group& group, unsigned rows) {
  for (std::vector<LaneMask>* const masks :
       {&group.active, &group.busy, &group.taken, &group.exited, &group.arrivals}) {
    masks->assign(rows, 0);
  }
}

// A group begins, whoever its threads are: nothing of the one that had its number before is left but the masks'
// storage, and its threads are nowhere yet.
Group& WarpUnit::fresh(Group* free) {
  if (free == nullptr) {
    throw InternalError("the divergence mechanism needs more groups than it said");
  }
  Group& group = *free;
  group.age = state_.groups.next_age();
  group.displaced = false;
  group.merge_points = 0;
  group.instructions = 0;
  group.progress = group.progress_before = 0;
  group.reads_memory = false;
  group.bound = false;
  group.flights.assign(early_next_pc_ ? issue_->in_flight() : Group::kUsualFlights, InFlight{});
  group.takes_any_record = stalls_on_use_;
  group.latest = 0;
  group.under_way = 0;
  group.flight().all_formed = true;  // of no instruction: nothing is in flight
  group.decoded = group.held_back = nullptr;
  group.leave_loop();
  if (early_next_pc_) {
    issue_->begin(group);
  }
  return group;
}

void WarpUnit::begin(unsigned slot, unsigned warp, unsigned place, unsigned here) {
  const bool dynamic = divergence_->dynamic();
  Group& group = fresh(dynamic ? state_.groups.find_free() : &state_.groups[place]);
  group.block_slot = slot;
  group.part = 0;
  group.warp_in_block = warp;
  group.warp_here = here;
  group.first_row = static_cast<std::uint16_t>(place * state_.rows_per_warp);
  group.dynamic = dynamic;
  group.aligned = true;
  group.lane_row.fill(group.first_row);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    group.lane_home[lane] = static_cast<std::uint8_t>(lane);
  }
  clear_masks(group, state_.rows_per_warp);
  for (unsigned row = 0; row < state_.rows_per_warp; ++row) {
    group.active[row] = state_.rows[group.first_row + row].present();
  }
  if (state_.observer != nullptr) {
    state_.observer->warp_started(state_, group);
  }
  // Not free any more, but not fetched before the next cycle.
  state_.groups.set_state(group, GroupState::in_flight);
  divergence_->start(group);
  divergence_->started(group, *this);
}

void WarpUnit::wake_up_groups(Cycle now) {
  state_.wake_ups.take(
      now, [this](GroupId group, Cycle) { state_.groups.set_state(state_.groups[group], GroupState::ready); });
}

void WarpUnit::run(Group& group, unsigned delay) {
  if (!group.any_active()) {
    state_.groups.set_state(group, GroupState::free);
    return;
  }
  if (group.state == GroupState::free || group.state == GroupState::ready) {
    state_.groups.set_state(group, GroupState::in_flight);
  }
  if (at_decode_) {
    delay = std::max(delay, refetch_);
  }
  if (by_control_bits_) {
    delay = stall_count(group, delay);
  }
  if (at_decode_) {
    if (delay == 0) {
      state_.groups.set_state(group, GroupState::ready);
      return;
    }
    --delay;  // it is ready in the cycle after this one at the earliest
  }
  state_.make_ready(group, delay);
}

void WarpUnit::look_again(Group& group) {
  if (group.held_back != nullptr && !holds_back(group, *group.held_back)) {
    group.held_back = nullptr;
    state_.statistics.dependence_wait_cycles += state_.now - held_since_[group.id];
    state_.groups.set_state(group, GroupState::in_flight);
    state_.make_ready(group);
  }
}

void WarpUnit::issued(Group& group, const link::DecodedInstruction& next) {
  if (const std::string wrong = issue_->issued(group, next, state_.now); !wrong.empty()) {
    state_.raise(isa::Fault::Kind::dependence, group,
                 fmt::format("warp {} of the block: {}", group.warp_in_block, wrong));
  }
}

// The delay, or what is left of the latest instruction's stall count if that is more. Without a delay a group is ready
// in this cycle at decode, in the next one elsewhere.
unsigned WarpUnit::stall_count(const Group& group, unsigned delay) {
  const Cycle ready = state_.now + (at_decode_ ? 0 : 1) + delay;
  const Cycle at = issue_->next_issue(group);
  if (at <= ready) {
    return delay;
  }
  state_.statistics.stall_count_cycles += at - ready;
  return delay + static_cast<unsigned>(at - ready);
}

void WarpUnit::wait(Group& group) {
  state_.groups.set_state(group, GroupState::barrier);
  // A barrier with a count of its own may have completed before the last sub-warp of the group's instruction did.
  if (!barriers_.waits(group)) {
    run(group, 0);
  }
}

void WarpUnit::park(Group& group) {
  state_.groups.set_state(group, GroupState::parked);
}

void WarpUnit::free(Group& group) {
  std::fill(group.active.begin(), group.active.end(), 0);
  state_.groups.set_state(group, GroupState::free);
}

Group& WarpUnit::allocate(const Group& like) {
  return made_like(like, state_.groups.find_free(), true, 1);
}

// Every place of a warp has the group of its number for the warp that begins there.
Group& WarpUnit::twin(const Group& like) {
  const auto places = static_cast<unsigned>(state_.rows.size() / state_.rows_per_warp);
  Group& group = made_like(like, state_.groups.find_free(places), false, like.rows());
  group.aligned = true;
  group.lane_row.fill(group.first_row);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    group.lane_home[lane] = static_cast<std::uint8_t>(lane);
  }
  return group;
}

Group& WarpUnit::made_like(const Group& like, Group* free, bool dynamic, unsigned rows) {
  Group& group = fresh(free);
  group.block_slot = like.block_slot;
  group.part = like.part;
  group.warp_in_block = like.warp_in_block;
  group.first_row = like.first_row;
  group.dynamic = dynamic;
  group.merge_points = like.merge_points;
  group.instructions = like.instructions;
  group.progress = like.progress;
  group.progress_before = like.progress_before;
  group.reads_memory = like.reads_memory;
  clear_masks(group, rows);
  // Not free any more, so that the next one to be made is another.
  state_.groups.set_state(group, GroupState::in_flight);
  return group;
}

void WarpUnit::hand_over(const Group& from, unsigned block_slot, const Group& to) {
  barriers_.hand_over(state_, from.id, block_slot, to.id);
}

void WarpUnit::merge(Group& from, Group& to) {
  if (!from.dynamic || !to.dynamic || (from.active[0] & to.active[0]) != 0) {
    throw InternalError("only dynamic groups merge, each thread in a lane that is free there");
  }
  for (const unsigned lane : set_bits(from.active[0])) {
    to.lane_row[lane] = from.lane_row[lane];
    to.lane_home[lane] = from.lane_home[lane];
  }
  to.active[0] |= from.active[0];
  to.falls_back_to(from);
  to.reads_memory = to.reads_memory || from.reads_memory;
  to.look_at_lanes();
  state_.groups.grown(to);
  free(from);
}

LaneMask WarpUnit::answered(const Group& group) const {
  return aside_ == nullptr || !group.dynamic ? 0 : aside_->answered(group);
}

Group* WarpUnit::part(Group& group) {
  const LaneMask leaving = answered(group);
  if (leaving == 0 || leaving == group.active[0]) {
    return nullptr;
  }
  Group& to = allocate(group);
  to.pc = group.pc;
  to.decoded = group.decoded;
  to.lane_row = group.lane_row;
  to.lane_home = group.lane_home;
  to.active[0] = leaving;
  to.look_at_lanes();
  to.sub_warp_formed(to.latest);
  to.flight().all_formed = true;
  aside_->leave(group, leaving, to);
  group.active[0] &= ~leaving;
  group.look_at_lanes();
  return &to;
}

// A replay knows the lanes that the instruction names; of a register it knows nothing, and no thread waits.
void WarpUnit::tell_members(const Group& group, const link::SubWarp& sub_warp) {
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  isa::LaneWord members = sub_warp.values.b[0];
  if (instruction.immediate || state_.replay != nullptr) {
    members.fill(instruction.immediate ? instruction.imm : 0);
  }
  each_row(group, sub_warp, sub_warp.executing,
           [&](unsigned row, LaneMask lanes) { divergence_->waits_for_lanes(group, row, lanes, members); });
}

void WarpUnit::split_made(const Group& made, const Group& rest, SplitCause cause) {
  if (state_.observer != nullptr) {
    state_.observer->split_made(state_, made, rest, cause);
  }
}

void WarpUnit::split_ended(const Group& split, const Group& into, SplitEnd end) {
  if (state_.observer != nullptr) {
    state_.observer->split_ended(state_, split, into, end);
  }
}

unsigned WarpUnit::block_of(const Place& place) const {
  return state_.slot_of(*state_.thread_at(place.row, place.lane).home->block);
}

// Where lanes execute each an instruction of its own: what this sub-warp's threads do next, whatever the others do.
void WarpUnit::executed(Group& group, const link::SubWarp& sub_warp) {
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  const LaneMask taken = decoded.instruction.op == isa::Op::BRA ? sub_warp.executing : 0;
  each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) {
    divergence_->executed(group, row, lanes, decoded.instruction, taken);
    if (decoded.instruction.op == isa::Op::BRA) {
      group.taken[row] |= taken;
    }
  });
  InFlight& flight = group.flights[sub_warp.flight];
  flight.conditional = flight.conditional || decoded.conditional_branch;
}

}  // namespace heddle::hw
