#include "ptx/parse/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.hpp"

namespace heddle::ptx {

namespace {

// <cctype> depends on the locale and is undefined for negative chars.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

constexpr std::array<std::string_view, 8> kLongOperators{"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
constexpr std::string_view kOperators = "()[]{},;:@!~+-*/%&|^<>=?";

}  // namespace

std::string Token::describe() const {
  // Long and binary texts would make the message unreadable.
  std::string shown;
  for (const char c : text.substr(0, 40)) {
    shown += (c >= ' ' && c <= '~') ? c : '?';
  }
  if (text.size() > 40) {
    shown += "...";
  }
  switch (kind) {
    case Kind::end:
      return "the end of the file";
    case Kind::dotted:
      return "'." + shown + "'";
    case Kind::string:
      return "the string \"" + shown + "\"";
    case Kind::integer:
    case Kind::real:
      return "the number " + shown;
    case Kind::identifier:
    case Kind::punctuation:
      break;
  }
  return "'" + shown + "'";
}

void Lexer::fail(std::uint32_t line, std::uint32_t column, std::string message, std::string hint) const {
  throw InputError({file_, line, column}, std::move(message), std::move(hint));
}

void Lexer::skip_blanks() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '\n') {
      ++pos_;
      ++line_;
      line_start_ = pos_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++pos_;
    } else if (c == '/' && at(pos_ + 1) == '/') {
      while (pos_ < text_.size() && text_[pos_] != '\n') {
        ++pos_;
      }
    } else if (c == '/' && at(pos_ + 1) == '*') {
      const auto line = line_;
      const auto column_of_it = column();
      const std::size_t close = text_.find("*/", pos_ + 2);
      if (close == std::string_view::npos) {
        fail(line, column_of_it, "this comment is never closed", "end it with */");
      }
      for (; pos_ < close + 2; ++pos_) {
        if (text_[pos_] == '\n') {
          ++line_;
          line_start_ = pos_ + 1;
        }
      }
    } else {
      return;
    }
  }
}

Token Lexer::make(Token::Kind kind, std::size_t length) {
  Token token{kind, text_.substr(pos_, length), line_, column(), false};
  pos_ += length;
  return token;
}

std::size_t Lexer::word_length(std::size_t from) const {
  std::size_t end = from;
  while (end < text_.size() && is_word(text_[end])) {
    ++end;
  }
  return end - from;
}

Token Lexer::number() {
  const auto malformed = [&](std::size_t length, std::string_view what) {
    fail(line_, column(), fmt::format("'{}' is not a number", text_.substr(pos_, length)), std::string(what));
  };
  const char second = at(pos_ + 1);
  if (at(pos_) == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    const std::size_t digits = (second == 'f' || second == 'F') ? 8 : 16;
    const std::size_t length = word_length(pos_);
    bool good = length == digits + 2;
    for (std::size_t i = 2; good && i < length; ++i) {
      good = is_hex(text_[pos_ + i]);
    }
    if (!good) {
      malformed(length, "write 0f and 8 hexadecimal digits for .f32 bits, 0d and 16 for .f64 bits");
    }
    return make(Token::Kind::real, length);
  }
  std::size_t length = 0;
  Token::Kind kind = Token::Kind::integer;
  if (at(pos_) == '0' && (second == 'x' || second == 'X')) {
    length = 2;
    while (is_hex(at(pos_ + length))) {
      ++length;
    }
    if (length == 2) {
      malformed(word_length(pos_), "hexadecimal digits must follow 0x");
    }
  } else if (at(pos_) == '0' && (second == 'b' || second == 'B')) {
    length = 2;
    while (at(pos_ + length) == '0' || at(pos_ + length) == '1') {
      ++length;
    }
    if (length == 2) {
      malformed(word_length(pos_), "binary digits must follow 0b");
    }
  } else {
    const auto digits = [&] {
      while (is_digit(at(pos_ + length))) {
        ++length;
      }
    };
    digits();
    // "1.5", "1." but not "1.x".
    if (at(pos_ + length) == '.' && (is_digit(at(pos_ + length + 1)) || !is_word(at(pos_ + length + 1)) ||
                                     at(pos_ + length + 1) == 'e' || at(pos_ + length + 1) == 'E')) {
      kind = Token::Kind::real;
      ++length;
      digits();
    }
    const char e = at(pos_ + length);
    if (e == 'e' || e == 'E') {
      const char sign = at(pos_ + length + 1);
      const std::size_t skip = (sign == '+' || sign == '-') ? 2 : 1;
      if (!is_digit(at(pos_ + length + skip))) {
        malformed(length + skip, "digits must follow the exponent's e");
      }
      kind = Token::Kind::real;
      length += skip;
      digits();
    }
  }
  if (kind == Token::Kind::integer && at(pos_ + length) == 'U') {
    ++length;
  }
  if (is_word(at(pos_ + length))) {
    malformed(length + word_length(pos_ + length), "separate the number from what follows it");
  }
  return make(kind, length);
}

