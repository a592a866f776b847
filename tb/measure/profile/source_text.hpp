// The text of the source files that line tables name, for showing it beside the machine code.
#pragma once

#include <optional>
#include <string>

namespace heddle::tb {

// The file as a line table names it: a source of this program's own workloads and device headers, which it holds, or a
// file on disk. Nothing when it cannot be read, is no text in UTF-8, or is larger than 4 MiB.
[[nodiscard]] std::optional<std::string> source_text(const std::string& name);

}  // namespace heddle::tb
