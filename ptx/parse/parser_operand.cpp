// Operands of instructions (PTX ISA 6).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptx/parse/constant.hpp"
#include "ptx/parse/parser.hpp"
#include "ptx/parse/types.hpp"

namespace heddle::ptx {

namespace {

constexpr std::size_t kMaxElements = 1'024;  // of a list; calls have the longest

// Of a SIMD video instruction (PTX ISA, section 9.7.18.1): .b0 .b21 .b3210 .h0 .h10 ...
bool is_selector(std::string_view text) {
  return text.size() > 1 && (text[0] == 'b' || text[0] == 'h') &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '7'; });
}

}  // namespace

void Parser::undeclared(const Token& name) const {
  const bool is_register = name.text.front() == '%';
  const std::string message = fmt::format("{}{} is not declared", is_register ? "the register " : "", name.describe());
  // "%r13" beside ".reg .b32 %r<13>".
  for (const auto& family : families_) {
    const std::string_view number = name.text.substr(std::min(family.prefix.size(), name.text.size()));
    if (name.text.starts_with(family.prefix) && !number.empty() &&
        number.find_first_not_of("0123456789") == std::string_view::npos) {
      in_.fail(name, message,
               family.count == 0
                   ? fmt::format("{}<0> declares none", family.prefix)
                   : fmt::format("{0}<{1}> declares {0}0 to {0}{2}", family.prefix, family.count, family.count - 1));
    }
  }
  std::string near = symbols_.nearest(name.text);
  if (near.empty() && is_register) {
    near = nearest_special(name.text);
  }
  in_.fail(name, message,
           near.empty() ? (is_register ? "declare it with .reg" : "declare it before its use")
                        : fmt::format("did you mean '{}'?", near));
}

RegisterId Parser::predicate_register(std::string_view what) {
  const Token name = in_.expect_identifier(fmt::format("a predicate register as {}", what));
  const Symbol* symbol = symbols_.find(name.text);
  if (symbol == nullptr) {
    undeclared(name);
  }
  if (symbol->kind != Symbol::Kind::reg) {
    in_.fail(name,
             fmt::format("{} is {}, {} must be a predicate register", name.describe(), describe(symbol->kind), what),
             "name a .pred register");
  }
  if (type_of(symbol->index) != isa::Type::pred) {
    in_.fail(name,
             fmt::format("{} is a .{} register, {} must be a predicate", name.describe(),
                         isa::name_of(type_of(symbol->index)), what),
             "set a .pred register with setp");
  }
  return symbol->index;
}

void Parser::operands(Statement& statement) {
  if (in_.at(";")) {
    return;
  }
  do {
    if (statement.operands.size() >= kMaxElements) {
      in_.fail(in_.current(), fmt::format("more than {} operands", kMaxElements));
    }
    Operand next = operand(statement);
    statement.operands.push_back(std::move(next));
  } while (in_.accept(","));
}

Operand Parser::operand(const Statement& statement) {
  const Token token = in_.current();
  if (token.kind == Token::Kind::identifier && token.text != "WARP_SZ") {
    return name_operand(statement);
  }
  if (token.punctuation("[")) {
    return address_operand(statement);
  }
  if (token.punctuation("{")) {
    return list_operand(Operand::Kind::vector, "}");
  }
  if (token.punctuation("(") && statement.opcode == "call") {
    return list_operand(Operand::Kind::call_list, ")");
  }
  const bool name_follows = in_.ahead().kind == Token::Kind::identifier && in_.ahead().text != "WARP_SZ";
  if (token.punctuation("!") && name_follows) {
    return negated_predicate();
  }
  if ((token.punctuation("-") || token.punctuation("~")) && name_follows) {
    in_.fail(token, fmt::format("{} before {} is no operand", token.describe(), in_.ahead().describe()),
             "only constants have signs; use neg or not");
  }
  if (at_constant(in_)) {
    return constant_operand();
  }
  missing_operand(statement);
}

void Parser::missing_operand(const Statement& statement) const {
  const bool next_line = in_.current().line != statement.at.line;
  in_.fail_expected(
      statement.operands.empty() ? "an operand or ';'" : "an operand",
      next_line ? fmt::format("the instruction at line {} may need a ';' at its end", statement.at.line) : "");
}

Operand Parser::constant_operand() {
  Operand out;
  out.at = in_.here();
  const Constant value = parse_constant(in_);
  out.kind = value.is_real() ? Operand::Kind::real : Operand::Kind::integer;
  out.integer = value.bits;
  out.is_unsigned = value.is_unsigned;
  out.is_f32 = value.kind == Constant::Kind::f32;
  return out;
}

Operand Parser::negated_predicate() {
  Operand out;
  out.at = in_.here();
  in_.take();
  out.kind = Operand::Kind::predicate;
  out.negated = true;
  out.reg = predicate_register("the operand of '!'");
  return out;
}

