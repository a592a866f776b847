#include "ptx/parse/constant.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <string>
#include <system_error>

namespace heddle::ptx {

namespace {

constexpr unsigned kExpressionDepth = 64;

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

Constant integer(std::uint64_t value, bool is_unsigned) {
  return {Constant::Kind::integer, value, is_unsigned};
}
Constant truth(bool value) {
  return integer(value ? 1 : 0, false);
}
Constant real(double value) {
  return {Constant::Kind::f64, bits_of(value), false};
}

struct BinaryOperator {
  std::string_view text;
  unsigned precedence;
  bool reals;  // defined for floats, too
};
constexpr std::array<BinaryOperator, 18> kBinary{{{"||", 1, false},
                                                  {"&&", 2, false},
                                                  {"|", 3, false},
                                                  {"^", 4, false},
                                                  {"&", 5, false},
                                                  {"==", 6, true},
                                                  {"!=", 6, true},
                                                  {"<", 7, true},
                                                  {"<=", 7, true},
                                                  {">", 7, true},
                                                  {">=", 7, true},
                                                  {"<<", 8, false},
                                                  {">>", 8, false},
                                                  {"+", 9, true},
                                                  {"-", 9, true},
                                                  {"*", 10, true},
                                                  {"/", 10, true},
                                                  {"%", 10, false}}};

class Evaluator {
 public:
  explicit Evaluator(TokenStream& in) : in_(in) {}

  Constant conditional() {
    const Nesting nesting(depth_, kExpressionDepth, in_, "constant expressions");
    const Constant condition = binary(1);
    if (!in_.at("?")) {
      return condition;
    }
    const Token question = in_.take();
    if (condition.is_real()) {
      in_.fail(question, "the condition of '?' is a floating-point number", "compare it with 0.0");
    }
    const bool yes = condition.bits != 0;
    const Constant first = arm(yes);
    in_.expect(":", "between the two values of '?'");
    const Constant second = arm(!yes);
    Constant chosen = yes ? first : second;
    if (!first.is_real() && !second.is_real()) {
      chosen.is_unsigned = first.is_unsigned || second.is_unsigned;
    }
    return chosen;
  }

 private:
  Constant unary() {
    const Nesting nesting(depth_, kExpressionDepth, in_, "constant expressions");
    const Token op = in_.current();
    if (in_.accept("+")) {
      return unary();
    }
    if (in_.accept("-")) {
      Constant value = unary();
      if (value.kind == Constant::Kind::f32) {
        value.bits ^= 0x8000'0000U;
      } else if (value.kind == Constant::Kind::f64) {
        value.bits ^= std::uint64_t{1} << 63U;
      } else {
        value.bits = 0 - value.bits;
      }
      return value;
    }
    if (in_.at("!") || in_.at("~")) {
      in_.take();
      const Constant value = unary();
      if (value.is_real()) {
        in_.fail(op, fmt::format("{} needs an integer", op.describe()), "floating-point constants know + - * / only");
      }
      return op.text == "!" ? truth(value.bits == 0) : integer(~value.bits, value.is_unsigned);
    }
    return primary();
  }

  // The value that '?', '&&' and '||' do not choose may divide by zero.
  Constant arm(bool chosen) {
    dead_ += chosen ? 0 : 1;
    const Constant value = conditional();
    dead_ -= chosen ? 0 : 1;
    return value;
  }

  const BinaryOperator* operator_here() {
    // "10%3"; "%r3" stays a name, so that a missing comma before it reads as one.
    const Token& token = in_.current();
    if (token.kind == Token::Kind::identifier && token.text.front() == '%' &&
        ((token.text[1] >= '0' && token.text[1] <= '9') || token.text == "%WARP_SZ")) {
      in_.split_percent();
    }
    if (in_.current().kind == Token::Kind::punctuation) {
      for (const auto& op : kBinary) {
        if (op.text == in_.current().text) {
          return &op;
        }
      }
    }
    return nullptr;
  }

