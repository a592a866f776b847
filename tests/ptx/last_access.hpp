// Which branches and barriers lie past a kernel's last access to the scratchpad, worked out from its machine code
// alone: what the compiler's marks are judged by.
//
// From each of them a search of its own follows every path forward. What accesses the scratchpad is read from the
// disassembly. Nothing of ptx/.
#pragma once

#include <string>

#include "isa/module.hpp"

namespace heddle::test {

struct LastAccess {
  std::string wrong;           // the first instruction with another mark; empty: none
  unsigned past = 0;           // branches and barriers past the last access
  unsigned before = 0;         // and before it
  unsigned past_branches = 0;  // conditional branches of the former
};

// Of a kernel with marks (ptx::mark_past_scratchpad).
[[nodiscard]] LastAccess check_last_access(const isa::Kernel& kernel);

}  // namespace heddle::test
