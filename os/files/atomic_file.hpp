// Output files that are whole or absent.
#pragma once

#include <string>
#include <string_view>

namespace heddle::os {

// Writes a file as an OutputFile does (output_file.hpp). Throws InputError naming the path when the folder or file
// cannot be written; then the old file, if any, is still there and no temporary one is left.
void write_file(const std::string& path, std::string_view contents);

// Throws InputError as write_file() would where it is certain to fail, so that a long run need not come first. Leaves
// nothing behind.
void check_writable(const std::string& path);

// Makes a folder and its parents. Throws InputError.
void make_folder(const std::string& path);

}  // namespace heddle::os
