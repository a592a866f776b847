// The files that go with this process, temporary ones and locks, where a signal's handler can find them.
#pragma once

#include <string>

namespace heddle::os {

// From now on, and no longer. What there is no room for is not noted.
void note_file(const std::string& path);
void forget_file(const std::string& path);

// Removes the noted files. Calls only what a signal's handler may.
void remove_noted_files();

}  // namespace heddle::os
