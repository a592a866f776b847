#pragma once

#include <string_view>

namespace heddle::tb {

// As CMakeLists.txt says (project(heddle VERSION ...)).
[[nodiscard]] std::string_view version();

}  // namespace heddle::tb