  Constant binary(unsigned lowest) {
    Constant left = unary();
    for (const BinaryOperator* op = operator_here(); op != nullptr && op->precedence >= lowest; op = operator_here()) {
      const Token token = in_.take();
      const bool short_cut = (op->text == "&&" && left.bits == 0) || (op->text == "||" && left.bits != 0);
      dead_ += short_cut ? 1 : 0;
      const Constant right = binary(op->precedence + 1);
      dead_ -= short_cut ? 1 : 0;
      if (left.is_real() || right.is_real()) {
        if (!op->reals) {
          in_.fail(token, fmt::format("'{}' needs integers on both sides", op->text),
                   "floating-point constants know + - * / and comparisons only");
        }
        left = reals(op->text, left.real(), right.real());
      } else {
        left = integers(token, left, right);
      }
    }
    return left;
  }

  static Constant reals(std::string_view op, double a, double b) {
    if (op == "==") return truth(a == b);
    if (op == "!=") return truth(a != b);
    if (op == "<") return truth(a < b);
    if (op == "<=") return truth(a <= b);
    if (op == ">") return truth(a > b);
    if (op == ">=") return truth(a >= b);
    if (op == "+") return real(a + b);
    if (op == "-") return real(a - b);
    if (op == "*") return real(a * b);
    return real(a / b);
  }

  Constant integers(const Token& token, const Constant& left, const Constant& right) {
    const std::string_view op = token.text;
    const std::uint64_t a = left.bits, b = right.bits;
    const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
    const bool u = left.is_unsigned || right.is_unsigned;
    if (op == "||") return truth(a != 0 || b != 0);
    if (op == "&&") return truth(a != 0 && b != 0);
    if (op == "|") return integer(a | b, u);
    if (op == "^") return integer(a ^ b, u);
    if (op == "&") return integer(a & b, u);
    if (op == "==") return truth(a == b);
    if (op == "!=") return truth(a != b);
    if (op == "<") return truth(u ? a < b : sa < sb);
    if (op == "<=") return truth(u ? a <= b : sa <= sb);
    if (op == ">") return truth(u ? a > b : sa > sb);
    if (op == ">=") return truth(u ? a >= b : sa >= sb);
    if (op == "<<") return integer(b > 63 ? 0 : a << b, left.is_unsigned);
    if (op == ">>") {
      if (left.is_unsigned) return integer(b > 63 ? 0 : a >> b, true);
      return integer(static_cast<std::uint64_t>(sa >> (b > 63 ? 63 : b)), false);
    }
    if (op == "+") return integer(a + b, u);
    if (op == "-") return integer(a - b, u);
    if (op == "*") return integer(a * b, u);
    if (b == 0) {
      if (dead_ == 0) {
        in_.fail(token, "division by zero in a constant expression");
      }
      return integer(0, u);
    }
    if (op == "/") {
      if (u) return integer(a / b, true);
      return integer(sb == -1 ? 0 - a : static_cast<std::uint64_t>(sa / sb), false);
    }
    if (u) return integer(a % b, true);
    return integer(sb == -1 ? 0 : static_cast<std::uint64_t>(sa % sb), false);
  }

  Constant primary() {
    const Token token = in_.current();
    if (in_.accept("(")) {
      if (in_.at_dotted("s64") || in_.at_dotted("u64")) {
        const bool to_unsigned = in_.take().text == "u64";
        in_.expect(")", "after the type of a cast");
        const Constant value = unary();
        if (value.is_real()) {
          in_.fail(token, "casts take integers only", "write the integer");
        }
        return integer(value.bits, to_unsigned);
      }
      const Constant value = conditional();
      in_.expect(")", "at the end of the expression in parentheses");
      return value;
    }
    if (token.kind == Token::Kind::integer) {
      in_.take();
      return literal(token);
    }
    if (token.kind == Token::Kind::real) {
      in_.take();
      return real_literal(token);
    }
    if (token.is(Token::Kind::identifier, "WARP_SZ")) {
      in_.take();
      return integer(32, false);
    }
    if (token.kind == Token::Kind::dotted && token.text.front() >= '0' && token.text.front() <= '9') {
      in_.fail(token, fmt::format("{} is not a number", token.describe()), "write a digit before the decimal point");
    }
    in_.fail_expected("a constant");
  }

