// Small selections that several schedulers share. All selections work on bit sets over group numbers.
#pragma once

#include <algorithm>
#include <optional>

#include "base/set_bits.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/state/group.hpp"
#include "hw/state/maybe_group.hpp"

namespace heddle::hw {

// The first set bit of `bits` with first <= id < last of which `holds(id)` is true.
template <class Holds>
MaybeGroup first_where(const GroupBits& bits, unsigned first, unsigned last, Holds holds) {
  for (unsigned word = first / 64; word * 64 < last && word < bits.size(); ++word) {
    std::uint64_t left = bits[word];
    if (word == first / 64) {
      left &= ~std::uint64_t{0} << (first % 64);
    }
    for (const unsigned bit : set_bits(left)) {
      const unsigned id = word * 64 + bit;
      if (id >= last) {
        return {};
      }
      if (holds(id)) {
        return id;
      }
    }
  }
  return {};
}

// Calls visit(id) for every set bit of `bits` with first <= id < last, in order.
template <class Visit>
void each_set(const GroupBits& bits, unsigned first, unsigned last, Visit visit) {
  static_cast<void>(first_where(bits, first, last, [&](GroupId id) {
    visit(id);
    return false;
  }));
}

// The groups that a scheduler chooses among: numbers first to last - 1.
struct GroupRange {
  explicit GroupRange(const WarpScheduler::Setup& setup)
      : groups(setup.groups), first(setup.first), last(std::min(setup.last, setup.groups.size())) {}
  template <class Visit>
  void each_ready(Visit visit) const {
    each_set(groups.ready(), first, last, visit);
  }
  [[nodiscard]] bool all() const { return first == 0 && last == groups.size(); }
  [[nodiscard]] bool has(GroupId id) const { return id >= first && id < last; }
  // The oldest ready group: the one that started first.
  [[nodiscard]] MaybeGroup oldest_ready() const;
  [[nodiscard]] MaybeGroup youngest_ready() const;
  // The first ready group at or behind `from`, wrapping around.
  [[nodiscard]] MaybeGroup next_ready(unsigned from) const;
  [[nodiscard]] bool is_ready(GroupId id) const { return ((groups.ready()[id / 64] >> (id % 64)) & 1U) != 0; }

  const GroupTable& groups;
  const unsigned first;
  const unsigned last;
};

}  // namespace heddle::hw
