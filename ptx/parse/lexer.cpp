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
  while (place_.pos < text_.size()) {
    const char c = text_[place_.pos];
    if (c == '\n') {
      ++place_.pos;
      ++place_.line;
      place_.line_start = place_.pos;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++place_.pos;
    } else if (c == '/' && at(place_.pos + 1) == '/') {
      while (place_.pos < text_.size() && text_[place_.pos] != '\n') {
        ++place_.pos;
      }
    } else if (c == '/' && at(place_.pos + 1) == '*') {
      const auto line = place_.line;
      const auto column_of_it = column();
      const std::size_t close = text_.find("*/", place_.pos + 2);
      if (close == std::string_view::npos) {
        fail(line, column_of_it, "this comment is never closed", "end it with */");
      }
      for (; place_.pos < close + 2; ++place_.pos) {
        if (text_[place_.pos] == '\n') {
          ++place_.line;
          place_.line_start = place_.pos + 1;
        }
      }
    } else {
      return;
    }
  }
}

Token Lexer::make(Token::Kind kind, std::size_t length) {
  Token token{kind, text_.substr(place_.pos, length), place_.line, column(), false};
  place_.pos += length;
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
    fail(place_.line, column(), fmt::format("'{}' is not a number", text_.substr(place_.pos, length)),
         std::string(what));
  };
  const char second = at(place_.pos + 1);
  if (at(place_.pos) == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    const std::size_t digits = (second == 'f' || second == 'F') ? 8 : 16;
    const std::size_t length = word_length(place_.pos);
    bool good = length == digits + 2;
    for (std::size_t i = 2; good && i < length; ++i) {
      good = is_hex(text_[place_.pos + i]);
    }
    if (!good) {
      malformed(length, "write 0f and 8 hexadecimal digits for .f32 bits, 0d and 16 for .f64 bits");
    }
    return make(Token::Kind::real, length);
  }
  std::size_t length = 0;
  Token::Kind kind = Token::Kind::integer;
  if (at(place_.pos) == '0' && (second == 'x' || second == 'X')) {
    length = 2;
    while (is_hex(at(place_.pos + length))) {
      ++length;
    }
    if (length == 2) {
      malformed(word_length(place_.pos), "hexadecimal digits must follow 0x");
    }
  } else if (at(place_.pos) == '0' && (second == 'b' || second == 'B')) {
    length = 2;
    while (at(place_.pos + length) == '0' || at(place_.pos + length) == '1') {
      ++length;
    }
    if (length == 2) {
      malformed(word_length(place_.pos), "binary digits must follow 0b");
    }
  } else {
    const auto digits = [&] {
      while (is_digit(at(place_.pos + length))) {
        ++length;
      }
    };
    digits();
    // "1.5", "1." but not "1.x".
    if (at(place_.pos + length) == '.' &&
        (is_digit(at(place_.pos + length + 1)) || !is_word(at(place_.pos + length + 1)) ||
         at(place_.pos + length + 1) == 'e' || at(place_.pos + length + 1) == 'E')) {
      kind = Token::Kind::real;
      ++length;
      digits();
    }
    const char e = at(place_.pos + length);
    if (e == 'e' || e == 'E') {
      const char sign = at(place_.pos + length + 1);
      const std::size_t skip = (sign == '+' || sign == '-') ? 2 : 1;
      if (!is_digit(at(place_.pos + length + skip))) {
        malformed(length + skip, "digits must follow the exponent's e");
      }
      kind = Token::Kind::real;
      length += skip;
      digits();
    }
  }
  if (kind == Token::Kind::integer && at(place_.pos + length) == 'U') {
    ++length;
  }
  if (is_word(at(place_.pos + length))) {
    malformed(length + word_length(place_.pos + length), "separate the number from what follows it");
  }
  return make(kind, length);
}

Token Lexer::string() {
  std::size_t length = 1;
  for (char c = at(place_.pos + length); c != '"'; c = at(place_.pos + length)) {
    if (place_.pos + length >= text_.size() || c == '\n') {
      fail(place_.line, column(), "this string is never closed", "end it with \" on the same line");
    }
    length += (c == '\\' && place_.pos + length + 1 < text_.size() && text_[place_.pos + length + 1] != '\n') ? 2 : 1;
  }
  Token token = make(Token::Kind::string, length + 1);
  token.text = token.text.substr(1, length - 1);
  return token;
}

Token Lexer::next() {
  const std::size_t before = place_.pos;
  skip_blanks();
  const bool adjacent = place_.pos == before && place_.pos != 0;
  Token token;
  if (place_.pos >= text_.size()) {
    token = make(Token::Kind::end, 0);
  } else {
    const char c = text_[place_.pos];
    if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_word(at(place_.pos + 1)))) {
      token = make(Token::Kind::identifier, 1 + word_length(place_.pos + 1));
      if (token.text == "$") {
        fail(token.line, token.column, "'$' alone is no name", "letters, digits, _ or $ must follow it");
      }
    } else if (is_digit(c)) {
      token = number();
    } else if (c == '"') {
      token = string();
    } else if (c == '.' && is_word(at(place_.pos + 1))) {
      std::size_t length = 1 + word_length(place_.pos + 1);
      while (at(place_.pos + length) == ':' && at(place_.pos + length + 1) == ':' &&
             is_word(at(place_.pos + length + 2))) {
        length += 2 + word_length(place_.pos + length + 2);
      }
      token = make(Token::Kind::dotted, length);
      token.text.remove_prefix(1);
    } else {
      std::size_t length = 0;
      for (const auto op : kLongOperators) {
        if (text_.substr(place_.pos, 2) == op) {
          length = 2;
        }
      }
      if (length == 0 && c != '\0' && kOperators.find(c) != std::string_view::npos) {
        length = 1;
      }
      if (length == 0) {
        if (c == '#') {
          fail(place_.line, column(), "'#' begins a preprocessor line, which is not supported",
               "preprocess the text first (cpp -P)");
        }
        if (c == '.') {
          fail(place_.line, column(), "a name must follow '.'", "directives and modifiers look like .global, .u32");
        }
        if (c > ' ' && c <= '~') {
          fail(place_.line, column(), fmt::format("'{}' is not a part of PTX", c), "remove it");
        }
        fail(place_.line, column(),
             fmt::format("the byte 0x{:02X} is not a part of PTX", static_cast<unsigned char>(c)),
             "PTX is ASCII text; other bytes may stand in comments only");
      }
      token = make(Token::Kind::punctuation, length);
    }
  }
  token.adjacent = adjacent;
  return token;
}

void Lexer::split(const Token& token) {
  // Tokens hold no newline, so place_.line and place_.line_start stay.
  place_.pos = static_cast<std::size_t>(token.text.data() - text_.data()) + 1;
  place_.line = token.line;
  place_.line_start = place_.pos - token.column;
}

}  // namespace heddle::ptx
