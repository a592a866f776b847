#include "hw/state/group.hpp"

#include "hw/state/observer.hpp"

namespace heddle::hw {

GroupTable::GroupTable(unsigned groups, unsigned rows_per_group, bool complex_stalls) {
  sets_of_.fill(kLive);
  const auto sets_of = [this](GroupState state) -> std::uint8_t& { return sets_of_[static_cast<unsigned>(state)]; };
  sets_of(GroupState::free) = 0;
  sets_of(GroupState::ready) |= kReady;
  for (const GroupState state : {GroupState::memory, GroupState::barrier, GroupState::parked, GroupState::throttled}) {
    sets_of(state) |= kStalled;
  }
  sets_of(GroupState::complex) |= complex_stalls ? kStalled : 0;
  resize(groups, rows_per_group);
}

void GroupTable::resize(unsigned groups, unsigned rows_per_group) {
  groups_.assign(groups, {});
  ready_.assign((groups + 63) / 64, 0);
  stands_.assign(groups, {});
  stalled_ = live_ = ready_;
  by_pc_.reset();
  followed_ = watcher_ != nullptr;
  for (GroupId id = 0; id < groups; ++id) {
    Group& group = groups_[id];
    group.id = id;
    for (std::vector<LaneMask>* const masks :
         {&group.active, &group.busy, &group.taken, &group.exited, &group.arrivals}) {
      masks->assign(rows_per_group, 0);
    }
  }
  counts_ = {};
  counts_[static_cast<unsigned>(GroupState::free)] = groups;
}

void GroupTable::changed_state(const Group& group, GroupState before) {
  const unsigned sets = sets_of_[static_cast<unsigned>(group.state)];
  const unsigned changed = sets ^ sets_of_[static_cast<unsigned>(before)];
  const std::uint64_t bit = std::uint64_t{1} << (group.id % 64);
  if ((changed & kReady) != 0 && by_pc_ != nullptr) {
    note_by_pc(group);
  }
  if ((changed & kStalled) != 0) {
    stalled_[group.id / 64] ^= bit;
  }
  if ((changed & kLive) != 0) {
    live_[group.id / 64] ^= bit;
  }
  if (observer_ != nullptr && (sets & (kStalled | kLive)) != kLive) {
    observer_->stalled(group);
  }
  if (watcher_ != nullptr && before != group.state) {
    watcher_->group_changed(*core_, group, before);
  }
}

const ReadyByPc& GroupTable::ready_by_pc() const {
  if (by_pc_ == nullptr) {
    by_pc_ = std::make_unique<ReadyByPc>(size());
    followed_ = true;
    for (const Group& group : groups_) {
      if (group.state == GroupState::ready) {
        note_by_pc(group);
      }
    }
  }
  return *by_pc_;
}

// The group has become ready, or is so no more.
void GroupTable::note_by_pc(const Group& group) const {
  if (group.state == GroupState::ready) {
    by_pc_->enter(group.id, group.pc, group.age, group.active_threads());
  } else {
    by_pc_->leave(group.id);
  }
}

void GroupTable::grown(const Group& group) const {
  if (by_pc_ != nullptr && group.state == GroupState::ready) {
    by_pc_->grown(group.id, group.active_threads());
  }
  if (watcher_ != nullptr) {
    watcher_->group_grown(*core_, group);
  }
}

Group* GroupTable::find_free(unsigned from) {
  std::uint64_t before = (std::uint64_t{1} << (from % 64)) - 1;  // groups of the first word that are passed over
  for (std::size_t word = from / 64; word < live_.size(); ++word, before = 0) {
    if (const std::uint64_t live = live_[word] | before; live != ~std::uint64_t{0}) {
      const std::size_t id = word * 64 + static_cast<unsigned>(std::countr_one(live));
      return id < groups_.size() ? &groups_[id] : nullptr;
    }
  }
  return nullptr;
}

void Group::look_at_lanes() {
  const LaneMask lanes = active[0];
  if (lanes == 0) {
    aligned = true;
    displaced = false;
    return;
  }
  first_row = lane_row[static_cast<unsigned>(std::countr_zero(lanes))];
  std::uint32_t other_row = 0;
  std::uint32_t other_lane = 0;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    const std::uint32_t look = 0U - ((lanes >> lane) & 1U);
    other_row |= (std::uint32_t{lane_row[lane]} ^ first_row) & look;
    other_lane |= (lane_home[lane] ^ lane) & look;
  }
  displaced = other_lane != 0;
  aligned = other_row == 0 && !displaced;
}

}  // namespace heddle::hw
