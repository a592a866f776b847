// The texts of many numbers, of which most have come before: making the digits of a double costs more than all else
// that is done to write it, and power over time of a machine that mostly waits has a few thousand values for half a
// million numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::tb {

// `Write`: char* (char* at, double number), which writes the text of a number, kLongest bytes at most, and returns its
// end.
template <class Write>
class NumberTexts {
 public:
  static constexpr std::size_t kLongest = 31;

  explicit NumberTexts(Write write) : write_(write) {}
  // Until the next call. What is behind it, up to kLongest bytes, may be read.
  [[nodiscard]] std::string_view of(double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    Text& text = texts_[(bits * 0x9E3779B97F4A7C15ULL) >> (64 - kBits)];
    if (text.size == 0 || text.of != bits) {
      text.of = bits;
      text.size = static_cast<std::uint8_t>(write_(text.text.data(), number) - text.text.data());
    }
    return {text.text.data(), text.size};
  }

 private:
  static constexpr unsigned kBits = 13;
  struct Text {
    std::uint64_t of = 0;
    std::array<char, kLongest> text;
    std::uint8_t size = 0;  // 0: none yet
  };
  Write write_;
  std::vector<Text> texts_ = std::vector<Text>(std::size_t{1} << kBits);
};

}  // namespace heddle::tb
