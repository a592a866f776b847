// How two-level scheduling works: hw/schedule/two_level_scheduler.hpp.
#include "hw/schedule/two_level.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/two_level_scheduler.hpp"

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
unsigned group_size(const WarpScheduler::Setup& setup, std::uint64_t fetch_group) {
  if (setup.machine_warp_size == 0) {
    return static_cast<unsigned>(fetch_group);
  }
  return static_cast<unsigned>(
      std::max<std::uint64_t>(fetch_group * setup.machine_warp_size / setup.core.warp_size, 1));
}

FetchGroupPolicies fixed_policies(const CoreParameters& core) {
  const TwoLevelParameters& own = core.policies.of<TwoLevelParameters>();
  return {own.fetch_group, own.inner_scheduler, own.outer_scheduler};
}

}  // namespace

void TwoLevelScheduler::check(const Machine& machine, std::vector<Contradiction>& found) {
  const Parameters& own = machine.core.policies.of<Parameters>();
  check_scheduler(machine, "two_level.inner_scheduler", own.inner_scheduler, found);
}

void TwoLevelScheduler::in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
  const Parameters& own = machine.core.policies.of<Parameters>();
  if (about<FetchGroupOrder>(own.outer_scheduler).traits.interrupts) {
    found.push_back(
        {{"two_level.fetch_group_timeout"},
         fmt::format("two_level.outer_scheduler is {}, which is asked before every fetch", own.outer_scheduler)});
  } else if (rule(own) == Rule::current && own.fetch_group_timeout == 0) {
    // Under this rule the next fetch group with a ready warp follows; only a timeout asks the outer order.
    found.push_back({{"two_level.outer_scheduler"},
                     "two_level.fetch_group_rule is current and two_level.fetch_group_timeout is 0"});
  }
}

void TwoLevelScheduler::cost(const CostShape& shape, CostLines& lines) {
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
  cost_of_rule(own, shape, lines);
}

void TwoLevelScheduler::cost_of_rule(const Parameters& own, const CostShape& shape, CostLines& lines) {
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

TwoLevelScheduler::TwoLevelScheduler(const Setup& setup) : TwoLevelScheduler(setup, fixed_policies(setup.core)) {}

TwoLevelScheduler::TwoLevelScheduler(const Setup& setup, const FetchGroupPolicies& policies)
    : fetch_groups_(setup.groups, group_size(setup, policies.fetch_group)),
      rule_(rule(setup.core.policies.of<Parameters>())),
      timeout_(setup.core.policies.of<Parameters>().fetch_group_timeout),
      interrupts_(about<FetchGroupOrder>(policies.outer).traits.interrupts),
      outer_(Registry<FetchGroupOrder>::instance().make(policies.outer, {fetch_groups_, setup.core})) {
  if (!about<WarpScheduler>(policies.inner).traits.within_fetch_groups) {
    throw InternalError("a fetch group's warps ordered by '" + policies.inner + "', which does not keep to them");
  }
  for (unsigned group = 0; group < fetch_groups_.count; ++group) {
    inner_.push_back(Registry<WarpScheduler>::instance().make(
        policies.inner, {setup.groups, setup.core, fetch_groups_.begin(group), fetch_groups_.end(group)}));
  }
}

MaybeGroup TwoLevelScheduler::pick(Cycle now) {
  // A fetch group whose warps have all gone while no other had any would stay first: none of its warps ever stalls.
  if ((timeout_ != 0 && fetched_ >= timeout_) || (rule_ != Rule::current && !fetch_groups_.has_live(first_))) {
    make_first(outer_->next(first_));
  }
  if (interrupts_) {
    if (const unsigned preferred = outer_->next(first_); preferred != first_) {
      make_first(preferred);
    }
  }
  if (rule_ == Rule::exclusive) {
    leave_stalled();
  }
  MaybeGroup picked = inner_[first_]->pick(now);
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

void TwoLevelScheduler::stalled(const Group& group) {
  const unsigned fetch_group = fetch_groups_.of(group.id);
  inner_[fetch_group]->stalled(group);
  if (rule_ != Rule::current && fetch_group == first_ && all_stalled(first_)) {
    make_first(outer_->next(first_));
  }
}

void TwoLevelScheduler::take_over(GroupId latest) {
  make_first(fetch_groups_.of(latest));
  if (rule_ != Rule::current && all_stalled(first_)) {
    make_first(outer_->next(first_));
  }
}

// Every live warp of the fetch group is stalled (so too when it has none).
bool TwoLevelScheduler::all_stalled(unsigned fetch_group) const {
  return !fetch_groups_.goes_on(fetch_group);
}

// The first fetch group may have become first while all its warps were stalled: the turn goes on to one that has
// others.
void TwoLevelScheduler::leave_stalled() {
  for (unsigned turn = 0; turn < fetch_groups_.count && all_stalled(first_); ++turn) {
    make_first(outer_->next(first_));
  }
}

namespace {

const Register<WarpScheduler, TwoLevelScheduler> two_level_entry{"two-level",
                                                                 "fetch groups with priorities, any other scheduler "
                                                                 "inside"};

}  // namespace

}  // namespace heddle::hw
