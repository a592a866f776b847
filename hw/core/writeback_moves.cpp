// What the divergence mechanism decides about groups.
#include <algorithm>

#include "hw/core/writeback.hpp"

namespace heddle::hw {

void WriteBackStage::run(Group& group, unsigned delay) {
  if (group.active_threads() == 0) {
    state_.groups.set_state(group, GroupState::free);
    return;
  }
  if (group.state == GroupState::free || group.state == GroupState::ready) {
    state_.groups.set_state(group, GroupState::in_flight);
  }
  state_.make_ready(group, delay);
}

void WriteBackStage::wait(Group& group) {
  state_.groups.set_state(group, GroupState::barrier);
  // A barrier with a count of its own may have completed before the last sub-warp of the group's instruction did.
  if (!barriers_.waits(group)) {
    run(group, 0);
  }
}

void WriteBackStage::park(Group& group) {
  state_.groups.set_state(group, GroupState::parked);
}

void WriteBackStage::free(Group& group) {
  std::fill(group.active.begin(), group.active.end(), 0);
  state_.groups.set_state(group, GroupState::free);
}

Group& WriteBackStage::allocate(const Group& like) {
  Group* const group = state_.groups.find_free();
  if (group == nullptr) {
    throw InternalError("the divergence mechanism needs more groups than it said");
  }
  group->block_slot = like.block_slot;
  group->warp_in_block = like.warp_in_block;
  group->first_row = like.first_row;
  group->dynamic = true;
  group->displaced = false;
  group->age = state_.groups.next_age();
  group->flights = {};
  group->decoded = nullptr;
  group->merge_points = like.merge_points;
  group->leave_loop();
  for (std::vector<LaneMask>* const masks :
       {&group->active, &group->busy, &group->taken, &group->exited, &group->arrivals}) {
    masks->assign(1, 0);
  }
  // Not free any more, so that the next one to be allocated is another.
  state_.groups.set_state(*group, GroupState::in_flight);
  return *group;
}

void WriteBackStage::hand_over(const Group& from, unsigned block_slot, const Group& to) {
  barriers_.hand_over(from.id, block_slot, to.id);
}

unsigned WriteBackStage::block_of(unsigned register_row) const {
  return state_.rows[register_row].block_slot;
}

}  // namespace heddle::hw
