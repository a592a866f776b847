#include "ptx/parse/source_place.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

namespace heddle::ptx {

namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// The number in front of the text, which is shortened by it.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  text = trimmed(text);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// What follows a directive that stands at the beginning of the line or behind others (".visible .entry").
std::optional<std::string_view> behind(std::string_view line, std::string_view directive) {
  const std::size_t at = line.find(directive);
  const std::size_t end = at + directive.size();
  if (at == std::string_view::npos || end >= line.size() || kBlanks.find(line[end]) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view before = trimmed(line.substr(0, at));
  return before.empty() || before.front() == '.' ? std::optional(trimmed(line.substr(end))) : std::nullopt;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

class Reader {
 public:
  void read(std::string_view line, bool before) {
    line = trimmed(line);
    if (auto file = behind(line, ".file")) {
      const auto number = take_number(*file);
      const std::size_t open = file->find('"');
      const std::size_t close = open == std::string_view::npos ? open : file->find('"', open + 1);
      if (number && close != std::string_view::npos) files_[*number] = file->substr(open + 1, close - open - 1);
    }
    if (!before) return;
    if (auto place = behind(line, ".loc")) {
      const auto file = take_number(*place);
      const auto number = take_number(*place);
      if (file && number) {
        file_ = *file;
        line_ = *number;
      }
    } else if (const auto entry = behind(line, ".entry")) {
      enter(*entry);
    } else if (auto function = behind(line, ".func")) {
      if (function->starts_with('('))
        function = trimmed(function->substr(std::min(function->find(')'), function->size() - 1) + 1));
      enter(*function);
    }
  }

  [[nodiscard]] std::string text() const {
    const auto file = files_.find(file_);
    if (line_ == 0 || file == files_.end()) return "";
    return fmt::format("{}:{}, in {}", file->second, line_, demangled(function_));
  }

 private:
  void enter(std::string_view rest) {
    function_ = rest.substr(0, rest.find_first_of(" \t\r({;"));
    file_ = line_ = 0;
  }

  std::map<std::uint32_t, std::string_view> files_;
  std::uint32_t file_ = 0, line_ = 0;
  std::string function_;
};

}  // namespace

std::string source_place(std::string_view text, std::uint32_t line) {
  Reader reader;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end), number <= line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.text();
}

}  // namespace heddle::ptx
