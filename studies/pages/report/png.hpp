// Pixels as a PNG file (ISO/IEC 15948), for pictures within pages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::pages {

// Red, green and blue of each pixel, row by row from the top; both sides at least 1. Throws InternalError when there
// are not as many bytes.
[[nodiscard]] std::vector<std::uint8_t> png(unsigned width, unsigned height, std::span<const std::uint8_t> rgb);

}  // namespace heddle::pages
