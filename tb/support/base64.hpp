// Bytes as text (RFC 4648, section 4), for pictures within JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heddle::tb {

[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace heddle::tb
