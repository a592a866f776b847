// The modifiers of one PTX instruction, read strictly from left to right: what a handler does not ask for is refused.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "ptx/ast.hpp"
#include "ptx/lower/types.hpp"

namespace heddle::ptx {

class Modifiers {
 public:
  // file names the text in messages; statement outlives this object.
  Modifiers(const std::string& file, const Statement& statement) : file_(file), statement_(statement) {}

  [[nodiscard]] bool more() const { return next_ < statement_.modifiers.size(); }
  // The next modifier, or empty at the end.
  [[nodiscard]] std::string_view peek() const {
    return more() ? std::string_view(statement_.modifiers[next_]) : std::string_view();
  }
  // Takes the next modifier if it is this one.
  bool accept(std::string_view word);
  // Takes the next modifier if it is in the list; its value, or nothing.
  template <class T>
  std::optional<T> choose(std::initializer_list<std::pair<std::string_view, T>> choices) {
    for (const auto& [word, value] : choices) {
      if (accept(word)) return value;
    }
    return std::nullopt;
  }
  // As choose, but one of the words must be there; `what` names it in the message ("a rounding mode").
  template <class T>
  T require(std::string_view what, std::initializer_list<std::pair<std::string_view, T>> choices) {
    if (const auto found = choose(choices)) return *found;
    std::string hint = "write one of";
    for (const auto& choice : choices) hint.append(" .").append(choice.first);
    missing(what, hint);
  }
  // The next modifier must be this one.
  void expect(std::string_view word);
  // The next modifier must be a type, and one of these.
  Type type(std::initializer_list<Type> allowed);
  // Nothing may be left.
  void finish() const;

  // .rn .rz .rm .rp
  std::optional<isa::Rounding> rounding();
  // .cta .cluster .gpu .gl .sys, and nothing else
  bool scope();

  [[noreturn]] void refuse(const std::string& message, const std::string& hint) const;

 private:
  [[noreturn]] void missing(std::string_view what, const std::string& hint) const;

  const std::string& file_;
  const Statement& statement_;
  std::size_t next_ = 0;
};

}  // namespace heddle::ptx
