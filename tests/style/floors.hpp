// The include arrows of a source tree against the order that it declares.
//
// Layers: the table of docs/architecture.md below "Layers", one row each: folder, what it holds, what it uses. A layer
// has the name of its folder ("device" of tb/device). The table agrees with the libraries' heddle_layer(NAME USES ...)
// in CMakeLists.txt, or, for a program, with what its own CMakeLists.txt links. A file includes files of its own layer
// and of layers that its layer uses, directly or through others. A layer that does not use SystemC so includes none of
// SystemC.
//
// Floors of hw/: the table below "Floors of hw/", bottom up: folders, what they hold, whether they use SystemC. A file
// includes files of its own folder and of floors below. Where the third column begins with "no", and in files that it
// names in `...`, SystemC is not reached by way of our other headers either.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::test {

// What does not keep to it, one line each: FILE:LINE, from where, to where. Also: a folder of hw/ that is on no floor,
// a floor's folder without files, an include of a file that does not exist or belongs to no layer, and tables that
// cannot be read. Empty: all is well. Throws std::filesystem::filesystem_error where `root` cannot be read.
[[nodiscard]] std::vector<std::string> include_faults(const std::filesystem::path& root);

}  // namespace heddle::test
