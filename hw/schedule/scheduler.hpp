// Question 2 of a core: which ready group is fetched next? One file per answer, in Registry<WarpScheduler>.
#pragma once

#include <optional>

#include "base/registry.hpp"
#include "hw/core/group.hpp"

namespace heddle::hw {

class WarpScheduler {
 public:
  struct Setup {
    const GroupTable& groups;  // ready(), stalled() (long-latency operation or barrier), live(), ages
  };
  virtual ~WarpScheduler() = default;
  // The group to fetch in this cycle, out of groups.ready(); empty when none is to be fetched. Called once per cycle in
  // which the fetch stage can take one; a group that is returned is fetched.
  [[nodiscard]] virtual std::optional<GroupId> pick(Cycle now) = 0;
};

}  // namespace heddle::hw
