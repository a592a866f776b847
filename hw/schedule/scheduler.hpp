// Question 2 of a core: which ready group is fetched next? One file per answer, in Registry<WarpScheduler>.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/core_statistics.hpp"
#include "hw/state/group.hpp"
#include "hw/state/maybe_group.hpp"

namespace heddle::hw {

class WarpScheduler : public StallObserver {
 public:
  struct Setup {
    const GroupTable& groups;  // ready(), stalled() (long-latency operation, barrier, other groups), live(), ages
    const CoreParameters& core;
    // The groups to choose among: numbers first to last - 1, all unless said otherwise (a fetch group's).
    unsigned first = 0;
    unsigned last = std::numeric_limits<unsigned>::max();
    // Threads of the machine's warps where a launch has other warps (core.warp_size is the launch's); 0: it has not.
    unsigned machine_warp_size = 0;
    // The core's counters: what has retired so far. Null where nothing runs (the tables of waves).
    CoreStatistics* statistics = nullptr;
  };
  // What a scheduler can do and needs (hw/parameters/policy.hpp).
  struct Traits {
    // It keeps to the groups first to last - 1 of its Setup, so that it can order the warps of one fetch group.
    bool within_fetch_groups = false;
    // It goes by Group::merge_points (Divergence::Traits::counts_merge_points).
    bool needs_merge_points = false;
    // It chooses between warps that a mechanism forms at will (Divergence::Traits::warp_pool).
    bool needs_warp_pool = false;
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  // The group to fetch in this cycle, out of groups.ready(); empty when none is to be fetched. Called once per cycle in
  // which the fetch stage can take one (a fetch group's: when it is that fetch group's turn); a group that is returned
  // is fetched.
  [[nodiscard]] virtual MaybeGroup pick(Cycle now) = 0;
  // A group to choose among has begun to wait (on a long-latency operation, at a barrier, for other groups) or
  // has no threads any more; also in cycles without a pick, and at a launch's start for all such groups.
  void stalled(const Group&) override {}
  // A launch of the kernel whose code is at this address begins: its warps come later; or the launch has ended.
  virtual void launch_begins(std::uint64_t /*code_address*/, Cycle /*now*/) {}
  virtual void launch_ends(Cycle /*now*/) {}
  // Two-level scheduling, for waves: the fetch group that comes first.
  [[nodiscard]] virtual std::optional<unsigned> first_fetch_group() const { return std::nullopt; }
  // How many fetch groups there are at most; 0: it has none.
  [[nodiscard]] virtual unsigned fetch_groups() const { return 0; }
  // A scheduler that tries others, for waves: how many there are (0: it is none such), and which one fetches now.
  [[nodiscard]] virtual unsigned candidates() const { return 0; }
  [[nodiscard]] virtual unsigned candidate() const { return 0; }
};

// What the parameter `key` names as a scheduler does not find on this machine.
void check_scheduler(const Machine& machine, const char* key, const std::string& name,
                     std::vector<Contradiction>& found);

}  // namespace heddle::hw
