// Statements of a function's body: scopes, labels, instructions, declarations (PTX ISA 4.1, 9).
#include <fmt/format.h>

#include <utility>

#include "ptx/parse/parser.hpp"
#include "ptx/parse/types.hpp"

namespace heddle::ptx {

namespace {

constexpr std::size_t kMaxScopes = 128;

std::string_view wanted_name(Symbol::Kind kind) {
  switch (kind) {
    case Symbol::Kind::branch_list:
      return "list of branch targets";
    case Symbol::Kind::prototype:
      return "function or call prototype";
    default:
      return "label";
  }
}

}  // namespace

void Parser::open_scope() {
  if (open_braces_.size() >= kMaxScopes) {
    in_.fail(in_.current(), fmt::format("scopes nest deeper than {}", kMaxScopes), "remove braces");
  }
  open_braces_.push_back(in_.take());
  pending_.emplace_back();
}

void Parser::close_scope() {
  in_.take();
  open_braces_.pop_back();
  const std::vector<PendingName> uses = std::move(pending_.back());
  pending_.pop_back();
  for (const PendingName& use : uses) {
    if (const Symbol* symbol = symbols_.find_here(use.use.text)) {
      bind(use, *symbol);
    } else if (!pending_.empty()) {
      pending_.back().push_back(use);
    } else {
      undefined(use);
    }
  }
  // The outermost scope is the one of the parameters, which function() closes.
  if (!open_braces_.empty()) {
    symbols_.close();
  }
}

void Parser::bind(const PendingName& use, const Symbol& symbol) {
  if (symbol.kind != use.wanted) {
    in_.fail(use.use,
             fmt::format("{} is {}, not a {}", use.use.describe(), describe(symbol.kind), wanted_name(use.wanted)),
             "use another name");
  }
  Statement& statement = fn_->body[use.statement];
  (use.in_labels ? statement.labels[use.index] : statement.operands[use.index].name) = symbol.unique;
}

void Parser::undefined(const PendingName& use) const {
  if (const Symbol* module = symbols_.find_in_module(use.use.text)) {
    in_.fail(use.use,
             fmt::format("{} is {}, not a {}", use.use.describe(), describe(module->kind), wanted_name(use.wanted)),
             "use another name");
  }
  const auto kind = use.wanted == Symbol::Kind::prototype ? Symbol::Kind::function : use.wanted;
  const std::string near = symbols_.nearest(use.use.text, kind);
  std::string hint = fmt::format("define it in this scope of '{}' or one around it", fn_->name);
  if (!near.empty()) {
    hint = fmt::format("did you mean '{}'?", near);
  } else if (kind == Symbol::Kind::function) {
    hint = "declare functions before their use";
  }
  in_.fail(use.use,
           fmt::format("the {} {} is not {}", wanted_name(use.wanted), use.use.describe(),
                       kind == Symbol::Kind::function ? "declared" : "defined"),
           std::move(hint));
}

void Parser::body() {
  pending_.clear();
  open_braces_.clear();
  open_scope();
  while (!open_braces_.empty()) {
    if (in_.at_end()) {
      in_.fail(open_braces_.back(), "this '{' is never closed", "add the missing '}'");
    }
    if (in_.at("{")) {
      open_scope();
      symbols_.open();
    } else if (in_.at("}")) {
      close_scope();
    } else {
      statement();
    }
  }
}

void Parser::give_up_body(const TokenStream::Mark& begin, const NotSupported& reason) {
  in_.go_back(begin);
  skip_balanced("{", "}");
  fn_->body.clear();
  fn_->variables.clear();
  fn_->refusal = reason;
}

void Parser::statement() {
  const Token token = in_.current();
  if (in_.accept(";")) {
    return;
  }
  if (token.kind == Token::Kind::dotted) {
    body_directive();
  } else if (token.kind == Token::Kind::identifier && in_.ahead().punctuation(":")) {
    label();
  } else if (token.kind == Token::Kind::identifier || token.punctuation("@")) {
    instruction();
  } else {
    in_.fail_expected("an instruction, a label, a declaration or '}'");
  }
}

void Parser::label() {
  const Token name = in_.take();
  in_.take();
  Statement out;
  out.kind = Statement::Kind::label;
  out.at = in_.position(name);
  Symbol::Kind kind = Symbol::Kind::label;
  if (in_.at_dotted("branchtargets")) {
    out.kind = Statement::Kind::branch_targets;
    kind = Symbol::Kind::branch_list;
  } else if (in_.at_dotted("callprototype") || in_.at_dotted("calltargets")) {
    out.kind = Statement::Kind::call_prototype;
    kind = Symbol::Kind::prototype;
  }
  if (name.text == "_") {
    in_.fail(name, "'_' cannot name a label", "choose another name");
  }
  check_new_name(name, name.text);
  out.name = symbols_.declare(name.text, {.kind = kind, .unique = {}, .at = out.at}).unique;
  if (kind == Symbol::Kind::branch_list) {
    branch_targets(out);
  } else if (kind == Symbol::Kind::prototype) {
    call_prototype(out);
  }
  fn_->body.push_back(std::move(out));
}

void Parser::branch_targets(Statement& out) {
  in_.take();
  do {
    const Token name = in_.expect_identifier("a label");
    pending_.back().push_back({Symbol::Kind::label, name, fn_->body.size(), out.labels.size(), true});
    out.labels.emplace_back(name.text);
  } while (in_.accept(","));
  in_.expect(";", "after the branch targets");
}

void Parser::call_prototype(const Statement& label) {
  CallPrototype out;
  out.name = label.name;
  const Token directive = in_.take();
  if (directive.text == "calltargets") {
    do {
      const Token name = in_.expect_identifier("the name of a function");
      const Symbol* symbol = symbols_.find(name.text);
      if (symbol == nullptr || symbol->kind != Symbol::Kind::function) {
        in_.fail(name, fmt::format("the function {} is not declared", name.describe()), "declare it before its use");
      }
      out.targets.push_back(symbol->unique);
    } while (in_.accept(","));
  } else {
    if (in_.at("(")) {
      out.returns = parameters(false);
    }
    const Token name = in_.expect_identifier("'_' in the place of the function's name");
    if (name.text != "_") {
      in_.fail(name, fmt::format("expected '_' in the place of the function's name, found {}", name.describe()));
    }
    if (in_.at("(")) {
      out.parameters = parameters(false);
    }
    in_.accept_dotted("noreturn");
  }
  in_.expect(";", fmt::format("after {}", directive.describe()));
  fn_->prototypes.push_back(std::move(out));
}

void Parser::body_directive() {
  const Token token = in_.current();
  if (in_.accept_dotted("reg")) {
    registers();
    return;
  }
  if (in_.at_dotted("loc")) {
    location();
    return;
  }
  if (in_.at_dotted("pragma")) {
    Statement out;
    out.kind = Statement::Kind::pragma;
    out.at = in_.here();
    out.name = pragma();
    fn_->body.push_back(std::move(out));
    return;
  }
  if (in_.at_dotted("branchtargets") || in_.at_dotted("callprototype") || in_.at_dotted("calltargets")) {
    in_.fail(token, fmt::format("{} has no name", token.describe()),
             fmt::format("write 'name: {} ...'", token.describe()));
  }
  if (in_.at_dotted("extern") || in_.at_dotted("visible") || in_.at_dotted("weak") || in_.at_dotted("common")) {
    in_.fail(token, fmt::format("{} inside of a function", token.describe()),
             "move the declaration before the function");
  }
  if (in_.at_dotted("entry") || in_.at_dotted("func")) {
    const Token open = open_braces_.back();
    in_.fail(token, fmt::format("{} inside of the function '{}'", token.describe(), fn_->name),
             fmt::format("close the '{{' of line {}, column {} first", open.line, open.column));
  }
  if (const auto reason = refused_type(token.text); !reason.empty()) {
    in_.refuse(token, fmt::format("{} is not supported", token.describe()), std::string(reason));
  }
  if (const auto space = space_named(token.text)) {
    in_.take();
    variables(*space, {});
    return;
  }
  unknown_directive("of a function's body", {"reg", "local", "shared", "param", "const", "global", "loc", "pragma",
                                             "branchtargets", "callprototype", "calltargets"});
}

void Parser::instruction() {
  Statement out;
  if (in_.accept("@")) {
    out.guarded = true;
    out.guard_negated = in_.accept("!");
    out.guard = predicate_register("the guard");
  }
  const Token opcode = in_.expect_identifier("an instruction");
  out.at = in_.position(opcode);
  if (opcode.text == "_" || opcode.text.front() == '%') {
    in_.fail(opcode, fmt::format("expected an instruction, found {}", opcode.describe()));
  }
  // Before the operands, whose forms the parser does not know.
  if (const auto advice = advice_for(opcode.text); !advice.empty()) {
    in_.refuse(opcode, fmt::format("instruction {} is not supported", opcode.describe()), std::string(advice));
  }
  out.opcode = opcode.text;
  while (in_.current().kind == Token::Kind::dotted) {
    out.modifiers.emplace_back(in_.take().text);
  }
  operands(out);
  if (!in_.at(";")) {
    const bool next_line = in_.current().line != opcode.line;
    in_.fail_expected(out.operands.empty() ? "an operand or ';'" : "',' or ';' after the operand",
                      next_line ? fmt::format("the instruction at line {} needs a ';' at its end", opcode.line) : "");
  }
  in_.take();
  fn_->body.push_back(std::move(out));
}

}  // namespace heddle::ptx
