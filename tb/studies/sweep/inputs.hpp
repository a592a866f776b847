// The files that a sweep reads, said to what checks a command's files.
#pragma once

#include "tb/studies/sweep/exploration.hpp"
#include "tb/support/files/command_files.hpp"

namespace heddle::tb::sweep {

// The exploration itself, the machine files, energy tables and launch files of its points, and what those name.
void add_inputs(CommandFiles& files, const Exploration& exploration);

}  // namespace heddle::tb::sweep
