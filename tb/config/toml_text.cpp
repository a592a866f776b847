#include "tb/config/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::tb {
namespace {

bool continues_character(char byte) {  // of UTF-8
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

// Walks over a text far enough to tell dots and brackets from dots and brackets in strings and comments.
class DepthCheck {
 public:
  DepthCheck(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      step(c);
      ++at_;
    }
  }

 private:
  void step(char c) {
    switch (c) {
      case '.':
        if (++dots_ >= kMostKeyParts) {
          refuse(fmt::format("a key or a table's name has more than {} parts", kMostKeyParts),
                 "name a section and a key: section.key");
        }
        break;
      case '[':
      case '{':
        dots_ = 0;
        if (++brackets_ > kMostBrackets) {
          refuse(fmt::format("more than {} brackets within each other", kMostBrackets), "close some of them");
        }
        break;
      case ']':
      case '}':
        dots_ = 0;
        brackets_ -= brackets_ == 0 ? 0 : 1;  // one too many is refused by the parser
        break;
      case '\n':
      case '=':
      case ',':
        dots_ = 0;
        break;
      default:
        break;
    }
  }

  // Behind the string that begins here. One of a single line ends with it at the latest: the parser refuses it there.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool lines = text_.substr(at_, 3) == three;
    at_ += lines ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (lines && text_.substr(at_, 3) == three) {
        at_ += 3;
        for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) {
          ++at_;  // up to two quotes may stand before the closing three
        }
        return;
      } else if (!lines && (c == quote || c == '\n')) {
        at_ += c == quote ? 1 : 0;
        return;
      } else {
        ++at_;
      }
    }
  }

  [[noreturn]] void refuse(const std::string& message, const std::string& hint) const {
    SourceLocation where{file_, 1, 1};
    for (const char c : text_.substr(0, at_)) {
      if (c == '\n') {
        ++where.line;
        where.column = 1;
      } else {
        where.column += continues_character(c) ? 0 : 1;
      }
    }
    throw InputError(where, message, hint);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t dots_ = 0;      // of the key that is being passed
  std::size_t brackets_ = 0;  // open ones
};

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& file, const std::string& hint) {
  DepthCheck(text, file).run();
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw InputError({file, at.line, at.column}, std::string(error.description()), hint);
  }
}

std::vector<std::pair<const toml::key*, const toml::node*>> in_file_order(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (auto entry = table.begin(); entry != table.end(); ++entry) {
    entries.emplace_back(&entry->first, &entry->second);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first->source().begin < b.first->source().begin; });
  return entries;
}

std::optional<ParameterValue> scalar_value(const toml::node& node) {
  if (const auto* value = node.as_boolean()) {
    return value->get();
  }
  if (const auto* value = node.as_integer()) {
    return value->get();
  }
  if (const auto* value = node.as_floating_point()) {
    return value->get();
  }
  if (const auto* value = node.as_string()) {
    return value->get();
  }
  return std::nullopt;
}

std::string excerpt(std::string_view words) {
  constexpr std::size_t kShown = 60;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!continues_character(words[i]) && ++characters > kShown) {
      return std::string(words.substr(0, i)) + "...";
    }
  }
  return std::string(words);
}

std::string comment_behind(std::string_view line, std::size_t column) {
  char quote = '\0';  // of the string that the place lies in
  for (std::size_t at = column == 0 ? 0 : column - 1; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == '"' && c == '\\') {
      ++at;
    } else if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      const std::size_t begin = line.find_first_not_of("# \t", at);
      const std::size_t end = line.find_last_not_of(" \t\r");
      return begin == std::string_view::npos ? std::string() : std::string(line.substr(begin, end - begin + 1));
    }
  }
  return {};
}

}  // namespace heddle::tb
