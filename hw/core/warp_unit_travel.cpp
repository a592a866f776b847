// Threads that change their places, and what the cores tell each other of a block whose threads are on several.
#include <algorithm>
#include <bit>

#include "hw/core/warp_unit.hpp"

namespace heddle::hw {

// A thread can leave its place while nothing of it is in the pipeline and no release will write to its registers.
void WarpUnit::require_movable(const Group& group) const {
  const bool idle = group.state == GroupState::ready || group.state == GroupState::parked ||
                    (group.state == GroupState::in_flight && group.flight().done());
  if (!group.dynamic || !idle || barriers_.waits(group)) {
    throw InternalError("only threads of a dynamic group that is neither in flight nor waits can change their places");
  }
}

void WarpUnit::move(Group& group, unsigned lane, const Place& to) {
  require_movable(group);
  places_.move(group.place_of(lane), to);
  group.lane_row[lane] = to.row;
  group.lane_home[lane] = to.lane;
  group.look_at_lanes();
}

void WarpUnit::exchange(Group& one, unsigned lane, Group& other, unsigned other_lane) {
  require_movable(one);
  require_movable(other);
  places_.exchange(one.place_of(lane), other.place_of(other_lane));
  std::swap(one.lane_row[lane], other.lane_row[other_lane]);
  std::swap(one.lane_home[lane], other.lane_home[other_lane]);
  one.look_at_lanes();
  other.look_at_lanes();
}

void WarpUnit::depart(Group& group, unsigned to) {
  require_movable(group);
  if (!tell || to == state_.index || to >= state_.machine.gpu.cores) {
    throw InternalError(
        "a group can only leave for another core, by a mechanism that says so "
        "(Divergence::Traits::changes_cores)");
  }
  HomeMessage message;
  message.kind = HomeMessage::Kind::group;
  message.to = to;
  message.pc = group.pc;
  message.warp_in_block = group.warp_in_block;
  message.merge_points = group.merge_points;
  message.progress = group.progress;
  message.progress_before = group.progress_before;
  for (LaneMask left = group.active[0]; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    message.threads.push_back(places_.leave(group.place_of(lane), lane));
  }
  free(group);
  departing_.push_back(std::move(message));
}

void WarpUnit::send_departing() {
  for (HomeMessage& message : departing_) {
    send(message);
  }
  departing_.clear();
}

void WarpUnit::send(HomeMessage& message) {
  message.from = state_.index;
  tell(message);
}

// ------------------------------------------------------------------------------------------- from other cores

void WarpUnit::hear(HomeMessage& message, BarrierResults& results) {
  state_.moved();
  switch (message.kind) {
    case HomeMessage::Kind::group:
      take_in(message);
      return;
    case HomeMessage::Kind::arrival:
      if (const std::string wrong = message.block->arrive(message.arrival, state_.now); !wrong.empty()) {
        state_.raise(isa::Fault::Kind::barrier_mismatch, message.thread, message.pc, wrong);
      } else {
        release(*message.block, results);
      }
      return;
    case HomeMessage::Kind::release:
      let_go(message.release, results);
      return;
    case HomeMessage::Kind::exit:
      threads_exited(*message.block, message.exited, results);
      return;
  }
}

// Each thread keeps the lane that it had in its group.
void WarpUnit::take_in(const HomeMessage& message) {
  Group& group = fresh(state_.groups.find_free());
  group.dynamic = true;
  group.pc = message.pc;
  group.warp_in_block = message.warp_in_block;
  group.merge_points = message.merge_points;
  group.progress = message.progress;
  group.progress_before = message.progress_before;
  clear_masks(group, 1);
  for (const Traveller& traveller : message.threads) {
    const Place place = places_.find(traveller);
    places_.enter(place, traveller);
    group.lane_row[traveller.lane] = place.row;
    group.lane_home[traveller.lane] = place.lane;
    group.active[0] |= LaneMask{1} << traveller.lane;
  }
  group.look_at_lanes();
  group.part = 0;
  group.block_slot = block_of(group.place_of(message.threads.front().lane));
  state_.groups.set_state(group, GroupState::in_flight);
  divergence_->arrived(group, *this);
}

}  // namespace heddle::hw
