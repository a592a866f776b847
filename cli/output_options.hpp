// Options that name a file to write.
#pragma once

#include <initializer_list>
#include <string>

#include "cli/command.hpp"
#include "os/files/command_files.hpp"

namespace heddle::cli {

// Adds the files that these options name, as far as they are given, to the files of the command.
void add_outputs(os::CommandFiles& files, const Arguments& arguments, std::initializer_list<const char*> options);

// Throws InputError when an option that is given names a regular file without one of these endings. `what` is what it
// writes: "a page". Pipes and devices have any name.
void check_ending(const Arguments& arguments, const std::string& option, std::initializer_list<const char*> endings,
                  const char* what);

}  // namespace heddle::cli