Token Lexer::string() {
  std::size_t length = 1;
  for (char c = at(pos_ + length); c != '"'; c = at(pos_ + length)) {
    if (pos_ + length >= text_.size() || c == '\n') {
      fail(line_, column(), "this string is never closed", "end it with \" on the same line");
    }
    length += (c == '\\' && pos_ + length + 1 < text_.size() && text_[pos_ + length + 1] != '\n') ? 2 : 1;
  }
  Token token = make(Token::Kind::string, length + 1);
  token.text = token.text.substr(1, length - 1);
  return token;
}

Token Lexer::next() {
  const std::size_t before = pos_;
  skip_blanks();
  const bool adjacent = pos_ == before && pos_ != 0;
  Token token;
  if (pos_ >= text_.size()) {
    token = make(Token::Kind::end, 0);
  } else {
    const char c = text_[pos_];
    if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_word(at(pos_ + 1)))) {
      token = make(Token::Kind::identifier, 1 + word_length(pos_ + 1));
      if (token.text == "$") {
        fail(token.line, token.column, "'$' alone is no name", "letters, digits, _ or $ must follow it");
      }
    } else if (is_digit(c)) {
      token = number();
    } else if (c == '"') {
      token = string();
    } else if (c == '.' && is_word(at(pos_ + 1))) {
      std::size_t length = 1 + word_length(pos_ + 1);
      while (at(pos_ + length) == ':' && at(pos_ + length + 1) == ':' && is_word(at(pos_ + length + 2))) {
        length += 2 + word_length(pos_ + length + 2);
      }
      token = make(Token::Kind::dotted, length);
      token.text.remove_prefix(1);
    } else {
      std::size_t length = 0;
      for (const auto op : kLongOperators) {
        if (text_.substr(pos_, 2) == op) {
          length = 2;
        }
      }
      if (length == 0 && c != '\0' && kOperators.find(c) != std::string_view::npos) {
        length = 1;
      }
      if (length == 0) {
        if (c == '#') {
          fail(line_, column(), "'#' begins a preprocessor line, which is not supported",
               "preprocess the text first (cpp -P)");
        }
        if (c == '.') {
          fail(line_, column(), "a name must follow '.'", "directives and modifiers look like .global, .u32");
        }
        if (c > ' ' && c <= '~') {
          fail(line_, column(), fmt::format("'{}' is not a part of PTX", c), "remove it");
        }
        fail(line_, column(), fmt::format("the byte 0x{:02X} is not a part of PTX", static_cast<unsigned char>(c)),
             "PTX is ASCII text; other bytes may stand in comments only");
      }
      token = make(Token::Kind::punctuation, length);
    }
  }
  token.adjacent = adjacent;
  return token;
}

void Lexer::split(const Token& token) {
  // Tokens hold no newline, so line_ and line_start_ stay.
  pos_ = static_cast<std::size_t>(token.text.data() - text_.data()) + 1;
  line_ = token.line;
  line_start_ = pos_ - token.column;
}

}  // namespace heddle::ptx
