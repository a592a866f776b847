// Where text goes whose writer knows of each line how long it is and which others it may be like.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

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
  // As write(), of whole lines.
  virtual void write_lines(std::string_view text, std::span<const Line> lines) = 0;
};

}  // namespace heddle
