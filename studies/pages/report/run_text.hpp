// A run's summary for the terminal: the figures that matter, each with what it means.
#pragma once

#include <string>

#include "tb/measure/record.hpp"

namespace heddle::tb {

// Some forty lines, ending in a newline.
[[nodiscard]] std::string run_text(const RunRecord& record, const HostCost& cost);

}  // namespace heddle::tb
