#include "ptx/parse/stream.hpp"

#include <fmt/format.h>

#include <utility>

namespace heddle::ptx {

const Token& TokenStream::ahead() {
  if (!has_ahead_) {
    ahead_ = lexer_.next();
    has_ahead_ = true;
  }
  return ahead_;
}

Token TokenStream::take() {
  const Token taken = current_;
  if (has_ahead_) {
    current_ = ahead_;
    has_ahead_ = false;
  } else {
    current_ = lexer_.next();
  }
  return taken;
}

void TokenStream::go_back(const Mark& mark) {
  lexer_.go_back(mark.lexer);
  current_ = mark.current;
  has_ahead_ = false;
  source_file = mark.source_file;
  source_line = mark.source_line;
}

bool TokenStream::accept(std::string_view punctuation) {
  const bool yes = at(punctuation);
  if (yes) {
    take();
  }
  return yes;
}

bool TokenStream::accept_dotted(std::string_view text) {
  const bool yes = at_dotted(text);
  if (yes) {
    take();
  }
  return yes;
}

Token TokenStream::expect(std::string_view punctuation, std::string_view where) {
  if (!at(punctuation)) {
    fail(current_, fmt::format("expected '{}' {}, found {}", punctuation, where, current_.describe()));
  }
  return take();
}

Token TokenStream::expect_identifier(std::string_view what) {
  if (current_.kind != Token::Kind::identifier) {
    fail_expected(what);
  }
  return take();
}

void TokenStream::split_percent() {
  lexer_.split(current_);
  current_.kind = Token::Kind::punctuation;
  current_.text = current_.text.substr(0, 1);
  has_ahead_ = false;
}

void TokenStream::fail(const Token& at, std::string message, std::string hint) const {
  throw InputError({file(), at.line, at.column}, std::move(message), std::move(hint));
}

void TokenStream::fail(const Position& at, std::string message, std::string hint) const {
  throw InputError({file(), at.line, at.column}, std::move(message), std::move(hint));
}

void TokenStream::refuse(const Token& at, std::string message, std::string hint) const {
  throw NotSupported({file(), at.line, at.column}, std::move(message), std::move(hint));
}

void TokenStream::fail_expected(std::string_view what, std::string hint) const {
  fail(current_, fmt::format("expected {}, found {}", what, current_.describe()), std::move(hint));
}

Nesting::Nesting(unsigned& depth, unsigned limit, const TokenStream& in, std::string_view what) : depth_(depth) {
  if (depth >= limit) {
    in.fail(in.current(), fmt::format("{} nest deeper than {}", what, limit), "simplify this place");
  }
  ++depth_;
}

}  // namespace heddle::ptx
