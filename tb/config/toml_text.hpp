// TOML texts as machine files and launch files share them: parsed safely whatever the text holds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "base/error.hpp"
#include "base/parameter.hpp"

namespace heddle::tb {

// toml++ makes a table per part of a dotted key and walks and frees tables recursively, so that the depth of a text has
// to be bounded before it is parsed. No file needs more than a few.
inline constexpr std::size_t kMostKeyParts = 32;  // a.b.c has three
inline constexpr std::size_t kMostBrackets = 32;  // [ and { within each other

// Throws InputError (file:line:column) for a key or table header of more than kMostKeyParts parts, for deeper brackets
// than kMostBrackets, and for everything that is no TOML (then with `hint`).
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& file, const std::string& hint = {});

// A table's entries as they stand in the file (toml++ sorts them by name), so that the first mistake is named first.
[[nodiscard]] std::vector<std::pair<const toml::key*, const toml::node*>> in_file_order(const toml::table& table);

// The value of a node; none for a table, an array, a date or a time.
[[nodiscard]] std::optional<ParameterValue> scalar_value(const toml::node& node);

// The comment behind the value that begins in this column (from 1) of a line, without its mark and the blanks around
// it; empty: there is none.
[[nodiscard]] std::string comment_behind(std::string_view line, std::size_t column);

// A user's words as a message repeats them: what is longer than 60 characters is cut there and ends in "...".
[[nodiscard]] std::string excerpt(std::string_view words);

}  // namespace heddle::tb
