// Where a thread is done with its block's scratchpad (ODGS paper 3.8: "divergence points that lie after the last shared
// memory access").
#pragma once

#include <vector>

#include "isa/module.hpp"

namespace heddle::ptx {

// By PC. True: no path through the code leads from there, the instruction itself included, to an access to the
// scratchpad: a load, store, atomic or conditional accumulate of the shared or of the generic space, whose address may
// lie in either, under whatever guard. Barriers are none: they count threads, wherever these are.
[[nodiscard]] std::vector<bool> past_last_access(const std::vector<isa::Instruction>& code);

// Sets isa::Instruction::past_scratchpad accordingly in all kernels, in place of marks that there are: at branches and
// barriers.
void mark_past_scratchpad(isa::Module& module);

}  // namespace heddle::ptx
