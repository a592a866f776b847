// Which operands a compiler would mark for reuse, found in the instructions themselves. NVIDIA's compilers set a bit of
// each operand (MICRO 2025, section 5.3.1); the instruction words here have no room for it. So decode marks an operand
// as soon as it knows the instruction that reads it again: the next one of the straight-line code behind it that reads
// the operand's place and bank, if that is of the same register and nothing has written the register in between. Plain
// C++.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tlm/sub_warp.hpp"

namespace heddle::hw {

// What has been decoded, by PC; null: not yet. The instruction at `pc` is new: its own operands are marked, and those
// of instructions before it that it reads again.
void mark_reuse(std::vector<std::unique_ptr<link::DecodedInstruction>>& code, std::uint32_t pc, unsigned banks);

}  // namespace heddle::hw
