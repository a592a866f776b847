// Where text goes whose writer knows of each line how long it is and which others it may be like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_sink.hpp"

namespace heddle {

class LineSink : public ByteSink {
 public:
  struct Line {
    std::uint16_t size;  // with its line feed, not 0
    std::uint16_t hash;  // lines that are the same have the same one
  };
  // False: write() does as well.
  [[nodiscard]] virtual bool wants_lines() const = 0;
  struct Text {
    std::string bytes{};  // the first `size`, of whole lines; behind them any others
    std::size_t size = 0;
    std::vector<Line> lines{};
  };
  // As write(); leaves an empty text, with room as one has had that was taken before.
  virtual void take_lines(Text& text) = 0;
};

}  // namespace heddle
