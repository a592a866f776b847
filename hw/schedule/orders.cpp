#include "hw/schedule/orders.hpp"

namespace heddle::hw {

namespace {

MaybeGroup first_set(const GroupBits& bits, unsigned first, unsigned last) {
  return first_where(bits, first, last, [](GroupId) { return true; });
}

}  // namespace

MaybeGroup GroupRange::oldest_ready() const {
  MaybeGroup oldest;
  each_ready([&](GroupId id) {
    if (!oldest || groups.stands(id).age < groups.stands(*oldest).age) {
      oldest = id;
    }
  });
  return oldest;
}

MaybeGroup GroupRange::youngest_ready() const {
  MaybeGroup youngest;
  each_ready([&](GroupId id) {
    if (!youngest || groups.stands(id).age > groups.stands(*youngest).age) {
      youngest = id;
    }
  });
  return youngest;
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
