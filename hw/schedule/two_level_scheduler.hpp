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
// one warp of the current fetch group is not stalled, no other fetch group's warps are scheduled, and cycles in which
// all that are not are in the pipeline stay empty. Then the outer order says who is current, among fetch groups that
// are not all stalled.
//
// Timeout (thesis 4.4): a fetch group that has been first for two_level.fetch_group_timeout instructions is switched,
// so that a single large warp does not run alone to its end.
//
// The inner order, within a fetch group, is any warp scheduler that keeps to its warps: each fetch group has one of its
// own. The outer order, which fetch group becomes first, is any FetchGroupOrder (hw/schedule/fetch_groups.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/schedule/fetch_groups.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/schedule/two_level.hpp"

namespace heddle::hw {

class CostLines;
struct CostShape;

// What makes one two-level scheduler another than the next, under the same rule and timeout.
struct FetchGroupPolicies {
  unsigned fetch_group = 8;  // warps of the machine's size
  std::string inner = "round-robin";
  std::string outer = "round-robin";
};

class TwoLevelScheduler final : public WarpScheduler {
 public:
  using Parameters = TwoLevelParameters;

  static void check(const Machine& machine, std::vector<Contradiction>& found);
  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found);
  static void cost(const CostShape& shape, CostLines& lines);
  static void cost_of_rule(const Parameters& own, const CostShape& shape, CostLines& lines);

  explicit TwoLevelScheduler(const Setup& setup);
  // Rule and timeout as the machine has them. Throws InternalError for an inner scheduler that does not keep to a fetch
  // group (hw::check() says so to users).
  TwoLevelScheduler(const Setup& setup, const FetchGroupPolicies& policies);

  MaybeGroup pick(Cycle now) override;
  void stalled(const Group& group) override;
  [[nodiscard]] std::optional<unsigned> first_fetch_group() const override { return first_; }
  [[nodiscard]] unsigned fetch_groups() const override { return fetch_groups_.count; }

  // It schedules from now on, after another one: the fetch group of the warp fetched last comes first, or the next one
  // if that is stalled.
  void take_over(GroupId latest);

  enum class Rule : std::uint8_t { stalled, current, exclusive };
  [[nodiscard]] static Rule rule(const Parameters& own) {
    return own.fetch_group_rule == "current"     ? Rule::current
           : own.fetch_group_rule == "exclusive" ? Rule::exclusive
                                                 : Rule::stalled;
  }

 private:
  [[nodiscard]] bool all_stalled(unsigned fetch_group) const;
  void leave_stalled();
  void make_first(unsigned fetch_group) {
    first_ = fetch_group;
    fetched_ = 0;
  }

  const FetchGroups fetch_groups_;
  const Rule rule_;
  const std::uint64_t timeout_;
  const bool interrupts_;  // FetchGroupOrder::Traits
  std::unique_ptr<FetchGroupOrder> outer_;
  std::vector<std::unique_ptr<WarpScheduler>> inner_;  // per fetch group
  unsigned first_ = 0;
  std::uint64_t fetched_ = 0;  // from the first fetch group since it became first
};

}  // namespace heddle::hw
