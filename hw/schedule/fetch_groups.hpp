// The fetch groups of two-level scheduling: groups of consecutive numbers, and the order in which their turns come.
#pragma once

#include <algorithm>

#include "base/registry.hpp"
#include "hw/schedule/orders.hpp"
#include "hw/state/group.hpp"

namespace heddle::hw {

struct FetchGroups {
  FetchGroups(const GroupTable& table, unsigned groups_each)
      : groups(table), size(groups_each), count((table.size() + groups_each - 1) / groups_each) {}

  [[nodiscard]] unsigned of(GroupId id) const { return id / size; }
  [[nodiscard]] unsigned begin(unsigned fetch_group) const { return fetch_group * size; }
  [[nodiscard]] unsigned end(unsigned fetch_group) const { return std::min((fetch_group + 1) * size, groups.size()); }
  // The fetch group `step` places behind another one.
  [[nodiscard]] unsigned behind(unsigned fetch_group, unsigned step) const { return (fetch_group + step) % count; }
  [[nodiscard]] bool has_live(unsigned fetch_group) const {
    bool live = false;
    each_set(groups.live(), begin(fetch_group), end(fetch_group), [&](GroupId) { live = true; });
    return live;
  }
  // The next one in turn that has a live group; `fetch_group` itself when no other has.
  [[nodiscard]] unsigned next_live(unsigned fetch_group) const {
    unsigned step = 1;
    while (step < count && !has_live(behind(fetch_group, step))) {
      ++step;
    }
    return behind(fetch_group, step < count ? step : 0);
  }
  // Calls visit(id) for every live group of a fetch group that is not stalled.
  template <class Visit>
  void each_going_on(unsigned fetch_group, Visit visit) const {
    each_set(groups.live(), begin(fetch_group), end(fetch_group), [&](GroupId id) {
      if (((groups.stalled()[id / 64] >> (id % 64)) & 1U) == 0) {
        visit(id);
      }
    });
  }

  [[nodiscard]] bool goes_on(unsigned fetch_group) const {
    bool any = false;
    each_going_on(fetch_group, [&](GroupId) { any = true; });
    return any;
  }

  const GroupTable& groups;
  const unsigned size;   // groups of each; the last may have fewer
  const unsigned count;  // fetch groups
};

// Two-level scheduling's outer order: which fetch group becomes first when the first one's turn is over; none without
// live groups while another has some. One file per answer, in Registry<FetchGroupOrder>.
class FetchGroupOrder {
 public:
  struct Setup {
    const FetchGroups& fetch_groups;
    const CoreParameters& core;
  };
  struct Traits {
    bool ages_of_all_warps = false;  // it remembers them, so that no inner scheduler need (cost)
    // It is asked before every fetch, not only when the first one's turn is over: one can come first again as soon as
    // it goes on.
    bool interrupts = false;
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  virtual ~FetchGroupOrder() = default;
  [[nodiscard]] virtual unsigned next(unsigned first) = 0;
};

}  // namespace heddle::hw
