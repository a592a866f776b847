// Branches of finished code on which threads of one warp may disagree.
#pragma once

#include <vector>

#include "isa/instruction.hpp"
#include "ptx/backend/code_flow.hpp"

namespace heddle::ptx::backend {

// By PC; re-convergence PCs are set. Judged as ptxas 13.0 was seen to judge (some 30 small kernels for sm_75), which
// marks nothing that the other branches do: threads of a warp that come to an instruction together with the same
// operands get the same result, also where they load from one address, unless it is of local memory, and all that ask
// a vote of the same lanes get the same answer. Values that register allocation has spilled count as local memory here,
// which ptxas judges before.
// What paths write that a branch has parted is not the same where these paths meet, nor what a loop writes at its
// header, if threads may leave the loop in different rounds.
[[nodiscard]] std::vector<bool> parting_branches(const std::vector<isa::Instruction>& code, const CodeFlow& flow);

}  // namespace heddle::ptx::backend
