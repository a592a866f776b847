// Two-level warp scheduling: warps form fetch groups of consecutive numbers, and one fetch group is preferred until its
// warps are stalled, so that not all warps reach a long-latency operation at once.
//
// Rule "stalled" (thesis 4.3): fetch groups have priorities. When every live warp of the first one is stalled on a
// long-latency operation (not merely in flight), another becomes first and the old one last. As long as the first has
// no ready warp, warps of the others are fetched, in the order of their priority. A fetch group without live warps
// (fewer blocks than fit, the end of a grid, a pool of dynamic warps) has no turn. Rule "current" (LWM report 3.2):
// only the current fetch group is scheduled, until none of its warps can be (a warp in the pipeline cannot,
// report 3.2.1); then the next fetch group that has a ready warp becomes the current one. Rule "exclusive" is the
// report's text with the switch that 3.2.1 asks for ("only occurs once those warps are actually stalled"): as long as
// one warp of the current fetch group is not stalled, no other's are scheduled, and cycles in which all that are not
// are in the pipeline stay empty. Then the outer order says who is current, among fetch groups that are not all
// stalled.
//
// Timeout (thesis 4.4): a fetch group that has been first for two_level.fetch_group_timeout instructions is switched,
// so that a single large warp does not run alone to its end.
//
// The inner order, within a fetch group, is any warp scheduler that keeps to them: each fetch group has one of its own.
// The outer one, which fetch group becomes first, is any FetchGroupOrder (hw/schedule/fetch_groups.hpp).
#include "hw/schedule/two_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/fetch_groups.hpp"

namespace heddle::hw {

Limits inner_schedulers() {
  using Schedulers = Registry<WarpScheduler>;
  return Limits::policy<Schedulers>(
      [](const Schedulers::Entry& entry) { return entry.about.traits.within_fetch_groups; });
}

Limits fetch_group_orders() {
  return Limits::policy<Registry<FetchGroupOrder>>();
}

namespace {

// The warps of a fetch group in this launch: on warps of another size, as many threads as on the machine's.
unsigned group_size(const WarpScheduler::Setup& setup) {
  const std::uint64_t fetch_group = setup.core.policies.of<TwoLevelParameters>().fetch_group;
  if (setup.machine_warp_size == 0) {
    return static_cast<unsigned>(fetch_group);
  }
  return static_cast<unsigned>(
      std::max<std::uint64_t>(fetch_group * setup.machine_warp_size / setup.core.warp_size, 1));
}

class TwoLevel final : public WarpScheduler {
 public:
  using Parameters = TwoLevelParameters;

  static void check(const Machine& machine, std::vector<Contradiction>& found) {
    const Parameters& own = machine.core.policies.of<Parameters>();
    check_scheduler(machine, "two_level.inner_scheduler", own.inner_scheduler, found);
  }

  // Under this rule the next fetch group with a ready warp follows; only a timeout asks the outer order.
  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
    const Parameters& own = machine.core.policies.of<Parameters>();
    if (rule(own) == Rule::current && own.fetch_group_timeout == 0) {
      found.push_back({{"two_level.outer_scheduler"},
                       "two_level.fetch_group_rule is current and two_level.fetch_group_timeout is 0"});
    }
  }

