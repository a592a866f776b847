// Finding machine files by name (see find_config in config.hpp).
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace heddle::tb {

// The folders that hold machines, first one first; folders that do not exist are left out.
[[nodiscard]] std::vector<std::string> config_folders();

// Whether the words of a user mean a path rather than a name.
[[nodiscard]] bool is_config_path(const std::string& name_or_path);

// Like find_config; `from_folder` resolves relative paths and is searched first for names, `where` is blamed.
[[nodiscard]] std::string find_config_from(const std::string& name_or_path, const std::string& from_folder,
                                           const SourceLocation& where);

// A whole text file of reasonable size. Throws InputError (missing, a folder, too large).
[[nodiscard]] std::string read_config_text(const std::string& path);

}  // namespace heddle::tb
