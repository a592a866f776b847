// The tokens of C++ source text, as far as passes over the text need them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace heddle::cuda {

struct SourceToken {
  enum class Kind { word, number, text, character, mark };  // text: between double quotes, with them and their prefix
  Kind kind = Kind::mark;                                   // mark: one character of punctuation
  std::size_t begin = 0, end = 0;                           // in the source
  std::size_t line = 0;  // logical: lines that end in a backslash count as one, as do lines within a comment or a text
  bool directive = false;  // of a preprocessor's line
};

// Comments and white space are left out. A quote that does not end on its line ends there.
[[nodiscard]] std::vector<SourceToken> source_tokens(std::string_view text);

}  // namespace heddle::cuda
