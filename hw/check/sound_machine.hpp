// Whether a machine that was made in code, rather than read from a file, makes sense.
#pragma once

#include <string>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// Throws InputError with everything that hw::check finds. `user`: whose machine it is.
void require_sound(const Machine& machine, const std::string& user);

}  // namespace heddle::hw
