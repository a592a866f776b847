// --timeline and what goes with it, alike in every command that drives memory channels.
#pragma once

#include <optional>

#include "cli/command.hpp"
#include "hw/parameters/machine.hpp"
#include "studies/pages/report/timeline_file.hpp"

namespace heddle::cli {

void add_timeline_options(Command& command);
// What they ask for, if anything. Throws InputError, also when the machine's memory channels have nothing to draw.
[[nodiscard]] std::optional<pages::TimelineRequest> timeline_request(const Arguments& arguments,
                                                                     const hw::Machine& machine);

// Says on stderr that a window of cycles shows nothing: `option`, which names its first one, lies behind the run's
// last.
void warn_of_late_window(const Arguments& arguments, const std::string& option, std::uint64_t last_cycle);

}  // namespace heddle::cli