// Names of labels, branch lists and prototypes may be declared later: pending until the scope closes.
Operand Parser::name_operand(const Statement& statement) {
  const Token name = in_.current();
  const bool branch = statement.opcode == "bra";
  if (branch || statement.opcode == "brx" || statement.opcode == "call") {
    const Symbol* symbol = symbols_.find(name.text);
    const bool bound_later = symbol == nullptr || symbol->kind == Symbol::Kind::label ||
                             symbol->kind == Symbol::Kind::branch_list || symbol->kind == Symbol::Kind::prototype;
    if (branch || (bound_later && name.text != "_" && !special_named(name.text))) {
      in_.take();
      Operand out;
      out.kind = Operand::Kind::label;
      out.at = in_.position(name);
      out.name = name.text;
      const auto wanted = branch ? Symbol::Kind::label
                                 : (statement.opcode == "brx" ? Symbol::Kind::branch_list : Symbol::Kind::prototype);
      pending_.back().push_back({wanted, name, fn_->body.size(), statement.operands.size(), false});
      return out;
    }
  }
  // "ret" without its ';' and "add.u32" on the next line.
  if (name.line != statement.at.line && name.text.front() != '%' && in_.ahead().kind == Token::Kind::dotted &&
      symbols_.find(name.text) == nullptr) {
    missing_operand(statement);
  }
  in_.take();
  Operand out = declared_operand(name);
  if (in_.at("|")) {
    pair_with_predicate(out);
  }
  return out;
}

void Parser::pair_with_predicate(Operand& first) {
  const Token bar = in_.take();
  if (first.kind != Operand::Kind::reg && first.kind != Operand::Kind::sink) {
    in_.fail(bar, "'|' joins two destinations, and this is no register", "write destination|predicate");
  }
  if (in_.current().is(Token::Kind::identifier, "_")) {
    in_.take();
    first.paired_sink = true;
  } else {
    first.paired_predicate = predicate_register("the second destination");
  }
}

Operand Parser::register_operand(const Token& name, const Symbol& symbol) {
  Operand out;
  out.at = in_.position(name);
  out.kind = Operand::Kind::reg;
  out.reg = symbol.index;
  if (symbol.kind != Symbol::Kind::vector_register) {
    if (in_.current().kind == Token::Kind::dotted) {
      if (is_selector(in_.current().text)) {
        in_.refuse(in_.current(), "selectors of bytes and halves are not supported",
                   "extract the part with bfe or prmt");
      }
      in_.fail(in_.current(), fmt::format("{} is no vector register", name.describe()), "remove the component");
    }
    return out;
  }
  if (const auto part = component(name, symbol)) {
    out.reg = *part;
    return out;
  }
  out.kind = Operand::Kind::vector;
  for (std::uint32_t i = 0; i < symbol.count; ++i) {
    Operand element;
    element.at = out.at;
    element.kind = Operand::Kind::reg;
    element.reg = symbol.index + i;
    out.elements.push_back(std::move(element));
  }
  return out;
}

void Parser::reserve_shared() {
  if (std::exchange(reserves_shared_, true)) {
    return;
  }
  VariableDecl reserved;
  reserved.name = kReservedShared;
  reserved.space = isa::Space::shared;
  reserved.count = kReservedBytes;
  reserved.alignment = 16;
  reserved.is_array = true;
  out_.variables.push_back(std::move(reserved));
}

// Of a name that is not declared.
Operand Parser::special_operand(const Token& name) {
  Operand out;
  out.at = in_.position(name);
  std::string special(name.text);
  Token part;
  if (is_vector_special(name.text)) {
    if (in_.current().kind != Token::Kind::dotted) {
      in_.fail(name, fmt::format("{} has three components", name.describe()),
               fmt::format("write {0}.x, {0}.y or {0}.z", name.text));
    }
    part = in_.take();
    special += "." + std::string(part.text);
  }
  if (const auto found = special_named(special)) {
    out.kind = Operand::Kind::special;
    out.special = *found;
    return out;
  }
  if (const auto value = special_constant(special)) {
    out.kind = Operand::Kind::integer;
    out.integer = *value;
    return out;
  }
  if (special != name.text) {
    in_.fail(part, fmt::format("{} has no component {}", name.describe(), part.describe()),
             "its components are .x .y .z");
  }
  if (const auto place = reserved_shared_named(name.text)) {
    reserve_shared();
    out.kind = Operand::Kind::symbol;
    out.name = kReservedShared;
    out.offset = *place;
    return out;
  }
  if (is_refused_special(name.text)) {
    in_.refuse(name, fmt::format("the special register {} is not supported", name.describe()),
               "the machine has no such thing");
  }
  undeclared(name);
}

