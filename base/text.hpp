// Text for terminals: numbers as people read them, and aligned tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

[[nodiscard]] std::string grouped(std::uint64_t number);                         // "12,345,678"
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);  // "1 block", "2 blocks"
[[nodiscard]] std::string percent(double share);                                 // "62.3 %"
[[nodiscard]] std::string scaled(double number);                 // three digits and a prefix: "1.23 M", "640 k", "12.0"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);       // "12.3 MiB"
[[nodiscard]] std::string bar(double share, std::size_t width);  // "#####-----"

// Words wrapped at `width` columns, following lines indented by `indent`.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// The columns that a UTF-8 text takes on a terminal, one per code point.
[[nodiscard]] std::size_t columns(std::string_view text);

class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;  // may hold '\n': several header lines
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row);  // as many cells as columns
  [[nodiscard]] std::string text() const;  // header, rule, rows; no trailing blanks

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A Markdown table; '|' inside cells is escaped.
[[nodiscard]] std::string markdown_table(const std::vector<std::string>& titles,
                                         const std::vector<std::vector<std::string>>& rows);

}  // namespace heddle
