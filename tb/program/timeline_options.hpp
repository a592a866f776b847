// --timeline and what goes with it, the same for every command that drives memory channels.
#pragma once

#include <optional>

#include "tb/dram/timeline.hpp"
#include "tb/program/command.hpp"

namespace heddle::program {

void add_timeline_options(Command& command);
// What they ask for, if anything. Throws InputError.
[[nodiscard]] std::optional<tb::TimelineRequest> timeline_request(const Arguments& arguments);

}  // namespace heddle::program
