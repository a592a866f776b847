// The PTX in a program's fat binaries.
#pragma once

#include <string>

#include "cuda/cudart/fat_binary.hpp"

namespace heddle::cudart {

struct DeviceCode {
  std::string ptx;
  bool relocatable = false;
  std::string refusal;  // why there is none, for the user; empty: there is
};

// The PTX of the fat binary at `data`: of the newest architecture of several.
[[nodiscard]] DeviceCode device_code(const void* data);

}  // namespace heddle::cudart
