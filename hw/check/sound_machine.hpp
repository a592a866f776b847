// Whether a machine that was made in code, rather than read from a file, makes sense.
#pragma once

#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// What is wrong with it, one sentence each: values beyond their parameters' limits, names of no policy, and, when there
// are none of those, contradictions (hw::check).
[[nodiscard]] std::vector<std::string> faults_of(const Machine& machine);

// Throws InputError with all of those. `user`: whose machine it is.
void require_sound(const Machine& machine, const std::string& user);

}  // namespace heddle::hw
