// What hw::check() (hw/check/machine.hpp) says of a core's parts.
#pragma once

#include <vector>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// One lane can execute for its warp only where a warp is the same threads throughout, and nothing of it overtakes.
void check_scalar(const CoreParameters& core, std::vector<Contradiction>& found);
// Where a warp goes on while its loads are under way, its threads must stay its own.
void check_stalls(const CoreParameters& core, std::vector<Contradiction>& found);
// What is shared out among sub-cores must come out even, and what belongs to a whole core cannot be in one.
void check_sub_cores(const Machine& machine, std::vector<Contradiction>& found);
// Whose operands the ports of register banks are for.
void check_register_banks(const Machine& machine, std::vector<Contradiction>& found);
// Private memory is a core's and its lanes'.
void check_private_memory(const Machine& machine, std::vector<Contradiction>& found);
// An instruction of the machine's length must be able to name a thread's registers.
void check_registers(const Machine& machine, std::vector<Contradiction>& found);
// The instruction cache of a sub-core.
void check_l0(const Machine& machine, std::vector<Contradiction>& found);
void check_constant_cache(const Machine& machine, std::vector<Contradiction>& found);
// One store for L1 and scratchpad: what each carve-out leaves is an L1.
void check_carve_outs(const Machine& machine, std::vector<Contradiction>& found);
// What waits in a memory queue is one access after the other.
void check_queue(const Machine& machine, std::vector<Contradiction>& found);
// Results from memory have a port of their own where hits come late.
void check_returns(const Machine& machine, std::vector<Contradiction>& found);

}  // namespace heddle::hw
