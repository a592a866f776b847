// What a recorded trace holds of an instruction besides the value of its guard: what the model needs to know of a
// thread's operands to take the same time as when it computes them.
#pragma once

#include "isa/instruction.hpp"

namespace heddle::isa {

// Whether an executing thread has a value in a record: the address of a load, store, atomic or conditional accumulate
// (there only where the predicate is true, which is recorded too), unless no register goes into it; of a barrier with a
// register, the barrier in the low word and the count in the high word.
[[nodiscard]] inline bool records_value(const Instruction& instruction) {
  const Unit unit = info(instruction.op).unit;
  if (unit == Unit::memory) {
    return is_accumulate(instruction.op) || (instruction.op != Op::MEMBAR && instruction.a != kRZ);
  }
  return unit == Unit::barrier && (instruction.a != kRZ || (!instruction.immediate && instruction.b != kRZ));
}

}  // namespace heddle::isa
