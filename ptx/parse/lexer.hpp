// Splits PTX text into tokens (PTX ISA chapter 4: identifiers, literals, comments).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    identifier,   // names of registers, symbols, labels, opcodes; also "_"
    dotted,       // ".global", ".L2::128B": text holds what follows the dot
    integer,      // text as written
    real,         // decimal, 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX; text as written
    string,       // text without the quotes
    punctuation,  // one operator or bracket
    end
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint32_t line = 1, column = 1;
  bool adjacent = false;  // no white space or comment before it

  [[nodiscard]] bool is(Kind k, std::string_view t) const { return kind == k && text == t; }
  [[nodiscard]] bool punctuation(std::string_view t) const { return is(Kind::punctuation, t); }
  [[nodiscard]] bool dotted(std::string_view t) const { return is(Kind::dotted, t); }
  // For messages: "';'", "'.global'", "the number 12", "the end of the file".
  [[nodiscard]] std::string describe() const;
};

class Lexer {
 public:
  // Both must outlive the lexer and its tokens.
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  // Throws InputError for bytes that begin no token, malformed numbers, unclosed strings and comments.
  Token next();

  // Goes back to just behind the first character of `token`, the latest one given out: "%3" in "10%3" is a modulus.
  void split(const Token& token);

  [[nodiscard]] const std::string& file() const { return file_; }

  // Where it is, to go back there.
  struct Place {
    std::size_t pos = 0, line_start = 0;
    std::uint32_t line = 1;
  };
  [[nodiscard]] const Place& place() const { return place_; }
  void go_back(const Place& place) { place_ = place; }

 private:
  void skip_blanks();
  Token make(Token::Kind kind, std::size_t length);
  Token number();
  Token string();
  [[nodiscard]] std::size_t word_length(std::size_t from) const;
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  [[nodiscard]] std::uint32_t column() const { return static_cast<std::uint32_t>(place_.pos - place_.line_start + 1); }
  [[noreturn]] void fail(std::uint32_t line, std::uint32_t column, std::string message, std::string hint) const;

  std::string_view text_;
  const std::string& file_;
  Place place_;
};

}  // namespace heddle::ptx
