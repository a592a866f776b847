// Two-level warp scheduling: warps form fetch groups of consecutive numbers, and one fetch group is preferred until its
// warps are stalled, so that not all warps reach a long-latency operation at once.
//
// Rule "stalled" (thesis 4.3): fetch groups have priorities. When every live warp of the first one is stalled on a
// long-latency operation (not merely in flight), another becomes first and the old one last. As long as the first has
// no ready warp, warps of the others are fetched, in the order of their priority. A fetch group without live warps
// (fewer blocks than fit, the end of a grid, a pool of dynamic warps) has no turn. Rule "current" (LWM report 3.2):
// only the current fetch group is scheduled, until none of its warps can be (a warp in the pipeline cannot,
// report 3.2.1); then the next fetch group that has a ready warp becomes the current one.
//
// Timeout (thesis 4.4): a fetch group that has been first for core.fetch_group_timeout instructions is switched, so
// that a single large warp does not run alone to its end.
//
// The inner order, within a fetch group, is any warp scheduler but this one: each fetch group has one of its own. The
// outer one, which fetch group becomes first, is any FetchGroupOrder (hw/schedule/fetch_groups.hpp).
#include <memory>
#include <vector>

#include "hw/schedule/fetch_groups.hpp"

namespace heddle::hw {

namespace {

class TwoLevel final : public WarpScheduler {
 public:
  explicit TwoLevel(const Setup& setup)
      : fetch_groups_(setup.groups, setup.core.fetch_group),
        current_only_(setup.core.fetch_group_rule == "current"),
        timeout_(setup.core.fetch_group_timeout),
        outer_(Registry<FetchGroupOrder>::instance().make(setup.core.outer_scheduler, {fetch_groups_})) {
    if (setup.core.inner_scheduler == "two-level") {  // hw::check() says so to users
      throw InternalError("two-level scheduling inside two-level scheduling");
    }
    for (unsigned group = 0; group < fetch_groups_.count; ++group) {
      inner_.push_back(Registry<WarpScheduler>::instance().make(
          setup.core.inner_scheduler,
          {setup.groups, setup.core, fetch_groups_.begin(group), fetch_groups_.end(group)}));
    }
  }

  std::optional<GroupId> pick(Cycle now) override {
    // A fetch group whose warps have all gone while no other had any would stay first: nobody of it ever stalls.
    if ((timeout_ != 0 && fetched_ >= timeout_) || (!current_only_ && !fetch_groups_.has_live(first_))) {
      make_first(outer_->next(first_));
    }
    std::optional<GroupId> picked = inner_[first_]->pick(now);
    for (unsigned step = 1; step < fetch_groups_.count && !picked; ++step) {
      const unsigned candidate = fetch_groups_.behind(first_, step);
      picked = inner_[candidate]->pick(now);
      if (picked && current_only_) {
        make_first(candidate);
        break;
      }
    }
    if (picked && fetch_groups_.of(*picked) == first_) {
      ++fetched_;
    }
    return picked;
  }

  void stalled(const Group& group) override {
    const unsigned fetch_group = fetch_groups_.of(group.id);
    inner_[fetch_group]->stalled(group);
    if (!current_only_ && fetch_group == first_ && all_stalled(first_)) {
      make_first(outer_->next(first_));
    }
  }

  [[nodiscard]] std::optional<unsigned> first_fetch_group() const override { return first_; }

 private:
  // Every live warp of the fetch group is stalled (so too when it has none).
  [[nodiscard]] bool all_stalled(unsigned fetch_group) const {
    bool all = true;
    fetch_groups_.each_going_on(fetch_group, [&](GroupId) { all = false; });
    return all;
  }

  void make_first(unsigned fetch_group) {
    first_ = fetch_group;
    fetched_ = 0;
  }

  const FetchGroups fetch_groups_;
  const bool current_only_;
  const std::uint64_t timeout_;
  std::unique_ptr<FetchGroupOrder> outer_;
  std::vector<std::unique_ptr<WarpScheduler>> inner_;  // per fetch group
  unsigned first_ = 0;
  std::uint64_t fetched_ = 0;  // from the first fetch group since it became first
};

const Register<WarpScheduler, TwoLevel> two_level_entry{"two-level",
                                                        "fetch groups with priorities, any other scheduler inside"};

}  // namespace

}  // namespace heddle::hw
