// Files that a user names as input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace heddle {

// Why there is nothing to read at `path`, in words ("No such file or directory", "it is a pipe"); none when a regular
// file is there that opens. Anything else than a regular file might never begin, or never end.
[[nodiscard]] std::optional<std::string> unreadable_reason(const std::string& path);

// The file's whole text. Throws InputError (at {path}; `what` names the file, as in "the launch file cannot be read: it
// is a pipe") when it cannot be read and when it is larger than `most` bytes.
[[nodiscard]] std::string read_input_file(const std::string& path, std::size_t most, const std::string& what = "file");

}  // namespace heddle
