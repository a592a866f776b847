// The compiler's control bits (isa::ControlBits): stall counts, dependence counters and wait masks, by which a warp
// without a scoreboard keeps its dependences (MICRO 2025, section 4).
//
// What has a fixed time is kept by stall counts: each instruction's says how long the next one of the warp waits, and
// is as large as that one needs, also across branches and joins. What has none counts in a dependence counter until its
// results are written, and in another one until its operands have been read; an instruction that needs either has the
// counter in its wait mask. What may be outstanding at a join is what is outstanding on any way to it.
#pragma once

#include <vector>

#include "isa/module.hpp"
#include "isa/result_time.hpp"

namespace heddle::ptx {

// By PC, for code whose instructions have these times.
[[nodiscard]] std::vector<isa::ControlBits> control_bits(const std::vector<isa::Instruction>& code,
                                                         const isa::ResultTimes& times);

// Sets isa::Instruction::control accordingly in all kernels, in place of bits that there are.
void write_control_bits(isa::Module& module, const isa::ResultTimes& times);

}  // namespace heddle::ptx
