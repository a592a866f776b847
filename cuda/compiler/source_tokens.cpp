#include "cuda/compiler/source_tokens.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace heddle::cuda {
namespace {

using TokenKind = SourceToken::Kind;

bool begins_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || static_cast<signed char>(c) < 0;
}
bool continues_word(char c) {
  return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<SourceToken> scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        directive_ = false;
        fresh_ = true;
        ++line_;
        ++at_;
      } else if (const std::size_t spliced = splice(at_); spliced != 0) {
        at_ += spliced;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        line_comment();
      } else if (text_.substr(at_, 2) == "/*") {
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      } else {
        token(c);
      }
    }
    return std::move(tokens_);
  }

 private:
  // The length of a backslash and the line's end behind it; 0: neither.
  [[nodiscard]] std::size_t splice(std::size_t at) const {
    if (text_[at] != '\\') return 0;
    if (text_.substr(at + 1, 1) == "\n") return 2;
    return text_.substr(at + 1, 2) == "\r\n" ? 3 : 0;
  }

  void line_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += std::max<std::size_t>(splice(at_), 1);
  }

  void token(char c) {
    if (fresh_ && c == '#') directive_ = true;
    fresh_ = false;
    const std::size_t begin = at_;
    if (begins_word(c)) {
      while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
      const std::string_view word = text_.substr(begin, at_ - begin);
      const bool prefix = word == "L" || word == "u" || word == "U" || word == "u8";
      if (at_ < text_.size() && text_[at_] == '"' && !word.empty() && word.back() == 'R' &&
          (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
        raw_text();
        add(TokenKind::text, begin);
      } else if (at_ < text_.size() && prefix && (text_[at_] == '"' || text_[at_] == '\'')) {
        const TokenKind kind = text_[at_] == '"' ? TokenKind::text : TokenKind::character;
        quoted(text_[at_]);
        add(kind, begin);
      } else {
        add(TokenKind::word, begin);
      }
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
               (c == '.' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0)) {
      number();
      add(TokenKind::number, begin);
    } else if (c == '"' || c == '\'') {
      quoted(c);
      add(c == '"' ? TokenKind::text : TokenKind::character, begin);
    } else {
      ++at_;
      add(TokenKind::mark, begin);
    }
  }

  // With digits' separators (1'000) and signs of exponents.
  void number() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const char last = text_[at_ - 1];
      const bool sign = (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      const bool separator = c == '\'' && at_ + 1 < text_.size() && continues_word(text_[at_ + 1]);
      if (!continues_word(c) && c != '.' && !sign && !separator) break;
    }
  }

  void quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return;
      }
      if (text_[at_] == '\\') at_ += std::max<std::size_t>(splice(at_), 2) - 1;
    }
    at_ = std::min(at_, text_.size());
  }

  void raw_text() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
  }

  void add(TokenKind kind, std::size_t begin) { tokens_.push_back({kind, begin, at_, line_, directive_}); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  bool fresh_ = true;  // nothing but white space and comments on the line so far
  bool directive_ = false;
  std::vector<SourceToken> tokens_;
};

}  // namespace

std::vector<SourceToken> source_tokens(std::string_view text) {
  return Scanner(text).scan();
}

}  // namespace heddle::cuda
