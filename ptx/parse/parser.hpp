// The recursive-descent parser behind ptx::parse. One class over several files: parser_module.cpp (directives of the
// module), parser_declaration.cpp (variables, registers), parser_initializer.cpp, parser_function.cpp (headers,
// parameters), parser_body.cpp (statements), parser_operand.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/ast.hpp"
#include "ptx/parse/stream.hpp"
#include "ptx/parse/symbols.hpp"

namespace heddle::ptx {

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, Refusals refusals) : in_(text, file), refusals_(refusals) {
    out_.name = file;
  }

  // To be called once.
  File run();

 private:
  // What stands between a space and a name: ".align 4 .v2 .f32".
  struct Specifiers {
    std::optional<isa::Type> type;
    unsigned vector = 1;
    std::uint32_t alignment = 0;  // 0: none given
    Token type_token;
    Token first;
  };
  // "[4][]" behind a name.
  struct Dimensions {
    std::vector<std::uint64_t> sizes;
    bool open = false;  // the first is empty
    bool any = false;
    Token first;
  };
  // .extern .visible .weak .common
  struct Linking {
    bool is_extern = false;
    Linkage linkage = Linkage::local;
    Token token;
    bool any = false;
  };
  // A label, branch list or prototype that an operand names; bound when the scope of the use closes, because labels may
  // be declared behind their use.
  struct PendingName {
    Symbol::Kind wanted;
    Token use;
    std::size_t statement;
    std::size_t index;       // operand, or entry of Statement::labels
    bool in_labels = false;  // Statement::labels[index] instead of operands[index].name
  };
  // "%r<13>": for messages about %r13.
  struct RegisterFamily {
    std::string prefix;
    std::uint64_t count;
  };

  // ---- parser_module.cpp
  void module_item();
  void version();
  void target();
  void address_size();
  void source_file();
  void location();
  void section();
  std::string pragma();
  Linking linking();
  void check_source_files() const;
  [[noreturn]] void unknown_directive(std::string_view where, const std::vector<std::string>& known);
  void skip_balanced(std::string_view open, std::string_view close);

  // ---- parser_declaration.cpp
  Specifiers specifiers(std::string_view what, bool parameter);
  Dimensions dimensions();
  void variables(isa::Space space, const Linking& linking);
  void variable(isa::Space space, const Specifiers& spec, const Linking& linking);
  void add_variable(VariableDecl decl, const Token& name);
  void registers();
  RegisterId add_register(const Token& at, const std::string& name, isa::Type type);
  void register_family(const Token& name, isa::Type type);
  void check_new_name(const Token& name, std::string_view spelled) const;
  std::uint64_t elements(const Dimensions& dims, isa::Type type, unsigned vector) const;

  // ---- parser_function.cpp
  void function(bool is_entry, const Linking& linking);
  std::vector<ParameterDecl> parameters(bool is_entry);
  ParameterDecl parameter(bool is_entry);
  // Declares fn in the module or matches it with an earlier declaration; its index in File::functions.
  std::size_t function_slot(const Function& fn, const Token& name, bool defines);
  void performance_directives(Function& fn);
  void check_signature(const Function& declared, const Function& defined) const;

  // ---- parser_body.cpp
  void body();
  // The body that began there could not be read; goes on behind it.
  void give_up_body(const TokenStream::Mark& begin, const NotSupported& reason);
  void open_scope();
  void close_scope();
  void statement();
  void label();
  void body_directive();
  void instruction();
  void branch_targets(Statement& out);
  void call_prototype(const Statement& label);
  void bind(const PendingName& use, const Symbol& symbol);
  [[noreturn]] void undefined(const PendingName& use) const;

  // ---- parser_operand.cpp
  void operands(Statement& statement);
  Operand operand(const Statement& statement);
  Operand name_operand(const Statement& statement);
  bool lets_clusters_be_blocks();
  Operand special_operand(const Token& name);
  void reserve_shared();                        // declares kReservedShared, once
  Operand declared_operand(const Token& name);  // register, special register or symbol; `name` is taken already
  Operand register_operand(const Token& name, const Symbol& symbol);
  Operand negated_predicate();
  Operand list_operand(Operand::Kind kind, std::string_view close);  // vector or call_list
  void pair_with_predicate(Operand& first);
  RegisterId predicate_register(std::string_view what);
  Operand address_operand(const Statement& statement);
  void coordinates(Operand& address);
  Operand constant_operand();
  std::optional<RegisterId> component(const Token& name, const Symbol& symbol);
  [[noreturn]] void missing_operand(const Statement& statement) const;
  [[noreturn]] void undeclared(const Token& name) const;

  [[nodiscard]] isa::Type type_of(RegisterId reg) const { return fn_->registers[reg].type; }

  TokenStream in_;
  Refusals refusals_;
  File out_;
  SymbolTable symbols_;
  Function* fn_ = nullptr;                         // the function whose body is being parsed
  std::vector<std::vector<PendingName>> pending_;  // per open scope of the function
  std::vector<Token> open_braces_;
  std::vector<RegisterFamily> families_;
  std::vector<std::pair<std::string, Position>> module_pragmas_;
  std::map<std::uint32_t, Token> used_source_files_;  // number to its first .loc
  std::map<std::uint32_t, std::string> source_files_;
  bool reserves_shared_ = false;  // reserve_shared() has been here
  std::uint64_t file_registers_ = 0;
  std::uint64_t initialized_bytes_ = 0;
  bool has_target_ = false, has_address_size_ = false;
};

}  // namespace heddle::ptx
