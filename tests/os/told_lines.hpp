// A text with its lines, as who writes it tells them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/line_sink.hpp"

namespace heddle::test {

// Lines that are the same are told so, but for one in fifty; long ones are told in pieces, and a dump's times in two.
inline LineSink::Text with_lines(const std::string& text) {
  std::map<std::string, std::uint64_t> numbers;
  LineSink::Text out{text, text.size()};
  for (std::size_t at = 0; at != text.size();) {
    const std::size_t feed = std::min(text.find('\n', at), text.size() - 1);
    std::size_t size = std::min(feed + 1 - at, LineSink::Line::kLongest);
    if (text[at] == '#' && size > 2) {
      size -= 2;
    }
    const std::uint64_t what = numbers.try_emplace(text.substr(at, size), numbers.size()).first->second;
    const bool is_like_none = what % 50 == 49;
    out.lines.emplace_back(is_like_none ? (std::uint64_t{1} << 40U) + at : what, size);
    at += size;
  }
  out.lines_count = out.lines.size();
  return out;
}

}  // namespace heddle::test
