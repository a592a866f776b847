// The compiler's marks of branches at which a warp may be subdivided (DWS report 4.3).
#pragma once

#include "isa/module.hpp"

namespace heddle::ptx {

// Sets isa::Instruction::subdivides in all kernels, in place of marks that there are: at every branch with a condition
// and a re-convergence point that begins a basic block of at most so many instructions. The block ends with a branch,
// an exit or a trap, or before an instruction that a branch leads to. Without `loop_branches` at none that leads back.
void mark_subdivision(isa::Module& module, unsigned instructions, bool loop_branches = true);

}  // namespace heddle::ptx