  static void cost(const CostShape& shape, CostLines& lines) {
    const Parameters& own = shape.machine.core.policies.of<Parameters>();
    lines.mechanism("two-level scheduling");
    CostShape inside = shape;
    inside.set_warps = std::min<std::uint64_t>(own.fetch_group, shape.pool);
    inside.sets = (shape.pool + inside.set_warps - 1) / inside.set_warps;
    inside.in_fetch_groups = true;
    inside.ages_elsewhere = about<FetchGroupOrder>(own.outer_scheduler).traits.ages_of_all_warps;
    lines.add(CostLine::Kind::counted, "storage of the policy", "0", 0,
              "LWM report 3.3: \"does not require any additional storage\"; thesis 4.5: negligible");
    lines.add(CostLine::Kind::estimated, "first fetch group", fmt::format("log2({} groups)", inside.sets),
              index_bits(inside.sets), "own estimate");
    if (const auto cost_of = about<WarpScheduler>(own.inner_scheduler).cost) {
      cost_of(inside, lines);
    }
    if (const auto cost_of = about<FetchGroupOrder>(own.outer_scheduler).cost) {
      cost_of(shape, lines);
    }
    if (rule(own) != Rule::current) {
      lines.add(CostLine::Kind::estimated, "warps stalled on a long latency", fmt::format("{} warps x 1", shape.pool),
                shape.pool, "own estimate; thesis 4.3: a switch when all of a group are");
    }
    if (own.fetch_group_timeout != 0) {
      lines.add(CostLine::Kind::estimated, "timeout counter",
                fmt::format("log2(two_level.fetch_group_timeout {} + 1)", own.fetch_group_timeout),
                index_bits(own.fetch_group_timeout + 1), "own estimate; thesis 4.4");
    }
  }

  explicit TwoLevel(const Setup& setup)
      : fetch_groups_(setup.groups, group_size(setup)),
        rule_(rule(setup.core.policies.of<Parameters>())),
        timeout_(setup.core.policies.of<Parameters>().fetch_group_timeout),
        outer_(Registry<FetchGroupOrder>::instance().make(setup.core.policies.of<Parameters>().outer_scheduler,
                                                          {fetch_groups_})) {
    const std::string& inner = setup.core.policies.of<Parameters>().inner_scheduler;
    if (!about<WarpScheduler>(inner).traits.within_fetch_groups) {  // hw::check() says so to users
      throw InternalError("a fetch group's warps ordered by '" + inner + "', which does not keep to them");
    }
    for (unsigned group = 0; group < fetch_groups_.count; ++group) {
      inner_.push_back(Registry<WarpScheduler>::instance().make(
          inner, {setup.groups, setup.core, fetch_groups_.begin(group), fetch_groups_.end(group)}));
    }
  }

  std::optional<GroupId> pick(Cycle now) override {
    // A fetch group whose warps have all gone while no other had any would stay first: nobody of it ever stalls.
    if ((timeout_ != 0 && fetched_ >= timeout_) || (rule_ != Rule::current && !fetch_groups_.has_live(first_))) {
      make_first(outer_->next(first_));
    }
    if (rule_ == Rule::exclusive) {
      leave_stalled();
    }
    std::optional<GroupId> picked = inner_[first_]->pick(now);
    const unsigned others = rule_ == Rule::exclusive ? 1 : fetch_groups_.count;
    for (unsigned step = 1; step < others && !picked; ++step) {
      const unsigned candidate = fetch_groups_.behind(first_, step);
      picked = inner_[candidate]->pick(now);
      if (picked && rule_ == Rule::current) {
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
    if (rule_ != Rule::current && fetch_group == first_ && all_stalled(first_)) {
      make_first(outer_->next(first_));
    }
  }

  [[nodiscard]] std::optional<unsigned> first_fetch_group() const override { return first_; }
  [[nodiscard]] unsigned fetch_groups() const override { return fetch_groups_.count; }

 private:
  enum class Rule : std::uint8_t { stalled, current, exclusive };
  [[nodiscard]] static Rule rule(const Parameters& own) {
    return own.fetch_group_rule == "current"     ? Rule::current
           : own.fetch_group_rule == "exclusive" ? Rule::exclusive
                                                 : Rule::stalled;
  }

  // Every live warp of the fetch group is stalled (so too when it has none).
  [[nodiscard]] bool all_stalled(unsigned fetch_group) const {
    bool all = true;
    fetch_groups_.each_going_on(fetch_group, [&](GroupId) { all = false; });
    return all;
  }

  // The first fetch group may have become first while all its warps were stalled: the turn goes on to one that has
  // others.
  void leave_stalled() {
    for (unsigned turn = 0; turn < fetch_groups_.count && all_stalled(first_); ++turn) {
      make_first(outer_->next(first_));
    }
  }

  void make_first(unsigned fetch_group) {
    first_ = fetch_group;
    fetched_ = 0;
  }

  const FetchGroups fetch_groups_;
  const Rule rule_;
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
