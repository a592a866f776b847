// Bytes as text (RFC 4648, section 4), for pictures within JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);
// The bytes again; nothing when the text is not what base64() makes.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace heddle
