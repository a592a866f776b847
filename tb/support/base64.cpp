#include "tb/support/base64.hpp"

#include <algorithm>
#include <string_view>

namespace heddle::tb {

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t part = 0; part != 3; ++part) {
      bits = bits << 8U | (part < count ? bytes[i + part] : 0U);
    }
    for (unsigned letter = 0; letter != 4; ++letter) {
      out += letter <= count ? kLetters[bits >> (18U - 6U * letter) & 63U] : '=';
    }
  }
  return out;
}

}  // namespace heddle::tb