  Constant literal(const Token& token) {
    std::string_view digits = token.text;
    const bool suffix = digits.back() == 'U';
    if (suffix) {
      digits.remove_suffix(1);
    }
    int base = 10;
    if (digits.size() > 1 && digits.front() == '0') {
      const char second = digits[1];
      base = (second == 'x' || second == 'X') ? 16 : (second == 'b' || second == 'B') ? 2 : 8;
      digits.remove_prefix(base == 8 ? 1 : 2);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error == std::errc::result_out_of_range) {
      in_.fail(token, fmt::format("{} does not fit 64 bits", token.describe()));
    }
    if (end != digits.data() + digits.size()) {
      in_.fail(token, fmt::format("{} is not an octal number", token.describe()),
               "a leading 0 makes a number octal; remove it");
    }
    return integer(value, suffix || (value >> 63U) != 0);
  }

  Constant real_literal(const Token& token) {
    const std::string_view text = token.text;
    if (text.size() > 2 && text.front() == '0' && text[1] != '.' && (text[1] < '0' || text[1] > '9') &&
        text[1] != 'e' && text[1] != 'E') {
      std::uint64_t bits = 0;
      std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
      const bool single = text[1] == 'f' || text[1] == 'F';
      return {single ? Constant::Kind::f32 : Constant::Kind::f64, bits, false};
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
      in_.fail(token, fmt::format("{} is out of .f64's range", token.describe()), "write its bits as 0d and 16 digits");
    }
    return real(value);
  }

  TokenStream& in_;
  unsigned depth_ = 0;
  unsigned dead_ = 0;
};

}  // namespace

double Constant::real() const {
  switch (kind) {
    case Kind::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Kind::f64:
      return std::bit_cast<double>(bits);
    case Kind::integer:
      break;
  }
  return is_unsigned ? static_cast<double>(bits) : static_cast<double>(static_cast<std::int64_t>(bits));
}

bool at_constant(const TokenStream& in) {
  const Token& token = in.current();
  switch (token.kind) {
    case Token::Kind::integer:
    case Token::Kind::real:
      return true;
    case Token::Kind::identifier:
      return token.text == "WARP_SZ";
    case Token::Kind::punctuation:
      return token.text == "+" || token.text == "-" || token.text == "~" || token.text == "(" || token.text == "!";
    case Token::Kind::dotted:
      return token.text.front() >= '0' && token.text.front() <= '9';
    case Token::Kind::string:
    case Token::Kind::end:
      break;
  }
  return false;
}

Constant parse_constant(TokenStream& in) {
  return Evaluator(in).conditional();
}

std::uint64_t parse_number(TokenStream& in, std::string_view what, std::uint64_t low, std::uint64_t high) {
  const Token token = in.current();
  if (!at_constant(in)) {
    in.fail_expected(what);
  }
  const Constant value = parse_constant(in);
  if (value.is_real()) {
    in.fail(token, fmt::format("{} must be an integer", what));
  }
  const bool negative = !value.is_unsigned && (value.bits >> 63U) != 0;
  if (negative || value.bits < low || value.bits > high) {
    in.fail(token,
            fmt::format("{} is {}, outside {} to {}", what,
                        negative ? std::to_string(static_cast<std::int64_t>(value.bits)) : std::to_string(value.bits),
                        low, high));
  }
  return value.bits;
}

std::int64_t parse_offset(TokenStream& in) {
  const Token token = in.current();
  if (!at_constant(in)) {
    in.fail_expected("an integer offset");
  }
  const Constant value = parse_constant(in);
  if (value.is_real()) {
    in.fail(token, "an offset must be an integer");
  }
  return static_cast<std::int64_t>(value.bits);
}

}  // namespace heddle::ptx
