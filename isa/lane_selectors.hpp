// One selector per operation: returns the lane function for an instruction's modifiers. Internal to isa/.
//
// Declared from the operation table and defined in semantics_*.cpp, so that an operation without semantics does not
// link.
#pragma once

#include "isa/semantics.hpp"

namespace heddle::isa::lanes {

#define HEDDLE_OPERATION(name, mnemonic, dst, a, b, c, d, unit) LaneFunction select_##name(const Instruction&);
#include "isa/operations.inc"
#undef HEDDLE_OPERATION

// Defines a selector: HEDDLE_LANES(ADD) { return ...; }
#define HEDDLE_LANES(name) LaneFunction select_##name([[maybe_unused]] const Instruction& instruction)

}  // namespace heddle::isa::lanes
