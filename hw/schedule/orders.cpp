#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

// The first set bit with first <= id < last.
MaybeGroup first_set(const GroupBits& bits, unsigned first, unsigned last) {
  for (unsigned word = first / 64; word * 64 < last; ++word) {
    const std::uint64_t left =
        bits[word] & (word == first / 64 ? ~std::uint64_t{0} << (first % 64) : ~std::uint64_t{0});
    if (left != 0) {
      const unsigned id = word * 64 + static_cast<unsigned>(std::countr_zero(left));
      return id < last ? MaybeGroup(id) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

MaybeGroup GroupRange::oldest_ready() const {
  MaybeGroup oldest;
  each_ready([&](GroupId id) {
    if (!oldest || groups[id].age < groups[*oldest].age) {
      oldest = id;
    }
  });
  return oldest;
}

MaybeGroup GroupRange::next_ready(unsigned from) const {
  if (from < first || from >= last) {
    from = first;
  }
  if (first < last && last <= 64) {  // usual, and one word
    const std::uint64_t all = groups.ready()[0] & (~std::uint64_t{0} >> (64 - last)) & (~std::uint64_t{0} << first);
    const std::uint64_t behind = all & (~std::uint64_t{0} << from);
    return all == 0 ? std::nullopt : MaybeGroup(std::countr_zero(behind != 0 ? behind : all));
  }
  const MaybeGroup found = first_set(groups.ready(), from, last);
  return found ? found : first_set(groups.ready(), first, from);
}

}  // namespace heddle::hw
