// The instructions of convergence barriers in finished code (CodeOptions::convergence_instructions).
#pragma once

#include <cstdint>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::ptx::backend {

// Of an instruction of the new code: where the old code has it, or, if it has been put in, the one that it stands in
// front of.
struct Origin {
  std::uint32_t pc = 0;
  bool put_in = false;
};

// Puts BSSY in where threads are that a branch further on may part, and BSYNC where they meet, as ptxas does it
// (measured with ptxas 13.0, some 30 small kernels for sm_75):
//
//   - Branches that meet at one PC share both. BSSY stands in front of the first of them, in the nearest block that
//     leads to all of them, in front of the loops that they leave.
//   - BSYNC is the last instruction of the paths that meet; what comes there from elsewhere passes it by.
//   - A branch on which the threads of a warp agree (parting.hpp), and one behind which its threads meet no more before
//     they exit, has none.
//
// `code` has targets and re-convergence PCs; they are set anew. Threads that a branch with BSSY has parted meet behind
// its BSYNC, where also BSSY's operand leads. There is neither, and threads meet where they did, where the order of the
// code would need a jump around one of them, where a way into the region does not pass its begin, and for a branch that
// is not in the region of the others that meet at its PC.
[[nodiscard]] std::vector<Origin> put_in_convergence(std::vector<isa::Instruction>& code);

}  // namespace heddle::ptx::backend
