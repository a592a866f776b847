#include "studies/sweep/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "tb/config/toml_text.hpp"

namespace heddle::studies::sweep {
namespace {

constexpr std::size_t kDeepest = 100;  // parentheses and signs within each other
constexpr std::size_t kLongest = 10000;

std::string_view type_of(const Scalar& value) {
  constexpr std::string_view kTypes[] = {"a boolean", "a number", "a string"};
  return kTypes[value.index()];
}

bool name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool name_part(char c) {
  return name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
}

}  // namespace

// Recursive descent, one function per level of binding; every node carries the type of its value as an example of it.
class ExpressionParser {
 public:
  using Operator = Expression::Operator;
  using Node = Expression::Node;

  ExpressionParser(std::string_view text, SourceLocation where, const Expression::Names& names)
      : text_(text), where_(std::move(where)), names_(names) {}

  Expression run() {
    if (text_.size() > kLongest) {
      throw InputError(where_, fmt::format("a constraint has more than {} characters", kLongest));
    }
    out_.text_ = text_;
    const Part whole = either();
    skip();
    if (at_ < text_.size()) {
      throw InputError(here(), fmt::format("'{}' is not expected here", tb::excerpt(text_.substr(at_, 1))),
                       "operators: || && == != < <= > >= + - * / % ! ( )");
    }
    want<bool>(whole, "a constraint is true or false");
    return std::move(out_);
  }

 private:
  struct Part {
    std::size_t node = 0;
    Scalar type;  // an example
    SourceLocation where;
  };

  [[nodiscard]] SourceLocation here() const {
    SourceLocation place = where_;
    place.column += place.column == 0 ? 0 : static_cast<unsigned>(at_);
    return place;
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
  }

  bool take(std::string_view symbol) {
    skip();
    if (text_.substr(at_, symbol.size()) != symbol) {
      return false;
    }
    at_ += symbol.size();
    return true;
  }

  template <class Type>
  void want(const Part& part, std::string_view what) const {
    if (!std::holds_alternative<Type>(part.type)) {
      throw InputError(part.where, fmt::format("this is {}, but {}", type_of(part.type), what));
    }
  }

  Part add(Operator kind, const Part& left, const Part& right, Scalar type, const SourceLocation& where) {
    out_.nodes_.push_back({kind, left.node, right.node, {}, where});
    return {out_.nodes_.size() - 1, std::move(type), left.where};
  }

  Part leaf(Operator kind, Scalar value, Scalar type, const SourceLocation& where) {
    out_.nodes_.push_back({kind, 0, 0, std::move(value), where});
    return {out_.nodes_.size() - 1, std::move(type), where};
  }

  Part either() {
    return logic("||", Operator::either, [this] { return both(); });
  }
  Part both() {
    return logic("&&", Operator::both, [this] { return comparison(); });
  }

  template <class Next>
  Part logic(std::string_view symbol, Operator kind, const Next& next) {
    Part left = next();
    for (;;) {
      skip();
      const SourceLocation where = here();
      if (!take(symbol)) {
        return left;
      }
      const Part right = next();
      const std::string what = fmt::format("{} joins booleans", symbol);
      want<bool>(left, what);
      want<bool>(right, what);
      left = add(kind, left, right, false, where);
    }
  }

  Part comparison() {
    Part left = sum();
    skip();
    const SourceLocation where = here();
    const auto kind = comparison_sign();
    if (!kind) {
      return left;
    }
    const Part right = sum();
    if (left.type.index() != right.type.index()) {
      throw InputError(where, fmt::format("{} is compared with {}", type_of(left.type), type_of(right.type)));
    }
    if (std::holds_alternative<bool>(left.type) && *kind != Operator::equal && *kind != Operator::not_equal) {
      throw InputError(where, "booleans have no order", "use == or !=");
    }
    skip();
    const SourceLocation next = here();
    if (comparison_sign()) {
      throw InputError(next, "comparisons are not chained", "join two of them with &&");
    }
    return add(*kind, left, right, false, where);
  }

  std::optional<Operator> comparison_sign() {
    constexpr std::pair<std::string_view, Operator> kSigns[] = {
        {"==", Operator::equal}, {"!=", Operator::not_equal},        {"<=", Operator::less_or_equal},
        {"<", Operator::less},   {">=", Operator::greater_or_equal}, {">", Operator::greater}};
    for (const auto& [sign, kind] : kSigns) {
      if (take(sign)) {
        return kind;
      }
    }
    skip();
    if (at_ < text_.size() && text_[at_] == '=') {
      throw InputError(here(), "'=' compares nothing", "write ==");
    }
    return std::nullopt;
  }

  Part sum() {
    return chain({{"+", Operator::add}, {"-", Operator::subtract}}, [this] { return product(); });
  }
  Part product() {
    return chain({{"*", Operator::multiply}, {"/", Operator::divide}, {"%", Operator::remainder}},
                 [this] { return sign(); });
  }

