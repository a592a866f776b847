// The PTX in a program's fat binaries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/cudart/fat_binary.hpp"

namespace heddle::cudart {

struct DeviceCode {
  // PTX for one architecture: 90 for sm_90.
  struct Version {
    std::uint32_t architecture = 0;
    std::string ptx{};
  };
  std::vector<Version> versions{};  // one of each architecture, the oldest first
  bool relocatable = false;
  std::string refusal{};  // why there is none, for the user; empty: there is

  // The PTX that a GPU takes: of the newest architecture up to its own. Where all are newer, which a GPU refuses, that
  // of the oldest. Empty: there is none.
  [[nodiscard]] const std::string& ptx_for(std::uint32_t architecture) const;
};

// The PTX of the fat binary at `data`.
[[nodiscard]] DeviceCode device_code(const void* data);

// The architecture that a PTX text names as its target: 90 for sm_90; 0: it names none.
[[nodiscard]] std::uint32_t target_of(std::string_view ptx);

}  // namespace heddle::cudart
