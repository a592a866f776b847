#include "hw/state/group.hpp"

#include "hw/state/observer.hpp"

namespace heddle::hw {

namespace {

void assign(GroupBits& bits, GroupId id, bool value) {
  const std::uint64_t bit = std::uint64_t{1} << (id % 64);
  if (value) {
    bits[id / 64] |= bit;
  } else {
    bits[id / 64] &= ~bit;
  }
}

constexpr unsigned bit_of(GroupState state) {
  return 1U << static_cast<unsigned>(state);
}
constexpr unsigned kStalling = bit_of(GroupState::memory) | bit_of(GroupState::barrier) | bit_of(GroupState::parked) |
                               bit_of(GroupState::throttled);

}  // namespace

GroupTable::GroupTable(unsigned groups, unsigned rows_per_group, bool complex_stalls)
    : complex_stalls_(complex_stalls) {
  resize(groups, rows_per_group);
}

void GroupTable::resize(unsigned groups, unsigned rows_per_group) {
  groups_.assign(groups, {});
  ready_.assign((groups + 63) / 64, 0);
  stalled_ = live_ = ready_;
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

void GroupTable::set_state(Group& group, GroupState state) {
  --counts_[static_cast<unsigned>(group.state)];
  ++counts_[static_cast<unsigned>(state)];
  const GroupState before = group.state;
  group.state = state;
  const unsigned stalling = kStalling | (complex_stalls_ ? bit_of(GroupState::complex) : 0);
  const bool stalls = (stalling & bit_of(state)) != 0;
  assign(ready_, group.id, state == GroupState::ready);
  assign(stalled_, group.id, stalls);
  assign(live_, group.id, state != GroupState::free);
  if (observer_ != nullptr && (stalls || state == GroupState::free)) {
    observer_->stalled(group);
  }
  if (watcher_ != nullptr && before != state) {
    watcher_->group_changed(*core_, group, before);
  }
}

void GroupTable::grown(const Group& group) const {
  if (watcher_ != nullptr) {
    watcher_->group_grown(*core_, group);
  }
}

Group* GroupTable::find_free() {
  for (std::size_t word = 0; word < live_.size(); ++word) {
    if (live_[word] != ~std::uint64_t{0}) {
      const std::size_t id = word * 64 + static_cast<unsigned>(std::countr_one(live_[word]));
      return id < groups_.size() ? &groups_[id] : nullptr;
    }
  }
  return nullptr;
}

void Group::look_at_lanes() {
  aligned = true;
  displaced = false;
  bool first = true;
  for (LaneMask left = active[0]; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (first) {
      first_row = lane_row[lane];
      first = false;
    }
    aligned = aligned && lane_row[lane] == first_row;
    displaced = displaced || lane_home[lane] != lane;
  }
  aligned = aligned && !displaced;
}

}  // namespace heddle::hw
