// Options that name a file to write.
#pragma once

#include <initializer_list>

#include "tb/measure/command_files.hpp"
#include "tb/program/command.hpp"

namespace heddle::program {

// Adds the files that these options name, as far as they are given, to those of the command.
void add_outputs(tb::CommandFiles& files, const Arguments& arguments, std::initializer_list<const char*> options);

}  // namespace heddle::program
