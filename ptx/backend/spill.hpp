// Taking registers away: recomputation at the uses where that is cheap, else local memory.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

// What a thread reads from this special register (isa::Special) is the same whenever it does.
[[nodiscard]] bool is_fixed_special(std::uint32_t special);

inline constexpr double kNeverSpill = std::numeric_limits<double>::infinity();

// By register: the only definition, when it can be repeated anywhere at little cost: a constant, a special register
// that never changes, a word of the parameter or constant bank at a fixed address.
[[nodiscard]] std::vector<std::optional<MachineInstruction>> repeatable_definitions(const MachineFunction& function);

// What spilling each register would cost: instructions added, weighted by loop depth and kind.
[[nodiscard]] std::vector<double> spill_costs(const MachineFunction& function);

// Rewrites the function without these general registers. Registers of one group share a slot of local memory.
void spill_registers(MachineFunction& function, const std::vector<std::vector<VReg>>& groups);
// Predicates move to general registers: 1 is true.
void spill_predicates(MachineFunction& function, const std::vector<std::vector<VReg>>& groups);

}  // namespace heddle::ptx::backend
