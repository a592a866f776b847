// Re-convergence points of finished code.
#pragma once

#include <vector>

#include "isa/instruction.hpp"

namespace heddle::ptx::backend {

// Sets the re-convergence PC of every guarded BRA, whose targets are set already: the nearest other instruction that
// every path from it to an exit passes; kNoReconvergence if the threads' exit is all that they share. A guarded EXIT is
// an exit, of the threads that take it; a TRAP is none, since it ends the launch.
void set_re_convergence(std::vector<isa::Instruction>& code);

}  // namespace heddle::ptx::backend
