// The code that a machine wants of the compiler.
#pragma once

#include "hw/parameters/machine.hpp"
#include "ptx/code_options.hpp"

namespace heddle::tb {

[[nodiscard]] ptx::CodeOptions code_options(const hw::Machine& machine);

}  // namespace heddle::tb
