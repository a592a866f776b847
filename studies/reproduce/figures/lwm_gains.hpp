// Claims on mean speedups, whose rows are in gains.cpp and groups.cpp.
#pragma once

#include <string>
#include <vector>

#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {

// A claim on the mean speedup of one machine over another.
struct Gain {
  Variant machine;
  Variant over;
  double paper;  // as a fraction: 0.076
};
// Checks of gains ("of a size", direction), their charts, tables and causes.
[[nodiscard]] Finding judge_gains(const Placed& placed, const std::vector<Gain>& gains);
[[nodiscard]] std::vector<Run> runs_for(const std::vector<Gain>& gains);

// Claims that a mechanism helps one group of workloads and spares another. `machines`: the report's baseline and the
// mechanism on it, then the thesis's two.
struct Group {
  std::string name;  // "leftmost four"
  std::vector<std::string> workloads;
};
[[nodiscard]] Finding judge_groups(const Placed& placed, const std::vector<Variant>& machines, const Group& gaining,
                                   const Group& spared);

}  // namespace heddle::studies::lwm
