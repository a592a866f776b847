// Why a thread that has executed trap did so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "isa/launch_check.hpp"
#include "isa/module.hpp"

namespace heddle::isa {

inline constexpr std::uint32_t kMostStackBytes = kMaxLocalBytes / 2;  // of a thread

// `read`: what a register of the thread holds, as far as that is known.
[[nodiscard]] std::string describe_trap(const Kernel& kernel, std::uint32_t pc,
                                        const std::function<std::optional<std::uint32_t>(unsigned)>& read);

}  // namespace heddle::isa