Operand Parser::declared_operand(const Token& name) {
  Operand out;
  out.at = in_.position(name);
  if (name.text == "_") {
    out.kind = Operand::Kind::sink;
    return out;
  }
  const Symbol* symbol = symbols_.find(name.text);
  if (symbol == nullptr) {
    return special_operand(name);
  }
  switch (symbol->kind) {
    case Symbol::Kind::reg:
    case Symbol::Kind::vector_register:
      return register_operand(name, *symbol);
    case Symbol::Kind::label:
    case Symbol::Kind::branch_list:
    case Symbol::Kind::prototype:
      in_.fail(name, fmt::format("{} is {}, which is no operand here", name.describe(), describe(symbol->kind)),
               "only bra, brx.idx and call name such things");
    case Symbol::Kind::variable:
    case Symbol::Kind::parameter:
    case Symbol::Kind::function:
      break;
  }
  out.kind = Operand::Kind::symbol;
  out.name = symbol->unique;
  if (in_.at("[")) {
    in_.refuse(in_.current(), "array elements in operands are not supported",
               fmt::format("write the offset in bytes, [{}+4]", name.text));
  }
  if (in_.at("+") || in_.at("-")) {
    out.offset = parse_offset(in_);
  }
  return out;
}

Operand Parser::list_operand(Operand::Kind kind, std::string_view close) {
  Operand out;
  out.at = in_.here();
  out.kind = kind;
  in_.take();
  const std::string_view what = kind == Operand::Kind::vector ? "vector" : "list";
  if (in_.accept(close)) {
    if (kind == Operand::Kind::vector) {
      in_.fail(out.at, "an empty vector", "name its elements");
    }
    return out;
  }
  do {
    const Token token = in_.current();
    if (out.elements.size() >= kMaxElements) {
      in_.fail(token, fmt::format("more than {} elements", kMaxElements));
    }
    if (token.punctuation("{") || token.punctuation("[")) {
      in_.fail(token, fmt::format("{} inside of a {}", token.describe(), what), "load or move it to registers first");
    }
    if (token.kind == Token::Kind::identifier && token.text != "WARP_SZ") {
      in_.take();
      out.elements.push_back(declared_operand(token));
      if (out.elements.back().kind == Operand::Kind::vector) {
        in_.fail(token, fmt::format("the vector register {} inside of a {}", token.describe(), what),
                 "name its components");
      }
    } else if (at_constant(in_)) {
      out.elements.push_back(constant_operand());
    } else {
      in_.fail_expected(fmt::format("an element of the {}", what));
    }
  } while (in_.accept(","));
  if (!in_.at(close)) {
    in_.fail_expected(
        fmt::format("',' or '{}' in the {} that line {}, column {} opens", close, what, out.at.line, out.at.column));
  }
  in_.take();
  return out;
}

// Of a texture or surface: {x, y}, or one alone.
void Parser::coordinates(Operand& address) {
  if (in_.current().punctuation("{")) {
    address.elements = list_operand(Operand::Kind::vector, "}").elements;
  } else if (in_.current().kind == Token::Kind::identifier) {
    Operand only = declared_operand(in_.take());
    if (only.kind == Operand::Kind::vector) {
      address.elements = std::move(only.elements);
    } else {
      address.elements.push_back(std::move(only));
    }
  } else if (at_constant(in_)) {
    address.elements.push_back(constant_operand());
  } else {
    in_.fail_expected("the coordinates", "write [handle, {x, y}]");
  }
  if (in_.at(",")) {
    in_.refuse(in_.current(), "samplers of their own are not supported",
               "a texture's handle says how it is sampled (unified mode)");
  }
}

Operand Parser::address_operand(const Statement& statement) {
  Operand out;
  out.at = in_.here();
  out.kind = Operand::Kind::address;
  in_.take();
  const Token base = in_.current();
  if (base.kind == Token::Kind::identifier && base.text != "WARP_SZ") {
    in_.take();
    Operand inner = declared_operand(base);
    out.offset = inner.offset;
    if (inner.kind == Operand::Kind::symbol) {
      out.name = std::move(inner.name);
    } else if (inner.kind == Operand::Kind::reg) {
      const isa::Type type = type_of(inner.reg);
      const bool integer = type != isa::Type::f32 && type != isa::Type::f64 && type != isa::Type::pred;
      if (!integer || isa::size_of(type) < 4) {
        in_.fail(base,
                 fmt::format("{} is a .{} register, an address is an integer of 32 or 64 bits", base.describe(),
                             isa::name_of(type)),
                 "use a .b32 or .b64 register");
      }
      out.base_is_register = true;
      out.reg = inner.reg;
      if (in_.at("+") || in_.at("-")) {
        out.offset = parse_offset(in_);
      }
    } else {
      in_.fail(base, fmt::format("{} is no base of an address", base.describe()),
               "use a register, a variable or a number");
    }
  } else if (at_constant(in_)) {
    out.offset = parse_offset(in_);
  } else {
    in_.fail_expected("a register, a variable or a number in the address");
  }
  const bool has_coordinates = statement.opcode == "tex" || statement.opcode == "suld" || statement.opcode == "sust";
  if (has_coordinates && in_.accept(",")) {
    coordinates(out);
  }
  if (in_.at(",")) {
    in_.refuse(in_.current(), "addresses of several parts (tensors) are not supported",
               "write [register+number] or [variable+number]");
  }
  in_.expect("]", "at the end of the address");
  return out;
}

}  // namespace heddle::ptx
