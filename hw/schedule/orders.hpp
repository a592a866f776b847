// Small selections that several schedulers share. All of them work on bit sets over group numbers.
#pragma once

#include <bit>
#include <optional>

#include "hw/core/group.hpp"

namespace heddle::hw {

// Calls visit(id) for every set bit of `bits` with first <= id < last, in order.
template <class Visit>
void each_set(const GroupBits& bits, unsigned first, unsigned last, Visit visit) {
  for (unsigned word = first / 64; word * 64 < last && word < bits.size(); ++word) {
    std::uint64_t left = bits[word];
    if (word == first / 64) {
      left &= ~std::uint64_t{0} << (first % 64);
    }
    for (; left != 0; left &= left - 1) {
      const unsigned id = word * 64 + static_cast<unsigned>(std::countr_zero(left));
      if (id >= last) {
        return;
      }
      visit(id);
    }
  }
}

// The oldest ready group in [first, last): the one that started first.
[[nodiscard]] std::optional<GroupId> oldest_ready(const GroupTable& groups, unsigned first, unsigned last);
// The first ready group of [first, last) at or behind `from`, wrapping around within the range.
[[nodiscard]] std::optional<GroupId> next_ready(const GroupTable& groups, unsigned first, unsigned last, unsigned from);

}  // namespace heddle::hw
