// Functional-unit use in the classes of the LWM report's figure 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::pages {

struct FuClass {
  std::string label;      // "0", "1-8", "32"
  std::size_t first = 0;  // functional units active, from
  std::size_t last = 0;   // to, inclusive
  std::uint64_t cycles = 0;
};

// `fu_active_cycles` has SIMD width + 1 entries. At 32 lanes the classes are the report's: 0, 1-8, 9-16, 17-24, 25-31,
// 32. Other widths: none, four quarters (the last without the full width), full; empty classes are left out.
[[nodiscard]] std::vector<FuClass> fu_classes(const std::vector<std::uint64_t>& fu_active_cycles);

}  // namespace heddle::pages
