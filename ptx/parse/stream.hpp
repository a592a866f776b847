// The parser's view of the tokens: the current one, one to look ahead, and the ways to complain.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "ptx/ast.hpp"
#include "ptx/parse/lexer.hpp"
#include "ptx/refusal.hpp"

namespace heddle::ptx {

class TokenStream {
 public:
  TokenStream(std::string_view text, const std::string& file) : lexer_(text, file), current_(lexer_.next()) {}

  [[nodiscard]] const Token& current() const { return current_; }
  [[nodiscard]] const Token& ahead();  // the token after the current one
  Token take();                        // the current token; moves on

  [[nodiscard]] bool at(std::string_view punctuation) const { return current_.punctuation(punctuation); }
  [[nodiscard]] bool at_dotted(std::string_view text) const { return current_.dotted(text); }
  [[nodiscard]] bool at_end() const { return current_.kind == Token::Kind::end; }
  bool accept(std::string_view punctuation);
  bool accept_dotted(std::string_view text);
  // `where` continues the message: "expected ';' <where>, found ...".
  Token expect(std::string_view punctuation, std::string_view where);
  Token expect_identifier(std::string_view what);

  // A '%' directly before a word is lexed as a part of a name; this makes it the operator.
  void split_percent();

  [[nodiscard]] Position position(const Token& token) const {
    return {token.line, token.column, source_file, source_line};
  }
  [[nodiscard]] Position here() const { return position(current_); }
  // A place in the text, to go back to.
  struct Mark {
    Lexer::Place lexer;
    Token current;
    std::uint32_t source_file = 0, source_line = 0;
  };
  // Only where no token has been looked at ahead.
  [[nodiscard]] Mark mark() const { return {lexer_.place(), current_, source_file, source_line}; }
  void go_back(const Mark& mark);

  // The latest .loc, which positions carry along.
  std::uint32_t source_file = 0, source_line = 0;

  [[noreturn]] void fail(const Token& at, std::string message, std::string hint = {}) const;
  [[noreturn]] void fail(const Position& at, std::string message, std::string hint = {}) const;
  // As NotSupported.
  [[noreturn]] void refuse(const Token& at, std::string message, std::string hint = {}) const;
  [[noreturn]] void fail_expected(std::string_view what, std::string hint = {}) const;

  [[nodiscard]] const std::string& file() const { return lexer_.file(); }

 private:
  Lexer lexer_;
  Token current_;
  Token ahead_;
  bool has_ahead_ = false;
};

// Counts nesting; construction fails past the limit, which keeps the parser's own stack bounded.
class Nesting {
 public:
  Nesting(unsigned& depth, unsigned limit, const TokenStream& in, std::string_view what);
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  unsigned& depth_;
};

}  // namespace heddle::ptx
