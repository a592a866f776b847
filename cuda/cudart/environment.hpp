// The environment's variables as the program has them now; variables that are not there any more, as they were when
// this library was loaded: a program may empty its environment before its first call.
#pragma once

#include <string>

namespace heddle::cudart {

[[nodiscard]] std::string environment(const char* name);  // empty: not there

}  // namespace heddle::cudart
