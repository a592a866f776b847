// Two-level warp scheduling: warps form fetch groups of consecutive numbers, and one fetch group is preferred until its
// warps are stalled, so that not all warps reach a long-latency operation at once.
//
// Rule "stalled" (thesis 4.3): fetch groups have priorities. When every live warp of the first one is stalled on a
// long-latency operation (not merely in flight), the next becomes first and the old one last. As long as the first has
// no ready warp, warps of the others are fetched, in the order of their priority.
// Rule "current" (LWM report 3.2): only the current fetch group is scheduled, until none of its warps can be (a warp in
// the pipeline cannot, report 3.2.1); then the next fetch group that has a ready warp becomes the current one.
//
// Timeout (thesis 4.4): a fetch group that has been first for core.fetch_group_timeout instructions is switched, so
// that a single large warp does not run alone to its end.
//
// The inner order (within a fetch group) is round robin, greedy-then-oldest or oldest first; the outer one round robin
// over the fetch groups, or oldest first (the fetch group with the oldest live warp that is not stalled).
#include <algorithm>
#include <vector>

#include "hw/schedule/orders.hpp"
#include "hw/schedule/scheduler.hpp"

namespace heddle::hw {

namespace {

class TwoLevel final : public WarpScheduler {
 public:
  explicit TwoLevel(const Setup& setup)
      : groups_(setup.groups),
        size_(setup.core.fetch_group),
        count_((setup.groups.size() + size_ - 1) / size_),
        current_only_(setup.core.fetch_group_rule == "current"),
        timeout_(setup.core.fetch_group_timeout),
        inner_(setup.core.inner_scheduler == "gto"      ? Inner::greedy
               : setup.core.inner_scheduler == "oldest" ? Inner::oldest
                                                        : Inner::round_robin),
        outer_oldest_(setup.core.outer_scheduler == "oldest"),
        next_(count_),
        greedy_(count_) {
    for (unsigned group = 0; group < count_; ++group) {
      next_[group] = greedy_[group] = group * size_;
    }
  }

  std::optional<GroupId> pick(Cycle) override {
    if (timeout_ != 0 && fetched_ >= timeout_) {
      rotate();
    }
    std::optional<GroupId> picked = pick_from(first_);
    if (!picked && current_only_) {
      for (unsigned step = 1; step < count_ && !picked; ++step) {
        const unsigned candidate = following(step);
        picked = pick_from(candidate);
        if (picked) {
          make_first(candidate);
        }
      }
    }
    for (unsigned step = 1; step < count_ && !picked; ++step) {
      picked = pick_from(following(step));
    }
    if (picked && *picked / size_ == first_) {
      ++fetched_;
    }
    return picked;
  }

  void stalled(const Group& group) override {
    if (!current_only_ && group.id / size_ == first_ && all_stalled(first_)) {
      rotate();
    }
  }

  [[nodiscard]] std::optional<unsigned> first_fetch_group() const override { return first_; }

 private:
  enum class Inner { round_robin, greedy, oldest };

  [[nodiscard]] unsigned begin(unsigned fetch_group) const { return fetch_group * size_; }
  [[nodiscard]] unsigned end(unsigned fetch_group) const { return std::min((fetch_group + 1) * size_, groups_.size()); }

  // Every live warp of the fetch group is stalled (so too when it has none).
  [[nodiscard]] bool all_stalled(unsigned fetch_group) const {
    bool all = true;
    each_set(groups_.live(), begin(fetch_group), end(fetch_group),
             [&](GroupId id) { all = all && ((groups_.stalled()[id / 64] >> (id % 64)) & 1U) != 0; });
    return all;
  }

  // The fetch group `step` places behind the first one.
  [[nodiscard]] unsigned following(unsigned step) const { return (first_ + step) % count_; }

  void rotate() {
    unsigned next = following(1);
    if (outer_oldest_) {
      std::optional<std::uint64_t> age;
      for (unsigned step = 1; step < count_; ++step) {
        each_set(groups_.live(), begin(following(step)), end(following(step)), [&](GroupId id) {
          const bool stalls = ((groups_.stalled()[id / 64] >> (id % 64)) & 1U) != 0;
          if (!stalls && (!age || groups_[id].age < *age)) {
            age = groups_[id].age;
            next = id / size_;
          }
        });
      }
    }
    make_first(next);
  }

  void make_first(unsigned fetch_group) {
    first_ = fetch_group;
    fetched_ = 0;
  }

  [[nodiscard]] std::optional<GroupId> pick_from(unsigned fetch_group) {
    std::optional<GroupId> picked;
    switch (inner_) {
      case Inner::round_robin:
        picked = next_ready(groups_, begin(fetch_group), end(fetch_group), next_[fetch_group]);
        if (picked) {
          next_[fetch_group] = *picked + 1;
        }
        break;
      case Inner::greedy: {
        const GroupId greedy = greedy_[fetch_group];
        picked = next_ready(groups_, greedy, greedy + 1, greedy);
        if (!picked) {
          picked = oldest_ready(groups_, begin(fetch_group), end(fetch_group));
          const bool greedy_goes_on =
              groups_[greedy].state == GroupState::in_flight || groups_[greedy].state == GroupState::fetching;
          if (picked && !greedy_goes_on) {
            greedy_[fetch_group] = *picked;
          }
        }
        break;
      }
      case Inner::oldest:
        picked = oldest_ready(groups_, begin(fetch_group), end(fetch_group));
        break;
    }
    return picked;
  }

  const GroupTable& groups_;
  unsigned size_;
  unsigned count_;
  bool current_only_;
  std::uint64_t timeout_;
  Inner inner_;
  bool outer_oldest_;
  unsigned first_ = 0;
  std::uint64_t fetched_ = 0;    // from the first fetch group since it became first
  std::vector<unsigned> next_;   // per fetch group: where round robin goes on
  std::vector<GroupId> greedy_;  // per fetch group: the greedy warp
};

const Register<WarpScheduler, TwoLevel> entry{"two-level", "fetch groups with priorities, round robin or other inside"};

}  // namespace

}  // namespace heddle::hw
