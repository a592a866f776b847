// The demonstration as a self-contained HTML page.
#pragma once

#include <string>

#include "studies/demo/demo.hpp"

namespace heddle::studies {

[[nodiscard]] std::string demo_page(const DemoResult& result);

}  // namespace heddle::studies
