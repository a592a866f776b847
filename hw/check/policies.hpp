// Which policies a machine has: the one list of them, for whoever asks all of them for what they have declared
// (hw/parameters/policy.hpp). A policy that another policy uses is not in it: that is its user's affair.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "hw/parameters/policy.hpp"

namespace heddle::hw {

struct ChosenPolicy {
  std::string_view key;  // of the parameter that names it: "core.divergence"
  std::string name;
  // Each null where the policy declares none.
  void (*check)(const Machine& machine, std::vector<Contradiction>& found);
  void (*in_vain)(const Machine& machine, std::vector<WithoutEffect>& found);
  void (*cost)(const CostShape& shape, CostLines& lines);
};

// Throws InternalError when a name is no policy's.
[[nodiscard]] std::vector<ChosenPolicy> policies_of(const Machine& machine);

}  // namespace heddle::hw
