// Files that the build puts into this library (cmake/HeddlePage.cmake): the scripts and styles of studies/pages/page,
// by their names there, and "vega.js", the charting library Vega as one script that defines the global `vega`.
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.hpp"

namespace heddle::pages {

[[nodiscard]] std::span<const EmbeddedFile> page_files();

// The text of one of the files. Throws InternalError for another name.
[[nodiscard]] std::string_view page_file(std::string_view name);

}  // namespace heddle::pages
