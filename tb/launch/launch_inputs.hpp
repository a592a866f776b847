// The files that a LAUNCH.toml's run reads, said to what checks a command's files.
#pragma once

#include <memory>

#include "os/files/command_files.hpp"
#include "tb/launch/launch_file.hpp"

namespace heddle::tb {

// The launch file itself, what it names, and what its kernel file includes.
void add_inputs(os::CommandFiles& files, const std::shared_ptr<const LaunchFile>& launch);

}  // namespace heddle::tb
