// Threads that change their places, and what the cores tell each other of a block whose threads are on several.
#include <algorithm>

#include "base/set_bits.hpp"
#include "hw/core/warps/warp_unit.hpp"

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
  departing_.push_back(lift(group, to));
}

// The group as it leaves; it is free then.
HomeMessage WarpUnit::lift(Group& group, unsigned to) {
  HomeMessage message;
  message.kind = HomeMessage::Kind::group;
  message.to = to;
  message.pc = group.pc;
  message.warp_in_block = group.warp_in_block;
  message.merge_points = group.merge_points;
  message.progress = group.progress;
  message.progress_before = group.progress_before;
  for (const unsigned lane : set_bits(group.active[0])) {
    message.threads.push_back(places_.leave(group.place_of(lane), lane));
  }
  free(group);
  return message;
}

void WarpUnit::recall(Group& group, bool waits, unsigned places) {
  require_movable(group);
  HomeMessage message = lift(group, state_.machine.gpu.cores);
  message.empties_places = places;
  if (waits) {
    message.waits_at = recalled_.value().arrival;
    for (Traveller& traveller : message.threads) {
      traveller.released = recalled_->decoded;
      traveller.released_pc = recalled_->pc;
      traveller.true_at_barrier = ((recalled_->true_lanes >> traveller.lane) & 1U) != 0;
    }
    recalled_.reset();
  }
  departing_.push_back(std::move(message));
}

void WarpUnit::unbind(Group& group) {
  group.bound = false;
  HomeMessage message;
  message.kind = HomeMessage::Kind::past;
  message.to = state_.machine.gpu.cores;
  message.block = &state_.block(group.block_slot);
  send(message);
}

void WarpUnit::give_place() {
  HomeMessage message;
  message.kind = HomeMessage::Kind::place;
  message.to = state_.machine.gpu.cores;
  send(message);
}

void WarpUnit::send_departing() {
  for (HomeMessage& message : departing_) {
    send(message);
  }
  departing_.clear();
  for (const unsigned slot : grid_arrivals_) {
    block_at_grid(slot);
  }
  grid_arrivals_.clear();
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
      take_in(message, results);
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
    case HomeMessage::Kind::place:
    case HomeMessage::Kind::past:
      break;
  }
}

// Each thread keeps the lane that it had in its group. The global scheduler gives a warp a register row.
void WarpUnit::take_in(const HomeMessage& message, BarrierResults& results) {
  const std::optional<std::uint16_t> row = state_.global_warps ? places_.vacant_row() : std::nullopt;
  if (state_.global_warps && !row) {
    throw InternalError("the global scheduler has sent a warp for which there is no place");
  }
  Group& group = fresh(state_.groups.find_free());
  group.dynamic = true;
  group.pc = message.pc;
  group.warp_in_block = message.warp_in_block;
  group.merge_points = message.merge_points;
  group.progress = message.progress;
  group.progress_before = message.progress_before;
  group.bound = message.bound;
  clear_masks(group, 1);
  for (const Traveller& traveller : message.threads) {
    const Place place = row ? Place{*row, traveller.lane} : places_.find(traveller);
    places_.enter(place, traveller);
    group.lane_row[traveller.lane] = place.row;
    group.lane_home[traveller.lane] = place.lane;
    group.active[0] |= LaneMask{1} << traveller.lane;
    group.reads_memory = group.reads_memory || (state_.moved_read_memory && traveller.has_run);
  }
  group.look_at_lanes();
  group.part = 0;
  group.block_slot = block_of(group.place_of(message.threads.front().lane));
  state_.groups.set_state(group, GroupState::in_flight);
  if (state_.global_warps) {
    write_released(group, message, results);
  }
  divergence_->arrived(group, *this);
}

// What the barriers have given to threads that they have released on the way, of one operation and value at a time.
void WarpUnit::write_released(const Group& group, const HomeMessage& message, BarrierResults& results) {
  LaneMask left = 0;
  for (const Traveller& traveller : message.threads) {
    left |= traveller.released != nullptr ? LaneMask{1} << traveller.lane : 0;
  }
  while (left != 0) {
    const auto same = [&](const Traveller& one, const Traveller& other) {
      return one.released_pc == other.released_pc && one.released_value == other.released_value;
    };
    const Traveller* first = nullptr;
    LaneMask lanes = 0;
    for (const Traveller& traveller : message.threads) {
      const LaneMask lane = LaneMask{1} << traveller.lane;
      if ((left & lane) != 0 && (first == nullptr || same(*first, traveller))) {
        first = &traveller;
        lanes |= lane;
      }
    }
    link::SubWarp& sub_warp = state_.pool.take();
    sub_warp = link::SubWarp{};
    sub_warp.group = group.id;
    sub_warp.pc = first->released_pc;
    sub_warp.decoded = first->released;
    sub_warp.lanes = sub_warp.executing = lanes;
    sub_warp.first_row = group.lane_row[first->lane];
    sub_warp.uniform = false;
    sub_warp.row = group.lane_row;
    sub_warp.values.result[0].fill(first->released_value);
    sub_warp.values.p = first->released_value != 0 ? ~LaneMask{0} : 0;
    sub_warp.values.q = 0;
    results.write_released(sub_warp);
    state_.pool.give_back(sub_warp);
    left &= ~lanes;
  }
}

}  // namespace heddle::hw
