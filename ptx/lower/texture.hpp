// What instructions on textures and on surfaces have in common.
#pragma once

#include <vector>

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

// .1d or .2d; others are refused.
[[nodiscard]] unsigned texture_dimensions(Modifiers& m);
// The 64-bit handle of "[handle, {x, y}]". From a variable it is loaded, by code without a guard
// (Selector::guard_by_branch).
[[nodiscard]] VReg texture_handle(Selector& s, const Operand& operand);
// The coordinates of it, each in a register.
[[nodiscard]] std::vector<VReg> texture_coordinates(Selector& s, const Operand& operand, unsigned dimensions,
                                                    Type type);

}  // namespace heddle::ptx
