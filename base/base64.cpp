#include "base/base64.hpp"

#include <algorithm>

namespace heddle {
namespace {
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64(std::span<const std::uint8_t> bytes) {
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

std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  std::vector<std::uint8_t> out;
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i != text.size(); i += 4) {
    const std::string_view four = text.substr(i, 4);
    const std::size_t letters = i + 4 == text.size() ? std::min(four.find('='), four.size()) : four.size();
    if (letters < 2 || four.substr(letters) != std::string_view("==").substr(0, 4 - letters)) {
      return std::nullopt;
    }
    std::uint32_t bits = 0;
    for (std::size_t letter = 0; letter != 4; ++letter) {
      const std::size_t value = letter < letters ? kLetters.find(four[letter]) : 0;
      if (value == std::string_view::npos) {
        return std::nullopt;
      }
      bits = bits << 6U | static_cast<std::uint32_t>(value);
    }
    for (std::size_t byte = 0; byte + 1 < letters; ++byte) {
      out.push_back(static_cast<std::uint8_t>(bits >> (16U - 8U * byte)));
    }
  }
  return base64(out) == text ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace heddle
