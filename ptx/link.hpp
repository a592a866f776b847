// Several PTX texts as one: what nvlink does for device code of separate compilation, and what a program needs whose
// files each bring kernels of their own.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ptx/ast.hpp"

namespace heddle::ptx {

struct LinkUnit {
  File file;
  // Compiled to be linked (nvcc's -rdc=true): its visible names are shared by all such units. Otherwise what it defines
  // is its own, and a name that an earlier unit has gets its number: "scale.2" in the second.
  bool relocatable = false;
  std::uint32_t lines = 0;  // of its text
};

// By unit: names that were changed, from what the unit's text says.
using ChangedNames = std::vector<std::map<std::string, std::string>>;

// Positions in the result count lines as if the texts stood one behind the other. Weak definitions of relocatable units
// are one, the first. Two strong ones of a name stay, and are refused when variables are laid out. Throws InputError
// for units of different address sizes.
[[nodiscard]] File link(std::vector<LinkUnit> units, ChangedNames& changed);

}  // namespace heddle::ptx
