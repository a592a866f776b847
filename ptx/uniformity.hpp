// Which instructions of finished code have the same operands for all threads of a block, whenever they execute
// (uniformity analysis; thesis 9.2.1): the marks of scalar instructions.
#pragma once

#include <vector>

#include "isa/module.hpp"

namespace heddle::ptx {

// By PC. True: the operation is one that isa::accepts_uniform() allows; its registers and its guard are the same for
// all threads of the block that come there together; and no branch on which threads may disagree lies between the start
// and it without the branch's re-convergence point, so that all living threads of a warp with a re-convergence stack
// are active, whatever the size of the warp. Registers and predicates begin as zero, so equal. A value is varying if it
// comes from an operation that isa::accepts_uniform() does not allow (thread ids, memory, atomics, operations between
// lanes), from varying ones, or was written where threads may be apart: at the re-convergence point threads of both
// ways, or of different numbers of rounds of a loop, meet.
[[nodiscard]] std::vector<bool> uniform_instructions(const std::vector<isa::Instruction>& code);

// Sets isa::Instruction::uniform accordingly in all kernels, in place of marks that there are.
void mark_uniform(isa::Module& module);

}  // namespace heddle::ptx
