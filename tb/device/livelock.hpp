// What to do about a livelock.
#pragma once

#include <cstdint>
#include <string>

#include "isa/module.hpp"

namespace heddle::tb {

// To end the message of a livelock of a group at `pc` with: if the innermost loop around it takes a lock (an atomic cas
// or exch), what that is and how to write it. Else empty.
[[nodiscard]] std::string livelock_advice(const isa::Kernel& kernel, std::uint32_t pc);

}  // namespace heddle::tb
