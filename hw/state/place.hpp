// Where a thread is executed: its place within a core.
#pragma once

#include <cstdint>

namespace heddle::hw {

// The register row, and the register lane (the bank) there.
struct Place {
  std::uint16_t row = 0;
  std::uint8_t lane = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

}  // namespace heddle::hw