  template <class Next>
  Part chain(std::initializer_list<std::pair<std::string_view, Operator>> operators, const Next& next) {
    Part left = next();
    for (;;) {
      skip();
      const SourceLocation where = here();
      const auto found =
          std::find_if(operators.begin(), operators.end(), [&](const auto& one) { return take(one.first); });
      if (found == operators.end()) {
        return left;
      }
      const Part right = next();
      const std::string what = fmt::format("'{}' joins numbers", found->first);
      want<double>(left, what);
      want<double>(right, what);
      left = add(found->second, left, right, 0.0, where);
    }
  }

  Part sign() {
    skip();
    const SourceLocation where = here();
    const bool negates = at_ < text_.size() && text_[at_] == '-';
    const bool inverts = at_ < text_.size() && text_[at_] == '!' && text_.substr(at_, 2) != "!=";
    if (!negates && !inverts) {
      return operand();
    }
    ++at_;
    const Depth depth(*this);
    Part part = sign();
    if (negates) {
      want<double>(part, "'-' stands before numbers");
    } else {
      want<bool>(part, "'!' stands before booleans");
    }
    Scalar type = part.type;
    return add(negates ? Operator::negate : Operator::invert, part, part, std::move(type), where);
  }

  Part operand() {
    skip();
    const SourceLocation where = here();
    if (at_ >= text_.size()) {
      throw InputError(where, "the constraint ends where a value is expected");
    }
    const char c = text_[at_];
    if (take("(")) {
      const Depth depth(*this);
      Part inner = either();
      if (!take(")")) {
        throw InputError(here(), "a ')' is missing");
      }
      return inner;
    }
    if (c == '"' || c == '\'') {
      const std::size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) {
        throw InputError(where, "a string has no end");
      }
      std::string value(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return leaf(Operator::constant, std::move(value), std::string(), where);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
      double number = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (error != std::errc()) {
        throw InputError(where, "this is no number");
      }
      at_ = static_cast<std::size_t>(end - text_.data());
      return leaf(Operator::constant, number, 0.0, where);
    }
    if (name_start(c)) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && name_part(text_[at_])) {
        ++at_;
      }
      return named(std::string(text_.substr(begin, at_ - begin)), where);
    }
    throw InputError(where, fmt::format("'{}' is no value", tb::excerpt(text_.substr(at_, 1))),
                     "values are numbers, \"strings\", true, false and names");
  }

  Part named(std::string name, const SourceLocation& where) {
    if (name == "true" || name == "false") {
      return leaf(Operator::constant, name == "true", false, where);
    }
    Scalar type = names_(name, where);
    if (std::find(out_.names_.begin(), out_.names_.end(), name) == out_.names_.end()) {
      out_.names_.push_back(name);
    }
    return leaf(Operator::name, std::move(name), std::move(type), where);
  }

  class Depth {
   public:
    explicit Depth(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepest) {
        throw InputError(parser_.here(), fmt::format("more than {} levels within each other", kDeepest));
      }
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    ExpressionParser& parser_;
  };

  std::string_view text_;
  SourceLocation where_;
  const Expression::Names& names_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  Expression out_;
};

Expression Expression::parse(std::string_view text, const SourceLocation& where, const Names& names) {
  return ExpressionParser(text, where, names).run();
}

bool Expression::holds(const Lookup& lookup) const {
  return std::get<bool>(value(nodes_.size() - 1, lookup));
}

Scalar Expression::value(std::size_t index, const Lookup& lookup) const {
  const Node& node = nodes_[index];
  const auto truth = [&](std::size_t operand) { return std::get<bool>(value(operand, lookup)); };
  const auto number = [&](std::size_t operand) { return std::get<double>(value(operand, lookup)); };
  const auto divisor = [&] {
    const double found = number(node.right);
    if (found == 0) {
      throw InputError(node.where, "a division by zero in the constraint " + text_);
    }
    return found;
  };
  switch (node.kind) {
    case Operator::constant:
      return node.value;
    case Operator::name:
      return lookup(std::get<std::string>(node.value));
    case Operator::negate:
      return -number(node.left);
    case Operator::invert:
      return !truth(node.left);
    case Operator::multiply:
      return number(node.left) * number(node.right);
    case Operator::divide:
      return number(node.left) / divisor();
    case Operator::remainder:
      return std::fmod(number(node.left), divisor());
    case Operator::add:
      return number(node.left) + number(node.right);
    case Operator::subtract:
      return number(node.left) - number(node.right);
    case Operator::both:
      return truth(node.left) && truth(node.right);
    case Operator::either:
      return truth(node.left) || truth(node.right);
    default:
      break;
  }
  const Scalar left = value(node.left, lookup);
  const Scalar right = value(node.right, lookup);
  switch (node.kind) {
    case Operator::equal:
      return left == right;
    case Operator::not_equal:
      return left != right;
    case Operator::less:
      return left < right;
    case Operator::less_or_equal:
      return left <= right;
    case Operator::greater:
      return left > right;
    default:
      return left >= right;
  }
}

}  // namespace heddle::studies::sweep
