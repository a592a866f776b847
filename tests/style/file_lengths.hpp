// How long source files may be: 600 lines at most, and more than 500 only where the file says why it stays whole.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::test {

// What is wrong with the source files below a folder, one line each, by name: C++, CUDA, CMake, scripts, JavaScript. A
// file of more than 500 lines has a comment among its first 12 that begins with "Long: " and goes on with the reason; a
// shorter file has none. Looks at the files that git knows where `root` is a git work tree; else at all files but
// those in hidden folders and in build/. Throws std::filesystem::filesystem_error where `root` cannot be read.
[[nodiscard]] std::vector<std::string> length_faults(const std::filesystem::path& root);

}  // namespace heddle::test
