// A run's summary for the terminal: the figures that matter, each with what it means.
#pragma once

#include <string>

#include "tb/measure/record.hpp"

namespace heddle::pages {

// Some forty lines, ending in a newline.
[[nodiscard]] std::string run_text(const tb::RunRecord& record, const tb::HostCost& cost);

}  // namespace heddle::pages
