#include "hw/core/extension.hpp"

#include <algorithm>

namespace heddle::hw {

std::string CorePlace::text() const {
  std::string text = "core" + std::to_string(core) + "_" + socket;
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

}  // namespace heddle::hw
