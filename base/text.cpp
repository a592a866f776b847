#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"

namespace heddle {

std::string grouped(std::uint64_t number) {
  std::string out = fmt::format("{}", number);
  for (std::size_t at = out.size(); at > 3;) {
    at -= 3;
    out.insert(at, 1, ',');
  }
  return out;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string scaled(double number) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"", " k", " M", " G", " T"};
  std::size_t prefix = 0;
  while (std::abs(number) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    number /= 1000;
    ++prefix;
  }
  const double size = std::abs(number);
  const int decimals = size >= 99.95 ? 0 : (size >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f}{}", number, decimals, kPrefixes[prefix]);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= 1024 && unit + 1 < kUnits.size()) {
    number /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", number, kUnits[unit]);
}

std::string bar(double share, std::size_t width) {
  const double clamped = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width)));
  return std::string(full, '#') + std::string(width - full, '-');
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) {
      continue;
    }
    const std::size_t length = columns(word);
    if (used != 0 && used + 1 + length > width) {
      out += '\n';
      out.append(indent, ' ');
      used = 0;
    } else if (used != 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += length;
  }
  return out;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U;  // counts all but continuation bytes
  }));
}

void TextTable::add(std::vector<std::string> row) {
  if (row.size() != columns_.size()) {
    throw InternalError("a table's row has another number of cells than the table has columns");
  }
  rows_.push_back(std::move(row));
}

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  lines.push_back(text.substr(begin));
  return lines;
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  std::vector<std::vector<std::string>> header(columns_.size());
  std::size_t header_lines = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    header[i] = lines_of(columns_[i].title);
    header_lines = std::max(header_lines, header[i].size());
    for (const std::string& line : header[i]) {
      widths[i] = std::max(widths[i], heddle::columns(line));
    }
    for (const auto& row : rows_) {
      widths[i] = std::max(widths[i], heddle::columns(row[i]));
    }
  }
  std::string out;
  const auto add_line = [&](auto&& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string text = cell(i);
      const std::string padding(widths[i] - heddle::columns(text), ' ');
      line += i == 0 ? "" : "  ";
      line += columns_[i].align == Align::right ? padding + text : text + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  for (std::size_t line = 0; line < header_lines; ++line) {
    add_line([&](std::size_t i) -> std::string {  // headers stand on the rule
      const std::size_t above = header_lines - header[i].size();
      return line < above ? "" : header[i][line - above];
    });
  }
  add_line([&](std::size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) {
    add_line([&](std::size_t i) { return row[i]; });
  }
  return out;
}

std::string markdown_table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows) {
  std::string out;
  const auto add_row = [&](const std::vector<std::string>& cells) {
    out += '|';
    for (const std::string& cell : cells) {
      out += ' ';
      for (const char letter : cell) {
        out += letter == '|' ? std::string("\\|") : std::string(1, letter);
      }
      out += " |";
    }
    out += '\n';
  };
  add_row(titles);
  add_row(std::vector<std::string>(titles.size(), "---"));
  for (const auto& row : rows) {
    add_row(row);
  }
  return out;
}

}  // namespace heddle
