#include "ptx/parse/rotates.hpp"

#include <span>
#include <string_view>

namespace heddle::ptx {

namespace {

constexpr std::size_t kLength = 4;  // statements of a rotate

bool is_plain(const Statement& statement, std::string_view opcode, std::string_view type, std::size_t operands) {
  return statement.kind == Statement::Kind::instruction && !statement.guarded && statement.opcode == opcode &&
         statement.modifiers.size() == 1 && statement.modifiers[0] == type && statement.operands.size() == operands;
}

bool is_register(const Operand& operand, RegisterId reg) {
  return operand.kind == Operand::Kind::reg && operand.reg == reg;
}

class Matcher {
 public:
  explicit Matcher(const Function& function) : function_(function) {}

  [[nodiscard]] bool rotates(std::span<const Statement, kLength> code) const {
    const bool left = is_plain(code[0], "shl", "b64", 3);
    if (!left && !is_plain(code[0], "shr", "b64", 3)) return false;
    if (!is_plain(code[1], "sub", "u32", 3) || !is_plain(code[2], left ? "shr" : "shl", "b64", 3) ||
        !is_plain(code[3], "add", "u64", 3)) {
      return false;
    }
    const Operand &low = code[0].operands[0], &value = code[0].operands[1], &amount = code[0].operands[2];
    const Operand &rest = code[1].operands[0], &width = code[1].operands[1], &high = code[2].operands[0];
    return is_called(low, "%lhs") && is_called(high, "%rhs") && is_called(rest, "%amt2") &&
           value.kind == Operand::Kind::reg && amount.kind == Operand::Kind::reg &&
           width.kind == Operand::Kind::integer && width.integer == 64 &&
           is_register(code[1].operands[2], amount.reg) && is_register(code[2].operands[1], value.reg) &&
           is_register(code[2].operands[2], rest.reg) && is_register(code[3].operands[1], low.reg) &&
           is_register(code[3].operands[2], high.reg);
  }

 private:
  // In a scope of its own: the parser has made the name unique ("%lhs$2").
  [[nodiscard]] bool is_called(const Operand& operand, std::string_view name) const {
    if (operand.kind != Operand::Kind::reg) return false;
    const std::string_view own = function_.registers[operand.reg].name;
    return own.substr(0, own.find('$')) == name;
  }

  const Function& function_;
};

// and.b32 %amt2, amount, 63; and %amt2 takes the amount's place.
Statement reduce_amount(std::span<Statement, kLength> code) {
  Statement reduce = code[1];
  Operand modulus;
  modulus.kind = Operand::Kind::integer;
  modulus.integer = 63;
  modulus.at = code[0].operands[2].at;
  reduce.at = code[0].at;
  reduce.opcode = "and";
  reduce.modifiers = {"b32"};
  reduce.operands = {code[1].operands[0], code[0].operands[2], modulus};
  code[0].operands[2] = code[1].operands[2] = code[1].operands[0];
  return reduce;
}

}  // namespace

std::vector<Position> mend_rotates(File& file) {
  std::vector<Position> found;
  for (Function& function : file.functions) {
    const Matcher matcher(function);
    std::vector<Statement>& body = function.body;
    const std::size_t before = found.size();
    std::vector<Statement> mended;
    std::size_t copied = 0;
    for (std::size_t i = 0; i + kLength <= body.size(); ++i) {
      if (!matcher.rotates(std::span(body).subspan(i).first<kLength>())) continue;
      mended.insert(mended.end(), std::make_move_iterator(body.begin() + static_cast<std::ptrdiff_t>(copied)),
                    std::make_move_iterator(body.begin() + static_cast<std::ptrdiff_t>(i)));
      copied = i;
      found.push_back(body[i].at);
      mended.push_back(reduce_amount(std::span(body).subspan(i).first<kLength>()));
    }
    if (found.size() == before) continue;
    mended.insert(mended.end(), std::make_move_iterator(body.begin() + static_cast<std::ptrdiff_t>(copied)),
                  std::make_move_iterator(body.end()));
    body = std::move(mended);
  }
  return found;
}

}  // namespace heddle::ptx
