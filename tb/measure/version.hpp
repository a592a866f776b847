#pragma once

#include <string_view>

namespace heddle::tb {

// "0.1.0", as CMakeLists.txt says.
[[nodiscard]] std::string_view version();

}  // namespace heddle::tb
