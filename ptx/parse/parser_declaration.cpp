// Declarations of variables and registers (PTX ISA 5.4).
#include <fmt/format.h>

#include <algorithm>

#include "ptx/parse/constant.hpp"
#include "ptx/parse/initializer.hpp"
#include "ptx/parse/parser.hpp"
#include "ptx/parse/types.hpp"

namespace heddle::ptx {

namespace {

constexpr std::uint64_t kMaxAlignment = 65'536;
constexpr std::uint64_t kMaxRegisters = 131'072;        // of one function
constexpr std::uint64_t kMaxFileRegisters = 1'048'576;  // of all functions
constexpr std::uint64_t kMaxVariableBytes = UINT32_MAX;
constexpr std::uint64_t kMaxVectorBytes = 16;
constexpr std::string_view kComponents = "xyzw", kColours = "rgba";

}  // namespace

Parser::Specifiers Parser::specifiers(std::string_view what, bool parameter) {
  Specifiers spec;
  spec.first = in_.current();
  bool has_vector = false;
  while (in_.current().kind == Token::Kind::dotted) {
    const Token token = in_.take();
    if (token.text == "align") {
      const Token number = in_.current();
      const std::uint64_t align = parse_number(in_, "the alignment", 1, kMaxAlignment);
      if ((align & (align - 1)) != 0) {
        in_.fail(number, fmt::format("the alignment {} is not a power of two", align));
      }
      if (spec.alignment != 0) {
        in_.fail(token, "a second .align");
      }
      spec.alignment = static_cast<std::uint32_t>(align);
    } else if (token.text == "v2" || token.text == "v4") {
      if (has_vector) {
        in_.fail(token, "a second vector size");
      }
      has_vector = true;
      spec.vector = token.text == "v2" ? 2 : 4;
    } else if (const auto type = type_named(token.text)) {
      if (spec.type) {
        in_.fail(token, fmt::format("a second type, {}", token.describe()), "a declaration has one type");
      }
      spec.type = type;
      spec.type_token = token;
    } else if (parameter && token.text == "ptr") {
      // ".ptr .global .align 4": what a kernel's pointer points to; only a promise to optimisers.
      if (in_.current().kind == Token::Kind::dotted && space_named(in_.current().text)) {
        in_.take();
      }
      if (in_.accept_dotted("align")) {
        parse_number(in_, "the alignment", 1, UINT32_MAX);
      }
    } else if (token.text == "attribute" && !parameter) {
      // A managed variable is one of device memory; who shares it with the host copies it (cuda/cudart).
      in_.expect("(", "behind '.attribute'");
      if (!in_.accept_dotted("managed")) {
        in_.fail_expected("'.managed'", "the machine has no unified memory; use a plain .global variable");
      }
      in_.expect(")", "behind '.managed'");
    } else if (const auto reason = refused_type(token.text); !reason.empty()) {
      in_.refuse(token, fmt::format("the type {} is not supported", token.describe()), std::string(reason));
    } else {
      in_.fail(token, fmt::format("{} is not a part of the declaration of {}", token.describe(), what),
               "write [.align N] [.v2|.v4] and a type such as .u32, .f32, .b8");
    }
  }
  if (!spec.type) {
    in_.fail_expected(fmt::format("the type of {}", what),
                      "types are .u8 to .u64, .s8 to .s64, .b8 to .b64, .f16 to .f64, .pred");
  }
  return spec;
}

Parser::Dimensions Parser::dimensions() {
  Dimensions dims;
  dims.first = in_.current();
  while (in_.accept("[")) {
    if (in_.at("]")) {
      if (dims.any) {
        in_.fail(in_.current(), "only the first dimension of an array may be empty", "write its size");
      }
      dims.open = true;
      dims.sizes.push_back(0);
    } else {
      dims.sizes.push_back(parse_number(in_, "the size of an array", 1, kMaxVariableBytes));
    }
    dims.any = true;
    in_.expect("]", "after the size of an array");
    if (dims.sizes.size() > 16) {
      in_.fail(dims.first, "the array has more than 16 dimensions", "flatten it");
    }
  }
  return dims;
}

std::uint64_t Parser::elements(const Dimensions& dims, isa::Type type, unsigned vector) const {
  std::uint64_t count = 1;
  const std::uint64_t most = kMaxVariableBytes / (std::uint64_t{isa::size_of(type)} * vector);
  for (std::size_t i = dims.open ? 1 : 0; i < dims.sizes.size(); ++i) {
    if (dims.sizes[i] > most / count) {
      in_.fail(dims.first, fmt::format("the array is larger than {} bytes", kMaxVariableBytes), "make it smaller");
    }
    count *= dims.sizes[i];
  }
  return count;
}

void Parser::check_new_name(const Token& name, std::string_view spelled) const {
  if (special_named(spelled) || is_vector_special(spelled) || is_refused_special(spelled) || spelled == "WARP_SZ") {
    in_.fail(name, fmt::format("'{}' is predefined", spelled), "choose another name");
  }
  if (const Symbol* other = symbols_.find_here(spelled)) {
    in_.fail(name,
             fmt::format("'{}' is already declared as {} at line {}, column {}", spelled, describe(other->kind),
                         other->at.line, other->at.column),
             "choose another name");
  }
}

void Parser::variables(isa::Space space, const Linking& linking) {
  if (in_.at("[")) {
    in_.refuse(in_.current(), "numbered constant banks are not supported", "declare the variable with plain .const");
  }
  const Specifiers spec = specifiers("a variable", false);
  if (*spec.type == isa::Type::pred) {
    in_.fail(spec.type_token, "predicates live in registers only", "use .u8 for a truth value in memory");
  }
  if (std::uint64_t{isa::size_of(*spec.type)} * spec.vector > kMaxVectorBytes) {
    in_.fail(spec.first, "a vector has at most 128 bits", "use .v2 or an array");
  }
  do {
    variable(space, spec, linking);
  } while (in_.accept(","));
  in_.expect(";", "after the declaration");
}

void Parser::variable(isa::Space space, const Specifiers& spec, const Linking& linking) {
  const Token name = in_.expect_identifier("the name of a variable");
  VariableDecl decl;
  decl.name = name.text;
  decl.space = space;
  decl.type = *spec.type;
  decl.vector = spec.vector;
  decl.is_handle = spec.type_token.text == "texref" || spec.type_token.text == "surfref";
  if (decl.is_handle && space != isa::Space::global) {
    in_.fail(spec.type_token, fmt::format("{} stands in .global only", spec.type_token.describe()),
             "a handle elsewhere is a .b64");
  }
  decl.alignment = spec.alignment != 0 ? spec.alignment : isa::size_of(decl.type) * decl.vector;
  decl.is_extern = linking.is_extern;
  decl.linkage = linking.linkage;
  decl.at = in_.position(name);
  if (in_.at("<")) {
    in_.fail(in_.current(), "only registers have parameterised names", "declare an array: name[count]");
  }
  const Dimensions dims = dimensions();
  decl.is_array = dims.any;
  decl.count = elements(dims, decl.type, decl.vector);
  if (in_.at("=")) {
    const Token equals = in_.take();
    if (space != isa::Space::global && space != isa::Space::constant) {
      in_.fail(equals, "only .global and .const variables have initial values", "store the value in the kernel");
    }
    if (decl.is_extern) {
      in_.fail(equals, "an .extern variable has no initial value here", "remove .extern or the value");
    }
    parse_initializer(in_, symbols_, dims.sizes, dims.open, decl, initialized_bytes_);
  } else if (dims.open) {
    if (!decl.is_extern) {
      in_.fail(dims.first, fmt::format("the array {} has no size", name.describe()),
               "write its size, an initial value, or .extern .shared for dynamic shared memory");
    }
    if (dims.sizes.size() > 1) {
      in_.fail(dims.first, "an unsized array has one dimension", "flatten it");
    }
    decl.count = 0;
  }
  add_variable(std::move(decl), name);
}

void Parser::add_variable(VariableDecl decl, const Token& name) {
  auto& list = fn_ != nullptr ? fn_->variables : out_.variables;
  if (fn_ == nullptr) {
    // An .extern declaration and the definition are one variable.
    const Symbol* other = symbols_.find_here(name.text);
    if (other != nullptr && other->kind == Symbol::Kind::variable) {
      VariableDecl& known = list[other->index];
      if (known.is_extern || decl.is_extern) {
        if (known.space != decl.space || known.type != decl.type || known.vector != decl.vector ||
            (known.count != decl.count && known.count != 0 && decl.count != 0)) {
          in_.fail(name,
                   fmt::format("{} is declared differently at line {}, column {}", name.describe(), known.at.line,
                               known.at.column),
                   "make space, type and size agree");
        }
        if (known.is_extern) {
          known = std::move(decl);
        }
        return;
      }
    }
  }
  check_new_name(name, name.text);
  decl.name = symbols_
                  .declare(name.text, {.kind = Symbol::Kind::variable,
                                       .index = static_cast<std::uint32_t>(list.size()),
                                       .unique = {},
                                       .at = decl.at})
                  .unique;
  list.push_back(std::move(decl));
}

RegisterId Parser::add_register(const Token& at, const std::string& name, isa::Type type) {
  if (fn_->registers.size() >= kMaxRegisters || ++file_registers_ > kMaxFileRegisters) {
    in_.fail(at, fmt::format("more than {} registers are declared", fn_->registers.size()),
             "declare only those that are used");
  }
  const auto id = static_cast<RegisterId>(fn_->registers.size());
  fn_->registers.push_back({name, type});
  return id;
}

void Parser::register_family(const Token& name, isa::Type type) {
  in_.take();
  const Token number = in_.current();
  if (number.kind != Token::Kind::integer) {
    in_.fail_expected("the number of registers");
  }
  // A plain number: an expression would take the closing '>' as an operator.
  in_.take();
  std::uint64_t count = 0;
  for (const char c : number.text) {
    if (c < '0' || c > '9') {
      in_.fail(number, fmt::format("{} is not a count of registers", number.describe()), "write a decimal number");
    }
    count = std::min<std::uint64_t>(count * 10 + static_cast<unsigned>(c - '0'), UINT32_MAX);
  }
  in_.expect(">", "after the number of registers");
  if (fn_->registers.size() + count > kMaxRegisters || file_registers_ + count > kMaxFileRegisters) {
    in_.fail(number, fmt::format("{} registers are too many", number.text),
             fmt::format("a function has at most {}", kMaxRegisters));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string spelled = std::string(name.text) + std::to_string(i);
    check_new_name(name, spelled);
    Symbol symbol{.kind = Symbol::Kind::reg, .unique = {}, .at = in_.position(name)};
    symbol.index = static_cast<std::uint32_t>(fn_->registers.size());
    add_register(name, symbols_.declare(spelled, std::move(symbol)).unique, type);
  }
  families_.push_back({std::string(name.text), count});
}

void Parser::registers() {
  const Specifiers spec = specifiers("a register", false);
  const isa::Type type = *spec.type;
  do {
    const Token name = in_.expect_identifier("the name of a register");
    if (in_.at("<")) {
      if (spec.vector != 1) {
        in_.fail(name, "vector registers have no parameterised names", "declare them one by one");
      }
      register_family(name, type);
      continue;
    }
    if (in_.at("[")) {
      in_.fail(in_.current(), "registers form no arrays", "use a .local array, or %r<count>");
    }
    if (in_.at("=")) {
      in_.fail(in_.current(), "registers have no initial value", "set it with mov");
    }
    check_new_name(name, name.text);
    Symbol symbol{.kind = Symbol::Kind::reg, .unique = {}, .at = in_.position(name)};
    symbol.index = static_cast<std::uint32_t>(fn_->registers.size());
    if (spec.vector == 1) {
      add_register(name, symbols_.declare(name.text, std::move(symbol)).unique, type);
    } else {
      symbol.kind = Symbol::Kind::vector_register;
      symbol.count = spec.vector;
      const std::string unique = symbols_.declare(name.text, std::move(symbol)).unique;
      for (unsigned i = 0; i < spec.vector; ++i) {
        add_register(name, unique + "." + kComponents[i], type);
      }
    }
  } while (in_.accept(","));
  in_.expect(";", "after the declaration of registers");
}

// "v.x" or "v.r" of a vector register; the current token is the component.
std::optional<RegisterId> Parser::component(const Token& name, const Symbol& symbol) {
  if (in_.current().kind != Token::Kind::dotted) {
    return std::nullopt;
  }
  const Token part = in_.take();
  for (std::uint32_t i = 0; i < symbol.count; ++i) {
    if (part.text == kComponents.substr(i, 1) || part.text == kColours.substr(i, 1)) {
      return symbol.index + i;
    }
  }
  in_.fail(part, fmt::format("{} has no component {}", name.describe(), part.describe()),
           symbol.count == 2 ? "its components are .x and .y" : "its components are .x .y .z .w");
}

}  // namespace heddle::ptx
