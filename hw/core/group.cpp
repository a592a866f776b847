#include "hw/core/group.hpp"

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

}  // namespace

GroupTable::GroupTable(unsigned groups, unsigned rows_per_group)
    : groups_(groups), ready_((groups + 63) / 64), stalled_(ready_.size()), live_(ready_.size()) {
  for (GroupId id = 0; id < groups; ++id) {
    Group& group = groups_[id];
    group.id = id;
    group.active.assign(rows_per_group, 0);
    group.taken.assign(rows_per_group, 0);
    group.exited.assign(rows_per_group, 0);
  }
  counts_[static_cast<unsigned>(GroupState::free)] = groups;
}

void GroupTable::set_state(Group& group, GroupState state) {
  --counts_[static_cast<unsigned>(group.state)];
  ++counts_[static_cast<unsigned>(state)];
  group.state = state;
  assign(ready_, group.id, state == GroupState::ready);
  assign(stalled_, group.id, state == GroupState::memory || state == GroupState::barrier);
  assign(live_, group.id, state != GroupState::free);
}

int next_set(const GroupBits& bits, unsigned size, unsigned from) {
  const auto words = static_cast<unsigned>(bits.size());
  if (size == 0) {
    return -1;
  }
  from %= size;
  unsigned word = from / 64;
  std::uint64_t present = bits[word] & (~std::uint64_t{0} << (from % 64));
  for (unsigned looked = 0; looked <= words; ++looked) {
    if (present != 0) {
      return static_cast<int>(word * 64 + static_cast<unsigned>(std::countr_zero(present)));
    }
    word = word + 1 == words ? 0 : word + 1;
    present = bits[word];
  }
  return -1;
}

}  // namespace heddle::hw
