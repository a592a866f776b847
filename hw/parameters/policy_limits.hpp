// Which values the keys of policies may take. Each is defined where its registry is known.
#pragma once

#include "base/parameter.hpp"

namespace heddle::hw {

// The values that a policy's key may take: the names in its registry.
[[nodiscard]] Limits divergence_policies();
[[nodiscard]] Limits scheduler_policies();
[[nodiscard]] Limits former_policies();
[[nodiscard]] Limits issue_policies();
[[nodiscard]] Limits coalescer_policies();
[[nodiscard]] Limits load_limiters();
[[nodiscard]] Limits scalar_policies();
[[nodiscard]] Limits coherence_protocols();
[[nodiscard]] Limits dram_schedulers();
[[nodiscard]] Limits dram_row_policies();
[[nodiscard]] Limits dram_presets();

}  // namespace heddle::hw
