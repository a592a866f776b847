// Where text goes whose writer knows of each line how long it is and which others are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_sink.hpp"

namespace heddle {

class LineSink : public ByteSink {
 public:
  // A line of a text: in a text, lines with the same number are the same bytes.
  class Line {
   public:
    static constexpr unsigned kSizeBits = 7;
    static constexpr std::size_t kLongest = (std::size_t{1} << kSizeBits) - 1;
    static constexpr unsigned kWhatBits = 64 - kSizeBits;

    constexpr Line() = default;
    // `what` is another one for each line of the text that is not the same, and has kWhatBits. `size` is that with the
    // line feed, 1 to kLongest; a longer line is told as several.
    constexpr Line(std::uint64_t what, std::size_t size) : number_(what << kSizeBits | size) {}
    [[nodiscard]] std::size_t size() const { return number_ & kLongest; }
    [[nodiscard]] std::uint64_t number() const { return number_; }

   private:
    std::uint64_t number_ = 0;
  };
  // False: write() does as well.
  [[nodiscard]] virtual bool wants_lines() const = 0;
  // The first so many bytes, which are the first so many lines; behind them are any others.
  struct Text {
    std::string bytes{};
    std::size_t size = 0;
    std::vector<Line> lines{};
    std::size_t lines_count = 0;
  };
  // As write(); leaves an empty text, with room as one has had that was taken before.
  virtual void take_lines(Text& text) = 0;
};

}  // namespace heddle
