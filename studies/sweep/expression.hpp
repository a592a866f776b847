// Constraints between the axes of an exploration: small expressions over numbers, strings and booleans.
//
//   core.warp_size * two_level.fetch_group <= 1024 || core.scheduler != "two-level"
//
// From weakest to tightest: || ; && ; == != < <= > >= (not chained) ; + - ; * / % ; unary - and ! ; parentheses.
// Operands: numbers (64-bit floats), "strings" or 'strings', true, false, and names. Types are checked when the text is
// read: both sides of a comparison are of one type, and only numbers and strings (by bytes) have an order.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace heddle::studies::sweep {

using Scalar = std::variant<bool, double, std::string>;

class Expression {
 public:
  // The type of a name, by an example value of it; throws InputError at the place for a name that does not exist.
  using Names = std::function<Scalar(const std::string& name, const SourceLocation& where)>;
  // The value of a name.
  using Lookup = std::function<Scalar(const std::string& name)>;

  // `where` is the place of the text's first character. Throws InputError with the place of what is wrong.
  [[nodiscard]] static Expression parse(std::string_view text, const SourceLocation& where, const Names& names);

  // Throws InputError for a division by zero.
  [[nodiscard]] bool holds(const Lookup& lookup) const;

  [[nodiscard]] const std::string& text() const { return text_; }
  // Every name that occurs, once, in order.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  friend class ExpressionParser;
  enum class Operator {
    constant,
    name,
    negate,
    invert,
    multiply,
    divide,
    remainder,
    add,
    subtract,
    equal,
    not_equal,
    less,
    less_or_equal,
    greater,
    greater_or_equal,
    both,
    either
  };
  struct Node {
    Operator kind = Operator::constant;
    std::size_t left = 0;  // into nodes_
    std::size_t right = 0;
    Scalar value;  // of a constant; of a name, the name
    SourceLocation where;
  };
  [[nodiscard]] Scalar value(std::size_t node, const Lookup& lookup) const;

  std::string text_;
  std::vector<Node> nodes_;  // the last one is the whole
  std::vector<std::string> names_;
};

}  // namespace heddle::studies::sweep
