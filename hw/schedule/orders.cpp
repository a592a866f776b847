#include "hw/schedule/orders.hpp"

namespace heddle::hw {

std::optional<GroupId> oldest_ready(const GroupTable& groups, unsigned first, unsigned last) {
  std::optional<GroupId> oldest;
  each_set(groups.ready(), first, last, [&](GroupId id) {
    if (!oldest || groups[id].age < groups[*oldest].age) {
      oldest = id;
    }
  });
  return oldest;
}

std::optional<GroupId> next_ready(const GroupTable& groups, unsigned first, unsigned last, unsigned from) {
  std::optional<GroupId> found;
  if (from < first || from >= last) {
    from = first;
  }
  const auto take_first = [&](GroupId id) {
    if (!found) {
      found = id;
    }
  };
  each_set(groups.ready(), from, last, take_first);
  if (!found) {
    each_set(groups.ready(), first, from, take_first);
  }
  return found;
}

}  // namespace heddle::hw
