// Functions: headers, parameters, performance directives (PTX ISA 11.2 to 11.4).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptx/parse/constant.hpp"
#include "ptx/parse/parser.hpp"
#include "ptx/parse/types.hpp"

namespace heddle::ptx {

ParameterDecl Parser::parameter(bool is_entry) {
  const Token space = in_.current();
  const bool is_register = in_.at_dotted("reg");
  if (is_register && is_entry) {
    in_.fail(space, "a kernel's parameters are not registers", "write .param and load them with ld.param");
  }
  if (!is_register && !in_.at_dotted("param")) {
    in_.fail_expected(is_entry ? "'.param'" : "'.param' or '.reg'");
  }
  in_.take();
  const Specifiers spec = specifiers("a parameter", true);
  if (spec.vector != 1) {
    in_.fail(spec.first, "vector parameters are not supported", "use an array of bytes, .b8 name[16]");
  }
  if (*spec.type == isa::Type::pred && !is_register) {
    in_.fail(spec.type_token, "predicates live in registers only", "pass .u32 and compare it");
  }
  const Token name = in_.expect_identifier("the name of a parameter");
  ParameterDecl decl;
  decl.name = name.text;
  decl.type = *spec.type;
  decl.alignment = spec.alignment;
  decl.is_register = is_register;
  decl.at = in_.position(name);
  const Dimensions dims = dimensions();
  if (dims.open) {
    in_.fail(dims.first, "parameters without a size (variadic functions) are not supported", "write the size");
  }
  if (dims.any && is_register) {
    in_.fail(dims.first, "registers form no arrays", "use a .param array");
  }
  decl.is_array = dims.any;
  decl.count = elements(dims, decl.type, 1);
  if (name.text == "_") {
    return decl;
  }
  check_new_name(name, name.text);
  Symbol symbol{.kind = Symbol::Kind::parameter, .unique = {}, .at = decl.at};
  if (is_register) {
    symbol.kind = Symbol::Kind::reg;
    symbol.index = static_cast<std::uint32_t>(fn_->registers.size());
    decl.reg = add_register(name, symbols_.declare(name.text, std::move(symbol)).unique, decl.type);
  } else {
    symbol.unique = decl.name;  // what launches call it, even where it hides a name of the module
    symbols_.declare(name.text, std::move(symbol));
  }
  return decl;
}

std::vector<ParameterDecl> Parser::parameters(bool is_entry) {
  std::vector<ParameterDecl> list;
  in_.expect("(", "at the beginning of the parameters");
  if (in_.accept(")")) {
    return list;
  }
  do {
    list.push_back(parameter(is_entry));
  } while (in_.accept(","));
  if (!in_.at(")")) {
    in_.fail_expected("',' or ')' after a parameter");
  }
  in_.take();
  return list;
}

void Parser::performance_directives(Function& fn) {
  const auto triple = [&](std::vector<std::uint32_t>& numbers, const Token& directive) {
    if (!numbers.empty()) {
      in_.fail(directive, fmt::format("a second {}", directive.describe()));
    }
    const std::string what = fmt::format("a number of threads for {}", directive.describe());
    do {
      if (numbers.size() == 3) {
        in_.fail(in_.current(), fmt::format("{} takes 1 to 3 numbers", directive.describe()),
                 "remove what is too much");
      }
      numbers.push_back(static_cast<std::uint32_t>(parse_number(in_, what, 1, UINT32_MAX)));
    } while (in_.accept(","));
  };
  while (in_.current().kind == Token::Kind::dotted) {
    const Token token = in_.current();
    if (token.text == "pragma") {
      const Position at = in_.here();
      fn.pragmas.emplace_back(pragma(), at);
      continue;
    }
    if (token.text == "loc") {
      location();
      continue;
    }
    if (token.text == "noreturn") {
      in_.take();
      continue;
    }
    const bool known = token.text == "maxnreg" || token.text == "maxntid" || token.text == "reqntid" ||
                       token.text == "minnctapersm" || token.text == "maxnctapersm";
    if (known && !fn.is_entry) {
      in_.fail(token, fmt::format("{} belongs to kernels", token.describe()), "write it behind an .entry");
    }
    if (token.text.find("cluster") != std::string_view::npos) {
      if (lets_clusters_be_blocks()) continue;
      NotSupported reason({in_.file(), token.line, token.column}, fmt::format("{} is not supported", token.describe()),
                          "a cluster is one block on this machine; remove it");
      if (refusals_ == Refusals::thrown) throw reason;
      fn.refusal = std::move(reason);
      continue;
    }
    if (token.text == "attribute") {
      in_.fail(token, ".attribute is not supported", "remove it");
    }
    if (!known) {
      unknown_directive("of a function's header",
                        {"maxnreg", "maxntid", "reqntid", "minnctapersm", "maxnctapersm", "noreturn", "pragma"});
    }
    in_.take();
    if (token.text == "maxnreg") {
      if (fn.maxnreg) {
        in_.fail(token, "a second '.maxnreg'");
      }
      fn.maxnreg = static_cast<std::uint32_t>(parse_number(in_, "the number of registers", 1, UINT32_MAX));
    } else if (token.text == "maxntid") {
      triple(fn.maxntid, token);
    } else if (token.text == "reqntid") {
      triple(fn.reqntid, token);
    } else {
      // How many blocks a core should hold is for the compiler's register count only; .maxnreg says that directly.
      parse_number(in_, "the number of blocks", 0, UINT32_MAX);
    }
    if (!fn.maxntid.empty() && !fn.reqntid.empty()) {
      in_.fail(token, ".maxntid and .reqntid exclude each other", "remove one");
    }
  }
}

// Reads what a kernel says of its clusters. True: they may be of one block.
bool Parser::lets_clusters_be_blocks() {
  const Token directive = in_.take();
  if (directive.text == "explicitcluster") return true;
  const bool least = directive.text == "reqnctapercluster";
  if (!least && directive.text != "maxclusterrank") {
    while (!in_.at_end() && !in_.at("{") && !in_.at(";") && in_.current().kind != Token::Kind::dotted) in_.take();
    return false;
  }
  bool one = true;
  do {
    one = parse_number(in_, "the number of blocks", 1, UINT32_MAX) == 1 && one;
  } while (in_.accept(","));
  return one || !least;
}

void Parser::check_signature(const Function& declared, const Function& defined) const {
  const auto same = [](const std::vector<ParameterDecl>& a, const std::vector<ParameterDecl>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ParameterDecl& x, const ParameterDecl& y) {
      return isa::size_of(x.type) == isa::size_of(y.type) &&
             (x.type == isa::Type::pred) == (y.type == isa::Type::pred) && x.count == y.count &&
             x.is_register == y.is_register;
    });
  };
  if (declared.is_entry != defined.is_entry || !same(declared.returns, defined.returns) ||
      !same(declared.parameters, defined.parameters)) {
    in_.fail(defined.at,
             fmt::format("'{}' is declared differently at line {}, column {}", defined.name, declared.at.line,
                         declared.at.column),
             "make kind, parameters and results agree");
  }
}

