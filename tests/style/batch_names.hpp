// Names that a first build's batches (cmake/HeddleFirstBuild.cmake) would bring together: what two files of one library
// or test program both declare in an unnamed namespace. Which files share a batch changes with every file that is
// added, so none may clash with any other. Builds without batches do not notice.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::test {

// One line for each such name among the .cpp files below a folder (`deep`) or in it: "FOLDER: NAME in FILE and FILE".
// Functions clash that take the same types; other names always. Reads lines, not C++: a declaration counts that begins
// at the first column of an unnamed namespace that does.
[[nodiscard]] std::vector<std::string> batch_clashes(const std::filesystem::path& root, const std::string& folder,
                                                     bool deep);

}  // namespace heddle::test
