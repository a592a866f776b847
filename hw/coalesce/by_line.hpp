// The distinct lines of one sub-warp's addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/coalesce/coalescer.hpp"

namespace heddle::hw {

// Lanes that fall into the same line share it; lines are in the order of their lowest lane. `line_mask`: ones but for
// the bits of the byte within the line.
void coalesce_by_line(std::uint64_t line_mask, const LaneAddresses& addresses, std::vector<LineAccess>& lines);

}  // namespace heddle::hw
