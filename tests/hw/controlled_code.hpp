// Control bits in code that a test has assembled by hand, as the compiler writes them for a machine.
#pragma once

#include <cstddef>
#include <vector>

#include "hw/issue/discipline.hpp"
#include "hw/parameters/machine.hpp"
#include "ptx/control_bits.hpp"
#include "tests/isa/kernel_builder.hpp"

namespace heddle::test {

// What the machine, whose core.issue is by control bits, says of its units.
inline isa::ResultTimes times_of(const hw::Machine& machine) {
  return [time = hw::about<hw::IssueDiscipline>(machine.core.issue).traits.result_time,
          core = machine.core](const isa::Instruction& in) { return time(core, in); };
}

inline void write_bits(isa::test::Code& code, const hw::Machine& machine) {
  const std::vector<isa::ControlBits> bits = ptx::control_bits(code.instructions(), times_of(machine));
  for (std::size_t pc = 0; pc != bits.size(); ++pc) {
    code.instructions()[pc].control = bits[pc];
  }
}

}  // namespace heddle::test
