// What makes no sense in a [dram] or [jedec] section, for hw::check.
#pragma once

#include <vector>

#include "hw/machine.hpp"

namespace heddle::hw {

// Appends to `found`. line_bytes: of the lines that the channels transfer, a power of two.
void check_dram(const DramParameters& dram, unsigned line_bytes, std::vector<Contradiction>& found);

}  // namespace heddle::hw
