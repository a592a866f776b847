// What memory holds against what it should hold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hardware/json.hpp"

namespace heddle::hardware {

// Compares word by word (32 bits), or part by part: {"name", "offset", "count", "stride", "type", "ulps"}. A part is
// `count` elements of a type (b16, b32, b64, f32, f64), each `stride` bytes behind the one before; floats may be `ulps`
// units in the last place apart. Sets "compared" and "different" of the row, and for the first differences
// "differences"; the status becomes "differs" where there is one. Throws Bad where sizes do not fit.
void compare(const std::vector<std::byte>& found, const std::vector<std::byte>& expected, const Json& parts,
             const std::string& item, Json& row);

}  // namespace heddle::hardware
