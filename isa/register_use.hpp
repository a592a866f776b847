// The registers that an instruction reads and writes, as sets: what a scoreboard compares.
#pragma once

#include <cstdint>

#include "isa/instruction.hpp"

namespace heddle::isa {

struct RegisterUse {
  std::uint64_t read = 0;               // bit r: register r; never RZ. Of stores: the stored ones among them
  std::uint64_t written = 0;            // likewise
  std::uint8_t predicates_read = 0;     // bit p: predicate p; never PT. The guard among them
  std::uint8_t predicates_written = 0;  // likewise
};
[[nodiscard]] RegisterUse register_use(const Instruction& instruction);

}  // namespace heddle::isa