std::size_t Parser::function_slot(const Function& fn, const Token& name, bool defines) {
  const Symbol* known = symbols_.find_in_module(name.text);
  if (known == nullptr) {
    symbols_.declare_in_module(name.text, {.kind = Symbol::Kind::function,
                                           .index = static_cast<std::uint32_t>(out_.functions.size()),
                                           .unique = {},
                                           .at = fn.at});
    out_.functions.emplace_back();
    return out_.functions.size() - 1;
  }
  if (known->kind != Symbol::Kind::function) {
    in_.fail(name,
             fmt::format("{} is already declared as {} at line {}, column {}", name.describe(), describe(known->kind),
                         known->at.line, known->at.column),
             "choose another name");
  }
  const Function& earlier = out_.functions[known->index];
  check_signature(earlier, fn);
  if (defines && earlier.has_body) {
    in_.fail(
        name,
        fmt::format("{} already has a body at line {}, column {}", name.describe(), earlier.at.line, earlier.at.column),
        "remove one of the two");
  }
  return known->index;
}

void Parser::function(bool is_entry, const Linking& linking) {
  Function fn;
  fn.is_entry = is_entry;
  fn.pragmas = module_pragmas_;
  fn_ = &fn;
  families_.clear();
  symbols_.open();
  if (in_.at_dotted("attribute")) {
    in_.fail(in_.current(), ".attribute is not supported", "remove it");
  }
  if (!is_entry && in_.at("(")) {
    fn.returns = parameters(false);
  }
  const Token name = in_.expect_identifier(is_entry ? "the name of a kernel" : "the name of a function");
  fn.name = name.text;
  fn.at = in_.position(name);
  fn.linkage = linking.linkage;
  if (special_named(name.text) || is_refused_special(name.text) || name.text == "WARP_SZ" || name.text == "_") {
    in_.fail(name, fmt::format("{} cannot name a function", name.describe()), "choose another name");
  }
  if (in_.at("(")) {
    fn.parameters = parameters(is_entry);
  }
  performance_directives(fn);
  if (in_.at("{")) {
    if (linking.is_extern) {
      in_.fail(linking.token, fmt::format("the .extern function '{}' has a body", fn.name), "remove .extern");
    }
    const std::size_t slot = function_slot(fn, name, true);
    fn.has_body = true;
    const TokenStream::Mark begin = in_.mark();
    try {
      body();
    } catch (const NotSupported& reason) {
      if (refusals_ == Refusals::thrown) throw;
      give_up_body(begin, reason);
    }
    out_.functions[slot] = std::move(fn);
  } else {
    if (!in_.at(";")) {
      in_.fail_expected(fmt::format("'{{' or ';' after the header of '{}'", fn.name));
    }
    in_.take();
    const std::size_t slot = function_slot(fn, name, false);
    if (!out_.functions[slot].has_body) {
      out_.functions[slot] = std::move(fn);
    }
  }
  symbols_.leave_function();
  fn_ = nullptr;
  in_.source_file = in_.source_line = 0;
}

}  // namespace heddle::ptx
