// The parameters of two-level warp scheduling (hw/schedule/two_level.cpp).
#pragma once

#include <cstdint>
#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

// The schedulers that can order a fetch group's warps, and the orders of fetch groups: names in their registries.
[[nodiscard]] Limits inner_schedulers();
[[nodiscard]] Limits fetch_group_orders();

struct TwoLevelParameters {
  static constexpr const char* kSection = "two_level";
  static constexpr const char* kMeaning =
      "two-level scheduling (core.scheduler = two-level; rule and timeout of two-level-adaptive, too)";
  unsigned fetch_group = 8;
  std::string fetch_group_rule = "stalled";
  std::uint64_t fetch_group_timeout = 0;
  std::string inner_scheduler = "round-robin";
  std::string outer_scheduler = "round-robin";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("fetch_group", fetch_group, Limits::between(1, 4096), "warps",
          "warps of one fetch group: numbers 0 to n-1, n to 2n-1...");
    visit("fetch_group_rule", fetch_group_rule, Limits::one_of({"stalled", "current", "exclusive"}), "",
          "stalled: fetch groups have priorities, which rotate when every warp of the first one is stalled on a "
          "long-latency operation (thesis 4.3); current: only the current fetch group is scheduled until none of its "
          "warps can be (LWM report 3.2); exclusive: only the current fetch group is scheduled until all its warps are "
          "stalled (LWM report 3.2.1)");
    visit("fetch_group_timeout", fetch_group_timeout, Limits::between(0, 1e12), "instructions",
          "a fetch group that has been first for so many instructions is switched (thesis 4.4); 0: never");
    visit("inner_scheduler", inner_scheduler, inner_schedulers(), "", "which warp of a fetch group is fetched");
    visit("outer_scheduler", outer_scheduler, fetch_group_orders(), "", "which fetch group comes next");
  }
};

}  // namespace heddle::hw
