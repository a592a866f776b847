// When what an instruction writes may be read, as far as a compiler can know it: what control bits are made from
// (isa::ControlBits). A machine says it for each instruction (hw::IssueDiscipline::Traits::result_time).
#pragma once

#include <functional>

#include "isa/instruction.hpp"

namespace heddle::isa {

struct ResultTime {
  // Cycles from its issue to that of the first instruction which may read or write what it writes. 0: they are not
  // known beforehand, and neither is when its operands are read: dependence counters tell both.
  unsigned fixed = 0;
  [[nodiscard]] bool counted() const { return fixed == 0; }
};
using ResultTimes = std::function<ResultTime(const Instruction&)>;

}  // namespace heddle::isa
