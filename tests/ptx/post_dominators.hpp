// Re-convergence points worked out from machine code alone: what the compiler's are judged by.
//
// Sets per instruction, iterated until nothing changes; no blocks, no dominator trees, nothing of ptx/.
#pragma once

#include <string>

#include "isa/module.hpp"

namespace heddle::test {

struct ReConvergence {
  std::string wrong;          // the first branch whose re-convergence point is another one; empty: none
  unsigned branches = 0;      // conditional ones that were compared
  unsigned at_exit = 0;       // branches that meet at the threads' exit only
  unsigned behind_exits = 0;  // branches that meet elsewhere although a guarded exit comes before them in straight line
  unsigned endless = 0;       // not compared: may run into an endless loop
};

// A conditional branch re-converges at the nearest other instruction that every path from it to an exit passes, or, if
// that is a BSYNC, behind it. An exit is an EXIT that is executed, guarded or not. Where none can be reached, a TRAP
// without guard stands for one.
[[nodiscard]] ReConvergence check_re_convergence(const isa::Kernel& kernel);

}  // namespace heddle::test
