// The files that a sweep reads, said to what checks a command's files.
#pragma once

#include "os/files/command_files.hpp"
#include "studies/sweep/exploration.hpp"

namespace heddle::studies::sweep {

// The exploration itself, the machine files, energy tables and launch files of its points, and what these files name.
void add_inputs(os::CommandFiles& files, const Exploration& exploration);

}  // namespace heddle::studies::sweep
